/// A real pickersyncd over a state directory that outlives it.

import Glibc
import PickerClient
import SyncCore

/// One place for a daemon, started and ended as often as wanted.
public final class DaemonUnderTest {
    /// Socket, store and log lie here.
    public let folder: String
    /// The state directory.
    public let state: String
    /// The socket.
    public let socket: String
    /// More arguments.
    public var arguments: [String]
    /// More environment.
    public var environment: [String: String] = [:]
    /// A listening socket that outlives the daemon, as a socket unit has one.
    public var listening: [Int32] = []
    private let executable: String
    /// The process, while there is one.
    public private(set) var process: Child?

    /// A place below `folder`; nothing is started.
    public init(_ run: Run, folder: String, state: String? = nil, arguments: [String] = []) throws {
        try Folder.make(folder)
        self.folder = folder
        self.state = state ?? folder + "/state"
        socket = folder + "/sock"
        executable = run.executables + "/pickersyncd"
        self.arguments = arguments
    }

    /// The log.
    public var log: String { folder + "/log" }

    /// Its last lines.
    public var said: String {
        let text = String(decoding: Folder.contents(log) ?? [], as: UTF8.self)
        return text.split(separator: "\n").suffix(3).joined(separator: " | ")
    }

    /// Starts it and does not wait.
    public func start() throws {
        process = try Child(
            [executable, "--socket", socket, "--state-directory", state] + arguments,
            environment: environment, errors: log, descriptors: listening)
    }

    /// Waits until it takes a connection, which is given; `nil` where it ended before.
    public func connection(seconds: Double = 20) throws -> Peer? {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while monotonicNanoseconds() < deadline {
            if let peer = Peer(connecting: socket) { return peer }
            if process?.poll() != nil { return nil }
            usleep(500)
        }
        throw Trouble("the daemon does not accept: \(said)")
    }

    /// Starts it and waits until it answers; the connection by which it did is given.
    @discardableResult
    public func startAndWait() throws -> Peer {
        try start()
        guard let peer = try connection() else {
            throw Trouble("the daemon did not start: \(said)")
        }
        guard try peer.ask("ping", [:]) != nil else {
            throw Trouble("the daemon does not answer: \(said)")
        }
        return peer
    }

    /// Kills it as a power cut would, and waits.
    public func kill() {
        process?.signal(SIGKILL)
        process?.wait()
        process = nil
    }

    /// Ends it in order; the exit status.
    @discardableResult
    public func stop() -> Int32 {
        process?.signal(SIGTERM)
        let status = process?.wait() ?? 0
        process = nil
        return status
    }
}
