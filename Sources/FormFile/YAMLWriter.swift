public import SyncCore

// Writes a value as YAML in the style that people use: block style, short lists of words in
// brackets, quotes only where a plain word would mean something else, text of several lines as `|`.
//
// Invariants: `YAMLDocument.parse` of the text returns the same value, and the text contains no raw
// control or bidirectional character (FORM.md, Types, last paragraph). Words that YAML 1.1 reads as
// something else (`yes`, `on`, dates) are quoted too, because other programs may read the file.

/// Writes values as YAML.
public enum YAMLWriter {
    /// The value as one YAML document that ends with a newline.
    public static func text(of json: JSON) -> String {
        var writer = Writer()
        writer.root(json)
        return writer.text
    }
}

private struct Writer {
    var text = ""

    /// A list of scalars is written on one line up to this column.
    private static let lineMax = 80
    /// libyaml accepts a name without `?` up to 1024 characters (YAML 1.2.2, 7.4.2).
    private static let simpleKeyBytesMax = 1000

    mutating func root(_ json: JSON) {
        switch json {
        case .object(let object) where !object.isEmpty: members(object, indent: 0)
        case .array(let elements) where !isShort(elements, column: 0):
            self.elements(elements, indent: 0)
        default: inline(json, indent: 0)
        }
    }

    /// Writes members: the first at the current position, the others at `indent`.
    private mutating func members(_ object: JSONObject, indent: Int) {
        for (index, member) in object.members.enumerated() {
            if index > 0 { pad(indent) }
            let key = Scalar.quotedKey(member.name)
            if key.utf8.count > Self.simpleKeyBytesMax {
                text += "? \(key)\n"
                pad(indent)
            } else {
                text += key
            }
            text += ":"
            switch member.value {
            case .object(let inner) where !inner.isEmpty:
                text += "\n"
                pad(indent + 2)
                members(inner, indent: indent + 2)
            case .array(let inner) where !isShort(inner, column: indent + key.utf8.count + 2):
                text += "\n"
                pad(indent + 2)
                elements(inner, indent: indent + 2)
            default:
                text += " "
                inline(member.value, indent: indent)
            }
        }
    }

    /// Writes elements: the first at the current position, the others at `indent`.
    private mutating func elements(_ elements: [JSON], indent: Int) {
        for (index, element) in elements.enumerated() {
            if index > 0 { pad(indent) }
            text += "- "
            switch element {
            case .object(let inner) where !inner.isEmpty: members(inner, indent: indent + 2)
            case .array(let inner) where !isShort(inner, column: indent + 2):
                self.elements(inner, indent: indent + 2)
            default: inline(element, indent: indent)
            }
        }
    }

    /// Writes a value on the current line and ends the line. Its parent is at `indent`.
    private mutating func inline(_ json: JSON, indent: Int) {
        if case .string(let string) = json, Scalar.isFitForBlock(string) {
            block(string, indent: indent + 2)
        } else {
            text += flow(json) + "\n"
        }
    }

    private mutating func block(_ string: String, indent: Int) {
        let ends = string.utf8.last == UInt8(ascii: "\n")
        text += ends ? "|\n" : "|-\n"
        let body = ends ? string.dropLast() : string[...]
        for line in body.split(separator: "\n", omittingEmptySubsequences: false) {
            // An empty line needs no indentation, and people's editors would strip it.
            if !line.isEmpty { pad(indent) }
            text += line
            text += "\n"
        }
    }

    /// Whether a list is written as `[a, b]`: scalars alone, of one line, that fit.
    private func isShort(_ elements: [JSON], column: Int) -> Bool {
        var width = column + 2
        for element in elements {
            switch element {
            case .array, .object: return false
            case .string(let string) where string.utf8.contains(UInt8(ascii: "\n")): return false
            default: break
            }
            width += flow(element).unicodeScalars.count + 2
            if width > Self.lineMax { return false }
        }
        return true
    }

