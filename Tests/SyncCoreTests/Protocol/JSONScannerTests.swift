import SyncCore
import Testing

@Suite("The JSON scanner")
struct JSONScannerTests {
    static let accepted = [
        "null", "true", "false", "0", "-0", "1", "-1", "10", "1.0", "0.10", "-0.5", "1e3", "1E+3",
        "1e-3", "0e1", "0e+1", "0E0", "123456789012345678", "9223372036854775807",
        "-9223372036854775808", "1e400", "1234567890123456789012345678901234567890", "[]", "{}",
        " [ ] ",
        "\t{\r\n}\n", "[1]", "[1,2]", "[[],{}]", #"{"a":1}"#, #"{"a":1,"b":2}"#, #"{"":0}"#,
        #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#, #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#,
        #""\u0000""#, #""\u00e9\u00E9""#, #""\uD83D\uDE00""#, #""\ud83d\ude00""#, "\"\u{7F}\"",
        "\"\u{2028}\u{2029}\"", "\"é漢😀\u{10FFFF}\"", "\"\u{FEFF}\"", #""\uFFFF\uFDD0""#,
        #"{"a":1,"A":2}"#, #"{"e\u0301":1,"é":2}"#, "[null, 1, \"1\", {}]", "\"12345678\"",
        "\"1234567\u{e9}90\"", #"["a",true,false,null,0.5,{"b":[]}]"#,
        String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
    ]

    @Test("takes every text that RFC 8259 and the wire allow", arguments: accepted)
    func accepts(_ text: String) throws {
        var tape = JSONTape()
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes { try tape.scan($0) }
    }

