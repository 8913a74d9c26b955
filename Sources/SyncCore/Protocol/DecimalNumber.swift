/// An exact decimal number: `significand × 10^exponent`.
///
/// Numbers on the wire and in forms are decimals, so that 0.1 + 0.2 is 0.3 on every way in. The
/// exponent remembers the precision that a number was written with (`0.10` has exponent -2), which
/// is how `step`, `min` and `max` say how a value is shown; two numbers of the same value are
/// equal whatever their exponents.
///
/// Bounds (PROTOCOL.md, Frames): a number written as an integer is exact to 64 bits; any other has
/// at most 15 significant digits and an exponent within ±15. Text of 16 or 17 digits, as a double
/// may need, is rounded to that.
public struct DecimalNumber: Sendable {
    /// The digits as a whole number.
    public let significand: Int64
    /// The power of ten, within -15…15.
    public let exponent: Int8

    /// The power of ten goes from minus this to this.
    public static let exponentMax = 15
    /// Significant digits of a number that is not written as an integer.
    public static let digitsMax = 15
    /// Significant digits that are read of one: the shortest text of a double has at most as many.
    public static let digitsReadMax = 17

    /// A whole number.
    public init(_ integer: Int64) {
        significand = integer
        exponent = 0
    }

    /// `significand × 10^exponent`; `nil` where the value lies outside the bounds however zeros are
    /// moved between the two.
    ///
    /// A whole number of 64 bits always gets exponent 0; otherwise the exponent given is kept
    /// where it can be.
    public init?(significand: Int128, exponent: Int) {
        var digits = significand
        var power = exponent
        if digits == 0 {
            self.init(
                unchecked: 0, exponent: Int8(min(max(power, -Self.exponentMax), 0)))
            return
        }
        if power > 0, let whole = Self.whole(digits, power) {
            self.init(whole)
            return
        }
        // Zeros at the end may move into the exponent where the digits would not fit otherwise, …
        while power < -Self.exponentMax || (power != 0 && digits.magnitude > Self.digitsBound),
            digits % 10 == 0
        {
            digits /= 10
            power += 1
        }
        // … and out of it where the exponent would not.
        while power > Self.exponentMax, digits.magnitude <= Self.digitsBound / 10 {
            digits *= 10
            power -= 1
        }
        guard let narrow = Int64(exactly: digits) else { return nil }
        guard power == 0 || digits.magnitude <= Self.digitsBound else { return nil }
        guard power.magnitude <= Self.exponentMax else { return nil }
        self.init(unchecked: narrow, exponent: Int8(power))
    }

    /// `digits × 10^power` where 64 bits hold it. `digits` is not zero, so few steps settle it.
    private static func whole(_ digits: Int128, _ power: Int) -> Int64? {
        var whole = digits
        for _ in 0..<power {
            guard whole.magnitude <= integerBound else { return nil }
            whole *= 10
        }
        return Int64(exactly: whole)
    }

    private static let digitsBound: UInt128 = 999_999_999_999_999
    private static let integerBound: UInt128 = 1 << 63

    /// `digits × 10^power` of 16 or 17 significant digits, rounded to 15 and to at most 15 places
    /// after the point; halves go away from zero. `nil` for fewer digits and for more, and where
    /// the result lies outside the bounds.
    init?(rounding digits: Int128, exponent power: Int) {
        var digits = digits
        var power = power
        while digits != 0, digits % 10 == 0 {
            digits /= 10
            power += 1
        }
        guard digits.magnitude > Self.digitsBound, digits.magnitude < Self.readBound else {
            return nil
        }
        let spare = digits.magnitude > Self.digitsBound * 10 + 9 ? 2 : 1
        self.init(
            significand: digits, exponent: power,
            dropping: Swift.max(spare, -Self.exponentMax - power))
    }

    private static let readBound: UInt128 = 100_000_000_000_000_000

    /// The number rounded to so many places after the point, halves away from zero.
    func rounded(places: Int) -> DecimalNumber {
        guard fractionDigits > places else { return self }
        return DecimalNumber(
            significand: Int128(significand), exponent: Int(exponent),
            dropping: fractionDigits - places) ?? self
    }

    /// The number without its last `count` digits, rounded; zeros at the end are no precision.
    private init?(significand: Int128, exponent: Int, dropping count: Int) {
        guard count < Self.digitsReadMax else { return nil }
        var unit: Int128 = 1
        for _ in 0..<count { unit *= 10 }
        var digits = (significand + significand.signum() * (unit / 2)) / unit
        var power = exponent + count
        while digits != 0, digits % 10 == 0, power < 0 {
            digits /= 10
            power += 1
        }
        self.init(significand: digits, exponent: power)
    }

