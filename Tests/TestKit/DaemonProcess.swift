import Foundation
public import Glibc

/// One run of pickersyncd as a process; killed with the last reference.
public final class DaemonProcess {
    /// Where its log lies, and with `standardArguments` its socket and its store.
    public let folder: TemporaryFolder
    /// Its number.
    public let pid: pid_t
    private let log: String
    private var status: Int32?

    /// The socket of a daemon that was started with `standardArguments`.
    public var socket: String { folder("sock") }

    /// Socket and store in the folder.
    public static func standardArguments(_ folder: TemporaryFolder) -> [String] {
        ["--socket", folder("sock"), "--state-directory", folder("state")]
    }

    /// Starts a daemon; `ready()` waits until it accepts.
    /// - Parameters:
    ///   - passing: descriptors that become 3 and upwards, with LISTEN_FDS as systemd sets it.
    ///   - limits: what the shell's `ulimit` takes.
    ///   - redirecting: a redirection of the shell, such as `2>/dev/full`; `ready()` reads the log,
    ///     which is then somewhere else.
    public init(
        _ folder: TemporaryFolder, arguments: [String]? = nil, more: [String] = [],
        environment: [String: String] = [:], passing: [Int32] = [], limits: String? = nil,
        redirecting: String = ""
    ) throws {
        self.folder = folder
        log = folder("log-\(UUID().uuidString)")
        var variables = ProcessInfo.processInfo.environment.filter {
            $0.key.hasSuffix("SAN_OPTIONS")
        }
        variables["PATH"] = "/usr/bin:/bin"
        variables["HOME"] = folder.path
        variables.merge(environment) { $1 }
        // A shell says its own pid, which the daemon keeps, and sets what only a process can.
        var script = "exec \"$0\" \"$@\" \(redirecting)"
        if !passing.isEmpty {
            script = "export LISTEN_FDS=\(passing.count) LISTEN_PID=$$; " + script
        }
        if let limits { script = "ulimit \(limits); " + script }
        let words =
            ["/bin/sh", "-c", script, builtProgram("pickersyncd")]
            + (arguments ?? Self.standardArguments(folder)) + more
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder("stdout"), O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        for (index, descriptor) in passing.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, 3 + Int32(index))
        }
        // The daemon must not have the sockets and pipes of tests that run at the same time, which
        // would then never see their ends.
        _ = addCloseFrom(&actions, 3 + Int32(passing.count))
        var argv = words.map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var started: pid_t = 0
        let failure = posix_spawn(&started, "/bin/sh", &actions, nil, &argv, &envp)
        guard failure == 0 else { throw GaveUp("posix_spawn: \(failure)") }
        pid = started
    }

    deinit {
        if status == nil {
            kill(pid, SIGKILL)
            _ = try? wait()
        }
    }

    /// All that it said so far.
    public var said: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Waits until it accepts, and gives itself for chaining.
    @discardableResult
    public func ready() throws -> DaemonProcess {
        try eventually("ready, but it said: \(said)") {
            if said.contains("ready: ") { return true }
            if try hasEnded() { throw GaveUp("it ended: \(said)") }
            return false
        }
        return self
    }

    /// Sends a signal.
    public func signal(_ number: Int32) { kill(pid, number) }

    private func hasEnded() throws -> Bool {
        if status != nil { return true }
        var word: Int32 = 0
        guard waitpid(pid, &word, WNOHANG) == pid else { return false }
        // wait(2): the low seven bits are the signal, the next byte the status.
        status = word & 0x7F == 0 ? (word >> 8) & 0xFF : -(word & 0x7F)
        return true
    }

    /// Waits for its end: the exit status, or the negated number of the signal.
    @discardableResult
    public func wait() throws -> Int32 {
        try eventually("the end of the daemon") { try hasEnded() }
        return status ?? -1
    }

    /// Kills it as a power cut would, and waits.
    public func killHard() throws {
        signal(SIGKILL)
        try wait()
    }
}

/// Adds an action that closes all descriptors from this one on: `posix_spawn(3)`. It is declared in
/// C only with `_GNU_SOURCE`, which Swift's Glibc does not define.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32
) -> Int32
