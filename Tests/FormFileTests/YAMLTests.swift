import SyncCore
import Testing

@testable import FormFile

/// The value of a text, without its places.
func value(_ text: String, _ limits: YAMLDocument.Limits = .init()) throws -> JSON {
    try YAMLDocument.parse(Array(text.utf8), name: "t.yaml", limits: limits).json
}

/// The issues of a text that is refused, a line each, without the name of the file.
func issues(_ text: String, _ limits: YAMLDocument.Limits = .init()) -> [String] {
    issues(Array(text.utf8), limits)
}

func issues(_ bytes: [UInt8], _ limits: YAMLDocument.Limits = .init()) -> [String] {
    do throws(FileIssues) {
        _ = try YAMLDocument.parse(bytes, name: "t", limits: limits)
        return []
    } catch {
        return error.issues.map { String($0.description.dropFirst(2)) }
    }
}

private func decimal(_ significand: Int128, _ exponent: Int) -> JSON {
    .number(DecimalNumber(significand: significand, exponent: exponent)!)
}

@Suite("YAML's core schema") struct CoreSchemaTests {
    @Test("plain words are null, booleans and numbers as YAML 1.2 says")
    func resolved() throws {
        let table: [(String, JSON)] = [
            ("null", .null), ("Null", .null), ("NULL", .null), ("~", .null), ("", .null),
            ("true", true), ("True", true), ("TRUE", true), ("false", false), ("FALSE", false),
            ("0", 0), ("7", 7), ("007", 7), ("+5", 5), ("-12", -12), ("0o17", 15), ("0xfF", 255),
            ("9223372036854775807", 9_223_372_036_854_775_807),
            ("-9223372036854775808", .number(DecimalNumber(Int64.min))),
            ("0.5", decimal(5, -1)), (".5", decimal(5, -1)), ("1.", 1),
            ("-1.25", decimal(-125, -2)),
            ("1e3", 1000), ("1.5E-3", decimal(15, -4)), ("1.5e+1", 15), ("0e99999999", 0),
            ("0e-99999999", 0), ("-0", 0),
        ]
        for (text, expected) in table {
            #expect(try text.isEmpty || value("[\(text), 1]") == [expected, 1], "\(text)")
            #expect(try value("a: \(text)\n") == ["a": expected], "\(text)")
        }
    }

    @Test("a decimal keeps the precision that it was written with")
    func precision() throws {
        #expect(try value("a: 0.10")["a"]?.numberValue?.fractionDigits == 2)
        #expect(try value("a: 5")["a"]?.numberValue?.fractionDigits == 0)
    }

    @Test(
        "everything else is a string",
        arguments: [
            "yes", "no", "on", "off", "y", "n", "NO", "2026-11-21", "2026-11-21T22:00", "14:30",
            "1_000", "0b101", "1.2.3", "tRUE", "nULL", "0o8", "0xg", "0x", "0o", "1e", "e3", ".",
            "+", "+.nan", "--1", "+-1", "1 2", "<<", "=", "0x-1", "-0x1", "1.5.", "٣",
        ])
    func strings(_ text: String) throws {
        #expect(try value("a: \(text)") == ["a": .string(text)])
    }

    @Test(
        "a scalar in quotes or in a block is a string",
        arguments: [
            "\"1\"": "1", "'true'": "true", "\"\"": "", "''": "", "\"~\"": "~", "|-\n  12": "12",
            ">-\n  null": "null", "\"\\u00e9\\x07\"": "é\u{7}", "'it''s'": "it's",
            "\"\\U0001F600\"": "😀", "\"\\0\"": "\0", "! 'x'": "x",
        ])
    func quoted(_ written: String, _ expected: String) throws {
        #expect(try value("a: \(written)\n") == ["a": .string(expected)])
    }

