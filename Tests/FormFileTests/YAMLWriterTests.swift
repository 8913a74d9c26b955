import SyncCore
import TestKit
import Testing

@testable import FormFile

/// Values that are made to be awkward to write.
struct RandomJSON {
    var random: SplitMix64

    private static let words = [
        "", " ", "a", "yes", "No", "null", "~", "true", "1", "1.0", "-", "- a", "? b", ":", "a: b",
        "a #b", "#", "<<", "=", "---", "...", "--- a", "{", "[x]", "&a", "*a", "!t", "|", ">", "%Y",
        "@", "`", "\"", "'", "it's \"so\"", "\\", "a\nb", "a\n", "\na", "a\n\nb", "a\n\n", " a\nb",
        "a\n b\n", "a\n \n", "\t", "a\tb", "a\n\tb", "\r", "a\r\nb", "\u{7}", "\u{1b}[31m",
        "\u{85}",
        "\u{2028}", "\u{202e}", "\u{feff}", "\u{fffe}", "é", "e\u{301}", "👩‍👩‍👧", "2026-11-21", "14:30",
        "0x1F", "0o7", ".5", "1e3", "1_000", ".inf", "a:", "a,b", "http://x.y/z#q", "${a} %", "\0",
        "a ", "\u{7f}", "\u{a0}x", "# a\n# b", "a\n---\nb", "a\n...", "k: v\nl: w\n", "\u{10ffff}",
    ]

    mutating func string() -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<4: return Self.words.randomElement(using: &random)!
        case 4..<7:
            return (0..<Int.random(in: 1...4, using: &random))
                .map { _ in Self.words.randomElement(using: &random)! }.joined()
        default:
            let word = Self.words.randomElement(using: &random)!
            return String(repeating: word, count: Int.random(in: 1...400, using: &random))
        }
    }

    mutating func value(depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2:
            let digits = Int64.random(in: -999_999_999...999_999_999, using: &random)
            let exponent = Int.random(in: -15...0, using: &random)
            return DecimalNumber(significand: Int128(digits), exponent: exponent)
                .map(JSON.number) ?? .number(DecimalNumber(digits))
        case 3..<6: return .string(string())
        case 6:
            return .array(
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth - 1) })
        default:
            return .object(
                JSONObject(
                    (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                        (string(), value(depth: depth - 1))
                    }))
        }
    }
}

@Suite("Writing YAML") struct YAMLWriterTests {
    private func isReadBack(_ json: JSON) -> Bool {
        let text = YAMLWriter.text(of: json)
        do throws(FileIssues) {
            let read = try YAMLDocument.parse(
                Array(text.utf8), name: "t", limits: .init(bytesMax: 1 << 24))
            if read.json != json { print("written:\n\(text)\nread: \(read.json)\nwas: \(json)") }
            return read.json == json
        } catch {
            print("written:\n\(text)\n\(error)")
            return false
        }
    }

    @Test("a value is written as people would write it")
    func style() {
        let json: JSON = [
            "form": "ice-cream", "title": "Ice cream", "country": "no", "since": "2026-11-21",
            "pattern": "^[0-9]+\\.[0-9]+$", "path": "[C]:\\",
            "n": .number(DecimalNumber(significand: 10, exponent: -2)!),
            "none": .null, "empty": [], "also": [:], "note": "one\ntwo\n", "cut": "one\n  two",
            "bell": "\u{7}", "format": "${value} %",
            "fields": [
                ["id": "flavor", "options": ["a", "b"]], [1, true], "x", ["deep": ["er": "z"]],
                [[["nested": 1]]],
            ],
        ]
        #expect(
            YAMLWriter.text(of: json) == #"""
                form: ice-cream
                title: Ice cream
                country: "no"
                since: "2026-11-21"
                pattern: ^[0-9]+\.[0-9]+$
                path: '[C]:\'
                "n": 0.10
                none: null
                empty: []
                also: {}
                note: |
                  one
                  two
                cut: |-
                  one
                    two
                bell: "\x07"
                format: ${value} %
                fields:
                  - id: flavor
                    options: [a, b]
                  - [1, true]
                  - x
                  - deep:
                      er: z
                  - - - nested: 1

                """#)
        #expect(isReadBack(json))
    }

    @Test("a long list has one element on each line")
    func long() {
        let json: JSON = .object(
            JSONObject([("list", .array((0..<30).map { .string("element\($0)") }))]))
        #expect(YAMLWriter.text(of: json).hasPrefix("list:\n  - element0\n  - element1\n"))
    }

    @Test("every value is read back as it was written")
    func roundTrip() {
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
        var values = RandomJSON(random: SplitMix64(seed: seed))
        for round in 0..<3000 {
            let json = values.value(depth: 4)
            guard isReadBack(json) else {
                Issue.record("round \(round) of seed \(seed)")
                return
            }
        }
    }

    @Test("every character is read back, as a value, in a list, as a name and in several lines")
    func everyScalar() {
        // The whole Basic Multilingual Plane, and of the others a sample and each one's end.
        for block in 0..<(0x11_0000 / 64)
        where block < 0x400 || block % 97 == 0 || block % 1024 == 1023 {
            let scalars = (block * 64..<block * 64 + 64).compactMap { Unicode.Scalar($0) }
            let strings = scalars.map { String($0) }
            let json: JSON = .object(
                JSONObject(
                    strings.map { ($0, JSON.array([.string($0), .string("a\n\($0)b\n")])) }
                        + strings.map { ("l" + $0, JSON.array([.string($0), .string("x\($0)y")])) })
            )
            #expect(isReadBack(json), "block \(block)")
        }
    }

    @Test("what is written holds no character that a terminal would obey")
    func harmless() {
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
        var values = RandomJSON(random: SplitMix64(seed: seed))
        for _ in 0..<500 {
            let text = YAMLWriter.text(of: values.value(depth: 3))
            // A tab is layout inside a block of several lines.
            let unfit = text.unicodeScalars.first {
                SafeText.isHarmful($0) && $0 != "\n" && $0 != "\t"
            }
            #expect(unfit == nil, "seed \(seed)")
        }
    }
}
