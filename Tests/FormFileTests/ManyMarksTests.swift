import SyncCore
import Testing

@testable import FormFile

/// Files whose text would take very long to compare.
@Suite("Form files with many combining marks in a row")
struct ManyMarksTests {
    /// Marks of two classes in turn, which have to be sorted.
    static let marks = String(repeating: "\u{301}\u{316}", count: 100_000)
    static let escaped = String(repeating: #"\u0301\u0316"#, count: 16)

    /// Not arguments of the test, because showing one takes as long as comparing it.
    private static let texts = [
        "form: y\(marks)", "form: tru\(marks)", "\"<<\(marks)\": 1", "t: !!str\(marks) x",
        "a: &a\(marks) x\nb: *a\(marks)", "form: \"y\(escaped)\"", "\"<<\(escaped)\": 1",
        "{\"form\": \"\(escaped)\"}", "{\"\(marks)\": 1}",
    ]

    @Test("YAML and JSON: refused as a value, a key, a tag, an anchor, and as escapes")
    func yaml() {
        for text in Self.texts {
            let error = #expect(throws: FileIssues.self) {
                try YAMLDocument.parse(Array(text.utf8), name: "f.yaml")
            }
            #expect(error?.issues.count == 1, "\(text.utf8.count) bytes")
            // libyaml refuses tags and anchors that are not ASCII itself.
            let isPlain = !["t: ", "a: "].contains { text.utf8.starts(with: $0.utf8) }
            let isSaid = error?.issues.first?.message == JSONError.Reason.tooManyMarks.inWords
            #expect(isSaid || !isPlain)
        }
    }

    @Test("a long text without many marks in a row is read as it is")
    func long() throws {
        let text = String(repeating: "e\u{301}", count: 10_000)
        let tree = try YAMLDocument.parse(Array("form: \(text)".utf8), name: "f.yaml")
        #expect(tree.json["form"] == .string(text))
    }

    private static let documents = [
        "<a>x\(marks)</a>", "<a b=\"x\(marks)\"/>", "<a\(marks)/>",
        "<a>" + String(repeating: "&#x301;&#x316;", count: 16) + "</a>",
    ]

    @Test("XML: refused as text, in an attribute, as a name, and as references")
    func xml() {
        for text in Self.documents {
            let isRefused = (try? XMLDocument.parse(Array(text.utf8), name: "f.xml")) == nil
            #expect(isRefused, "\(text.utf8.count) bytes")
        }
    }

    @Test(
        "the YAML writer does not compare a long text with words", arguments: ["y", "tru", "nul"])
    func writer(word: String) {
        let json: JSON = ["label": .string(word + Self.marks)]
        let written = YAMLWriter.text(of: json)
        let isWhole = written.utf8.count >= Self.marks.utf8.count
        #expect(isWhole)
    }
}