    static let refused: [(String, JSONError.Reason, Int)] = [
        ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("[", .unexpectedEnd, 1),
        ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1),
        (#"{"a""#, .unexpectedEnd, 4), (#"{"a":"#, .unexpectedEnd, 5),
        (#"{"a":1"#, .unexpectedEnd, 6),
        ("\"", .unexpectedEnd, 1), ("\"a", .unexpectedEnd, 2), ("\"\\", .unexpectedEnd, 2),
        ("\"\\u12", .unexpectedEnd, 5), ("tru", .unexpectedEnd, 3), ("-", .unexpectedEnd, 1),
        ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
        ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
        ("[1,,2]", .unexpectedByte, 3), (#"{"a":1,}"#, .unexpectedByte, 7),
        ("{,}", .unexpectedByte, 1),
        (#"{"a" 1}"#, .unexpectedByte, 5), (#"{"a"::1}"#, .unexpectedByte, 5),
        ("{a:1}", .unexpectedByte, 1),
        ("{1:1}", .unexpectedByte, 1), ("{'a':1}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2),
        (#"{"a":1]"#, .unexpectedByte, 6), ("]", .unexpectedByte, 0), ("nul1", .unexpectedByte, 3),
        ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0),
        ("nan", .unexpectedByte, 1), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
        ("\u{A0}1", .unexpectedByte, 0), ("\u{0C}1", .unexpectedByte, 0),
        ("/**/1", .unexpectedByte, 0),
        ("01", .invalidNumber, 1), ("-01", .invalidNumber, 2), ("00", .invalidNumber, 1),
        ("-a", .invalidNumber, 1), ("1.e1", .invalidNumber, 2), ("1.a", .invalidNumber, 2),
        ("1ea", .invalidNumber, 2), ("1e+-1", .invalidNumber, 3), ("0x1", .trailingBytes, 1),
        ("1_000", .trailingBytes, 1), ("-Infinity", .invalidNumber, 1),
        ("1.5.5", .trailingBytes, 3),
        ("1 2", .trailingBytes, 2), ("[]]", .trailingBytes, 2), ("{}{}", .trailingBytes, 2),
        ("null,", .trailingBytes, 4), ("[] \0", .trailingBytes, 3), ("1//a", .trailingBytes, 1),
        ("\"a\nb\"", .controlCharacter, 2), ("\"\t\"", .controlCharacter, 1),
        ("\"\0\"", .controlCharacter, 1),
        ("\"1234567\u{1F}\"", .controlCharacter, 8), (#""\a""#, .invalidEscape, 1),
        (#""\x41""#, .invalidEscape, 1), (#""\'""#, .invalidEscape, 1),
        (#""\u12g4""#, .invalidEscape, 5),
        (#""\U0041""#, .invalidEscape, 1), (#""\u+041""#, .invalidEscape, 3),
        (#""\ud800""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1),
        (#""\ud800\ud800""#, .loneSurrogate, 1), (#""\ud800a""#, .loneSurrogate, 1),
        (#""\ud800\n""#, .loneSurrogate, 1), (#""\udc00\ud800""#, .loneSurrogate, 1),
        ("\u{FEFF}[]", .byteOrderMark, 0), (#"{"a":1,"a":2}"#, .duplicateKey, 7),
        (#"{"a":1,"\u0061":2}"#, .duplicateKey, 7), (#"{"\u0061":1,"a":2}"#, .duplicateKey, 12),
        (#"{"":1,"b":2,"":2}"#, .duplicateKey, 12), (#"[{"a":{"b":0,"b":0}}]"#, .duplicateKey, 13),
        (#"{"\uD83D\uDE00":1,"😀":2}"#, .duplicateKey, 18),
        (#"{"\n":1,"\u000a":2}"#, .duplicateKey, 8),
        (String(repeating: "[", count: 33), .tooDeep, 32),
        (String(repeating: "[", count: 100_000), .tooDeep, 32),
        (String(repeating: #"{"a":"#, count: 33), .tooDeep, 160),
    ]

    @Test("refuses everything else, and says where and why", arguments: refused)
    func refuses(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        #expect(throws: JSONError(offset: offset, reason: reason)) { try JSON(parsing: text) }
    }

    static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
        [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xE9],
    ]

    @Test("refuses strings that are not UTF-8, at every place of a word", arguments: notUTF8)
    func refusesBadUTF8(_ bad: [UInt8]) {
        for before in 0..<10 {
            let text = [0x22] + [UInt8](repeating: 0x61, count: before) + bad + [0x22]
            #expect(throws: JSONError(offset: before + 1, reason: .invalidUTF8)) {
                try JSON(parsing: text)
            }
        }
    }

    @Test("refuses UTF-16 with a mark and without one")
    func refusesUTF16() {
        let units = Array("[1]".utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for text in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] {
            #expect(throws: JSONError.self) { try JSON(parsing: text) }
        }
    }

    @Test("takes no text that was cut, wherever the cut is")
    func refusesTruncation() throws {
        let text = Array(
            #" {"form":"ice-cream","n":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00é"],"o":{"a":{}}}"#
                .utf8)
        _ = try JSON(parsing: text)
        for end in 0..<text.count {
            #expect(throws: JSONError.self, "cut at \(end)") {
                try JSON(parsing: Array(text[..<end]))
            }
        }
    }

    @Test("gives every tree back that was written, whatever the notation")
    func roundTrips() throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<2000 {
            let tree = random.tree()
            let text = random.written(tree)
            let parsed = try JSON(parsing: text)
            #expect(parsed == tree, "seed \(ProtocolRandom.seed): \(text)")
            #expect(try JSON(parsing: parsed.encoded) == tree, "seed \(ProtocolRandom.seed)")
            #expect(try JSON(parsing: parsed.prettyText) == tree, "seed \(ProtocolRandom.seed)")
        }
    }

    @Test("finds a repeated name among many, and nothing among as many that differ")
    func manyNames() throws {
        for count in [15, 16, 17, 40, 1000] {
            let names = (0..<count).map { $0 % 3 == 0 ? "\\u006b\($0)" : "k\($0)" }
            func text(_ names: [String]) -> String {
                "{" + names.map { "\"\($0)\":[{}]" }.joined(separator: ",") + "}"
            }
            #expect(try JSON(parsing: text(names)).objectValue?.count == count)
            for repeated in [0, 1, count / 2, count - 1] {
                #expect(throws: JSONError.self) {
                    try JSON(parsing: text(names + ["k\(repeated)"]))
                }
                do throws(JSONError) {
                    _ = try JSON(parsing: text(names + ["k\(repeated)"]))
                } catch {
                    #expect(error.reason == .duplicateKey)
                    #expect(error.offset == text(names).utf8.count)
                }
            }
        }
    }

    @Test("scans a mebibyte of names, alike or not, without quadratic work")
    func hostileNames() throws {
        // Quadratic work would be some 10^10 comparisons here: minutes, which the eye would notice.
        let short = "{" + (0..<90_000).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let prefix = String(repeating: "x", count: 1000)
        let long = "{" + (0..<1000).map { "\"\(prefix)\($0)\":0" }.joined(separator: ",") + "}"
        for text in [short, long] {
            var tape = JSONTape()
            let bytes = Array(text.utf8)
            try bytes.withUnsafeBytes { try tape.scan($0) }
        }
    }

    @Test("never traps on changed bytes, and what it takes it can give back")
    func mutations() throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<20_000 {
            let text = random.mutated(Array(random.written(random.tree(depth: 3)).utf8))
            guard let parsed = try? JSON(parsing: text) else { continue }
            #expect(try JSON(parsing: parsed.encoded) == parsed, "seed \(ProtocolRandom.seed)")
        }
    }

    @Test("tells a number that cannot be held from text that is not JSON")
    func numberBounds() throws {
        for text in ["9223372036854775808", "1e400", "0.123456789012345678", "1e-16", "[[1e40]]"] {
            var tape = JSONTape()
            let bytes = Array(text.utf8)
            try bytes.withUnsafeBytes { try tape.scan($0) }
            do throws(JSONError) {
                _ = try JSON(parsing: text)
                Issue.record("\(text) should not be held")
            } catch {
                #expect(error.reason == .numberOutOfBounds)
            }
        }
    }

    @Test("reads nodes where they stand")
    func nodes() throws {
        let bytes = Array(#"{"a":[1,"\u0062",true],"\u0063":{"d":null},"e":2.50}"#.utf8)
        var tape = JSONTape()
        try bytes.withUnsafeBytes { raw in
            try tape.scan(raw)
            tape.withRoot(of: raw) { root in
                #expect(root.kind == .object && root.count == 3)
                #expect(root["a"]?.elements.map(\.kind) == [.number, .string, .bool])
                #expect(root["a"]?.elements.map(\.integer) == [1, nil, nil])
                #expect(root["a"]?.elements.map { $0.matches("b") } == [false, true, false])
                #expect(root["c"]?["d"]?.isNull == true)
                #expect(root["x"] == nil && root["a"]?["a"] == nil)
                #expect(root["e"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == "2.50")
                #expect(root.members.map { $0.name.string } == ["a", "c", "e"])
                #expect(Array(root.elements).isEmpty)
            }
        }
    }
}
