// Conditions: their truth tables, and what mixed, invalid and secure values satisfy.

import SyncCore
import Testing

@Suite("Conditions")
struct ConditionTests {
    static let fields = #"""
        {"id": "flavor", "type": "picker", "options": ["a", "b", "é"]},
        {"id": "days", "type": "picker", "multiple": true, "options": ["mon", "tue", "wed"]},
        {"id": "count", "type": "stepper", "default": 5},
        {"id": "on", "type": "toggle"}, {"id": "off", "type": "toggle", "default": true},
        {"id": "both", "type": "toggle", "sources": ["on", "off"]},
        {"id": "name", "type": "text", "required": true},
        {"id": "key", "type": "secure"},
        {"id": "day", "type": "date", "mode": "date"},
        {"id": "go", "type": "button"},
        {"id": "wheel", "type": "wheels", "components": [{"id": "w", "options": ["r", "s"]}]}
        """#

    private func holds(_ condition: String, _ byID: [String: JSON]) throws -> Bool {
        let form = try form(
            fields: Self.fields
                + #", {"id": "it", "type": "toggle", "enabledWhen": \#(condition)}"#)
        let values = FormValues(form, byID)
        return form.isEnabled(try values.index("it"), values: values.value)
    }

    @Test(
        "a comparison holds or does not",
        arguments: [
            (#"{"flavor": "a"}"#, true), (#"{"flavor": "b"}"#, false),
            (#"{"flavor": {"in": ["b", "a"]}}"#, true), (#"{"flavor": {"in": []}}"#, false),
            (#"{"flavor": {"not": "a"}}"#, false), (#"{"flavor": {"not": "b"}}"#, true),
            (#"{"days": "mon"}"#, true), (#"{"days": "wed"}"#, false),
            (#"{"days": ["tue", "mon"]}"#, true), (#"{"days": ["mon"]}"#, false),
            (#"{"days": {"not": "mon"}}"#, false),
            (#"{"count": 5.0}"#, true), (#"{"count": {"atLeast": 5, "atMost": 5}}"#, true),
            (#"{"count": {"atLeast": 6}}"#, false), (#"{"count": {"atMost": 4.9}}"#, false),
            (#"{"count": {"atLeast": 3, "not": 5}}"#, false),
            (#"{"on": false, "count": 5}"#, true), (#"{"on": true, "count": 5}"#, false),
            (#"{"name": ""}"#, true), (#"{"name": {"not": ""}}"#, false),
            (#"{"day": {"atLeast": "2026-01-01", "atMost": "2026-12-31"}}"#, true),
            (#"{"day": {"atLeast": "2026-11-22"}}"#, false), (#"{"day": "2026-11-21"}"#, true),
            (#"{"go": {"atLeast": 1}}"#, false), (#"{"go": 0}"#, true),
            (#"{"wheel.w": "r"}"#, true), (#"{"wheel.w": {"not": "r"}}"#, false),
            (#"{"all": [{"on": false}, {"count": 5}]}"#, true),
            (#"{"all": [{"on": true}, {"count": 5}]}"#, false), (#"{"all": []}"#, true),
            (#"{"any": [{"on": true}, {"count": 5}]}"#, true), (#"{"any": []}"#, false),
            (#"{"none": [{"on": true}, {"count": 6}]}"#, true),
            (#"{"none": [{"on": false}]}"#, false),
            (#"{"none": [{"any": [{"on": true}, {"all": [{"count": 5}]}]}]}"#, false),
        ])
    func comparisons(condition: String, expected: Bool) throws {
        #expect(try holds(condition, ["days": ["mon", "tue"], "day": "2026-11-21"]) == expected)
    }

    @Test(
        "mixed, invalid and secure values satisfy only not",
        arguments: [
            ("both", "true"), ("flavor", #""a""#), ("flavor", #""gone""#), ("key", #""hush""#),
            ("count", "99"), ("wheel.w", #""r""#),
        ])
    func odd(field: String, operand: String) throws {
        let values: [String: JSON] = [
            "flavor": "gone", "key": true, "count": "text", "wheel": ["w": "gone"],
        ]
        #expect(try !holds(#"{"\#(field)": \#(operand)}"#, values))
        #expect(try !holds(#"{"\#(field)": {"in": [\#(operand)]}}"#, values))
        #expect(try holds(#"{"\#(field)": {"not": \#(operand)}}"#, values))
        #expect(try holds(#"{"none": [{"\#(field)": \#(operand)}]}"#, values))
    }

    @Test("a null date is neither early nor late")
    func nullHasNoOrder() throws {
        #expect(try !holds(#"{"day": {"atLeast": "0001-01-01"}}"#, [:]))
        #expect(try !holds(#"{"day": {"atMost": "9999-12-31"}}"#, [:]))
        #expect(try holds(#"{"day": null}"#, [:]))
    }

    @Test("complete holds when nothing required is missing")
    func complete() throws {
        #expect(try !holds(#""complete""#, [:]))
        #expect(try holds(#""complete""#, ["name": "Ann"]))
        #expect(try holds(#"{"any": ["complete", {"on": false}]}"#, [:]))
    }

    @Test("strings are compared by canonical equivalence")
    func equivalence() throws {
        #expect(try holds(#"{"flavor": "e\u0301"}"#, ["flavor": "\u{E9}"]))
    }

    @Test("disabled and hidden come from the control and from its section")
    func containers() throws {
        let text = #"""
            {"form": "f", "sections": [
              {"disabled": true, "visibleWhen": {"c": true},
                "fields": [{"id": "a", "type": "toggle"}]},
              {"fields": [{"id": "b", "type": "toggle", "disabled": true, "hidden": true},
                {"id": "c", "type": "toggle", "visibleWhen": {"a": false}}]}]}
            """#
        let form = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        let values = FormValues(form)
        #expect((0..<3).map { form.isEnabled($0, values: values.value) } == [false, false, true])
        #expect((0..<3).map { form.isVisible($0, values: values.value) } == [false, false, true])
        let changed = FormValues(form, ["a": true, "c": true])
        #expect((0..<3).map { form.isVisible($0, values: changed.value) } == [true, false, false])
        #expect(form.conditionDependents == [[2], [], [0]])
    }

    @Test("a control may be called as a combination is")
    func namedAll() throws {
        let form = try form(
            fields: #"""
                {"id": "all", "type": "toggle"},
                {"id": "x", "type": "toggle", "enabledWhen": {"all": true}},
                {"id": "y", "type": "toggle", "enabledWhen": {"all": [{"all": false}]}}
                """#)
        let values = FormValues(form)
        #expect(!form.isEnabled(1, values: values.value) && form.isEnabled(2, values: values.value))
    }
}
