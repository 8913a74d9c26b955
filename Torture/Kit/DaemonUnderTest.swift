/// A real pickersyncd with a state directory that exists longer than the process.

import Glibc
import PickerClient
import SyncCore

/// The files of a daemon that is started and ended repeatedly.
public final class DaemonUnderTest {
    /// Contains socket, store and log.
    public let folder: String
    /// The state directory.
    public let state: String
    /// The socket.
    public let socket: String
    /// More arguments.
    public var arguments: [String]
    /// More environment.
    public var environment: [String: String] = [:]
    /// A listening socket that exists longer than the daemon, as with a socket unit.
    public var listening: [Int32] = []
    private let executable: String
    /// The process, while there is one.
    public private(set) var process: Child?

    /// Files in `folder`; nothing is started.
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

    /// Starts the daemon and does not wait.
    public func start() throws {
        process = try Child(
            [executable, "--socket", socket, "--state-directory", state] + arguments,
            environment: environment, errors: log, descriptors: listening)
    }

    /// Waits for a connection and returns it; `nil` if the daemon ended before.
    public func connection(seconds: Double = 20) throws -> Peer? {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while monotonicNanoseconds() < deadline {
            if let peer = Peer(connecting: socket) { return peer }
            if process?.poll() != nil { return nil }
            usleep(500)
        }
        throw Trouble("the daemon does not accept: \(said)")
    }

    /// Starts the daemon and waits until it answers; returns the connection.
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

    /// Kills the daemon with SIGKILL, and waits.
    public func kill() {
        process?.signal(SIGKILL)
        process?.wait()
        process = nil
    }

    /// Stops the daemon cleanly; returns the exit status.
    @discardableResult
    public func stop() -> Int32 {
        process?.signal(SIGTERM)
        let status = process?.wait() ?? 0
        process = nil
        return status
    }
}
