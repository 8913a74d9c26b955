// A new definition over one in use, and options set at run time.

import SyncCore
import Testing

@Suite("Changing a form that is in use")
struct FormMigrationTests {
    private func plan(
        from old: String, to new: String, _ value: JSON? = nil
    ) throws -> FormMigration {
        FormMigration.plan(
            from: try form(fields: old), to: try form(fields: new), values: { _ in value })
    }

    @Test(
        "a value is kept, flagged or reset by what the new control can hold",
        arguments: [
            // The same type: never reset.
            (
                #""type": "picker", "options": ["a", "b"]"#, #""type": "picker", "options": ["b"]"#,
                #""b""#, "kept"
            ),
            (
                #""type": "picker", "options": ["a", "b"]"#, #""type": "picker", "options": ["b"]"#,
                #""a""#, "invalid"
            ),
            (
                #""type": "picker", "options": ["a"]"#, #""type": "picker", "options": [1]"#,
                #""a""#,
                "invalid"
            ),
            (#""type": "slider", "max": 9"#, #""type": "slider", "max": 5"#, "7", "invalid"),
            (
                #""type": "date", "mode": "date""#, #""type": "date", "mode": "time""#,
                #""2026-11-21""#, "invalid"
            ),
            (#""type": "text""#, #""type": "text", "maxLength": 1"#, #""ab""#, "invalid"),
            (#""type": "secure""#, #""type": "secure", "maxLength": 1"#, "true", "kept"),
            (
                #""type": "button""#, #""type": "button", "confirm": "?""#, #"{"presses": 3}"#,
                "kept"
            ),
            // Another type with the same kind of store: carried where the value means something.
            (#""type": "slider", "max": 9"#, #""type": "stepper""#, "7", "kept"),
            (#""type": "stepper""#, #""type": "gauge""#, "7", "invalid"),
            (#""type": "picker", "options": ["a"]"#, #""type": "text""#, #""a""#, "kept"),
            (#""type": "text""#, #""type": "picker", "options": ["a"]"#, #""a""#, "kept"),
            (#""type": "text""#, #""type": "picker", "options": ["a"]"#, #""b""#, "invalid"),
            (#""type": "text""#, #""type": "date", "mode": "date""#, #""2026-11-21""#, "kept"),
            (#""type": "text""#, #""type": "date", "mode": "date""#, #""soon""#, "reset"),
            (#""type": "toggle""#, #""type": "picker", "options": [true, false]"#, "true", "kept"),
            (#""type": "toggle""#, #""type": "text""#, "true", "reset"),
            // Another kind of store.
            (#""type": "text""#, #""type": "secure""#, #""a""#, "reset"),
            (#""type": "secure""#, #""type": "text""#, "true", "reset"),
            (#""type": "slider""#, #""type": "text""#, "1", "reset"),
            (
                #""type": "picker", "options": ["a"]"#,
                #""type": "picker", "options": ["a"], "multiple": true"#, #""a""#, "reset"
            ),
        ])
    func fates(old: String, new: String, value: String, fate: String) throws {
        let found = try plan(
            from: #"{"id": "x", \#(old)}"#, to: #"{"id": "x", \#(new)}"#, json(value))
        let lists = ["kept": found.kept, "invalid": found.invalid, "reset": found.reset]
        for (name, list) in lists { #expect(list == (name == fate ? ["x"] : []), "\(name)") }
        #expect(found.origins == [fate == "reset" ? .restarts(0) : .carries(0)])
        #expect(found.added.isEmpty && found.removed.isEmpty)
    }

    @Test("what nobody has set is never reported lost")
    func unset() throws {
        let found = try plan(
            from: #"{"id": "x", "type": "slider"}"#, to: #"{"id": "x", "type": "text"}"#)
        #expect(found.kept == ["x"] && found.origins == [.restarts(0)])
    }

    @Test("fields are added, renamed by was, and removed")
    func names() throws {
        let old = #"""
            {"id": "a", "type": "toggle"}, {"id": "b", "type": "toggle"},
            {"id": "c", "type": "toggle"}
            """#
        let new = #"""
            {"id": "c", "type": "toggle"}, {"id": "d", "type": "toggle", "was": "a"},
            {"id": "e", "type": "toggle", "was": "z"}
            """#
        let found = try plan(from: old, to: new, true)
        #expect(found.kept == ["c", "d"] && found.added == ["e"] && found.removed == ["b"])
        #expect(found.origins == [.carries(2), .carries(0), .new])
    }

    @Test("a was that is left in the file counts once")
    func staleWas() throws {
        let new = #"{"id": "d", "type": "toggle", "was": "a"}"#
        let old = #"{"id": "a", "type": "toggle"}, {"id": "d", "type": "toggle"}"#
        let found = try plan(from: old, to: new, true)
        #expect(found.origins == [.carries(1)] && found.removed == ["a"])
    }

    @Test(
        "two fields cannot take over the same one",
        arguments: [
            #"{"id": "b", "type": "toggle", "was": "a"}, {"id": "a", "type": "toggle"}"#,
            #"{"id": "b", "type": "toggle", "was": "a"}, {"id": "c", "type": "toggle", "was": "a"}"#,
        ])
    func twoHeirs(fields: String) {
        #expect(throws: FormIssues.self) { try form(fields: fields) }
    }

    @Test("the same definition keeps everything")
    func identity() throws {
        let form = try FormDefinition.parse(
            json(ExampleForms.controls), limits: FormLimits(), compile: compilePattern)
        let found = FormMigration.plan(
            from: form, to: form,
            values: { form.controls[$0].storeKind == nil ? nil : form.controls[$0].defaultValue })
        #expect(found.kept == form.controls.map(\.id))
        #expect(found.invalid.isEmpty && found.reset.isEmpty)
    }
}

@Suite("Options set at run time")
struct RuntimeOptionsTests {
    static let file = #"""
        {"form": "f", "sections": [{"fields": [{"id": "t", "type": "toggle"}]}, {"fields": [
          {"id": "branch", "type": "picker", "options": ["main"], "default": "main"}]}]}
        """#

    private func parsed(_ text: String) throws -> FormDefinition {
        try FormDefinition.parse(json(text), limits: FormLimits(), compile: compilePattern)
    }

    private func setting(
        _ options: JSON, in form: FormDefinition, applied: JSON
    ) throws -> FormDefinition {
        try form.settingOptions(
            of: try #require(form.index(of: "branch")), to: options, applied: applied,
            limits: FormLimits(), compile: compilePattern)
    }

    private func tags(_ form: FormDefinition) -> [JSON]? {
        form.controls[1].options?.options.map(\.tag)
    }

    @Test("options are replaced; a default that is gone comes back with its option")
    func replacing() throws {
        let file = try parsed(Self.file)
        let first = try setting(["dev", "fix"], in: file, applied: file.json)
        #expect(tags(first) == ["dev", "fix"] && first.controls[1].defaultValue == "dev")
        let second = try setting(["dev", "main"], in: first, applied: file.json)
        #expect(second.controls[1].defaultValue == "main")
        #expect(try parsed(second.json.encodedText).json == second.json)
    }

    @Test(
        "wrong options are refused at their place",
        arguments: [
            ("[]", "sections[1].fields[0].options"),
            (#"["a", "a"]"#, "sections[1].fields[0].options[1]"),
            (#"["a", 1]"#, "sections[1].fields[0].options[1]"),
            (#"["a\n"]"#, "sections[1].fields[0].options[0]"),
            ("3", "sections[1].fields[0].options"),
        ])
    func refused(options: String, path: String) throws {
        let file = try parsed(Self.file)
        let error = #expect(throws: FormIssues.self) {
            try setting(json(options), in: file, applied: file.json)
        }
        #expect(
            error?.issues.contains { $0.pathText == path } == true, "\(String(describing: error))")
    }

    @Test("only a picker has options to set")
    func otherTypes() throws {
        let file = try parsed(Self.file)
        let error = #expect(throws: FormIssues.self) {
            try file.settingOptions(
                of: 0, to: ["a"], applied: file.json, limits: FormLimits(), compile: compilePattern)
        }
        #expect(error?.issues.first?.pathText == "sections[0].fields[0]")
    }

    @Test("they survive an apply until the picker's options change in the file")
    func surviving() throws {
        let file = try parsed(Self.file)
        let inForce = try setting(["dev"], in: file, applied: file.json)
        func applied(_ text: String) throws -> FormDefinition {
            FormDefinition.keepingRuntimeOptions(
                file: try parsed(text), applied: file.json, inForce: inForce,
                limits: FormLimits(), compile: compilePattern)
        }
        let titled = try applied(
            Self.file.replacing("\"form\"", with: "\"title\": \"F\", \"form\""))
        #expect(titled.title == "F" && tags(titled) == ["dev"])
        let renamed = try applied(
            Self.file.replacing("\"branch\"", with: "\"ref\", \"was\": \"branch\""))
        #expect(tags(renamed) == ["dev"])
        let changed = try applied(Self.file.replacing("[\"main\"]", with: "[\"main\", \"next\"]"))
        #expect(tags(changed) == ["main", "next"])
    }

    @Test("they give way to a file that cannot do with them")
    func givingWay() throws {
        let file = try parsed(Self.file)
        let inForce = try setting(["dev"], in: file, applied: file.json)
        let bound = Self.file.replacing(
            "\"default\": \"main\"}",
            with: "\"default\": \"main\"}, {\"id\": \"b\", \"type\": \"picker\", "
                + "\"options\": [\"main\"], \"binds\": \"branch\"}")
        let form = FormDefinition.keepingRuntimeOptions(
            file: try parsed(bound), applied: file.json, inForce: inForce,
            limits: FormLimits(), compile: compilePattern)
        #expect(tags(form) == ["main"])
    }

    /// Lists of options that differ from `["a", 1, …]` in what a reader sees.
    static let lists: [(JSON, JSON)] = [
        (["a", "b"], ["a", "c"]),
        (["a", "b"], ["b", "a"]),
        (["a", "b"], ["a"]),
        // Equal by canonical equivalence, as tags are, but other bytes.
        (["\u{e9}"], ["e\u{301}"]),
        ([["tag": "a", "label": "A"]], [["tag": "a", "label": "B"]]),
        ([["tag": "a", "disabled": true], "b"], [["tag": "a"], "b"]),
        ([["section": "s", "options": ["a"]]], [["section": "t", "options": ["a"]]]),
        ([["section": "s", "options": ["a", "b"]]], [["section": "s", "options": ["a"]], "b"]),
        ([1, 2], ["1", "2"]),
        ([true], [1]),
    ]

    @Test("the result does not depend on the definition whose options are used again")
    func reused() throws {
        func form(_ options: JSON, _ more: JSON) throws -> JSON {
            ["form": "f", "fields": [["id": "p", "type": "picker", "options": options], more]]
        }
        let toggle: JSON = ["id": "t", "type": "toggle"]
        for (left, right) in Self.lists {
            for (old, new) in [(left, right), (right, left), (left, left)] {
                let previous = try parsed(form(old, toggle).encodedText)
                // The place of the picker may be another, and its id that of something else.
                for written in [
                    try form(new, toggle),
                    try form(new, ["id": "q", "type": "picker", "options": old]),
                    [
                        "form": "f",
                        "sections": [
                            ["fields": [toggle]],
                            [
                                "fields": [
                                    ["id": "p", "type": "picker", "options": new]
                                ]
                            ],
                        ],
                    ],
                ] {
                    let alone = try parsed(written.encodedText)
                    let reusing = try FormDefinition.parse(
                        json(written.encodedText), limits: FormLimits(), reusing: previous,
                        compile: compilePattern)
                    #expect(reusing.json == alone.json)
                    for (control, other) in zip(reusing.controls, alone.controls) {
                        #expect(control.options?.options == other.options?.options)
                        #expect(control.options?.groups == other.options?.groups)
                        #expect(control.defaultValue == other.defaultValue)
                        for option in other.options?.options ?? [] {
                            #expect(
                                control.options?.index(of: option.tag)
                                    == other.options?.index(of: option.tag))
                        }
                    }
                    let isShared = reusing.index(of: "p").map {
                        reusing.controls[$0].options === previous.controls[0].options
                    }
                    #expect(isShared == (old == new))
                }
            }
        }
    }

    @Test("options that are used again count for the limit of the form")
    func reusedCount() throws {
        var limits = FormLimits()
        limits.optionsMax = 3
        let one = #"{"form": "f", "fields": [{"id": "p", "type": "picker", "options": [1, 2]}]}"#
        let two = one.replacing(
            "]}]}", with: #"]}, {"id": "q", "type": "picker", "options": [1, 2]}]}"#)
        let previous = try FormDefinition.parse(
            json(one), limits: limits, compile: compilePattern)
        let error = #expect(throws: FormIssues.self) {
            try FormDefinition.parse(
                json(two), limits: limits, reusing: previous, compile: compilePattern)
        }
        #expect(error?.issues.first?.pathText == "fields[1].options")
    }
}
