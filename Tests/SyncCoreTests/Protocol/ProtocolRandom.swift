import Foundation
import SyncCore
import TestKit

/// Seeded randomness for these tests: the same seed gives the same run.
struct ProtocolRandom: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// `PICKERSYNC_TEST_SEED` where it is set, else one of the clock's; each failure names it.
    static let seed: UInt64 =
        ProcessInfo.processInfo.environment["PICKERSYNC_TEST_SEED"].flatMap { UInt64($0) }
        ?? UInt64(Date().timeIntervalSince1970 * 1000)
}

// MARK: - Documents

extension ProtocolRandom {
    /// A random string of characters that are awkward in one way or another.
    mutating func text() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "b", "\"", "\\", "/", "\n", "\t", "\0", "\u{1B}", "\u{7F}", "\u{85}", "é",
            "e\u{301}",
            "ß", "\u{2028}", "\u{202E}", "漢", "😀", "\u{10FFFF}", "\u{FFFD}", "\u{D7FF}", "\u{E000}",
        ].flatMap { (string: String) in Array(string.unicodeScalars) }
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            text.unicodeScalars.append(scalars.randomElement(using: &self)!)
        }
        return text
    }

    /// A random number within the bounds.
    mutating func number() -> DecimalNumber {
        if Bool.random(using: &self) {
            return DecimalNumber(
                Int64.random(in: .min ... .max, using: &self)
                    >> Int64.random(in: 0..<64, using: &self))
        }
        let digits = Int128(
            Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &self))
        return DecimalNumber(significand: digits, exponent: Int.random(in: -15...15, using: &self))
            ?? .zero
    }

    /// A random tree, `depth` levels deep at most.
    mutating func tree(depth: Int = 4) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(number())
        case 3, 4: return .string(text())
        case 5:
            return .array(
                (0..<Int.random(in: 0...4, using: &self)).map { _ in tree(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &self) {
                object[text()] = tree(depth: depth - 1)
            }
            return .object(object)
        }
    }

    /// The tree as text, with spaces, escapes and notations chosen at random.
    mutating func written(_ json: JSON) -> String {
        func space() -> String {
            ["", "", "", " ", "\n", "\t", "\r\n "].randomElement(using: &self)!
        }
        var parts: [String] = []
        switch json {
        case .array(let elements):
            for element in elements { parts.append(space() + written(element) + space()) }
            return "[" + (parts.isEmpty ? space() : parts.joined(separator: ",")) + "]"
        case .object(let object):
            for (name, value) in object.members {
                parts.append(
                    space() + written(string: name) + space() + ":" + space() + written(value)
                        + space())
            }
            return "{" + (parts.isEmpty ? space() : parts.joined(separator: ",")) + "}"
        case .string(let text):
            return written(string: text)
        default:
            return json.encodedText
        }
    }

    private mutating func written(string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if mustEscape || Int.random(in: 0..<4, using: &self) == 0 {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: Bool.random(using: &self))
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// The bytes with one to three of them changed, removed or repeated.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let marks = Array(#"{}[]",:\0-.eE1tfn u"#.utf8) + [0, 0x7F, 0x80, 0xC3, 0xED, 0xF4, 0xFF]
        for _ in 0..<Int.random(in: 1...3, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(marks.randomElement(using: &self)!, at: place)
            case 2: bytes[place] = marks.randomElement(using: &self)!
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
