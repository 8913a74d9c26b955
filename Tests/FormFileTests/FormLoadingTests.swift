import Foundation
import SyncCore
import TestKit
import Testing

@testable import FormFile

@Suite("Loading forms") struct FormLoadingTests {
    @Test("every good form is loaded", arguments: FormFolder.examples + FormFolder.valid)
    func good(_ file: URL) throws {
        let loaded = FormFile.load(try FormFolder.bytes(file), name: file.lastPathComponent)
        let (definition, json) = try loaded.get()
        #expect(definition.name == json["form"]?.stringValue)
        #expect(!definition.controls.isEmpty)
    }

    @Test("a good form is the same form once it was written by us", arguments: FormFolder.examples)
    func rewritten(_ file: URL) throws {
        let (first, json) = try FormFile.load(path: file.path).get()
        let text = Array(YAMLWriter.text(of: json).utf8)
        let (second, again) = try FormFile.load(text, name: "again.yaml").get()
        #expect(again == json)
        #expect(second.controls.map(\.id) == first.controls.map(\.id))
    }

    @Test("a broken form is refused with the place of its mistake", arguments: FormFolder.broken)
    func broken(_ file: URL) throws {
        let expectation = try #require(try Expectation(file), "the first line says nothing")
        try #require(!expectation.fragment.isEmpty, "the first line has no message")
        let name = file.lastPathComponent
        switch FormFile.load(try FormFolder.bytes(file), name: name) {
        case .success: Issue.record("\(name) was taken")
        case .failure(let issues):
            let first = issues.issues[0].description
            #expect(first.hasPrefix(expectation.prefix + expectation.fragment), "\(issues)")
            #expect(!first.contains("\n"))
            // One mistake is told once: what follows from it is left out.
            #expect(issues.issues.count == 1, "\(issues)")
        }
    }

    /// The lines that a form is refused with.
    private func issues(_ text: String, limits: FormLimits = FormLimits()) -> [String] {
        switch FormFile.load(Array(text.utf8), name: "f.yaml", limits: limits) {
        case .success: []
        case .failure(let issues): issues.description.split(separator: "\n").map(String.init)
        }
    }

