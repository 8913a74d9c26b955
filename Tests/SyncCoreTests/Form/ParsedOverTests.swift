import SyncCore
import TestKit
import Testing

@Suite("A definition that differs from a valid one in some fields")
struct ParsedOverTests {
    /// Forms with a picker `p` at which other controls look in every way that there is.
    static let forms = [
        #"{"id": "p", "type": "picker", "options": OPTIONS}, {"id": "t", "type": "toggle"}"#,
        #"""
        {"id": "t", "type": "toggle", "enabledWhen": {"p": "a"}, "visibleWhen": {"p": {"in": ["a", "b"]}}},
        {"id": "p", "type": "picker", "options": OPTIONS, "default": "a"},
        {"id": "n", "type": "stepper", "min": 1, "max": 9, "default": 3, "enabledWhen": {"p": {"not": null}}}
        """#,
        #"""
        {"id": "p", "type": "picker", "options": OPTIONS, "default": "b", "onConflict": "ask",
         "currentValueLabel": "${value} of ${x}"},
        {"id": "q", "type": "picker", "options": ["a", "b"], "binds": "p"},
        {"id": "x", "type": "text", "maxLength": 9, "pattern": "a*", "default": "aa"},
        {"id": "l", "type": "label", "text": "${p}, ${x}"}
        """#,
        #"""
        {"id": "p", "type": "picker", "multiple": true, "options": OPTIONS, "default": ["a"]},
        {"id": "q", "type": "picker", "multiple": true, "options": ["a"]},
        {"id": "s", "type": "picker", "multiple": true, "options": ["a"], "sources": ["p", "q"]}
        """#,
        #"""
        {"id": "p", "type": "picker", "optional": true, "options": OPTIONS, "required": true,
         "approval": {"from": ["anyone"], "when": {"p": "b"}}, "access": {"write": ["owner"]}},
        {"id": "w", "type": "wheels", "components": [{"id": "u", "options": ["1", "2"]}], "default": {"u": "2"}},
        {"id": "d", "type": "toggle", "was": "e", "enabledWhen": "complete"}
        """#,
        #"""
        {"id": "p", "type": "picker", "options": OPTIONS, "visibleWhen": {"o": {"atLeast": 2}}},
        {"id": "o", "type": "picker", "options": [1, 2, 3]}, {"id": "b", "type": "button", "runs": "queue"},
        {"id": "k", "type": "secure", "maxLength": 9}, {"id": "c", "type": "toggle", "locked": true}
        """#,
    ]

    static let lists = [
        #"["a", "b"]"#, #"["a", "b", "c"]"#, #"["b"]"#, #"["c"]"#, #"["a", "a"]"#, "[]", "3",
        "[1, 2]",
        "[true, false]", #"["a", 1]"#, "[\"a\\u0007\"]", #"[{"tag": "a", "label": "A"}, "b"]"#,
        #"[{"section": "S", "options": ["a", "b"]}]"#, #"[{"tag": "a", "colour": 1}]"#,
        "[" + (0..<8).map { "\"a\($0)\"" }.joined(separator: ",") + "]",
    ]

    /// What there is to say about a definition, or why it is refused.
    private func outcome(
        _ text: String, over base: (definition: FormDefinition, fields: [Int])?
    ) throws -> [String] {
        var limits = FormLimits()
        limits.optionsMax = 8
        do {
            let form = try FormDefinition.parse(
                json(text), limits: limits, over: base, compile: compilePattern)
            return [
                "\(form.controls)", "\(form.sections)", "\(form.dependents)",
                "\(form.conditionDependents)", "\(form.completionDependents)", "\(form.targets)",
                "\(form.required)", "\(form.guards)", "\(form.runButtons)",
                "\(form.snapshotBytesMax)", form.json.encodedText,
                "\(form.controls.map { form.index(of: $0.id) })",
            ]
        } catch let refused as FormIssues {
            return refused.issues.map { "\($0.pathText): \($0.message), \($0.expected)" }
        }
    }

    @Test("a form with more controls than the limit of now is refused")
    func lowerLimit() throws {
        let text =
            #"{"form":"f","fields":[{"id":"t","type":"toggle"},{"id":"p","type":"picker","options":["a"]}]}"#
        let base = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        var limits = FormLimits()
        limits.fieldsMax = 1
        let refused = #expect(throws: FormIssues.self) {
            try FormDefinition.parse(
                json(text.replacing("[\"a\"]", with: "[\"b\"]")), limits: limits, over: (base, [1]),
                compile: compilePattern)
        }
        #expect(refused?.issues.map { $0.expected } == ["at most 1"])
    }

    @Test("is what it is without the valid one, or is refused for the same reasons")
    func same() throws {
        var accepted = 0
        var refused = 0
        for fields in Self.forms {
            for top in ["", #""styles": {"picker": "menu"}, "message": "required","#] {
                func text(_ options: String) -> String {
                    #"{"form": "f", \#(top) "fields": [\#(fields)]}"#
                        .replacing("OPTIONS", with: options)
                }
                let base = try FormDefinition.parse(
                    json(text(#"["a", "b"]"#)), limits: FormLimits(), compile: compilePattern)
                let picker = try #require(base.index(of: "p"))
                for options in Self.lists {
                    let alone = try outcome(text(options), over: nil)
                    let over = try outcome(text(options), over: (base, [picker]))
                    // Of too many options the last list is at fault, and it is another one here.
                    let isTooMany = alone.first?.contains("at most 8") ?? false
                    #expect(
                        isTooMany ? over.first?.contains("at most 8") == true : over == alone,
                        "\(text(options)): \(over)")
                    if alone.count == 12 { accepted += 1 } else { refused += 1 }
                }
            }
        }
        #expect(accepted > 30 && refused > 60)
    }
}
