internal import EventLoop
internal import SyncCore

// The clocks of the machine, as the engine gets them.

struct MachineClock: Sendable {
    /// A number for the start of the machine that the boot clock counts from; 0 if it is not known.
    private let boot: UInt64

    /// The clocks of this start of the machine: random(4), boot_id. A service with `ProcSubset=pid`
    /// cannot read that file, so its unit passes the same id (systemd.unit(5), `%b`).
    init(
        _ environment: ProcessEnvironment, kernelFile: String = "/proc/sys/kernel/random/boot_id"
    ) {
        let read = ProcessLimits.fields(of: kernelFile)?.first.map(String.init)
        boot = Self.number(read ?? environment["PICKERSYNC_BOOT_ID"] ?? "")
    }

    /// The first half of an id of 128 bits, in hexadecimal digits with or without hyphens; 0 if it
    /// is none.
    static func number(_ id: String) -> UInt64 {
        let digits = id.filter { $0 != "-" }
        guard digits.utf8.count == 32 else { return 0 }
        return UInt64(digits.prefix(16), radix: 16) ?? 0
    }

    var now: Moment {
        Moment(
            wallMilliseconds: Loop.wallMilliseconds,
            monotonicNanoseconds: Loop.hrtimeNanoseconds,
            bootMilliseconds: Loop.bootMilliseconds, boot: boot)
    }
}
