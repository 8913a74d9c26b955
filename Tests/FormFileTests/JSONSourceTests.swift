import SyncCore
import TestKit
import Testing

@testable import FormFile

@Suite("JSON files") struct JSONSourceTests {
    @Test("a text that begins with a brace is JSON, surrogate escapes and all")
    func json() throws {
        let number = try #require(DecimalNumber(significand: 150, exponent: -2))
        #expect(
            try value(" \n{\"a\": \"\\ud83d\\ude00\", \"b\": [1.50, null]}")
                == ["a": "😀", "b": [.number(number), .null]])
        // YAML would take this; a file that looks like JSON is held to JSON.
        #expect(issues("{a: 1}").count == 1)
        #expect(try value("[{a: 1}]") == [["a": 1]])
    }

    @Test("each key and value has its line and column, in characters")
    func places() throws {
        let text =
            "{\"a\": 1,\r\n \"é\": [true, {\"x\" : \"y\"}],\n\t\"n\":null , \"e\":[], \"o\":{}}\n"
        let tree = try YAMLDocument.parse(Array(text.utf8), name: "t")
        func place(_ path: PathStep...) -> [Int] {
            let value = tree.position(of: path)
            let key = tree.keyPosition(of: path)
            return [key?.line ?? 0, key?.column ?? 0, value.line, value.column]
        }
        #expect(place() == [0, 0, 1, 1])
        #expect(place(.key("a")) == [1, 2, 1, 7])
        #expect(place(.key("é")) == [2, 2, 2, 7])
        #expect(place(.key("é"), .index(1), .key("x")) == [2, 15, 2, 21])
        #expect(place(.key("n")) == [3, 2, 3, 6])
        #expect(place(.key("e")) == [3, 13, 3, 17])
        #expect(place(.key("o")) == [3, 21, 3, 25])
    }

    @Test("the places have the shape of the value, for every kind of value")
    func shapes() throws {
        func agree(_ json: JSON, _ node: SourceNode) -> Bool {
            switch json {
            case .array(let elements):
                elements.count == node.children.count
                    && zip(elements, node.children).allSatisfy(agree)
            case .object(let object):
                object.count == node.children.count
                    && zip(object.members, node.children).allSatisfy { agree($0.value, $1) }
            default: node.children.isEmpty
            }
        }
        var values = RandomJSON(random: SplitMix64(seed: SplitMix64.seed(from: "FORMFILE_SEED")))
        for _ in 0..<300 {
            let json: JSON = ["root": values.value(depth: 4)]
            let tree = try YAMLDocument.parse(
                json.encoded, name: "t", limits: .init(bytesMax: 1 << 24))
            #expect(tree.json == json)
            #expect(agree(json, tree.source))
        }
    }

    @Test("a mistake has its line, column and path")
    func mistakes() {
        #expect(
            issues("{\"a\": {\"b\": [1, {\"c\": 1,\n  \"c\": 2}]}}") == [
                "2:3: a.b[1].c: the key is there already, at 1:18; expected each key once"
            ])
        let found = issues("{\"a\": [1, 2,\n 01]}")
        #expect(found.count == 1 && found[0].hasPrefix("2:"), "\(found)")
        #expect(found[0].contains(": a[2]: "), "\(found)")
        #expect(issues("{\"a\": 1} x")[0].hasPrefix("1:10: "))
        #expect(issues("{\"a\": 1e40}")[0].hasPrefix("1:7: a: a number beyond"))
    }

    @Test("a JSON text that is cut anywhere, or has any byte changed, is refused or read, no more")
    func cuts() {
        let text = Array(
            "{\"a\": [1, {\"b\": \"c\\n\\ud83d\\ude00\"}, null], \"d\": {\"e\": -1.5e3}}".utf8)
        for end in 0..<text.count { _ = issues(Array(text[..<end])) }
        #expect(issues(Array(text.dropLast())).count == 1)
        for index in text.indices {
            for byte: UInt8 in [0, 0x22, 0x2C, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xFF] {
                var changed = text
                changed[index] = byte
                _ = issues(changed)
            }
        }
    }
}
