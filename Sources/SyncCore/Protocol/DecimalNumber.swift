/// An exact decimal number: `significand × 10^exponent`.
///
/// Numbers in the protocol and in forms are decimal, so 0.1 + 0.2 is 0.3 everywhere. The exponent
/// keeps the precision with which a number was written (`0.10` has exponent -2), which is how
/// `step`, `min` and `max` determine the format of a value. Numbers with the same value are equal,
/// whatever their exponents.
///
/// Limits (PROTOCOL.md, Frames): an integer is exact to 64 bits. Any other number has at most 15
/// significant digits and an exponent within ±15. Text with 16 or 17 digits, as a double may need,
/// is rounded.
public struct DecimalNumber: Sendable {
    /// The digits as an integer.
    public let significand: Int64
    /// The power of ten, in -15…15.
    public let exponent: Int8

    /// The largest absolute value of the power of ten.
    public static let exponentMax = 15
    /// The most significant digits in text. The shortest text of a double has no more.
    public static let digitsReadMax = 17

    /// A whole number.
    public init(_ integer: Int64) {
        significand = integer
        exponent = 0
    }

    /// `significand × 10^exponent`; `nil` if the value is out of bounds even after zeros are moved
    /// between the two.
    ///
    /// An integer of 64 bits always gets exponent 0. Otherwise the given exponent is kept if
    /// possible.
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
        // Trailing zeros are moved to the exponent if the digits do not fit otherwise, …
        while power < -Self.exponentMax || (power != 0 && digits.magnitude > Self.digitsBound),
            digits % 10 == 0
        {
            digits /= 10
            power += 1
        }
        // … and from it if the exponent does not fit.
        while power > Self.exponentMax, digits.magnitude <= Self.digitsBound / 10 {
            digits *= 10
            power -= 1
        }
        guard let narrow = Int64(exactly: digits) else { return nil }
        guard power == 0 || digits.magnitude <= Self.digitsBound else { return nil }
        guard power.magnitude <= Self.exponentMax else { return nil }
        self.init(unchecked: narrow, exponent: Int8(power))
    }

    /// `digits × 10^power` if it fits in 64 bits. `digits` is not zero, so the loop is short.
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

    /// `digits × 10^power` with 16 or 17 significant digits, rounded to 15 digits and at most 15
    /// decimal places; halves are rounded away from zero. `nil` for other numbers of digits, and if
    /// the result is out of bounds.
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

    /// The number rounded to decimal places; halves are rounded away from zero.
    func rounded(places: Int) -> DecimalNumber {
        guard fractionDigits > places else { return self }
        return DecimalNumber(
            significand: Int128(significand), exponent: Int(exponent),
            dropping: fractionDigits - places) ?? self
    }

    /// The number without its last `count` digits, rounded. Trailing zeros are not significant.
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

    /// The number of decimal places in the text: `0.10` has 2, `3` has 0.
    public var fractionDigits: Int { max(0, -Int(exponent)) }

    /// The value if it is an integer of 64 bits.
    public var integer: Int64? {
        let wide = scaled(to: 0)
        return wide.flatMap { Int64(exactly: $0) }
    }

    /// The significand of this value for another exponent; `nil` if digits would be lost or it does
    /// not fit in 128 bits.
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

    /// The same value with trailing zeros moved to the exponent, for hashing.
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

    /// Hashes the value, not its precision.
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
        // 19 digits shifted by 30 places can exceed 128 bits. Then the number that does not fit has
        // the larger absolute value, because the other one already has the common exponent.
        switch (left.scaled(to: common), right.scaled(to: common)) {
        case (let left?, let right?): return left < right
        case (nil, _): return left.significand < 0
        case (_, nil): return right.significand > 0
        }
    }
}

// MARK: - Arithmetic

extension DecimalNumber {
    /// The exact sum, with the finer precision; `nil` if it is out of bounds.
    public func adding(_ other: DecimalNumber) -> DecimalNumber? {
        let common = Int(min(exponent, other.exponent))
        guard let left = scaled(to: common), let right = other.scaled(to: common) else {
            return nil
        }
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : DecimalNumber(significand: sum, exponent: common)
    }

    /// The exact difference, with the finer precision; `nil` if it is out of bounds.
    public func subtracting(_ other: DecimalNumber) -> DecimalNumber? {
        other.negated.flatMap(adding)
    }

    /// The number with the opposite sign; `nil` for the smallest 64-bit integer.
    public var negated: DecimalNumber? {
        DecimalNumber(significand: -Int128(significand), exponent: Int(exponent))
    }
}

// MARK: - Text

extension DecimalNumber: CustomStringConvertible {
    /// Plain notation with the number's precision: `0.30`, `-4`, `1500`. Only beyond 64-bit
    /// integers with an exponent: `5e19`.
    ///
    /// This is valid JSON, and parsing it gives an equal number.
    public var description: String {
        if exponent == 0 { return Self.digits(of: significand) }
        var digits = String(significand.magnitude)
        let sign = significand < 0 ? "-" : ""
        if exponent > 0 { return sign + digits + "e" + String(exponent) }
        let places = Int(-exponent)
        if digits.utf8.count <= places {
            digits = String(repeating: "0", count: places + 1 - digits.utf8.count) + digits
        }
        let split = digits.index(digits.endIndex, offsetBy: -places)
        return sign + digits[..<split] + "." + digits[split...]
    }

    /// Plain notation with exactly `fractionDigits` decimal places, or more if the value needs
    /// them.
    public func formatted(fractionDigits: Int) -> String {
        var places = min(max(fractionDigits, 0), Self.exponentMax)
        while places < Self.exponentMax, scaled(to: -places) == nil { places += 1 }
        guard let digits = scaled(to: -places).flatMap({ Int64(exactly: $0) }) else {
            return description
        }
        return DecimalNumber(unchecked: digits, exponent: Int8(-places)).description
    }

    /// An integer as text. A form with many options needs one for each tag, so this is fast.
    private static func digits(of number: Int64) -> String {
        // With the exact capacity, a string of up to 15 digits needs no allocation.
        let count = number.digits
        return String(unsafeUninitializedCapacity: count) { text in
            var place = count
            var rest = number.magnitude
            repeat {
                place -= 1
                text[place] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
                rest /= 10
            } while rest > 0
            if number < 0 { text[0] = UInt8(ascii: "-") }
            return count
        }
    }

    private init(unchecked significand: Int64, exponent: Int8) {
        self.significand = significand
        self.exponent = exponent
    }
}

extension Int64 {
    /// Bytes of it as decimal text.
    var digits: Int {
        var count = self < 0 ? 2 : 1
        var rest = magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }
}
