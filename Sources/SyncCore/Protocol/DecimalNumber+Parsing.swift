// Decimal numbers from text, by the grammar of JSON.

extension DecimalNumber {
    /// Parses a number in JSON syntax (`-1`, `0.10`, `2.5e3`); `nil` for other text and for numbers
    /// out of bounds.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        var tape = JSONTape()
        let number: DecimalNumber? = bytes.withUnsafeBufferPointer { buffer in
            let raw = UnsafeRawBufferPointer(buffer)
            guard let first = bytes.first, let last = bytes.last,
                first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= first,
                (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= last,
                (try? tape.scan(raw)) != nil
            else { return nil }
            return (try? tape.withRoot(of: raw) { root throws(JSONError) in try root.number() })
                .flatMap { $0 }
        }
        guard let number else { return nil }
        self = number
    }

    /// A number from text in JSON syntax; `nil` if it is out of bounds.
    @inline(__always)
    init?(grammatical text: UnsafeBufferPointer<UInt8>, isInteger: Bool) {
        guard isInteger, text.count <= 18 else {
            self.init(longOrFractional: text)
            return
        }
        // Up to 18 digits cannot overflow.
        var value: Int64 = 0
        let isNegative = text[0] == UInt8(ascii: "-")
        for index in (isNegative ? 1 : 0)..<text.count {
            value = value &* 10 &+ Int64(text[index] &- UInt8(ascii: "0"))
        }
        self.init(isNegative ? -value : value)
    }

    /// The number of significant digits that are read. Later ones must be zeros.
    private static let gatheredMax = 36
    /// All larger exponents have the same result: out of bounds, or zero.
    private static let exponentBound = 1_000_000

    private init?(longOrFractional text: UnsafeBufferPointer<UInt8>) {
        var digits: Int128 = 0
        var gathered = 0
        var power = 0
        var isFraction = false
        var index = text[0] == UInt8(ascii: "-") ? 1 : 0
        loop: while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "."):
                isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                break loop
            default:
                let digit = Int128(byte - UInt8(ascii: "0"))
                if gathered == Self.gatheredMax {
                    guard digit == 0 else { return nil }
                    if !isFraction { power += 1 }
                } else {
                    digits = digits * 10 + digit
                    if digits != 0 { gathered += 1 }
                    if isFraction { power -= 1 }
                }
            }
            index += 1
        }
        power += Self.exponent(text[index...])
        if text[0] == UInt8(ascii: "-") { digits = -digits }
        self.init(reading: digits, exponent: power)
    }

    /// The exact number, or the rounded digits of a double.
    private init?(reading significand: Int128, exponent: Int) {
        if let exact = DecimalNumber(significand: significand, exponent: exponent) {
            self = exact
        } else if let rounded = DecimalNumber(rounding: significand, exponent: exponent) {
            self = rounded
        } else {
            return nil
        }
    }

    /// The exponent in `e+12`, 0 if there is none, at most `exponentBound`.
    private static func exponent(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        var value = 0
        var isNegative = false
        for byte in text.dropFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "+"): break
            default: value = min(value * 10 + Int(byte - UInt8(ascii: "0")), exponentBound)
            }
        }
        return isNegative ? -value : value
    }
}
