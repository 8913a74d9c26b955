/// Processes that a row starts. Each ends with its object.

public import Glibc

/// One process.
public final class Child {
    /// Its number.
    public let pid: pid_t
    private var ended: Int32?

    /// Starts `words[0]`, which is a path.
    ///
    /// - Parameters:
    ///   - descriptors: become 3 and upwards, with LISTEN_FDS as systemd sets it.
    public init(
        _ words: [String], environment: [String: String] = [:], output: String = "/dev/null",
        errors: String = "/dev/null", descriptors: [Int32] = []
    ) throws {
        var variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]
        variables.merge(environment) { $1 }
        var words = words
        if !descriptors.isEmpty {
            // A shell says its own pid, which the program keeps.
            let count = descriptors.count
            words =
                ["/bin/sh", "-c", "LISTEN_FDS=\(count) LISTEN_PID=$$ exec \"$0\" \"$@\""] + words
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(
            &actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, 3 + Int32(index))
        }
        // Default signals, whatever the thread that starts it has blocked.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var argv = words.map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var started: pid_t = 0
        let failure = posix_spawn(&started, words[0], &actions, &attributes, &argv, &envp)
        guard failure == 0 else { throw Trouble("cannot start \(words[0]): \(failure)") }
        pid = started
    }

    deinit {
        if ended == nil {
            kill(pid, SIGKILL)
            _ = wait()
        }
    }

    /// Sends a signal.
    public func signal(_ number: Int32) { if ended == nil { kill(pid, number) } }

    /// The exit status, or the negated signal; `nil` while it runs.
    public func poll() -> Int32? {
        if ended == nil { reap(WNOHANG) }
        return ended
    }

    /// Waits for its end: the exit status, or the negated signal.
    @discardableResult
    public func wait() -> Int32 {
        while ended == nil { reap(0) }
        return ended ?? -1
    }

    private func reap(_ options: Int32) {
        var word: Int32 = 0
        let found = waitpid(pid, &word, options)
        if found == pid {
            // wait(2): the low seven bits are the signal, the next byte the status.
            ended = word & 0x7F == 0 ? (word >> 8) & 0xFF : -(word & 0x7F)
        } else if found < 0 && errno != EINTR {
            ended = -1
        }
    }

    /// Runs a command to its end and returns its output, which goes through a file; with standard
    /// error, unless that has a file of its own.
    public static func output(
        _ words: [String], environment: [String: String] = [:], errors: String? = nil,
        scratch: String
    ) throws -> (status: Int32, text: String) {
        let file = scratch + "/output"
        unlink(file)
        let child = try Child(
            words, environment: environment, output: file, errors: errors ?? file)
        let status = child.wait()
        return (status, String(decoding: Folder.contents(file) ?? [], as: UTF8.self))
    }

    /// Resident kibibytes, and processor time used so far in seconds: proc_pid_status(5), stat(5).
    public var resident: Int {
        let text = String(decoding: Folder.contents("/proc/\(pid)/status") ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") where line.hasPrefix("VmRSS:") {
            return Int(line.filter(\.isNumber)) ?? 0
        }
        return 0
    }

    /// Processor seconds used so far.
    public var processorSeconds: Double {
        let text = String(decoding: Folder.contents("/proc/\(pid)/stat") ?? [], as: UTF8.self)
        guard let close = text.lastIndex(of: ")") else { return 0 }
        let parts = text[close...].split(separator: " ")
        guard parts.count > 14 else { return 0 }
        let ticks = (Double(parts[12]) ?? 0) + (Double(parts[13]) ?? 0)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// How many descriptors it has open.
    public var descriptors: Int { Folder.names("/proc/\(pid)/fd").count }
}
