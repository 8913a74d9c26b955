internal import EventLoop
internal import SyncCore

// Messages to systemd: sd_notify(3). Invariants: without NOTIFY_SOCKET nothing is sent, and sending
// never blocks.

/// The connection to the service manager.
public final class ServiceManager {
    private let socket: NotifySocket?
    /// The interval of watchdog messages: half of the watchdog's timeout, as sd_watchdog_enabled(3)
    /// recommends.
    public let watchdogInterval: Duration?
    private var lastStatus = ""

    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    public init(_ environment: ProcessEnvironment, pid: Int32) {
        socket = environment["NOTIFY_SOCKET"].flatMap { try? NotifySocket($0) }
        watchdogInterval = Self.interval(environment, pid: pid)
    }

    private static func interval(_ environment: ProcessEnvironment, pid: Int32) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }),
            microseconds >= 2
        else { return nil }
        if let meant = environment["WATCHDOG_PID"], meant != "\(pid)" { return nil }
        return .microseconds(microseconds / 2)
    }

    /// Whether there is a service manager.
    public var isThere: Bool { socket != nil }

    /// The daemon accepts: `READY=1`.
    public func ready(status: String) {
        lastStatus = status
        send("READY=1\nSTATUS=\(status.escapedForDisplay())")
    }

    /// A reload begins, `ready` ends it: `RELOADING=1`.
    public func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Loop.hrtimeNanoseconds / 1_000)")
    }

    /// `STOPPING=1`.
    public func stopping() { send("STOPPING=1\nSTATUS=saying goodbye") }

    /// `WATCHDOG=1`.
    public func isAlive() { send("WATCHDOG=1") }

    /// `STATUS=`, if it has changed.
    public func status(_ line: String) {
        guard line != lastStatus else { return }
        lastStatus = line
        send("STATUS=\(line.escapedForDisplay())")
    }

    /// If the queue is full, the message is lost; the next one follows soon.
    private func send(_ message: String) { try? socket?.send(message) }
}
