// Children: started in a process group of their own, told of an end politely, then not.

internal import Glibc
internal import PickerClient

/// A running child.
struct ChildProcess {
    let pid: pid_t

    /// How a child ended: waitpid(2).
    enum Ending: Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// The status that a shell gives it.
        var shellStatus: Int32 {
            switch self {
            case .exited(let status): status
            case .signalled(let signal): 128 + signal
            }
        }

        var inWords: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signalled(let signal): "was ended by signal \(signal)"
            }
        }
    }

    /// Starts `arguments[0]` with exactly this environment, `input` on its standard input where
    /// there is one: posix_spawn(3).
    ///
    /// - Parameters:
    ///   - output: Its standard output; `nil` for ours.
    ///   - errors: Its standard error; `nil` for ours.
    static func start(
        path: String, _ arguments: [String], environment: [String], input: String? = nil,
        output: Int32? = nil, errors: Int32? = nil
    ) throws(Failure) -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var source: Int32 = -1
        if let input {
            source = try descriptor(holding: Array(input.utf8))
            posix_spawn_file_actions_adddup2(&actions, source, STDIN_FILENO)
        }
        defer { if source >= 0 { close(source) } }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var every = sigset_t()
        sigfillset(&every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var pid: pid_t = 0
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawn(&pid, path, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else {
            throw .system(status == ENOENT ? .noInput : .notMet, path, status)
        }
        return ChildProcess(pid: pid)
    }

    /// A descriptor to read these bytes from: a pipe where they fit into its buffer, else a file
    /// that has no name any more.
    private static func descriptor(holding bytes: [UInt8]) throws(Failure) -> Int32 {
        // pipe(7): the buffer of a pipe is 64 KiB.
        if bytes.count <= 60 << 10 {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw Failure(.unavailable, describe(errno: errno)) }
            _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
            _ = write(ends[1], bytes, bytes.count)
            close(ends[1])
            return ends[0]
        }
        var name = Array("/tmp/pickerctl-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw Failure(.unavailable, describe(errno: errno)) }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    /// Sends a signal to the child and to all that it started: kill(2).
    func signal(_ number: Int32) {
        kill(-pid, number)
    }

    /// How it ended, where it has.
    func ending() -> Ending? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Whether it was stopped, as by ^Z, since this was asked last: waitid(2), which leaves an
    /// ending to be asked for.
    func hasStopped() -> Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WSTOPPED | WNOHANG) == 0
            && info.si_signo == SIGCHLD
    }

    /// Ends it: SIGTERM, and SIGKILL to what is left after the grace.
    func end(graceSeconds: Double) {
        signal(SIGTERM)
        let deadline = MonotonicClock.now().adding(seconds: graceSeconds)
        while ending() == nil {
            if MonotonicClock.now() >= deadline {
                signal(SIGKILL)
                var status: Int32 = 0
                waitpid(pid, &status, 0)
                return
            }
            usleep(5_000)
        }
        // What it started and left behind ends with it.
        signal(SIGKILL)
    }
}

/// Signals as bytes to be read, so that poll(2) sees them beside everything else.
struct SignalPipe {
    /// Becomes readable when a signal came.
    let descriptor: Int32

    // Written once before the first handler is installed and only read after that, by a handler
    // that does nothing but write(2), which is async-signal-safe (signal-safety(7)).
    nonisolated(unsafe) private static var writeEnd: Int32 = -1

    /// Takes over the signals.
    init(_ signals: [Int32]) {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        Self.writeEnd = ends[1]
        for number in signals {
            Glibc.signal(number) { number in
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalPipe.writeEnd, &byte, 1)
                errno = saved
            }
        }
    }

    /// The signals that came since.
    func take() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? bytes[..<count].map { Int32($0) } : []
    }
}
