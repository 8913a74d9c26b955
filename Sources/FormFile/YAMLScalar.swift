internal import SyncCore

// The value of a plain scalar: the core schema of YAML 1.2.2, 10.3.2, and nothing more.
//
// `on`, `no`, `yes`, dates and `1_000` are strings. Everything in quotes or a block is a string.
// Numbers become exact decimals; a number that a decimal cannot represent is refused, never
// rounded.

enum YAMLScalar {
    /// A scalar, or why a form cannot contain it.
    enum Resolved: Equatable {
        case value(JSON)
        case refused(String, expected: String)
    }

    /// The longest word with a meaning: `false`.
    private static let wordBytesMax = 5

    /// The value of a plain scalar without a tag.
    static func resolve(_ text: String) -> Resolved {
        // Comparing a long text with a word can take long: see `CombiningMarks`.
        guard text.utf8.count <= wordBytesMax else { return number(text) ?? .value(.string(text)) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .value(.null)
        case "true", "True", "TRUE": return .value(.bool(true))
        case "false", "False", "FALSE": return .value(.bool(false))
        default: return number(text) ?? .value(.string(text))
        }
    }

    /// The value of a scalar that carries a tag of the core schema; `nil` for any other tag.
    static func resolve(_ text: String, tag: String) -> Resolved? {
        if tag == core("str") { return .value(.string(text)) }
        let resolved = resolve(text)
        switch (tag, resolved) {
        case (core("null"), .value(.null)), (core("bool"), .value(.bool)),
            (core("float"), .value(.number)), (core("int"), .refused), (core("float"), .refused):
            return resolved
        case (core("int"), .value(.number(let number))) where number.integer != nil:
            return resolved
        case (core("null"), _): return mismatch(text, "null")
        case (core("bool"), _): return mismatch(text, "true or false")
        case (core("int"), _): return mismatch(text, "a whole number")
        case (core("float"), _): return mismatch(text, "a number")
        default: return nil
        }
    }

    /// The long form of a core tag: `!!str` is `tag:yaml.org,2002:str`.
    static func core(_ name: String) -> String { "tag:yaml.org,2002:" + name }

    /// A tag as people write it.
    static func rendered(_ tag: String) -> String {
        let prefix = core("")
        return tag.hasPrefix(prefix) ? "!!" + tag.dropFirst(prefix.count) : tag
    }

    private static func mismatch(_ text: String, _ expected: String) -> Resolved {
        .refused("\"\(text)\" is not what its tag says", expected: expected)
    }

    // MARK: Numbers

    private static let tooLarge = Resolved.refused(
        "a number that does not fit",
        expected: "an integer of 64 bits, or a decimal of at most "
            + "\(DecimalNumber.digitsReadMax) digits"
    )

    /// `nil` if the text is not a number.
    private static func number(_ text: String) -> Resolved? {
        var rest = Array(text.utf8)[...]
        let sign = rest.first
        let isSigned = sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+")
        if isSigned { rest = rest.dropFirst() }
        switch (rest.count, String(decoding: rest.prefix(5), as: UTF8.self)) {
        case (4, ".inf"), (4, ".Inf"), (4, ".INF"):
            return .refused("infinity is not a value", expected: "a finite number")
        case (4, ".nan"), (4, ".NaN"), (4, ".NAN"):
            return isSigned ? nil : .refused("\(text) is not a value", expected: "a finite number")
        default: break
        }
        if !isSigned, rest.count > 2, rest[0] == UInt8(ascii: "0") {
            if rest[1] == UInt8(ascii: "o") { return integer(rest.dropFirst(2), radix: 8) }
            if rest[1] == UInt8(ascii: "x") { return integer(rest.dropFirst(2), radix: 16) }
        }
        return decimal(rest, isNegative: sign == UInt8(ascii: "-"))
    }

    private static func integer(_ digits: ArraySlice<UInt8>, radix: Int) -> Resolved? {
        var value: Int64 = 0
        var fits = true
        for byte in digits {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix else {
                return nil
            }
            let (product, isOver) = value.multipliedReportingOverflow(by: Int64(radix))
            let (sum, isOverToo) = product.addingReportingOverflow(Int64(digit))
            fits = fits && !isOver && !isOverToo
            value = sum
        }
        return fits ? .value(.number(DecimalNumber(value))) : tooLarge
    }

    /// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, after the sign.
    private static func decimal(_ bytes: ArraySlice<UInt8>, isNegative: Bool) -> Resolved? {
        var rest = bytes
        let whole = takeDigits(&rest)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = takeDigits(&rest)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var power = 0
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            let sign = rest.first
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let digits = takeDigits(&rest)
            guard !digits.isEmpty else { return nil }
            // Every larger exponent is out of range too; the digits alone cannot reach it.
            let ceiling = 10_000_000
            power = digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), ceiling) }
            if sign == UInt8(ascii: "-") { power = -power }
        }
        guard rest.isEmpty else { return nil }
        return exact(digits: whole + fraction, power - fraction.count, isNegative)
    }

    private static func exact(
        digits: ArraySlice<UInt8>, _ power: Int, _ isNegative: Bool
    ) -> Resolved {
        var significand: Int128 = 0
        for digit in digits {
            let (tenfold, isOver) = significand.multipliedReportingOverflow(by: 10)
            let (sum, isOverToo) = tenfold.addingReportingOverflow(
                Int128(digit - UInt8(ascii: "0")))
            guard !isOver, !isOverToo else { return tooLarge }
            significand = sum
        }
        // Zero is zero at every exponent; for other numbers, 128 bits hold 38 digits, so a larger
        // exponent is always out of range.
        let bound = DecimalNumber.exponentMax
        let exponent = significand == 0 ? min(max(power, -bound), bound) : power
        guard abs(exponent) <= 38 + bound,
            let number = DecimalNumber(
                significand: isNegative ? -significand : significand, exponent: exponent)
        else { return tooLarge }
        return .value(.number(number))
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}
