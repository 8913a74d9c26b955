// Values that end by themselves: the countdown at the right of the value, without requests.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The countdown of a control's lease, and whether it ends soon; `nil` without a lease.
    func lease(_ index: Int) -> (text: String, isEnding: Bool)? {
        guard let lease = presentation.lease(index) else { return nil }
        let control = presentation.definition.controls[index]
        let then = valueText(lease.then ?? control.defaultValue, of: index)
        guard let until = lease.until else { return ("held, then \(then)", false) }
        let seconds = max(0, (until.milliseconds - around.clock().milliseconds + 999) / 1_000)
        return ("\(Self.countdown(seconds)) then \(then)", seconds <= 60)
    }

    /// The same in words that do not change by themselves: `until 14:30:05, then off`.
    func leaseWords(_ index: Int) -> String? {
        guard let lease = presentation.lease(index) else { return nil }
        let control = presentation.definition.controls[index]
        let end = lease.until.map { "until \(around.localTime($0))" } ?? "held"
        return "\(end), then \(valueText(lease.then ?? control.defaultValue, of: index))"
    }

    /// `1:59:12`, `59:12`, `0:12`.
    private static func countdown(_ seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        if minutes < 60 { return "\(minutes):\(two(rest))" }
        return "\(minutes / 60):\(two(minutes % 60)):\(two(rest))"
    }

    /// When the text of a lease changes (monotonic nanoseconds); `nil` without one.
    var leaseTick: UInt64? {
        let ends = presentation.leaseEnds
        if ends.isEmpty { return nil }
        let wall = around.clock().milliseconds
        // The texts change together only if all ends have the same fraction of a second.
        let left = ends.lazy.map { $0.milliseconds - wall }.filter { $0 > 0 }
            .map { ($0 - 1) % 1_000 + 1 }.min()
        return left.map { now &+ UInt64($0) * 1_000_000 }
    }
}
