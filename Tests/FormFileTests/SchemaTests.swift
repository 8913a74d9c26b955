import Foundation
import SyncCore
import TestKit
import Testing

@testable import FormFile

@Suite("The JSON Schema of form files") struct SchemaTests {
    /// What the schema says of each file: `nil` where it accepts it, else the first reason.
    private func verdicts(_ files: [URL]) throws -> [String: String?] {
        let folder = try TemporaryFolder()
        for file in files {
            let name = file.lastPathComponent
            let tree = try YAMLDocument.parse(FormFolder.bytes(file), name: name)
            try Data(tree.json.encoded).write(to: folder.url.appending(path: name + ".json"))
        }
        let checker = try ChildProcess(
            [
                "python3", FormFolder.tests.appending(path: "check_schema.py").path,
                FormFolder.schema.path, folder.path,
            ]
        ).outcome()
        try #require(
            checker.status != 3,
            "python3 has no jsonschema: pip install jsonschema, or Debian's python3-jsonschema")
        // env(1) says so of a command that is not there.
        try #require(
            checker.status != 127, "python3 is missing: Debian's python3-jsonschema")
        try #require(checker.status == 0, "check_schema.py failed")
        var verdicts: [String: String?] = [:]
        for line in checker.lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map(String.init)
            verdicts.updateValue(parts[1] == "accepted" ? nil : parts[2], forKey: parts[0])
        }
        #expect(verdicts.count == files.count)
        return verdicts
    }

    @Test("every good form is accepted, and every form that is broken in structure is refused")
    func agrees() throws {
        let good = FormFolder.examples + FormFolder.valid
        let broken = FormFolder.broken
        try #require(FormFolder.examples.count >= 4 && broken.count > 100)
        let expectations = try broken.map { file in
            (file, try #require(try Expectation(file), "\(file.lastPathComponent): first line"))
        }
        let parsed = expectations.filter { $0.1.kind != .syntax }
        let verdicts = try verdicts(good + parsed.map(\.0))
        for file in good {
            let verdict = verdicts[file.lastPathComponent]
            #expect(verdict == .some(nil), "\(file.lastPathComponent)")
        }
        for (file, expectation) in parsed {
            let verdict = try #require(verdicts[file.lastPathComponent])
            switch expectation.kind {
            case .structure: #expect(verdict != nil, "\(file.lastPathComponent) is accepted")
            case .meaning:
                #expect(verdict == nil, "\(file.lastPathComponent) is refused: \(verdict ?? "")")
            case .syntax: break
            }
        }
    }

    @Test("every attribute is described, so that an editor can show what it is")
    func described() throws {
        let schema = try JSON(parsing: FormFolder.bytes(FormFolder.schema))
        let definitions = try #require(schema["$defs"]?.objectValue)
        func isDescribed(_ attribute: JSON) -> Bool {
            if attribute["description"] != nil { return true }
            guard let name = attribute["$ref"]?.stringValue?.split(separator: "/").last else {
                return false
            }
            return definitions[String(name)]?["description"] != nil
        }
        func check(_ json: JSON, _ place: String, inside known: Set<String> = []) {
            // A schema under `then` and similar keys narrows the schema around it.
            var known = known
            let properties = json["properties"]?.objectValue?.members ?? []
            for (name, value) in properties where isDescribed(value) { known.insert(name) }
            for (name, _) in properties {
                // What a type narrows further is described where all controls share it.
                let isShared = definitions["field"]?["properties"]?[name] != nil
                #expect(known.contains(name) || isShared, "\(place).\(name)")
            }
            // A schema under `if` is a condition, not an attribute.
            for (name, value) in json.objectValue?.members ?? [] where name != "if" {
                let isNarrowing = ["then", "else", "not", "allOf", "anyOf"].contains(name)
                check(value, "\(place).\(name)", inside: isNarrowing ? known : [])
            }
            for value in json.arrayValue ?? [] { check(value, place, inside: known) }
        }
        check(schema, "")
    }
}
