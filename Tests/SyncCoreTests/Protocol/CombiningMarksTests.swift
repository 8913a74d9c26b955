import EngineTestKit
import Foundation
import Testing

@testable import SyncCore

/// Text with many combining marks in a row takes quadratic time to compare, so it is refused where
/// it enters.
@Suite("Combining marks in a row")
struct CombiningMarksTests {
    /// Marks of two classes in turn, which have to be sorted.
    static func marks(_ count: Int) -> String {
        String(String.UnicodeScalarView((0..<count).map { $0 % 2 == 0 ? "\u{301}" : "\u{316}" }))
    }

    static let escaped = (0..<31).map { $0 % 2 == 0 ? #"\u0301"# : #"\u0316"# }.joined()

    @Test("a mark is what is sorted when text is compared")
    func classes() throws {
        for value in UInt32(0)..<0x20000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let first = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first
            let isSorted = try #require(first).properties.canonicalCombiningClass != .notReordered
            if CombiningMarks.isMark(value) != isSorted {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
    }

    @Test("thirty in a row are accepted, one more is not")
    func bound() {
        #expect(!("a" + Self.marks(30)).hasTooManyMarks)
        #expect(("a" + Self.marks(31)).hasTooManyMarks)
        #expect(!("a" + Self.marks(30) + "b" + Self.marks(30)).hasTooManyMarks)
        #expect(!String(repeating: "e\u{301}", count: 1000).hasTooManyMarks)
        #expect(!"".hasTooManyMarks && !"plain".hasTooManyMarks)
    }

    /// Not arguments of the test, because showing one takes as long as comparing it.
    private static let texts: [(String, Bool)] = [
        ("[\"a\(marks(30))\"]", true), ("[\"a\(marks(31))\"]", false),
        ("[\"a\(escaped)\"]", false), ("[\"\(escaped)\"]", false),
        ("[\"a\(marks(16))\\u0301\(marks(13))\"]", true),
        ("[\"a\(marks(16))\\u0301\(marks(14))\"]", false),
        ("[\"a\(marks(30))\",\"\(marks(30))\"]", true),
        ("{\"a\(marks(31))\":1}", false),
        // Musical marks are pairs of surrogates.
        ("[\"a" + String(repeating: #"\uD834\uDD65"#, count: 31) + "\"]", false),
        ("[\"a" + String(repeating: "\u{1D165}", count: 31) + "\"]", false),
        ("[\"" + String(repeating: #"\uD834\uDD5D"#, count: 31) + "\"]", true),
    ]

    @Test("JSON: raw, escaped, across both, in names")
    func json() throws {
        for (place, (text, isAccepted)) in Self.texts.enumerated() {
            do {
                _ = try JSON(parsing: text)
                #expect(isAccepted, "\(place)")
            } catch {
                #expect(!isAccepted && error.reason == .tooManyMarks, "\(place): \(error)")
            }
            // The store may have it from an earlier version.
            _ = try JSON(stored: Array(text.utf8))
        }
    }

    @Test("a request is answered with its id, whatever its method; the connection stays")
    func requests() throws {
        let long = "a" + Self.marks(400)
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> state.set {"form":"ice","changes":[{"field":"flavor","value":"\#(long)"}]}
            root< {"id":"*","error":{"data":{"kind":"invalidValue"}}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["\#(long)"]}]}}
            root< {"id":"*","error":{"data":{"kind":"invalidValue"}}}
            root> \#(long) {}
            root< {"id":"*","error":{"data":{"kind":"invalidValue"}}}
            root>> [{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\#(long)","method":"ping"}]
            root< [{"id":"a","error":{"data":{"kind":"invalidValue"}}},{"id":null}]
            root> ping {}
            root< {"result":{}}
            """#)
    }

    @Test("a client does not take it from a daemon")
    func answers() {
        var decoder = ServerMessageDecoder()
        let text = #"{"jsonrpc":"2.0","id":1,"result":{"title":"\#(Self.marks(31))"}}"#
        #expect(throws: DecodeError.self) { try decoder.decode(Array(text.utf8)) }
    }

    @Test(
        "a definition from another source is refused before its texts are compared",
        arguments: ["label", "default", "option", "name"])
    func definitions(place: String) throws {
        let long = JSON.string("a" + Self.marks(200_000))
        let written: JSON = ["id": "p", "type": "picker", "options": ["a", "b"]]
        var field = try #require(written.objectValue)
        switch place {
        case "label": field["label"] = long
        case "default": field["default"] = long
        case "option": field["options"] = ["a", long]
        default: field.append(uniqueName: "a" + Self.marks(200_000), true)
        }
        let error = #expect(throws: FormIssues.self) {
            try FormDefinition.parse(
                ["form": "f", "fields": [.object(field)]], limits: FormLimits(),
                compile: compilePattern)
        }
        #expect(error?.issues.count == 1)
        #expect(error?.issues.first?.message == JSONError.Reason.tooManyMarks.inWords)
    }
}