    private func flow(_ json: JSON, inList: Bool = false) -> String {
        switch json {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): number.description
        case .string(let string): Scalar.quoted(string, inList: inList)
        case .array(let elements):
            "[" + elements.map { flow($0, inList: true) }.joined(separator: ", ") + "]"
        case .object: "{}"
        }
    }

    private mutating func pad(_ count: Int) {
        text += String(repeating: " ", count: count)
    }
}

// MARK: - Scalars

private enum Scalar {
    /// A string as a plain word if that has the same meaning, otherwise in quotes.
    static func quoted(_ string: String, inList: Bool) -> String {
        isPlain(string, inList: inList) ? string : inQuotes(string)
    }

    /// The name of a member. Names are text whatever they look like, but other readers differ.
    static func quotedKey(_ name: String) -> String {
        quoted(name, inList: false)
    }

    /// Whether a string is written as a block: several lines, of which the first shows where the
    /// indentation ends, and nothing that a block cannot show.
    static func isFitForBlock(_ string: String) -> Bool {
        let bytes = string.utf8
        guard let first = bytes.first, first != UInt8(ascii: "\n"), first != UInt8(ascii: " "),
            first != UInt8(ascii: "\t"), bytes.dropLast().contains(UInt8(ascii: "\n"))
        else { return false }
        let ending = bytes.suffix(2)
        return !ending.elementsEqual([UInt8(ascii: "\n"), UInt8(ascii: "\n")])
            && string.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || isPrintable($0) }
    }

    /// Whether a character is written as it is: YAML allows it raw, and terminals do not interpret
    /// it.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        !SafeText.isHarmful(scalar) && scalar.value != 0xFEFF && scalar.value & 0xFFFE != 0xFFFE
    }

    private static func inQuotes(_ string: String) -> String {
        let scalars = string.unicodeScalars
        if scalars.allSatisfy(isPrintable) {
            if !scalars.contains("\"") && !scalars.contains("\\") { return "\"\(string)\"" }
            var text = "'"
            for scalar in scalars {
                text.unicodeScalars.append(scalar)
                if scalar == "'" { text += "'" }
            }
            return text + "'"
        }
        var text = "\""
        for scalar in scalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case _ where isPrintable(scalar): text.unicodeScalars.append(scalar)
            default: text += escape(scalar)
            }
        }
        return text + "\""
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let (prefix, width) =
            scalar.value <= 0xFF ? ("\\x", 2) : scalar.value <= 0xFFFF ? ("\\u", 4) : ("\\U", 8)
        return prefix + String(repeating: "0", count: width - digits.utf8.count) + digits
    }

    /// Whether the plain word is read as this string by us and by YAML 1.1 parsers.
    private static func isPlain(_ string: String, inList: Bool) -> Bool {
        let scalars = string.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, first != " ", last != " ",
            last != ":", !"-?:,[]{}#&*!|>'\"%@`=<~".unicodeScalars.contains(first),
            scalars.allSatisfy(isPrintable),
            // At the beginning of a line three points end a document.
            !string.utf8.starts(with: "...".utf8)
        else { return false }
        guard case .value(.string) = YAMLScalar.resolve(string), !isOldWord(string),
            !isNumberLike(string)
        else { return false }
        var previous: Unicode.Scalar = " "
        for scalar in scalars {
            if previous == ":" && scalar == " " || previous == " " && scalar == "#" { return false }
            if inList, ",[]{}:".unicodeScalars.contains(scalar) { return false }
            previous = scalar
        }
        return true
    }

    /// A word that YAML 1.1 reads as a boolean (yaml.org/type/bool.html).
    private static func isOldWord(_ string: String) -> Bool {
        guard string.utf8.count <= 5 else { return false }
        return switch string.lowercased() {
        case "y", "n", "yes", "no", "on", "off", "true", "false", "null": true
        default: false
        }
    }

    /// Whether a YAML 1.1 parser may read this as a number, a time or a date.
    private static func isNumberLike(_ string: String) -> Bool {
        let bytes = string.utf8
        guard let first = bytes.first else { return true }
        switch first {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"): break
        default: return false
        }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: "xotzTZ_.:+- ".utf8.contains(byte)
            }
        }
    }
}
