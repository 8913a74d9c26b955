public import Foundation
import Glibc

/// A program under way, killed with the last reference.
public final class ChildProcess {
    /// How it ended and what it wrote.
    public struct Outcome: Sendable {
        /// The exit status; 128 and the number of the signal that ended it, as a shell has it.
        public var status: Int32
        /// Standard output.
        public var out: String
        /// Standard error; empty where it went to `out`.
        public var err: String

        /// The lines of `out`.
        public var lines: [String] { out.split(separator: "\n").map(String.init) }
    }

    /// What standard input is.
    public enum Input {
        /// `/dev/null`.
        case nothing
        /// A text, then the end.
        case text(String)
        /// A pipe that `type(_:)` writes to.
        case open
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    // A file, since a pipe that nobody reads while standard output is read would fill up.
    private let errors: FileHandle?
    private var taken = ""

    /// Starts `words[0]`, which `PATH` finds unless it is a path.
    ///
    /// - Parameters:
    ///   - environment: added to the test's own variables; all there is with `isEnvironmentWhole`.
    ///   - errorsApart: whether standard error is `Outcome.err`; else it goes to `out`.
    public init(
        _ words: [String], environment: [String: String] = [:], isEnvironmentWhole: Bool = false,
        directory: URL? = nil, input given: Input = .nothing, errorsApart: Bool = true
    ) throws {
        let isPath = words[0].contains("/")
        process.executableURL = URL(filePath: isPath ? words[0] : "/usr/bin/env")
        process.arguments = isPath ? Array(words.dropFirst()) : words
        process.environment =
            isEnvironmentWhole
            ? environment : ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = directory ?? sourceTree
        process.standardOutput = output
        if errorsApart {
            guard let file = tmpfile() else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
            // The copy of the number outlives the stream.
            errors = FileHandle(fileDescriptor: dup(fileno(file)), closeOnDealloc: true)
            fclose(file)
            process.standardError = errors
        } else {
            errors = nil
            process.standardError = output
        }
        if case .nothing = given {
            process.standardInput = FileHandle.nullDevice
        } else {
            process.standardInput = input
        }
        // Threads of a test runner have signals blocked. A tmux that inherits this is not told of its
        // children's end, and never ends itself.
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        _ = Self.endsAtControlC
        try process.run()
        if case .text(let text) = given {
            type(text)
            endInput()
        }
    }

    /// A shell starts what it runs in the background with these signals ignored, and each program
    /// that is started from there inherits that.
    private static let endsAtControlC: Void = {
        _ = Glibc.signal(SIGINT, SIG_DFL)
        _ = Glibc.signal(SIGQUIT, SIG_DFL)
    }()

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Its number.
    public var pid: pid_t { process.processIdentifier }

    /// Whether it has not ended.
    public var isRunning: Bool { process.isRunning }

    /// Sends a signal.
    public func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Writes to its standard input.
    public func type(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

    /// Closes its standard input.
    public func endInput() { try? input.fileHandleForWriting.close() }

    /// Reads standard output up to `text`, or to its end; all that came so far.
    @discardableResult
    public func read(until text: String) -> String {
        while !taken.contains(text) {
            guard let some = readSome() else { break }
            taken += some
        }
        return taken
    }

    /// A program that says nothing for so many milliseconds hangs, and is killed: a test that waited
    /// for ever would not say which one it is.
    private static let patience: Int32 = 600_000

    /// The next text of standard output; `nil` at its end. Not Foundation's own reading, which ends
    /// the test process when a signal interrupts it, such as that of a child that stops.
    private func readSome() -> String? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let descriptor = output.fileHandleForReading.fileDescriptor
        while true {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let isReady = poll(&wanted, 1, Self.patience)
            if isReady == 0 {
                signal(SIGKILL)
                taken += "\n(killed: it said nothing for ten minutes)"
                return nil
            }
            let count = isReady < 0 ? -1 : Glibc.read(descriptor, &bytes, bytes.count)
            if count > 0 { return String(decoding: bytes[..<count], as: UTF8.self) }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    /// Waits for its end.
    public func outcome() -> Outcome {
        while let some = readSome() { taken += some }
        let isEnded: Void? = try? eventually { !process.isRunning }
        if isEnded == nil { signal(SIGKILL) }
        process.waitUntilExit()
        var said = Data()
        if let errors {
            try? errors.seek(toOffset: 0)
            said = (try? errors.readToEnd()) ?? Data()
        }
        let status = process.terminationStatus
        return Outcome(
            status: process.terminationReason == .uncaughtSignal ? 128 + status : status,
            out: taken, err: String(decoding: said, as: UTF8.self))
    }

    /// Runs a program to its end, both of its streams in `out`.
    public static func run(
        _ words: [String], environment: [String: String] = [:], isEnvironmentWhole: Bool = false,
        directory: URL? = nil
    ) throws -> Outcome {
        try ChildProcess(
            words, environment: environment, isEnvironmentWhole: isEnvironmentWhole,
            directory: directory, errorsApart: false
        ).outcome()
    }
}
