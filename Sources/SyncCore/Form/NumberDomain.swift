// Decimal arithmetic of sliders, steppers and gauges: bounds, grids, precision.
//
// Invariants: sums are exact or rejected, never rounded by binary fractions. `min`, `max` and
// `step` fit the finest exponent, which the parser checks, so values between the bounds do too.

extension NumberDomain {
    /// Whether a number is within the bounds.
    public func contains(_ number: DecimalNumber) -> Bool {
        if let min, number < min { return false }
        if let max, number > max { return false }
        return true
    }

    /// The number, or the nearest bound.
    public func clamped(_ number: DecimalNumber) -> DecimalNumber {
        if let min, number < min { return min }
        if let max, number > max { return max }
        return number
    }

    /// The number with the precision of the domain, or more digits if it needs them.
    public func withPrecision(_ number: DecimalNumber) -> DecimalNumber {
        for digits in fractionDigits...DecimalNumber.exponentMax {
            if let scaled = number.scaled(to: -digits) {
                return DecimalNumber(significand: scaled, exponent: -digits) ?? number
            }
        }
        return number
    }

    /// The number. On a control with a step, a number with as many digits as possible is rounded to
    /// the step's precision, because such digits come from arithmetic with doubles.
    func withoutNoise(_ number: DecimalNumber) -> DecimalNumber {
        guard step != nil, number.significand.magnitude >= Self.noisy else { return number }
        return number.rounded(places: fractionDigits)
    }

    /// The least significand with 15 digits.
    private static let noisy: UInt64 = 100_000_000_000_000

    /// How a number between two steps is rounded.
    public enum Rounding: Hashable, Sendable {
        /// To the nearest step; up if both are equally near.
        case nearest
        case up, down
    }

    /// The number rounded to the grid; the number itself if there is no step.
    ///
    /// The grid starts at `min`, or else at 0, and has no value beyond a bound, so the last step
    /// may be below `max`. `nil` if the sums do not fit in 128 bits.
    public func snapped(_ number: DecimalNumber, _ rounding: Rounding = .nearest) -> DecimalNumber?
    {
        guard let step else { return withPrecision(number) }
        let start = min ?? .zero
        let exponent = Swift.min(
            Int(number.exponent), Int(step.exponent), Int(start.exponent), Int(max?.exponent ?? 0))
        guard let value = number.scaled(to: exponent), let width = step.scaled(to: exponent),
            let origin = start.scaled(to: exponent)
        else { return nil }
        let (offset, overflow) = value.subtractingReportingOverflow(origin)
        if overflow { return nil }
        var steps = Self.floorQuotient(offset, width)
        let rest = offset - steps * width
        switch rounding {
        case .nearest: if rest >= width - rest { steps += 1 }
        case .up: if rest > 0 { steps += 1 }
        case .down: break
        }
        if let max {
            guard let top = max.scaled(to: exponent) else { return nil }
            let (span, overflow) = top.subtractingReportingOverflow(origin)
            if overflow { return nil }
            steps = Swift.min(steps, Self.floorQuotient(span, width))
        }
        if min != nil { steps = Swift.max(steps, 0) }
        let (distance, tooFar) = steps.multipliedReportingOverflow(by: width)
        let (sum, tooLarge) = origin.addingReportingOverflow(distance)
        if tooFar || tooLarge { return nil }
        return DecimalNumber(significand: sum, exponent: exponent).map(withPrecision)
    }

    private static func floorQuotient(_ dividend: Int128, _ divisor: Int128) -> Int128 {
        let quotient = dividend / divisor
        return dividend % divisor < 0 ? quotient - 1 : quotient
    }

    /// Whether every value of this grid is on `other`'s grid.
    func isOnGrid(of other: NumberDomain) -> Bool {
        guard let otherStep = other.step else { return true }
        guard let step else { return false }
        let from = min ?? .zero
        let to = other.min ?? .zero
        let exponent = Swift.min(
            Int(step.exponent), Int(otherStep.exponent), Int(from.exponent), Int(to.exponent))
        guard let own = step.scaled(to: exponent), let width = otherStep.scaled(to: exponent),
            let start = from.scaled(to: exponent), let origin = to.scaled(to: exponent)
        else { return false }
        return own % width == 0 && (start - origin) % width == 0
    }

    /// The domain in words: `a number from 0 to 100 in steps of 5`.
    func inWords(showingStep: Bool) -> String {
        let range =
            switch (min, max) {
            case (let min?, let max?): " from \(min) to \(max)"
            case (let min?, nil): " from \(min)"
            case (nil, let max?): " up to \(max)"
            case (nil, nil): ""
            }
        guard showingStep, let step else { return "a number" + range }
        return "a number" + range + " in steps of \(step)"
    }
}
