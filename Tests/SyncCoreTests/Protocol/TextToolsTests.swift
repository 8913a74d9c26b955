import Foundation
import SyncCore
import Testing

@Suite("Globs, similar names, moments, safe text")
struct TextToolsTests {
    static let globs: [(String, String, Bool)] = [
        ("*", "", true), ("*", "abc", true), ("", "", true), ("", "a", false), ("a", "a", true),
        ("a", "b", false), ("?", "a", true), ("?", "", false), ("?", "ab", false),
        ("a*", "abc", true),
        ("a*", "ba", false), ("*c", "abc", true), ("*c", "abcd", false), ("a*c", "ac", true),
        ("a*c", "abbbc", true), ("a*c", "abcb", false), ("*b*", "abc", true),
        ("*ab*ab*", "abab", true),
        ("*ab*ab*", "aab", false), ("a?c", "abc", true), ("a?c", "ac", false), ("**", "x", true),
        ("a**b", "ab", true), ("?*", "", false), ("?*?", "ab", true), ("?*?", "a", false),
        ("traffic", "traffic", true), ("tra*_max", "traffic_max", true), ("[a]", "a", false),
        ("[a]", "[a]", true), ("A", "a", false), ("*a*b*c*", "xxaxxbxxcxx", true),
        ("a*", "", false),
    ]

    @Test("a glob matches whole names by * and ? alone", arguments: globs)
    func glob(_ pattern: String, _ text: String, _ matches: Bool) {
        #expect(Glob(pattern).matches(text) == matches)
    }