    @Test("tags of the core schema are honoured, others are refused")
    func tags() throws {
        #expect(try value("a: !!str 12") == ["a": "12"])
        #expect(try value("a: !!int '12'") == ["a": 12])
        #expect(try value("a: !!float 12") == ["a": 12])
        #expect(try value("a: !!bool 'true'") == ["a": true])
        #expect(try value("a: !!null ''") == ["a": .null])
        #expect(try value("a: !!seq [1]\nb: !!map {c: 2}") == ["a": [1], "b": ["c": 2]])
        #expect(try value("!!str 1: a") == ["1": "a"])
        for text in [
            "a: !!int x", "a: !!bool on", "a: !!null 1", "a: !!float true", "a: !!set {b}",
            "a: !mine 1", "a: !!binary aGk=", "a: !!map [1]", "a: !!seq {b: 1}", "a: !!str [1]",
            "a: !!timestamp 2026-11-21", "!!int 1: a", "a: !!int 1.5",
        ] {
            #expect(issues(text).count == 1, "\(text)")
        }
        #expect(
            issues("a: !!set {b}") == [
                "1:4: a: the tag !!set does not go here; expected none, or one of !!str, !!int, "
                    + "!!float, !!bool, !!null, !!seq, !!map that fits"
            ])
    }

    @Test("numbers that no decimal holds are refused, never rounded")
    func unfit() {
        for text in [
            ".inf", "-.INF", "+.Inf", ".nan", ".NaN", "9223372036854775808", "0x8000000000000000",
            "0o7777777777777777777777777", "12345678901234567.5", "1e400", "1e-16",
            "1e99999999999999999999", String(repeating: "9", count: 500),
        ] {
            let found = issues("a:\n  - \(text)")
            #expect(found.count == 1 && found[0].hasPrefix("2:5: a[0]: "), "\(text): \(found)")
        }
    }

    @Test("keys are the text that they are written as")
    func keys() throws {
        let tree: JSON = ["1": 1, "true": 2, "null": 3, "~": 4, "": 5, "1.50": 6, "é": 7]
        #expect(
            try value("1: 1\ntrue: 2\nnull: 3\n~: 4\n'': 5\n1.50: 6\né: 7") == tree)
        #expect(issues("? [a]\n: 1\n? {b: 1}\n: 2\nc: 3").count == 2)
        #expect(issues(": 1").count == 1)
    }
}

@Suite("YAML's anchors and merges") struct AnchorTests {
    @Test("an alias has the last value of its anchor")
    func aliases() throws {
        #expect(
            try value("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x")
                == ["a": [1, 2], "b": [1, 2], "c": 3, "d": 3])
    }

    @Test("merged members yield to those written out, the first of a list to the later ones")
    func merges() throws {
        let text = """
            a: &a {x: 1, y: 1}
            b: &b {y: 2, z: 2}
            c: {<<: *a, y: 3}
            d: {y: 3, <<: *a}
            e: {<<: [*a, *b], w: 0}
            f: {<<: {q: 1}}
            g: {"<<": 1}
            """
        let tree = try value(text)
        #expect(tree["c"] == ["x": 1, "y": 3])
        #expect(tree["d"] == ["x": 1, "y": 3])
        #expect(tree["e"] == ["x": 1, "y": 1, "z": 2, "w": 0])
        #expect(tree["f"] == ["q": 1])
        #expect(tree["g"] == ["<<": 1])
    }

    @Test("merging a value that is not a mapping is refused at its place")
    func unmergeable() {
        #expect(
            issues("a: {<<: 1}") == [
                "1:9: a: << cannot merge a number; expected a mapping or a list of mappings"
            ])
        #expect(issues("a: {<<: [{b: 1}, [2]]}").count == 1)
        #expect(issues("a: {<<: {b: 1}, <<: {c: 1}}").count == 1)
    }

    @Test("an alias to nothing, and one inside what it names, are refused")
    func dangling() {
        #expect(
            issues("a: *b") == [
                "1:4: a: *b names nothing above it; expected an anchor &b before it"
            ])
        #expect(issues("&a [*a]") == ["1:5: [0]: *a is inside what it names"])
        #expect(issues("a: &a {<<: *a}").contains { $0.contains("is inside") })
        #expect(issues("*a : 1").contains { $0.contains("a key that is not text") })
    }

    @Test("a bomb of aliases is refused before it goes off")
    func bombs() {
        var lists = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        var merges = "m0: &m0 {k: \(String(repeating: "x", count: 2000))}\n"
        for level in 1...20 {
            let alias = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            lists += "a\(level): &a\(level) [\(alias)]\n"
            let merge = (0..<9).map { "k\($0): *m\(level - 1)" }.joined(separator: ", ")
            merges += "m\(level): &m\(level) {\(merge)}\n"
        }
        #expect(issues(lists).count == 1 && issues(lists)[0].contains("aliases are written out"))
        #expect(issues(merges).count == 1 && issues(merges)[0].contains("aliases are written out"))
        let text = "a: &a \(String(repeating: "x", count: 1000))\nb:\n"
        let repeated = text + String(repeating: "  - *a\n", count: 2000)
        #expect(issues(repeated).count == 1)
    }

    @Test("aliases cannot nest deeper than text can")
    func depth() {
        let open = String(repeating: "[", count: 31)
        let close = String(repeating: "]", count: 31)
        #expect(issues("- &a \(open)\(close)\n- *a").isEmpty)
        #expect(issues("- &a \(open)\(close)\n- [*a]")[0].contains("nested too deep"))
    }
}

