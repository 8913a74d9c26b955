// What people see: bindings, sources, wheels, invalid and missing values, templates, styles.

import SyncCore
import Testing

@Suite("What is shown")
struct ShownValueTests {
    @Test(
        "a value that is no longer in the domain is kept and flagged",
        arguments: [
            (#""type": "picker", "options": ["a"]"#, #""gone""#, true),
            (
                #""type": "picker", "options": [{"tag": "a", "disabled": true}, "b"]"#, #""a""#,
                false
            ),
            (#""type": "picker", "options": ["a"]"#, "null", true),
            (#""type": "picker", "options": ["a"], "optional": true"#, "null", false),
            (#""type": "picker", "options": ["a"], "multiple": true"#, #"["a", "gone"]"#, true),
            (#""type": "slider", "max": 10"#, "11", true),
            (#""type": "slider", "max": 10, "step": 5"#, "7", false),
            (#""type": "stepper", "min": 0"#, "-1", true),
            (#""type": "gauge""#, "2", true),
            (#""type": "date", "mode": "date", "max": "2026-01-01""#, #""2026-01-02""#, true),
            (#""type": "text", "maxLength": 1"#, #""ab""#, true),
            (#""type": "text", "pattern": "a""#, #""""#, false),
        ])
    func invalid(attributes: String, value: String, isInvalid: Bool) throws {
        let values = FormValues(try form(of: attributes), ["x": try json(value)])
        let shown = try values.shown("x")
        #expect(shown.isInvalid == isInvalid)
        #expect(shown.value == (try json(value)))
    }

    @Test(
        "required and empty reads missing",
        arguments: [
            (#""type": "text""#, "", true), (#""type": "text""#, #""a""#, false),
            (#""type": "picker", "options": ["a"], "optional": true"#, "null", true),
            (#""type": "picker", "options": ["a"], "multiple": true"#, "[]", true),
            (#""type": "date""#, "null", true), (#""type": "secure""#, "null", true),
            (#""type": "secure""#, "true", false), (#""type": "toggle""#, "false", false),
        ])
    func missing(attributes: String, value: String, isMissing: Bool) throws {
        let form = try form(of: attributes + #", "required": true"#)
        let values = FormValues(form, value.isEmpty ? [:] : ["x": try json(value)])
        #expect(try values.shown("x").isMissing == isMissing)
    }

    static let bound = #"""
        {"id": "last", "type": "picker", "binds": "middle", "options": ["a"]},
        {"id": "middle", "type": "picker", "binds": "root", "options": ["b", "a"]},
        {"id": "root", "type": "picker", "options": ["a", "b", "c"]},
        {"id": "note", "type": "label", "text": "${last}"}
        """#

    @Test("a chain of bindings ends at the control that stores")
    func chains() throws {
        let form = try form(fields: Self.bound)
        #expect(form.targets == [[2], [2], [2], []])
        #expect(form.dependents == [[3], [], [0, 1, 3], []])
        let values = FormValues(form, ["root": "b"])
        #expect(try values.shown("middle") == ShownValue("b"))
        #expect(try values.shown("last").isInvalid)
        #expect(try values.edits(.value("a"), "last") == [FieldEdit(target: 2, edit: .set("a"))])
        #expect(throws: InvalidValue.self) { try values.edits(.value("b"), "last") }
        #expect(form.expectedDescription(of: 0) == "one of a")
    }

    @Test("a control over sources is mixed while they differ, and sets them all")
    func sources() throws {
        let form = try form(
            fields: #"""
                {"id": "a", "type": "picker", "options": ["x", "y"]},
                {"id": "b", "type": "picker", "options": ["x", "y", "z"]},
                {"id": "all", "type": "picker", "options": ["y", "x"], "sources": ["b", "a"]},
                {"id": "again", "type": "picker", "options": ["y", "x"], "binds": "all"}
                """#)
        let mixed = FormValues(form, ["a": "y"])
        #expect(try mixed.shown("all").isMixed && mixed.shown("again").isMixed)
        #expect(try mixed.shown("all").value.isNull)
        #expect(try FormValues(form).shown("all") == ShownValue("x"))
        #expect(try FormValues(form, ["a": "z", "b": "z"]).shown("all").isInvalid)
        let all = [FieldEdit(target: 0, edit: .set("y")), FieldEdit(target: 1, edit: .set("y"))]
        #expect(try mixed.edits(.value("y"), "all") == all)
        #expect(try mixed.edits(.move(.next, wraps: false), "again") == all)
        #expect(form.dependents == [[2, 3], [2, 3], [], []])
    }

    @Test("a bound gauge shows a value beyond its bounds at the bound")
    func gauges() throws {
        let form = try form(
            fields: #"""
                {"id": "s", "type": "stepper", "min": 0, "max": 100},
                {"id": "g", "type": "gauge", "binds": "s", "min": 10, "max": 50}
                """#)
        #expect(try FormValues(form, ["s": 70]).shown("g") == ShownValue(50))
        #expect(try FormValues(form, ["s": 30]).shown("g") == ShownValue(30))
    }

    @Test("the bounds clamp what increments made; a base outside is kept")
    func counters() throws {
        let form = try form(of: #""type": "stepper", "min": 0, "max": 10"#)
        func read(_ base: Int64, _ sum: Int64) -> DecimalNumber {
            form.counterValue(0, base: DecimalNumber(base), increments: DecimalNumber(sum))
        }
        #expect(read(9, 2) == DecimalNumber(10))
        #expect(read(9, -3) == DecimalNumber(6))
        #expect(read(90, 0) == DecimalNumber(90))
        #expect(read(9, .max) == DecimalNumber(10))
    }

    @Test("several tags are shown in option order, gone ones last")
    func tagOrder() throws {
        let form = try form(of: #""type": "picker", "multiple": true, "options": ["b", "a"]"#)
        let values = FormValues(form, ["x": ["z", "a", "y", "b"]])
        #expect(try values.shown("x").value == ["b", "a", "y", "z"])
    }

    @Test(
        "templates show labels, lists and dashes",
        arguments: [
            ("${p}", "Apple pie"), ("${m}", "Mon, tue-2"), ("${n}", "0.50"), ("${o}", "—"),
            ("${s}", "—"), ("${mix}", "—"), ("${w}", "Row, b"), ("${w.two}", "b"), ("${t}", "true"),
            ("$${p}", "${p}"), ("$$${p}", "$${p}"), ("$ ${p} $", "$ Apple pie $"), ("}{", "}{"),
            ("${bad}", "— (invalid: gone)"), ("${go}", "0"), ("", ""),
        ])
    func templates(source: String, expected: String) throws {
        let form = try form(
            fields: #"""
                {"id": "p", "type": "picker", "options": [{"tag": "apple", "label": "Apple pie"}]},
                {"id": "m", "type": "picker", "multiple": true, "options": ["mon", "tue-2"],
                 "default": ["tue-2", "mon"]},
                {"id": "n", "type": "slider", "step": 0.25, "default": 0.5},
                {"id": "o", "type": "picker", "optional": true, "options": ["a"]},
                {"id": "s", "type": "secure"}, {"id": "t", "type": "toggle", "default": true},
                {"id": "f", "type": "toggle"}, {"id": "go", "type": "button"},
                {"id": "mix", "type": "toggle", "sources": ["t", "f"]},
                {"id": "bad", "type": "picker", "options": ["a"]},
                {"id": "w", "type": "wheels", "components": [
                  {"id": "one", "options": [{"tag": "a", "label": "Row"}]},
                  {"id": "two", "options": ["a", {"tag": "b", "label": "b"}]}],
                 "default": {"two": "b"}},
                {"id": "x", "type": "label", "text": "\#(source)"}
                """#)
        let values = FormValues(form, ["bad": "gone"])
        #expect(form.displayText(of: try values.index("x"), values: values.value) == expected)
    }

    @Test("a format shows the control's own value")
    func formats() throws {
        let form = try form(of: #""type": "stepper", "format": "${value} %", "step": 0.5"#)
        let values = FormValues(form, ["x": 3])
        #expect(form.displayText(of: 0, values: values.value) == "3.0 %")
        #expect(form.dependents == [[]])
    }

    @Test(
        "a style comes from the control, its section or the form",
        arguments: [
            (#""style": "menu", "#, "menu"), ("", "palette"),
        ])
    func containerStyles(own: String, expected: String) throws {
        let text = #"""
            {"form": "f", "styles": {"picker": "wheel", "toggle": "checkbox"}, "sections": [
              {"styles": {"picker": "palette"}, "fields": [
                {"id": "a", "type": "picker", \#(own) "options": ["x"]}]},
              {"fields": [{"id": "b", "type": "picker", "options": ["x"]},
                {"id": "c", "type": "toggle"}, {"id": "d", "type": "gauge"}]}]}
            """#
        let form = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        let styles = form.controls.map(\.effectiveStyle.rawValue)
        #expect(styles == [expected, "wheel", "checkbox", "automatic"])
        #expect(form.resolvedStyle(of: 3) == .linear)
    }

    @Test(
        "automatic follows the guidance for pickers",
        arguments: [
            (1, "", ControlStyle.inline), (2, "", .segmented), (5, "", .segmented), (6, "", .menu),
            (20, "", .menu), (21, "", .navigationLink), (3, #", "symbol": "x""#, .palette),
            (3, #", "subtitle": "more""#, .radioGroup),
        ])
    func automatic(count: Int, attributes: String, expected: ControlStyle) throws {
        let options = (0..<count).map { #"{"tag": "t\#($0)"\#(attributes)}"# }
        let form = try form(
            of: #""type": "picker", "options": [\#(options.joined(separator: ", "))]"#)
        #expect(form.resolvedStyle(of: 0) == expected)
    }

    @Test(
        "a tag written alone gets the label that people expect",
        arguments: [
            ("chocolate", "Chocolate"), ("thumbs up", "Thumbs up"), ("eu-west-1", "eu-west-1"),
            ("iOS", "iOS"), ("élan", "Élan"), ("sda1", "sda1"), ("", ""), ("東京", "東京"),
        ])
    func labels(tag: String, label: String) {
        #expect(PickerOption.label(for: .string(tag)) == label)
    }
}
