internal import CSystem
internal import EventLoop
internal import Glibc
internal import SyncCore

// Process settings that are made before anything is opened.

enum ProcessLimits {
    /// Descriptors that are not connections: standard streams, the loop's own, listeners, the
    /// lock, the store and the files of a rebuild, look-ups of names, form files of a reload.
    static let reserve = 32
    /// Connections beyond a limit that wait for a place, of each user. Beyond `connectionsMax` no
    /// more are accepted; those that find no place get an error and are closed.
    static let refusals = 4

    /// Private files, no core dumps, no SIGPIPE, and no signals that the parent process had
    /// blocked: umask(2), RLIMIT_CORE, PR_SET_DUMPABLE, SIGPIPE, sigprocmask(2).
    static func harden() {
        reserveStandardStreams()
        umask(0o077)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = csystem_forbid_dumps()
        signal(SIGPIPE, SIG_IGN)
        // With SIGXFSZ ignored, a write beyond RLIMIT_FSIZE fails with EFBIG, which is handled as a
        // full disk.
        signal(SIGXFSZ, SIG_IGN)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        sigprocmask(SIG_SETMASK, &unblocked, nil)
    }

    /// Opens the standard streams that the parent process has closed, for nothing. Otherwise the
    /// store or a socket would take their numbers, and log lines would be written into it. They
    /// cannot be written to, so that no audit line counts as written.
    private static func reserveStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number (open(2)), which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Releases the pages that only the start needed. Most memory of an idle daemon is program and
    /// libraries, and serving needs a small part of them.
    static func giveBackProgramPages() {
        _ = csystem_give_back_program_pages()
    }

    /// Raises the limit on descriptors as far as `limits` needs and the kernel allows. Then lowers
    /// the limits on connections to the remaining descriptors, minus the reserve.
    ///
    /// A daemon that runs out of descriptors cannot accept, and cannot open its own files: both are
    /// worse than a connection that is refused with a reason.
    static func fit(_ limits: Limits) -> (limits: Limits, descriptors: Int) {
        let wanted = limits.connectionsMax + reserve + refusals
        let before = try? DescriptorLimit.current()
        var granted = Int(clamping: before?.soft ?? 1_024)
        if granted < wanted {
            granted =
                (try? DescriptorLimit.setSoft(UInt64(wanted))).map { Int(clamping: $0.soft) }
                ?? granted
        }
        return (bounded(limits, descriptors: granted), granted)
    }

    /// The limits on connections for this number of descriptors.
    static func bounded(_ limits: Limits, descriptors granted: Int) -> Limits {
        var fitted = limits
        fitted.connectionsMax = min(limits.connectionsMax, max(1, granted - reserve - refusals))
        if fitted.connectionsMax < limits.connectionsMax {
            // One user must not use all connections.
            fitted.connectionsPerUserMax = min(
                limits.connectionsPerUserMax, max(1, fitted.connectionsMax / 4 * 3))
        }
        return fitted
    }

    /// CPU time of all threads, in milliseconds: clock_gettime(2).
    static func processorMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Resident memory in bytes: the second number of /proc/self/statm, proc(5).
    static func residentBytes() -> Int? {
        guard let fields = fields(of: "/proc/self/statm"), fields.count > 1,
            let pages = Int(fields[1])
        else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The uid with which the user of a process logged in, which stays the same after sudo(8):
    /// /proc/PID/loginuid, proc(5). 4294967295 if nobody logged in; `nil` if the process has ended
    /// or cannot be seen.
    static func loginUID(of process: Int32) -> UInt32? {
        guard process > 0, let text = fields(of: "/proc/\(process)/loginuid")?.first else {
            return nil
        }
        return UInt32(text)
    }

    /// Whether `loginUID` knows the processes of other users. They are hidden if /proc is mounted
    /// with `hidepid`, as with `ProtectProc=invisible` of systemd.exec(5).
    static let seesLoginUIDs = access("/proc/1/loginuid", F_OK) == 0

    /// The words of a short file of the kernel; `nil` if it cannot be read.
    static func fields(of file: String) -> [Substring]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    }
}