@Suite("YAML's bounds and errors") struct BoundsTests {
    @Test("nesting is bounded at 32, however deep the text goes on")
    func nesting() {
        for count in [32, 33, 1000, 500_000] {
            let text = String(repeating: "[", count: count)
            let whole = text + String(repeating: "]", count: count)
            #expect(issues(whole).isEmpty == (count == 32))
        }
        let blocks = (0..<40).map { String(repeating: " ", count: $0) + "a:" }
        #expect(issues(blocks.joined(separator: "\n"))[0].hasPrefix("33:"))
    }

    @Test("a file over the size is refused before it is read")
    func size() {
        let small = YAMLDocument.Limits(bytesMax: 10)
        #expect(issues("a: 1234567", small).isEmpty)
        #expect(issues("a: 12345678", small) == [" a file of 11 bytes; expected at most 10"])
    }

    @Test("a mapping of very many keys is read, and a repeated one among them found")
    func manyKeys() {
        var text = (0..<50_000).map { "k\($0): 1" }.joined(separator: "\n")
        #expect(issues(text).isEmpty)
        text += "\nk777: 2"
        #expect(
            issues(text) == [
                "50001:1: k777: the key is there already, at 778:1; expected each key once"
            ])
    }

    @Test("keys that differ only in how they compose are two keys")
    func canonicalKeys() throws {
        #expect(try value("\u{e9}: 1\ne\u{301}: 2").objectValue?.count == 2)
    }

    @Test("a second document is refused, the marks of a single one are not")
    func documents() throws {
        #expect(try value("---\na: 1\n...\n") == ["a": 1])
        #expect(
            issues("a: 1\n---\nb: 2") == ["2:1: a second document; expected one document a file"])
        #expect(try value("") == JSON.null)
        #expect(try value("# nothing\n") == JSON.null)
    }

    @Test("a text that is not UTF-8 is named for what it is")
    func encodings() {
        #expect(issues([0xEF, 0xBB, 0xBF, 0x61])[0].hasPrefix("1:1: the file begins with a byte"))
        #expect(issues([0xFF, 0xFE, 0x61, 0])[0].hasPrefix("1:1: the file is UTF-16"))
        #expect(issues([0xFE, 0xFF, 0, 0x61])[0].hasPrefix("1:1: the file is UTF-16"))
        #expect(issues([0x61, 0, 0x3A, 0])[0].hasPrefix("1:1: the file is UTF-16"))
        #expect(issues([0, 0x61])[0].hasPrefix("1:1: the file is UTF-16"))
        #expect(
            issues(Array("a: é\nb".utf8) + [0xC3])[0].hasPrefix("2:2: a byte that is not UTF-8"))
        #expect(issues(Array("a: ".utf8) + [0xED, 0xA0, 0x80])[0].hasPrefix("1:4: a byte"))
    }

    @Test("a Unicode line separator is refused, since YAML 1.1 would fold it")
    func separators() {
        let found = issues("a: b\u{2028}c\nd: \u{85}")
        #expect(found.map { $0.prefix(4) } == ["1:5:", "2:4:"])
        #expect(issues("a: \"b\\Lc\"").isEmpty)
    }

    @Test(
        "a syntax error has the place where it was noticed",
        arguments: [
            "a: [1, 2": "1:9: ", "a: 'x": "1:6: ", "a: b: c": "1:5: ", "a:\n\t- b": "2:1: ",
            "a: \u{7}": "1:4: ", "a: @b": "1:4: ", "- a\nb: c": "2:1: ", "a: \"\\ud83d\"": "1:7: ",
        ])
    func syntax(_ text: String, _ place: String) {
        let found = issues(text)
        #expect(found.count == 1 && found[0].hasPrefix(place), "\(found)")
    }

    @Test("all mistakes that leave the rest readable are told at once, in the order of the file")
    func several() {
        let found = issues("a: .inf\nb: *no\na: 1\nc: !x 1\n? [k]\n: 2\nd: {e: 1, e: 2}")
        #expect(found.map { $0.prefix(2) } == ["1:", "2:", "3:", "4:", "5:", "7:"])
    }

    @Test("no issue carries a character that a terminal would obey")
    func escaped() {
        let found = issues("\"a\\e[31m\\u202e\": !!int \"\\x9b\"")
        #expect(
            found == [
                "1:18: [\"a\\u{1B}[31m\\u{202E}\"]: \"\\u{9B}\" is not what its tag says; "
                    + "expected a whole number"
            ])
    }
}

