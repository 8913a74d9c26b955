internal import CSystem
internal import EventLoop
internal import Glibc
internal import SyncCore

// What the process asks of the kernel before it opens anything.

enum ProcessLimits {
    /// Descriptors that are not connections: standard streams, the loop's own, listeners, the
    /// lock, the store and the files of a rebuild, look-ups of names, form files of a reload.
    static let reserve = 32
    /// Connections beyond `connectionsMax` that are taken only to be told so and closed.
    static let refusals = 4

    /// Files for the owner alone, no picture of the memory on disk, no death by a closed peer, and
    /// no signal that whoever started us had blocked: umask(2), RLIMIT_CORE, PR_SET_DUMPABLE,
    /// SIGPIPE, sigprocmask(2).
    static func harden() {
        umask(0o077)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = csystem_forbid_dumps()
        signal(SIGPIPE, SIG_IGN)
        // A store that may grow no more (RLIMIT_FSIZE) hears EFBIG, as of a full disk.
        signal(SIGXFSZ, SIG_IGN)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        sigprocmask(SIG_SETMASK, &unblocked, nil)
    }

    /// Lets go of the pages that only the start needed: of 14 MB of an idle daemon 12 are program
    /// and libraries, of which serving takes a fifth.
    static func giveBackProgramPages() {
        _ = csystem_give_back_program_pages()
    }

    /// Raises the bound on descriptors as far as `limits` needs it and the kernel allows it, and
    /// lowers the bounds of connections to what is left of it after the reserve.
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

    /// The bounds of connections that so many descriptors leave room for.
    static func bounded(_ limits: Limits, descriptors granted: Int) -> Limits {
        var fitted = limits
        fitted.connectionsMax = min(limits.connectionsMax, max(1, granted - reserve - refusals))
        if fitted.connectionsMax < limits.connectionsMax {
            // Still nobody takes every place.
            fitted.connectionsPerUserMax = min(
                limits.connectionsPerUserMax, max(1, fitted.connectionsMax / 4 * 3))
        }
        return fitted
    }

    /// Processor time that all threads have taken, in milliseconds: clock_gettime(2).
    static func processorMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Resident memory in bytes: the second number of /proc/self/statm, proc(5).
    static func residentBytes() -> Int? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
