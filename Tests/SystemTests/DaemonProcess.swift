import Foundation
import Testing

// The real daemon as a process, and what it says on standard error.

/// Where the executables lie: beside the test bundle, or in `PICKERSYNC_BIN`, as a release build or
/// one with sanitizers.
let builtExecutables: String = {
    if let folder = ProcessInfo.processInfo.environment["PICKERSYNC_BIN"] { return folder }
    let bundle =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (bundle as NSString).deletingLastPathComponent
}()

/// A folder of its own for a test, removed with the last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/pss-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: self(name), atomically: false, encoding: .utf8)
        return self(name)
    }
}

/// What a test waits for and does not come; how long it waits is no promise of the product.
struct GaveUp: Error, CustomStringConvertible {
    let description: String
}

/// Asks again and again until the answer is true, for at most 30 seconds.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<6_000 {
        if try condition() { return }
        usleep(5_000)
    }
    throw GaveUp(description: "gave up waiting: \(what)")
}

/// One run of pickersyncd.
final class DaemonProcess {
    let folder: TemporaryFolder
    let pid: pid_t
    private let log: String
    private var status: Int32?

    /// The socket of a daemon that was started with `standardArguments`.
    var socket: String { folder("sock") }

    /// Socket and store in the folder.
    static func standardArguments(_ folder: TemporaryFolder) -> [String] {
        ["--socket", folder("sock"), "--state-directory", folder("state")]
    }

    /// Starts a daemon; `ready()` waits until it accepts.
    /// - Parameters:
    ///   - passing: descriptors that become 3 and upwards, with LISTEN_FDS as systemd sets it.
    ///   - limits: what the shell's `ulimit` takes.
    init(
        _ folder: TemporaryFolder, arguments: [String]? = nil, more: [String] = [],
        environment: [String: String] = [:], passing: [Int32] = [], limits: String? = nil
    ) throws {
        self.folder = folder
        log = folder("log-\(UUID().uuidString)")
        var variables = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
        variables.merge(environment) { $1 }
        // A shell says its own pid, which the daemon keeps, and sets what only a process can.
        var script = "exec \"$0\" \"$@\""
        if !passing.isEmpty {
            script = "export LISTEN_FDS=\(passing.count) LISTEN_PID=$$; " + script
        }
        if let limits { script = "ulimit \(limits); " + script }
        let words =
            ["/bin/sh", "-c", script, builtExecutables + "/pickersyncd"]
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
        var argv = words.map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var started: pid_t = 0
        let failure = posix_spawn(&started, "/bin/sh", &actions, nil, &argv, &envp)
        guard failure == 0 else { throw GaveUp(description: "posix_spawn: \(failure)") }
        pid = started
    }

    deinit {
        if status == nil {
            kill(pid, SIGKILL)
            _ = try? wait()
        }
    }

    /// All that it said so far.
    var said: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Waits until it accepts, and gives itself for chaining.
    @discardableResult
    func ready() throws -> DaemonProcess {
        try eventually("ready, but it said: \(said)") {
            if said.contains("ready: ") { return true }
            if try hasEnded() { throw GaveUp(description: "it ended: \(said)") }
            return false
        }
        return self
    }

    func signal(_ number: Int32) { kill(pid, number) }

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
    func wait() throws -> Int32 {
        try eventually("the end of the daemon") { try hasEnded() }
        return status ?? -1
    }

    /// Kills it as a power cut would, and waits.
    func killHard() throws {
        signal(SIGKILL)
        try wait()
    }
}