@Suite("Places") struct PlaceTests {
    private func place(_ text: String, _ path: PathStep...) throws -> [Int] {
        let tree = try YAMLDocument.parse(Array(text.utf8), name: "t")
        let value = tree.position(of: path)
        let key = tree.keyPosition(of: path)
        return [key?.line ?? 0, key?.column ?? 0, value.line, value.column]
    }

    @Test("each key and value of YAML has its line and column, in characters")
    func yaml() throws {
        let text = "a: 1\n\"é\": {b: [x, yy], c:   z}\nlist:\n  - k: v\n    l: |\n      text\n"
        #expect(try place(text) == [0, 0, 1, 1])
        #expect(try place(text, .key("a")) == [1, 1, 1, 4])
        #expect(try place(text, .key("é"), .key("b"), .index(1)) == [0, 0, 2, 14])
        #expect(try place(text, .key("é"), .key("c")) == [2, 19, 2, 24])
        #expect(try place(text, .key("list"), .index(0)) == [0, 0, 4, 5])
        #expect(try place(text, .key("list"), .index(0), .key("l")) == [5, 5, 5, 8])
    }

    @Test("a path that leads nowhere has the place of the nearest value on the way")
    func missing() throws {
        #expect(try place("a:\n  b: 1", .key("a"), .key("c"), .index(3)) == [0, 0, 2, 3])
        #expect(try place("a:\n  - b", .key("a"), .index(9)) == [0, 0, 2, 3])
    }

    @Test("what an alias or a merge brings keeps the place where it was written")
    func expanded() throws {
        let text = "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}"
        #expect(try place(text, .key("b")) == [2, 1, 2, 4])
        #expect(try place(text, .key("b"), .key("x")) == [1, 8, 1, 11])
        #expect(try place(text, .key("c"), .key("x")) == [1, 8, 1, 11])
        #expect(try place(text, .key("c"), .key("y")) == [3, 13, 3, 16])
    }
}
