import FormFile
import Foundation
import SyncCore
import TestKit
import Testing

private let modeline = "# yaml-language-server: $schema="

@Suite("Form files in editors and hooks")
struct EditorTests {
    let bench: Bench

    init() throws { bench = try Bench(starting: false) }

    @Test("a new form is commented, good, and accepted by the schema that its first line names")
    func new() throws {
        let text = try bench.run("form", "new", "--form", "lunch").out
        let first = try #require(text.split(separator: "\n").first)
        #expect(first.hasPrefix(modeline) && first.hasSuffix("/schema/form.schema.json"))
        #expect(text.split(separator: "\n").count { $0.contains("#") } > 20)
        let path = try bench.file("lunch.yaml", text)
        #expect(try bench.run("form", "check", path).out == "\(path): form lunch is valid\n")
        let folder = bench.folder.appending(path: "json")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let json = try YAMLDocument.parse(Array(text.utf8), name: "lunch.yaml").json
        try Data(json.encodedText.utf8).write(to: folder.appending(path: "lunch.json"))
        let verdict = try ChildProcess([
            "python3", "Tests/FormFileTests/check_schema.py", "docs/schema/form.schema.json",
            folder.path,
        ]).outcome()
        #expect(verdict.out == "lunch\taccepted\t\n")
    }

    @Test("every commented attribute of a new form is one that a form takes")
    func newUncommented() throws {
        let text = try bench.run("form", "new").out
        let attribute = try Regex("# (- )?[a-zA-Z]+: |#   [a-z]+: ")
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(5) {
            // An alternative to the line above it would be given twice.
            let isChoice = line.contains("# or:") || line.contains("# pattern")
            let isAttribute = line.firstMatch(of: attribute) != nil && !isChoice
            let isComment = line.drop { $0 == " " }.hasPrefix("#")
            if isAttribute, isComment, let mark = line.range(of: "# ") {
                lines.append(line.replacingCharacters(in: mark, with: ""))
            } else {
                lines.append(String(line))
            }
        }
        let path = try bench.file("all.yaml", lines.joined(separator: "\n"))
        let outcome = try bench.run("form", "check", path)
        // `multiple` wants a list as default: the one thing that is said.
        #expect(outcome.err.contains("default"), "\(outcome.err)\n\(lines.joined(separator: "\n"))")
        #expect(!outcome.err.contains("unknown") && !outcome.err.contains("no such"))
    }

    @Test("the schema that each example names in its first line is there")
    func modelines() throws {
        let folder = sourceTree.appending(path: "Examples/forms")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 4)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let first = try #require(text.split(separator: "\n").first)
            #expect(first.hasPrefix(modeline), "\(file.lastPathComponent)")
            let schema = folder.appending(path: String(first.dropFirst(modeline.count)))
            #expect(FileManager.default.fileExists(atPath: schema.path), "\(schema.path)")
        }
    }

    @Test("a form file in JSON may name its schema")
    func schemaMember() throws {
        let path = try bench.file(
            "a.json", #"{"$schema": "form.schema.json", "form": "a", "fields": []}"#)
        let good = try bench.file(
            "b.json",
            #"{"$schema": "x.json", "form": "b", "fields": [{"id": "x", "type": "toggle"}]}"#)
        #expect(try bench.run("form", "check", good).status == 0)
        #expect(try bench.run("form", "check", path).status == 65)
    }

    @Test("the hook for pre-commit says every mistake of every file with its place")
    func hook() throws {
        let hooks = try YAMLDocument.parse(
            [UInt8](Data(contentsOf: sourceTree.appending(path: ".pre-commit-hooks.yaml"))),
            name: "hooks"
        ).json
        let entry = try #require(hooks.arrayValue?.first?["entry"]?.stringValue)
        let words = entry.split(separator: " ").dropFirst().map(String.init)
        let good = try bench.file("good.yaml", "form: a\nfields:\n  - {id: x, type: toggle}\n")
        let one = try bench.file("one.yaml", "form: a\nfields:\n  - {id: x, type: togle}\n")
        let two = try bench.file("two.yaml", "form: A b\nfields:\n  - {id: 1x, type: toggle}\n")
        let outcome = try bench.launch(words + [good, one, two]).outcome()
        #expect(outcome.status == 65 && outcome.out == "")
        let lines = outcome.err.split(separator: "\n").map(String.init)
        #expect(lines.count == 3, "\(lines)")
        #expect(lines[0].hasPrefix("\(one):3:19: fields[0].type: "), "\(lines)")
        #expect(lines[1].hasPrefix("\(two):1:7: form: "), "\(lines)")
        #expect(lines[2].hasPrefix("\(two):3:"), "\(lines)")
        #expect(try bench.launch(words + [good]).outcome().status == 0)
    }
}