    /// The number zero.
    public static let zero = DecimalNumber(0)

    /// How many digits after the point this was written with: `0.10` has 2, `3` has 0.
    public var fractionDigits: Int { max(0, -Int(exponent)) }

    /// The value where it is whole and fits 64 bits.
    public var integer: Int64? {
        let wide = scaled(to: 0)
        return wide.flatMap { Int64(exactly: $0) }
    }

    /// The significand that stands for this value at another exponent; `nil` where digits would be
    /// lost or 128 bits do not hold it.
    public func scaled(to target: Int) -> Int128? {
        var digits = Int128(significand)
        var power = Int(exponent)
        while power > target {
            let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            digits = product
            power -= 1
        }
        while power < target {
            guard digits % 10 == 0 else { return nil }
            digits /= 10
            power += 1
        }
        return digits
    }

    /// The same value with trailing zeros moved into the exponent: the form that is hashed.
    private var reduced: (significand: Int64, exponent: Int) {
        var digits = significand
        var power = Int(exponent)
        if digits == 0 { return (0, 0) }
        while digits % 10 == 0 {
            digits /= 10
            power += 1
        }
        return (digits, power)
    }
}

// MARK: - Comparison

extension DecimalNumber: Hashable, Comparable {
    /// Equality of values: `0.5` is `0.50`.
    public static func == (left: DecimalNumber, right: DecimalNumber) -> Bool {
        left.reduced == right.reduced
    }

    /// Hashes the value, not how it was written.
    public func hash(into hasher: inout Hasher) {
        let (digits, power) = reduced
        hasher.combine(digits)
        hasher.combine(power)
    }

    /// Order of values.
    public static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.significand.signum() != right.significand.signum() {
            return left.significand.signum() < right.significand.signum()
        }
        let common = Int(min(left.exponent, right.exponent))
        // 19 digits shifted by at most 30 places can leave 128 bits: the larger magnitude is then
        // the one that overflowed, since the other is at the common exponent already.
        switch (left.scaled(to: common), right.scaled(to: common)) {
        case (let left?, let right?): return left < right
        case (nil, _): return left.significand < 0
        case (_, nil): return right.significand > 0
        }
    }
}

// MARK: - Arithmetic

extension DecimalNumber {
    /// The exact sum, with the finer of the two precisions; `nil` where it leaves the bounds.
    public func adding(_ other: DecimalNumber) -> DecimalNumber? {
        let common = Int(min(exponent, other.exponent))
        guard let left = scaled(to: common), let right = other.scaled(to: common) else {
            return nil
        }
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : DecimalNumber(significand: sum, exponent: common)
    }

    /// The exact difference, with the finer of the two precisions; `nil` where it leaves the
    /// bounds.
    public func subtracting(_ other: DecimalNumber) -> DecimalNumber? {
        other.negated.flatMap(adding)
    }

    /// The number with the other sign; `nil` for the smallest 64-bit integer.
    public var negated: DecimalNumber? {
        DecimalNumber(significand: -Int128(significand), exponent: Int(exponent))
    }
}

// MARK: - Text

extension DecimalNumber: CustomStringConvertible {
    /// Plain notation with the precision that it was written with: `0.30`, `-4`, `1500`; only
    /// beyond 64-bit integers with an exponent: `5e19`.
    ///
    /// This is valid JSON, and parsing it gives an equal number.
    public var description: String {
        var digits = String(significand.magnitude)
        let sign = significand < 0 ? "-" : ""
        if exponent > 0 { return sign + digits + "e" + String(exponent) }
        if exponent == 0 { return sign + digits }
        let places = Int(-exponent)
        if digits.utf8.count <= places {
            digits = String(repeating: "0", count: places + 1 - digits.utf8.count) + digits
        }
        let split = digits.index(digits.endIndex, offsetBy: -places)
        return sign + digits[..<split] + "." + digits[split...]
    }

    /// Plain notation with exactly `fractionDigits` digits after the point, or more where the value
    /// needs them.
    public func formatted(fractionDigits: Int) -> String {
        var places = min(max(fractionDigits, 0), Self.exponentMax)
        while places < Self.exponentMax, scaled(to: -places) == nil { places += 1 }
        guard let digits = scaled(to: -places).flatMap({ Int64(exactly: $0) }) else {
            return description
        }
        return DecimalNumber(unchecked: digits, exponent: Int8(-places)).description
    }

    private init(unchecked significand: Int64, exponent: Int8) {
        self.significand = significand
        self.exponent = exponent
    }
}