    @Test("a form is refused that an answer in a batch could not hold")
    func depth() throws {
        func form(levels: Int) -> String {
            let inner = #"{"note": "x"}"#
            let condition = (0..<levels).reduce(inner) { inner, _ in #"{"all": [\#(inner)]}"# }
            return #"{"form": "f", "fields": [{"id": "note", "type": "text"},"#
                + #" {"id": "more", "type": "text", "enabledWhen": \#(condition)}]}"#
        }
        // Both notations, for the first character decides.
        for prefix in ["", "# YAML\n"] {
            #expect(issues(prefix + form(levels: 12)).isEmpty)
            #expect(issues(prefix + form(levels: 13)).first?.contains("deep") == true)
        }
        let (_, json) = try FormFile.load(Array(form(levels: 12).utf8), name: "f.json").get()
        let definition = String(decoding: json.encoded, as: UTF8.self)
        _ = try JSON(parsing: #"[{"result":{"definition":\#(definition)}}]"#)
    }

    @Test("all mistakes of a form are told in one go, in the order of its lines")
    func several() {
        let text = """
            form: Deploy
            titel: Deployment
            access: {wirte: [owner], admin: [ops]}
            sections:
              - title: Where
                fields:
                  - id: env
                    type: pickr
                    label: 5
                  - id: region
                    type: picker
                    options: [eu, us, eu]
                    required: yes
                  - id: count
                    type: stepper
                    min: 1
                    max: 5
                    default: 9
              - title: More
              - fields:
                  - id: note
                    type: text
                    visibleWhen: {regoin: eu}
                    default: |
                      a
                      b
                  - id: engine
                    type: wheels
                    components: [{id: a, options: [x, y]}]
                    default:
                      a: x
                      b: z
            """
        #expect(
            issues(text) == [
                #"f.yaml:1:7: form: "Deploy" is not a form name; "#
                    + "expected 1 to 63 of a-z, 0-9 and -, the first not a -",
                #"f.yaml:2:8: titel: a form has no "titel"; did you mean title?"#,
                #"f.yaml:3:17: access.wirte: access has no "wirte"; did you mean write?"#,
                #"f.yaml:3:34: access.admin[0]: found "ops"; "#
                    + "expected anyone, owner, user:NAME, group:NAME, uid:N or gid:N",
                #"f.yaml:8:15: sections[0].fields[0].type: found "pickr"; "#
                    + "did you mean picker?",
                "f.yaml:9:16: sections[0].fields[0].label: found a number (5); "
                    + #"expected a string: "5""#,
                "f.yaml:12:27: sections[0].fields[1].options[2]: "
                    + #"there is an option "eu" already; expected a tag of its own"#,
                #"f.yaml:13:19: sections[0].fields[1].required: found a string ("yes"); "#
                    + "expected true or false",
                "f.yaml:18:18: sections[0].fields[2].default: 9 is out of range; "
                    + "expected a number from 1 to 5",
                "f.yaml:19:5: sections[1]: fields are missing; "
                    + "expected fields: a list of controls",
                "f.yaml:23:31: sections[2].fields[0].visibleWhen.regoin: "
                    + #"no control "regoin"; did you mean region?"#,
                "f.yaml:24:18: sections[2].fields[0].default: "
                    + "there is a control character in it (a line break); "
                    + "expected one line of text",
                "f.yaml:32:14: sections[2].fields[1].default.b: "
                    + #"no component "b"; expected an object of a (one of x or y)"#,
            ])
    }

    @Test("a secret in a form file is refused without being quoted")
    func secret() {
        let found = issues("form: f\nfields: [{id: a, type: secure, default: hunter2}]")
        #expect(found.count == 1 && !found[0].contains("hunter2"), "\(found)")
    }

    @Test("a file, a definition and a snapshot over the largest frame are refused as what they are")
    func sizes() throws {
        var limits = FormLimits()
        limits.frameBytesMax = 16 << 10
        // Too large a file is not even read.
        let large =
            String(repeating: "# padding\n", count: 2000)
            + "form: f\nfields: [{id: a, type: toggle}]"
        #expect(
            issues(large, limits: limits) == [
                "f.yaml: a file of \(large.utf8.count) bytes; expected at most 16384"
            ])
        #expect(issues(large).isEmpty)
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
        try Data(large.utf8).write(to: file)
        guard case .failure(let refused) = FormFile.load(path: file.path, limits: limits) else {
            Issue.record("too large a file was loaded")
            return
        }
        #expect(
            refused.description == "\(file.path): too large a file; expected at most 16384 bytes")
        // Nor are the aliases of a small one written out beyond it.
        let help = String(repeating: "help ", count: 200)
        let fields = (0..<20).map { "  - {<<: *a, id: x\($0)}\n" }.joined()
        let merged = "form: f\nfields:\n  - &a {id: a, type: toggle, help: \(help)}\n" + fields
        let found = issues(merged, limits: limits)
        #expect(
            found.count == 1 && found[0].contains("too much once its aliases are written out"),
            "\(found)")
        #expect(issues(merged).isEmpty)
        // A file that fits, whose definition leaves no space in a frame for its envelope.
        let long = String(repeating: "help ", count: 2500)
        let tight = "form: f\nfields: [{id: a, type: toggle, help: \(long)}]"
        let refusal = issues(tight, limits: limits)
        #expect(
            refusal.count == 1 && refusal[0].hasPrefix("f.yaml:1:1: the definition has "),
            "\(refusal)")
        #expect(issues(tight).isEmpty)
        // A small definition whose values may grow too large.
        let wide = "form: f\nfields: [{id: a, type: text, maxLength: 1000}]"
        let grown = issues(wide, limits: limits)
        #expect(
            grown.count == 1 && grown[0].hasPrefix("f.yaml:1:1: a snapshot may take "), "\(grown)")
        #expect(issues(wide).isEmpty)
    }

    @Test(
        "a number costs what it says, not what its exponent says",
        arguments: [
            ("0e999999999999999999", true), ("-0.0e-999999999999999999", true),
            ("0e15", true), ("1e999999999999999999", false), ("1e-999999999999999999", false),
        ])
    func exponents(text: String, isNumber: Bool) {
        let form = "form: f\nfields: [{id: a, type: slider, default: \(text)}]"
        let found = issues(form)
        #expect(found.isEmpty == isNumber, "\(found)")
        if !isNumber {
            #expect(found.first?.contains("does not fit") == true, "\(found)")
        }
    }
}
