// Numbers of sliders, steppers and gauges. On the wire they are decimals.

public import SyncCore

/// A number that a slider, a stepper or a gauge can hold.
public protocol NumberValue: SharedValue, Comparable {
    /// The number for a decimal; `nil` if the type cannot represent it.
    init?(decimal: DecimalNumber)

    /// The decimal value; `nil` for infinities, NaN and numbers that need more than 15 digits.
    var decimal: DecimalNumber? { get }
}

extension NumberValue {
    /// The JSON number.
    public init?(fieldValue: JSON) {
        guard case .number(let decimal) = fieldValue else { return nil }
        self.init(decimal: decimal)
    }

    /// The JSON number; `null`, which no number control accepts, if it has no decimal form.
    public var fieldValue: JSON { decimal.map { .number($0) } ?? .null }
}

extension NumberValue where Self: FixedWidthInteger {
    /// A whole number that the type holds.
    public init?(decimal: DecimalNumber) {
        guard let whole = decimal.integer else { return nil }
        self.init(exactly: whole)
    }

    /// The number itself; `nil` above `Int64.max`, which no control takes.
    public var decimal: DecimalNumber? { Int64(exactly: self).map { DecimalNumber($0) } }
}

extension Int: NumberValue {}
extension Int8: NumberValue {}
extension Int16: NumberValue {}
extension Int32: NumberValue {}
extension Int64: NumberValue {}
extension UInt: NumberValue {}
extension UInt8: NumberValue {}
extension UInt16: NumberValue {}
extension UInt32: NumberValue {}
extension UInt64: NumberValue {}

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
        isFinite ? DecimalNumber(description.lowercased()) : nil
    }
}

extension Float: NumberValue {
    /// The nearest float.
    public init?(decimal: DecimalNumber) {
        self.init(decimal.description)
    }

    /// The shortest decimal that reads as this float, so that 0.1 is 0.1.
    public var decimal: DecimalNumber? {
        isFinite ? DecimalNumber(description.lowercased()) : nil
    }
}
