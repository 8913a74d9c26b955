// Converts between values and positions on a track.

public import SyncCore

/// The bounds of a slider or gauge.
public struct TrackRange: Hashable, Sendable {
    public var min: DecimalNumber
    public var max: DecimalNumber

    /// From `min` to `max`.
    public init(min: DecimalNumber, max: DecimalNumber) {
        self.min = min
        self.max = max
    }

    /// From 0 to 1, the bounds of a domain that has none.
    static let unit = TrackRange(min: .zero, max: DecimalNumber(1))

    /// The bounds of a domain that has both.
    public init?(_ domain: NumberDomain) {
        guard let min = domain.min, let max = domain.max else { return nil }
        self.init(min: min, max: max)
    }

    /// The place of 0…`last` that is nearest to a value; values beyond the bounds are at the ends.
    public func position(of value: DecimalNumber, last: Int) -> Int {
        if value <= min || last <= 0 { return 0 }
        if value >= max { return last }
        let exponent = Swift.min(Int(value.exponent), Int(min.exponent), Int(max.exponent))
        guard let origin = min.scaled(to: exponent), let top = max.scaled(to: exponent),
            let here = value.scaled(to: exponent)
        else { return 0 }
        let (span, spanOverflow) = top.subtractingReportingOverflow(origin)
        let (offset, offsetOverflow) = here.subtractingReportingOverflow(origin)
        if spanOverflow || offsetOverflow || span <= 0 { return 0 }
        let (wide, overflow) = offset.multipliedReportingOverflow(by: Int128(last) * 2)
        if overflow || wide > Int128.max - span {
            // Digits that no screen could show are dropped.
            let step = span / Int128(last)
            return step > 0 ? Swift.min(last, Int(clamping: offset / step)) : 0
        }
        return Int(clamping: (wide + span) / (span * 2))
    }

    /// The value at a place of 0…`last`, with three digits more than the bounds have. The domain
    /// snaps it to its steps.
    public func value(at position: Int, last: Int) -> DecimalNumber? {
        if position <= 0 || last <= 0 { return min }
        if position >= last { return max }
        let exponent = Swift.max(
            -DecimalNumber.exponentMax, Swift.min(Int(min.exponent), Int(max.exponent)) - 3)
        guard let origin = min.scaled(to: exponent), let top = max.scaled(to: exponent) else {
            return nil
        }
        let (span, spanOverflow) = top.subtractingReportingOverflow(origin)
        let (wide, overflow) = span.multipliedReportingOverflow(by: Int128(position))
        if spanOverflow || overflow { return nil }
        return DecimalNumber(significand: origin + wide / Int128(last), exponent: exponent)
    }
}