    @Test("a glob agrees with the plain recursive meaning on all short patterns and texts")
    func globOracle() {
        func matches(_ pattern: Substring, _ text: Substring) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "*" {
                return matches(pattern.dropFirst(), text)
                    || !text.isEmpty && matches(pattern, text.dropFirst())
            }
            guard let other = text.first, first == "?" || first == other else { return false }
            return matches(pattern.dropFirst(), text.dropFirst())
        }
        func words(_ letters: String, _ length: Int) -> [String] {
            (0..<length).reduce([[""]]) { lists, _ in
                lists + [lists.last!.flatMap { word in letters.map { word + String($0) } }]
            }.flatMap { $0 }
        }
        for pattern in words("ab*?", 4) {
            for text in words("ab", 4) {
                #expect(
                    Glob(pattern).matches(text) == matches(pattern[...], text[...]),
                    "\(pattern) \(text)")
            }
        }
    }

    @Test("a hostile glob costs pattern times text, not more")
    func hostileGlob() {
        let pattern = String(repeating: "*a", count: 60) + "*b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 20_000)))
    }

    @Test(
        "the nearest names come first, and nothing that is far",
        arguments: [
            ("flavour", ["flavor", "size", "flavors"], ["flavor", "flavors"]),
            ("Flavor", ["flavor", "flavour"], ["flavor", "flavour"]),
            ("szie", ["size", "sizes", "side"], ["size"]), ("x", ["y", "abc"], []),
            ("", ["a"], []),
            ("state.gte", ["state.get", "state.set", "hello"], ["state.get", "state.set"]),
            ("abc", ["abc"], []),
            (String(repeating: "a", count: 100_000), ["a"], []),
            ("ab", ["ba", "ab1", "cd"], ["ab1", "ba"]),
        ])
    func similar(_ name: String, _ names: [String], _ nearest: [String]) {
        #expect(Similar.names(to: name, among: names) == nearest)
    }

    static let moments: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_795_256_331_007, "2026-11-21T10:18:51.007Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (-2_203_891_200_001, "1900-02-28T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]

    @Test("moments are written and read in UTC with milliseconds", arguments: moments)
    func moment(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test("moments agree with Foundation's")
    func momentsAgainstFoundation() throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
        for _ in 0..<2000 {
            // From 1600 on: before, Foundation's calendar is not the proleptic Gregorian one.
            let seconds = Int64.random(in: -11_670_000_000...253_402_300_799, using: &random)
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let text = Timestamp(milliseconds: seconds * 1000).description
            #expect(
                text.replacing(".000Z", with: "Z") == date.formatted(style),
                "seed \(ProtocolRandom.seed)")
            #expect(Timestamp(text)?.milliseconds == seconds * 1000)
        }
    }

    @Test("every day of eight hundred years is one after the day before")
    func everyDay() {
        var before = ""
        for day in -200_000...92_000 {
            let text = Timestamp(milliseconds: Int64(day) * 86_400_000).description
            #expect(before < text && Timestamp(text)?.milliseconds == Int64(day) * 86_400_000)
            before = text
        }
    }

    @Test("moments beyond what RFC 3339 can write are written as its ends")
    func momentEnds() {
        #expect(Timestamp(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
    }

    @Test(
        "other notations of UTC are read too",
        arguments: [
            ("2026-11-21t10:18:51z", 1_795_256_331_000),
            ("2026-11-21T10:18:51.5Z", 1_795_256_331_500),
            ("2026-11-21T10:18:51.1239999Z", 1_795_256_331_123),
            ("2026-11-21T10:18:51+00:00", 1_795_256_331_000),
        ] as [(String, Int64)])
    func otherNotations(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "what is not a moment in UTC is refused",
        arguments: [
            "", "2026-11-21", "2026-11-21T10:18:51", "2026-11-21T10:18:51+01:00",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zx", "26-01-01T00:00:00Z", "2026-1-1T00:00:00Z",
            "٢٠٢٦-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
        ])
    func noMoment(_ text: String) {
        #expect(Timestamp(text) == nil)
        let whole = "2026-11-21T10:18:51.007Z"
        for end in 0..<whole.count { #expect(Timestamp(String(whole.prefix(end))) == nil) }
    }

    @Test(
        "text is shown without a character that acts on a terminal",
        arguments: [
            ("plain é漢😀", "plain é漢😀"), ("\u{1B}[31m", #"\u{1B}[31m"#),
            ("a\nb\tc\r", #"a\u{A}b\u{9}c\u{D}"#),
            ("\0\u{7F}\u{9B}2J", #"\u{0}\u{7F}\u{9B}2J"#),
            ("\u{202E}cod\u{2066}", #"\u{202E}cod\u{2066}"#),
            ("a\u{2028}b\u{2029}", #"a\u{2028}b\u{2029}"#), ("e\u{301}\u{85}", "e\u{301}\\u{85}"),
            ("👩\u{200D}💻", "👩\u{200D}💻"), ("\\u{1B}", "\\u{1B}"), ("\r\n", #"\u{D}\u{A}"#),
        ])
    func safeText(_ text: String, _ shown: String) {
        #expect(text.escapedForDisplay() == shown)
        #expect(!text.escapedForDisplay().unicodeScalars.contains(where: SafeText.isHarmful))
    }

    @Test("text in lines keeps its newlines and tabs, and nothing more")
    func safeLines() {
        #expect(
            "a\n\tb\r\u{1B}".escapedForDisplay(keepingNewlineAndTab: true) == "a\n\tb\\u{D}\\u{1B}")
    }

    @Test(
        "control characters are found at every place",
        arguments: ["\0", "\u{1B}", "\u{1F}", "\u{7F}", "\u{80}", "\u{9F}", "\r\n"])
    func controls(_ control: String) {
        for text in [control, "a" + control, control + "b", "é" + control + "\u{301}"] {
            #expect(!text.isFreeOfControls() && !text.isFreeOfControls(allowingNewlineAndTab: true))
        }
    }

    @Test("of all ASCII characters at each place, the printable ones are plain")
    func plain() {
        for byte in 0...UInt8(0x7F) {
            for (before, after) in [(0, 0), (0, 20), (3, 4), (7, 0), (8, 8), (20, 0)] {
                let text = String(
                    decoding: Array(repeating: UInt8(ascii: "~"), count: before) + [byte]
                        + Array(repeating: UInt8(ascii: " "), count: after), as: UTF8.self)
                #expect(text.isPlainASCII == (0x20...0x7E).contains(byte), "\(byte)")
            }
        }
        #expect("".isPlainASCII && !"é".isPlainASCII && !"1234567é".isPlainASCII)
    }

    @Test("newline and tab are controls unless allowed")
    func newlines() {
        #expect(!"a\nb".isFreeOfControls() && !"\t".isFreeOfControls())
        #expect("a\n\tb é漢\u{A0}\u{202E}".isFreeOfControls(allowingNewlineAndTab: true))
        #expect("".isFreeOfControls())
    }
}
