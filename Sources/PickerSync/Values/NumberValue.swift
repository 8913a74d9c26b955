// Numbers of sliders, steppers and gauges. On the wire they are decimals.

public import SyncCore

/// A number that a slider, a stepper or a gauge can hold.
public protocol NumberValue: SharedValue, Comparable {
    /// The number that a decimal stands for; `nil` where the type does not hold it.
    init?(decimal: DecimalNumber)

    /// The decimal that is meant; `nil` for infinities, what is no number and what 15 digits do not
    /// hold.
    var decimal: DecimalNumber? { get }
}

extension NumberValue {
    /// The JSON number.
    public init?(fieldValue: JSON) {
        guard case .number(let decimal) = fieldValue else { return nil }
        self.init(decimal: decimal)
    }

    /// The JSON number; `null`, which no number control takes, where there is no decimal.
    public var fieldValue: JSON { decimal.map { .number($0) } ?? .null }
}

extension Int: NumberValue {
    /// A whole number that the type holds.
    public init?(decimal: DecimalNumber) {
        guard let whole = decimal.integer else { return nil }
        self.init(exactly: whole)
    }

    /// The number itself.
    public var decimal: DecimalNumber? { Int64(exactly: self).map { DecimalNumber($0) } }
}

extension DecimalNumber: NumberValue {
    /// The number itself.
    public init?(decimal: DecimalNumber) {
        self = decimal
    }

    /// The number itself.
    public var decimal: DecimalNumber? { self }
}

extension Double: NumberValue {
    /// The nearest double.
    public init?(decimal: DecimalNumber) {
        self.init(decimal.description)
    }

    /// The shortest decimal that reads as this double, so that 0.1 is 0.1; where that has more than
    /// 15 digits, as 0.1 + 0.2 has, the decimal of 15 digits nearest to it.
    public var decimal: DecimalNumber? {
        guard isFinite else { return nil }
        if let short = DecimalNumber(description.lowercased()) { return short }
        // `1.2345678901234567e-05`: digits, point, digits, exponent.
        let parts = description.lowercased().split(separator: "e")
        guard var exponent = parts.count == 2 ? Int(parts[1]) : 0 else { return nil }
        let mantissa = parts[0].split(separator: ".")
        if mantissa.count == 2 { exponent -= mantissa[1].utf8.count }
        guard var digits = Int128(mantissa.joined()) else { return nil }
        while digits.magnitude >= 1_000_000_000_000_000 {
            let carry: Int128 = (digits % 10).magnitude >= 5 ? digits.signum() : 0
            digits = digits / 10 + carry
            exponent += 1
        }
        // Zeros that rounding left would count as precision.
        while digits != 0, digits % 10 == 0, exponent < 0 {
            digits /= 10
            exponent += 1
        }
        return DecimalNumber(significand: digits, exponent: exponent)
    }
}
