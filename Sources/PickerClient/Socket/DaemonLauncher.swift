// Starting the user's own daemon, as tmux starts its server: once, detached, by the first client
// that needs it.
//
// A lock file prevents concurrent starts. Its holder checks again, starts the daemon, and waits
// until the socket accepts; other clients wait for the lock and then find the daemon. A daemon is
// never started on the system's socket or on a socket that was named explicitly.

#if canImport(Glibc)
    @preconcurrency internal import Glibc
#else
    @preconcurrency internal import Musl
#endif

/// Why the daemon did not start.
public enum LaunchError: Error, Hashable, Sendable {
    /// `pickersyncd` is neither in the folder of this executable nor in `PATH`.
    case executableNotFound
    /// Neither `XDG_STATE_HOME` nor `HOME` is set.
    case noStateDirectory
    /// A folder could not be made, or somebody else could replace it.
    case directory(path: String, reason: String)
    /// The process could not be made: posix_spawn(3).
    case spawn(errno: Int32)
    /// It exited at once; its last lines of output.
    case ended(status: Int32, lastLine: String?, log: String)
    /// It did not accept connections in time.
    case timedOut(log: String)
    /// The process that listens there may not be trusted.
    case connect(ConnectError)
}

/// Starts the user's own daemon.
public struct DaemonLauncher {
    /// The place of the daemon.
    public let place: UserDaemonPlace

    /// A launcher for this place.
    public init(place: UserDaemonPlace) {
        self.place = place
    }

    /// Starts the daemon if it does not answer yet, and connects to it. `deadline` is monotonic
    /// nanoseconds.
    public func connect(deadline: UInt64) throws(LaunchError) -> StreamSocket {
        guard let state = place.stateDirectory else { throw .noStateDirectory }
        try prepare(place.runtimeDirectory) { place.problem }
        try prepare(state) { PathSafety.problem(with: state, for: place.uid) }
        let lock = try takeLock(place.runtimeDirectory + "/start.lock")
        defer { _ = lock.number }
        if let socket = try attempt(deadline) { return socket }
        guard let executable = Self.findExecutable() else { throw .executableNotFound }
        let log = state + "/pickersyncd.log"
        let child = try spawn(executable, state: state, log: log)
        var pause: UInt32 = 500
        while true {
            if let socket = try attempt(deadline) { return socket }
            var status: Int32 = 0
            // Exit status 75: another daemon came first, and will accept in a moment.
            if waitpid(child, &status, WNOHANG) == child, (status >> 8) & 0xFF != 75 {
                throw .ended(status: status, lastLine: Self.lastLine(of: log), log: log)
            }
            guard MonotonicClock.now() < deadline else { throw .timedOut(log: log) }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    private func attempt(_ deadline: UInt64) throws(LaunchError) -> StreamSocket? {
        do throws(ConnectError) {
            return try place.connect(deadline: deadline)
        } catch {
            if error.mayPass { return nil }
            throw .connect(error)
        }
    }

    /// Makes a folder if it is missing, and never below one that somebody else could replace.
    private func prepare(
        _ path: String, _ problem: () -> UnsafeFolder?
    ) throws(LaunchError) {
        if let problem = problem() {
            throw .directory(path: problem.path, reason: problem.words)
        }
        if let failure = createDirectories(path) {
            throw .directory(path: path, reason: describe(errno: failure))
        }
        // Somebody else may have been first in a folder that everybody writes.
        if let problem = problem() {
            throw .directory(path: problem.path, reason: problem.words)
        }
    }

    private func takeLock(_ path: String) throws(LaunchError) -> Descriptor {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .directory(path: path, reason: describe(errno: errno)) }
        let lock = Descriptor(number)
        // Its holder releases it at its own deadline at the latest.
        while flock(lock.number, LOCK_EX) != 0 {
            if errno != EINTR { throw .directory(path: path, reason: describe(errno: errno)) }
        }
        return lock
    }

    /// `pickersyncd` in the folder of this executable, otherwise in `PATH`.
    public static func findExecutable() -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        if count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) {
            let beside = String(decoding: buffer[...slash], as: UTF8.self) + "pickersyncd"
            if access(beside, X_OK) == 0 { return beside }
        }
        for folder in (environmentVariable("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        where folder.hasPrefix("/") {
            let path = "\(folder)/pickersyncd"
            if access(path, X_OK) == 0, FileFacts.at(path)?.kind == .regular { return path }
        }
        return nil
    }

    /// Variables that a service manager set only for this process; the daemon must not inherit
    /// them.
    private static let notInherited = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC",
        "WATCHDOG_PID", "STATE_DIRECTORY", "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY",
        "JOURNAL_STREAM", "PICKERSYNC_SOCKET", "PICKERSYNC_STATE_DIRECTORY",
    ]

    /// posix_spawn(3) in a new session, so that a hang-up of this terminal does not end it.
    private func spawn(_ executable: String, state: String, log: String) throws(LaunchError)
        -> pid_t
    {
        // The shell changes the folder, because otherwise the daemon would keep its file system
        // busy.
        let arguments = [
            "sh", "-c", "cd / && exec \"$0\" \"$@\"",
            executable, "--socket", place.socket, "--state-directory", state,
        ]
        // A log that has become large is truncated; it is only needed for errors of a start.
        var facts = stat()
        let truncates = stat(log, &facts) == 0 && facts.st_size > 1 << 20 ? O_TRUNC : 0
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | truncates, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The daemon must not inherit other descriptors: if it held one end of a pipe, its reader
        // would wait for ever. Closing a descriptor that is not open is not an error
        // (posix_spawn(3)).
        for number in 3..<Int32(clamping: min(1_024, max(3, sysconf(Int32(_SC_OPEN_MAX))))) {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var every = sigset_t()
        sigfillset(&every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        let setSession: Int32 = 0x80
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | setSession))
        let environment = inheritedEnvironment().filter { variable in
            !Self.notInherited.contains { variable.hasPrefix($0 + "=") }
        }
        var child: pid_t = 0
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else { throw .spawn(errno: status) }
        return child
    }

    private static func lastLine(of path: String) -> String? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        _ = lseek(file.number, -min(2_048, lseek(file.number, 0, SEEK_END)), SEEK_END)
        var buffer = [UInt8](repeating: 0, count: 2_048)
        let count = read(file.number, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").last.map(
            String.init)
    }
}

/// This process's environment as `NAME=value`, in the order of environ(7).
public func inheritedEnvironment() -> [String] {
    var result: [String] = []
    var pointer = environ
    while let entry = pointer.pointee {
        result.append(String(cString: entry))
        pointer += 1
    }
    return result
}

/// Calls `body` with a NULL-terminated array of C strings, as exec(3) takes.
public func withCStrings<R>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
) -> R {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
