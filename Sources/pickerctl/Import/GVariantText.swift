internal import SyncCore

// GVariant's text format as far as defaults of settings need it: booleans, numbers with or without
// a type, strings in either quotes, lists of these (GLib, GVariant Text Format).

/// Reads a default.
struct GVariantText {
    /// Lists and types inside each other: GLib's parser takes 64.
    private static let depthMax = 64

    private var rest: Substring.UnicodeScalarView
    private var depth = 0

    /// The value of a text; `nil` for types that no control supports, and for invalid text.
    static func value(_ text: String) -> JSON? {
        var reader = GVariantText(text[...].unicodeScalars)
        guard let value = reader.value() else { return nil }
        reader.skipSpace()
        return reader.rest.isEmpty ? value : nil
    }

    private init(_ text: Substring.UnicodeScalarView) { rest = text }

    private mutating func skipSpace() {
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
    }

    private mutating func value() -> JSON? {
        guard depth < Self.depthMax else { return nil }
        depth += 1
        defer { depth -= 1 }
        skipSpace()
        guard let first = rest.first else { return nil }
        switch first {
        case "'", "\"": return string(first)
        case "[": return list()
        case "@":
            // `@as []`: a type, then the value.
            while let next = rest.first, !next.properties.isWhitespace {
                _ = next
                rest.removeFirst()
            }
            return value()
        default: return word()
        }
    }

    private mutating func list() -> JSON? {
        rest.removeFirst()
        var elements: [JSON] = []
        while true {
            skipSpace()
            if rest.first == "]" {
                rest.removeFirst()
                return .array(elements)
            }
            guard let element = value() else { return nil }
            elements.append(element)
            skipSpace()
            if rest.first == "," { rest.removeFirst() } else if rest.first != "]" { return nil }
        }
    }

    private mutating func word() -> JSON? {
        let isWordy = { (scalar: Unicode.Scalar) in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "+-._".unicodeScalars
                    .contains(scalar)
        }
        let text = String(rest.prefix(while: isWordy))
        guard !text.isEmpty else { return nil }
        rest = rest.dropFirst(text.unicodeScalars.count)
        switch text {
        case "true": return true
        case "false": return false
        case "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "double",
            "objectpath",
            "signature", "boolean", "string":
            return value()
        default: return Self.number(text)
        }
    }

    private static func number(_ text: String) -> JSON? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            return Int64(digits.dropFirst(2), radix: 16).map { .integer(isNegative ? -$0 : $0) }
        }
        // GVariant also writes `1.` and `.5`, which are not valid JSON.
        var decimal = digits.hasPrefix(".") ? "0" + digits : String(digits)
        if decimal.hasSuffix(".") { decimal += "0" }
        return DecimalNumber((isNegative ? "-" : "") + decimal).map { .number($0) }
    }

    private mutating func string(_ quote: Unicode.Scalar) -> JSON? {
        rest.removeFirst()
        var text = ""
        while let scalar = rest.popFirst() {
            if scalar == quote { return .string(text) }
            guard scalar == "\\" else {
                text.unicodeScalars.append(scalar)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            switch escaped {
            case "n": text += "\n"
            case "t": text += "\t"
            case "r": text += "\r"
            case "u", "U":
                let digits = rest.prefix(escaped == "u" ? 4 : 8)
                guard let number = UInt32(String(digits), radix: 16),
                    let scalar = Unicode.Scalar(number)
                else { return nil }
                rest = rest.dropFirst(digits.count)
                text.unicodeScalars.append(scalar)
            default: text.unicodeScalars.append(escaped)
            }
        }
        return nil
    }
}
