// A broken twin of each rule of FORM.md is refused, at its path, and the sound one is taken.

import SyncCore
import Testing

/// A field, or a whole form, that breaks one rule.
struct BrokenForm: Sendable, CustomTestStringConvertible {
    let text: String
    let path: String
    let message: String

    var testDescription: String { "\(path): \(message)" }

    /// One control called `x`, its attributes as JSON members.
    static func control(_ attributes: String, _ path: String, _ message: String) -> BrokenForm {
        fields(#"{"id": "x", \#(attributes)}"#, "fields[0]" + path, message)
    }

    static func fields(_ fields: String, _ path: String, _ message: String) -> BrokenForm {
        BrokenForm(text: #"{"form": "f", "fields": [\#(fields)]}"#, path: path, message: message)
    }

    static func form(_ text: String, _ path: String, _ message: String) -> BrokenForm {
        BrokenForm(text: text, path: path, message: message)
    }
}

/// A picker of two tags.
private let pickerAB = #""type": "picker", "options": ["a", "b"]"#

@Suite("A form that breaks a rule is refused")
struct FormRefusalTests {
    private func expectRefusal(_ broken: BrokenForm) throws {
        let found = try issues(of: broken.text)
        #expect(
            found.contains {
                $0.pathText == broken.path && $0.message.contains(broken.message)
                    && !$0.expected.isEmpty
            }, "expected \(broken.path): …\(broken.message)…, found \(found)")
    }

    @Test(
        "at its top",
        arguments: [
            BrokenForm.form("[]", "", "a list"),
            .form(#"{"fields": []}"#, "", "form is missing"),
            .form(#"{"form": "Big", "fields": []}"#, "form", "not a form name"),
            .form(#"{"form": "-a", "fields": []}"#, "form", "not a form name"),
            .form(#"{"form": "", "fields": []}"#, "form", "not a form name"),
            .form(#"{"form": "f"}"#, "", "no controls"),
            .form(#"{"form": "f", "fields": [], "sections": []}"#, "fields", "sections and fields"),
            .form(#"{"form": "f", "fields": {}}"#, "fields", "an object"),
            .form("null", "", "form is empty"),
            .form(#"{"form": "f", "fields": []}"#, "fields", "empty"),
            .form(#"{"form": "f", "sections": []}"#, "sections", "empty"),
            .form(
                #"{"form": "f", "sections": [{"title": ""}]}"#, "sections[0]", "fields are missing"),
            .form(#"{"form": "f", "sections": [{"fields": []}]}"#, "sections[0].fields", "empty"),
            .form(#"{"form": "f", "fields": [3]}"#, "fields[0]", "a number"),
            .form(#"{"form": "f", "fields": [], "titel": ""}"#, "titel", "has no"),
            .form(#"{"form": "f", "fields": [], "title": 3}"#, "title", "a number"),
            .form(#"{"form": "f", "fields": [], "$schema": 3}"#, "$schema", "a number"),
            .form(#"{"form": "f", "fields": [], "styles": {"picker": "x"}}"#, "styles.picker", "x"),
            .form(
                #"{"form": "f", "fields": [], "labelAlignment": "right"}"#, "labelAlignment",
                "found \"right\""),
            .form(
                #"{"form": "f", "fields": [], "styles": {"text": "x"}}"#, "styles.text", "has no"),
            .form(#"{"form": "f", "sections": [{"name": ""}]}"#, "sections[0].name", "has no"),
            .form(
                #"{"form": "f", "sections": [{"collapsed": 1}]}"#, "sections[0].collapsed", "number"
            ),
            .form(
                #"{"form": "f", "fields": [], "access": {"wirte": []}}"#, "access.wirte", "has no"),
            .form(
                #"{"form": "f", "fields": [], "access": {"write": ["me"]}}"#, "access.write[0]",
                "me"),
            .form(
                #"{"form": "f", "fields": [], "access": {"read": ["uid:-1"]}}"#, "access.read[0]",
                "uid:-1"),
            .form(
                #"{"form": "f", "fields": [], "access": {"admin": "owner"}}"#, "access.admin",
                "a string"),
            .form(#"{"form": "f", "fields": [], "help": "a\u001bb"}"#, "help", "control character"),
            .form(#"{"form": "f", "fields": [], "help": "a\u0085b"}"#, "help", "control character"),
            .form(#"{"form": "f", "fields": [], "help": "a\nb"}"#, "help", "control character"),
        ])
    func top(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "in its ids",
        arguments: [
            BrokenForm.fields(#"{"type": "toggle"}"#, "fields[0]", "id is missing"),
            .fields(#"{"id": "x"}"#, "fields[0]", "type is missing"),
            .fields(#"{"id": "x", "type": "choice"}"#, "fields[0].type", "choice"),
            .fields(#"{"id": "1x", "type": "toggle"}"#, "fields[0].id", "not an id"),
            .fields(#"{"id": "\u212A", "type": "toggle"}"#, "fields[0].id", "not an id"),
            .fields(
                #"{"id": "x", "type": "toggle"}, {"id": "x", "type": "toggle"}"#, "fields[1].id",
                "already"),
            .fields(
                #"{"id": "a-b", "type": "toggle"}, {"id": "a_b", "type": "toggle"}"#,
                "fields[1].id",
                "same environment variable"),
            .fields(
                #"{"id": "ab", "type": "toggle"}, {"id": "AB", "type": "toggle"}"#, "fields[1].id",
                "same environment variable"),
            .fields(#"{"id": "value", "type": "toggle"}"#, "fields[0].id", "reserved"),
            .fields(#"{"id": "Form", "type": "toggle"}"#, "fields[0].id", "reserved"),
            .control(#""type": "toggle", "was": "a b""#, ".was", "not an id"),
            .fields(
                #"{"id": "x", "type": "toggle", "was": "y"}, {"id": "y", "type": "toggle"}"#,
                "fields[0].was", "there is a control"),
            .fields(
                #"{"id": "x", "type": "toggle", "was": "z"}, "#
                    + #"{"id": "y", "type": "toggle", "was": "z"}"#,
                "fields[1].was", "x was z already"),
        ])
    func ids(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "in what every control has",
        arguments: [
            BrokenForm.control(#""type": "toggle", "lable": "X""#, ".lable", "has no"),
            .control(#""type": "toggle", "step": 1"#, ".step", "a toggle has no"),
            .control(#""type": "toggle", "label": 1"#, ".label", "a number"),
            .control(#""type": "toggle", "required": "yes""#, ".required", "a string"),
            .control(#""type": "toggle", "style": "segmented""#, ".style", "segmented"),
            .control(#""type": "text", "style": "wheel""#, ".style", "wheel"),
            .control(#""type": "toggle", "symbol": "ab""#, ".symbol", "ab"),
            .control(#""type": "toggle", "symbol": """#, ".symbol", "found"),
            .control(#""type": "toggle", "symbol": "\u0301""#, ".symbol", "found"),
            .control(#""type": "toggle", "onConflict": "never""#, ".onConflict", "never"),
            .control(#""type": "text", "onConflict": "trueWins""#, ".onConflict", "trueWins"),
            .control(#""type": "secure", "onConflict": "ask""#, ".onConflict", "ask"),
            .control(#""type": "toggle", "access": {"read": []}"#, ".access.read", "has no"),
            .control(#""type": "toggle", "access": {"write": [1]}"#, ".access.write[0]", "1"),
            .control(#""type": "toggle", "label": "a\u007f""#, ".label", "control character"),
            .control(#""type": "toggle", "default": "yes""#, ".default", "a string"),
            .control(#""type": "secure", "default": "hush""#, ".default", "secret"),
            .control(#""type": "button", "default": 1"#, ".default", "no meaning"),
            .control(#""type": "label", "text": "x", "default": 1"#, ".default", "no meaning"),
            .control(#""type": "slider", "step": 0, "label": 5"#, ".label", "a number (5)"),
            .fields(
                #"{"id": "x", "type": "slider", "default": 2}, {"id": "y", "type": "nope"}"#,
                "fields[0].default", "out of range"),
        ])
    func common(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "in pickers",
        arguments: [
            BrokenForm.control(#""type": "picker""#, "", "options are missing"),
            .control(#""type": "picker", "options": []"#, ".options", "empty"),
            .control(#""type": "picker", "options": "a""#, ".options", "a string"),
            .control(#""type": "picker", "options": ["a", "a"]"#, ".options[1]", "already"),
            .control(
                #""type": "picker", "options": ["\u00e9", "e\u0301"]"#, ".options[1]", "already"),
            .control(#""type": "picker", "options": ["a", 1]"#, ".options[1]", "among other tags"),
            .control(#""type": "picker", "options": [1.5]"#, ".options[0]", "not a tag"),
            .control(#""type": "picker", "options": [null]"#, ".options[0]", "not a tag"),
            .control(
                #""type": "picker", "options": [{"label": "A"}]"#, ".options[0]", "tag is missing"),
            .control(
                #""type": "picker", "options": [{"tag": "a", "name": ""}]"#, ".options[0].name",
                "has no"),
            .control(
                #""type": "picker", "options": ["a", {"tag": []}]"#, ".options[1].tag", "not a tag"),
            .control(
                #""type": "picker", "options": [{"tag": "a", "tint": "reddish"}]"#,
                ".options[0].tint",
                "not a colour"),
            .control(
                #""type": "picker", "options": [{"section": "S", "options": []}]"#,
                ".options[0].options", "empty"),
            .control(
                #""type": "picker", "options": [{"section": "S"}]"#, ".options[0]", "missing"),
            .control(
                #""type": "picker", "options": ["a", {"section": "S", "options": ["b", "a"]}]"#,
                ".options[1].options[1]", "already"),
            .control(pickerAB + #", "default": "c""#, ".default", "not an option"),
            .control(pickerAB + #", "default": null"#, ".default", "not an option"),
            .control(pickerAB + #", "default": ["a"]"#, ".default", "not an option"),
            .control(pickerAB + #", "multiple": true, "default": "a""#, ".default", "not a list"),
            .control(pickerAB + #", "multiple": true, "default": ["a", "a"]"#, ".default", "twice"),
            .control(
                #""type": "picker", "options": ["a", {"tag": "b", "disabled": true}], "#
                    + #""default": "b""#,
                ".default", "disabled"),
            .control(pickerAB + #", "selectionEffect": "slash""#, ".selectionEffect", "slash"),
            .control(
                pickerAB + #", "selectionEffect": {"symbolVariant": "x"}"#,
                ".selectionEffect.symbolVariant",
                "x"),
            .control(pickerAB + #", "layout": "diagonal""#, ".layout", "diagonal"),
            .control(pickerAB + #", "wheelItemHeight": 0"#, ".wheelItemHeight", "0"),
            .control(pickerAB + #", "optional": 1"#, ".optional", "a number"),
        ])
    func pickers(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "in numbers, dates and texts",
        arguments: [
            BrokenForm.control(#""type": "slider", "min": 2, "max": 1"#, ".max", "greater"),
            .control(#""type": "slider", "min": 5"#, ".min", "greater"),
            .control(#""type": "slider", "step": 0"#, ".step", "nowhere"),
            .control(#""type": "stepper", "step": -1"#, ".step", "nowhere"),
            .control(#""type": "slider", "max": "9""#, ".max", "a string"),
            .control(#""type": "slider", "default": 2"#, ".default", "out of range"),
            .control(#""type": "stepper", "max": 1, "default": 2"#, ".default", "out of range"),
            .control(#""type": "gauge", "default": -1"#, ".default", "out of range"),
            .control(#""type": "stepper", "wraps": true"#, ".wraps", "needs two ends"),
            .control(#""type": "gauge", "thresholds": [{"from": 1}]"#, ".thresholds[0]", "tint"),
            .control(
                #""type": "gauge", "thresholds": [{"from": "1", "tint": "red"}]"#,
                ".thresholds[0].from", "a string"),
            .control(#""type": "slider", "ticks": 1"#, ".ticks", "1"),
            .control(#""type": "slider", "ticks": [2]"#, ".ticks[0]", "not a value"),
            .control(#""type": "date", "mode": "year""#, ".mode", "year"),
            .control(#""type": "date", "components": ["day"]"#, ".components[0]", "day"),
            .control(
                #""type": "date", "mode": "date", "components": ["date"]"#, ".components", "mode"),
            .control(#""type": "date", "mode": "date", "min": "2026-02-29""#, ".min", "2026-02-29"),
            .control(#""type": "date", "mode": "time", "min": "24:00""#, ".min", "24:00"),
            .control(
                #""type": "date", "mode": "time", "min": "10:00", "max": "09:59""#, ".max", "before"
            ),
            .control(#""type": "date", "minuteInterval": 7"#, ".minuteInterval", "divide"),
            .control(#""type": "date", "minuteInterval": 61"#, ".minuteInterval", "61"),
            .control(
                #""type": "date", "mode": "date", "minuteInterval": 5"#, ".minuteInterval",
                "minutes"),
            .control(#""type": "date", "zone": "Mars City""#, ".zone", "not a time zone"),
            .control(
                #""type": "date", "mode": "countdown", "default": 86400"#, ".default", "seconds"),
            .control(
                #""type": "date", "mode": "time", "minuteInterval": 15, "default": "10:20""#,
                ".default", "interval"),
            .control(#""type": "text", "maxLength": 0"#, ".maxLength", "0"),
            .control(#""type": "text", "maxLength": 2, "default": "abc""#, ".default", "longer"),
            .control(#""type": "text", "pattern": "[""#, ".pattern", "no such pattern"),
            .control(#""type": "text", "pattern": "a+", "default": "b""#, ".default", "match"),
            .control(#""type": "text", "default": "a\tb""#, ".default", "control character"),
            .control(
                #""type": "text", "multiline": true, "default": "a\rb""#, ".default",
                "control character"),
            .control(#""type": "button", "role": "main""#, ".role", "main"),
            .control(#""type": "label""#, "", "text is missing"),
        ])
    func values(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "in what names other controls",
        arguments: [
            BrokenForm.control(#""type": "label", "text": "${y}""#, ".text", "no control"),
            .control(#""type": "label", "text": "${value}""#, ".text", "no control"),
            .control(#""type": "label", "text": "${x}""#, ".text", "is a label"),
            .control(#""type": "label", "text": "${x""#, ".text", "not closed"),
            .fields(
                #"{"id": "l", "type": "label", "text": "${t.a}"}, {"id": "t", "type": "toggle"}"#,
                "fields[0].text", "no components"),
            .control(#""type": "toggle", "enabledWhen": {"y": 1}"#, ".enabledWhen.y", "no control"),
            .control(#""type": "toggle", "enabledWhen": {}"#, ".enabledWhen", "empty"),
            .control(#""type": "toggle", "enabledWhen": "done""#, ".enabledWhen", "a string"),
            .control(#""type": "toggle", "visibleWhen": {"x": 1}"#, ".visibleWhen.x", "1"),
            .control(
                #""type": "toggle", "visibleWhen": {"x": {"is": true}}"#, ".visibleWhen.x.is",
                "has no"),
            .control(
                #""type": "toggle", "visibleWhen": {"x": {"atLeast": 1}}"#,
                ".visibleWhen.x.atLeast",
                "no order"),
            .control(
                #""type": "toggle", "visibleWhen": {"all": [{"y": 1}]}"#, ".visibleWhen.all[0].y",
                "no control"),
            .control(#""type": "toggle", "binds": "y""#, ".binds", "no control"),
            .control(#""type": "toggle", "binds": "x""#, ".binds", "cycle"),
            .fields(
                #"{"id": "a", "type": "toggle", "binds": "b"}, "#
                    + #"{"id": "b", "type": "toggle", "sources": ["a"]}"#,
                "fields[1].sources", "cycle"),
            .control(#""type": "toggle", "sources": []"#, ".sources", "empty"),
            .control(#""type": "toggle", "sources": ["y"]"#, ".sources[0]", "no control"),
            .fields(
                #"{"id": "a", "type": "toggle"}, "#
                    + #"{"id": "b", "type": "toggle", "sources": ["a", "a"]}"#,
                "fields[1].sources[1]", "already"),
            .control(#""type": "text", "sources": ["x"]"#, ".sources", "a text has no"),
            .fields(
                #"{"id": "a", "type": "toggle"}, {"id": "b", "type": "toggle", "binds": "a", "#
                    + #""default": true}"#,
                "fields[1].default", "stores nothing"),
        ])
    func references(broken: BrokenForm) throws { try expectRefusal(broken) }

    @Test(
        "where a binding's domain is wider than that of the control bound",
        arguments: [
            (pickerAB, #""type": "picker", "options": ["a", "c"]"#, "option"),
            (pickerAB, #""type": "picker", "options": ["a"], "optional": true"#, "null"),
            (pickerAB, #""type": "picker", "options": ["a"], "multiple": true"#, "several"),
            (pickerAB, #""type": "toggle""#, "true and false"),
            (#""type": "toggle""#, pickerAB, "option"),
            (#""type": "stepper", "min": 0, "max": 9"#, #""type": "slider", "max": 10"#, "above"),
            (#""type": "stepper", "min": 0"#, #""type": "stepper""#, "below"),
            (#""type": "slider", "max": 9, "step": 3"#, #""type": "slider", "max": 9"#, "between"),
            (
                #""type": "slider", "max": 9, "step": 3"#,
                #""type": "stepper", "min": 0, "max": 9"#, "between"
            ),
            (#""type": "date", "mode": "date""#, #""type": "date", "mode": "time""#, "asks for"),
            (#""type": "text", "maxLength": 5"#, #""type": "text""#, "longer"),
            (#""type": "text""#, #""type": "text", "multiline": true"#, "lines"),
            (#""type": "text", "pattern": "a*""#, #""type": "text""#, "pattern"),
            (#""type": "secure""#, #""type": "text""#, "other values"),
            (#""type": "slider""#, #""type": "toggle""#, "other values"),
        ])
    func bindings(outer: String, inner: String, message: String) throws {
        try expectRefusal(
            .fields(
                #"{"id": "y", \#(outer)}, {"id": "x", \#(inner), "binds": "y"}"#,
                "fields[1].binds", message))
    }

    @Test(
        "in wheels",
        arguments: [
            (#"[]"#, "[]", ".components", "empty"),
            (#"[{"id": "a"}]"#, "[]", ".components[0]", "missing"),
            (#"[{"id": "a b", "options": ["r"]}]"#, "[]", ".components[0].id", "not an id"),
            (
                #"[{"id": "a", "options": ["r"]}, {"id": "a", "options": ["r"]}]"#, "[]",
                ".components[1].id", "already"
            ),
            (
                #"[{"id": "a", "options": ["r"]}]"#,
                #"[{"component": "b", "when": {"a": "r"}, "options": ["r"]}]"#,
                ".optionsFor[0].component", "no component"
            ),
            (
                #"[{"id": "a", "options": ["r"]}]"#,
                #"[{"component": "a", "when": {"a": "r"}, "options": ["s"]}]"#, ".optionsFor",
                "cycle"
            ),
            (
                #"[{"id": "a", "options": ["r"]}, {"id": "b", "options": ["r"]}]"#,
                #"[{"component": "b", "when": {"a": "z"}, "options": ["s"]}]"#,
                ".optionsFor[0].when.a", "not a row"
            ),
            (
                #"[{"id": "a", "options": ["r"]}, {"id": "b", "options": ["r"]}]"#,
                #"[{"component": "b", "when": {"a": "r"}, "options": [1]}]"#,
                ".optionsFor[0].options",
                "integer"
            ),
            (
                #"[{"id": "a", "options": ["r"]}, {"id": "b", "options": ["r"]}]"#,
                #"[{"component": "b", "options": ["s"]}]"#, ".optionsFor[0]", "when is missing"
            ),
        ])
    func wheels(components: String, rules: String, path: String, message: String) throws {
        try expectRefusal(
            .control(
                #""type": "wheels", "components": \#(components), "optionsFor": \#(rules)"#, path,
                message))
    }

    @Test("every breach is reported, in one go")
    func allAtOnce() throws {
        let found = try issues(
            of: #"""
                {"form": "F", "fields": [{"id": "a", "type": "toggle", "step": 1},
                 {"id": "b", "type": "slider", "min": 1, "max": 0}, {"id": "b", "type": "nope"}]}
                """#)
        #expect(
            Set(found.map(\.pathText)) == [
                "form", "fields[0].step", "fields[1].max", "fields[2].id", "fields[2].type",
            ])
    }

    @Test("an unknown key is met with the nearest one")
    func suggestion() throws {
        let found = try issues(
            of: #"{"form": "f", "titel": "F", "fields": [{"id": "x", "type": "toggle"}]}"#)
        #expect(found.map(\.expected) == ["did you mean title?"])
    }

    @Test("a form that a daemon sends may have attributes that only a later version knows")
    func laterVersion() throws {
        let text = #"""
            {"form": "f", "labelAlignment": "trailing", "later": 1, "sections": [{"later": {},
             "fields": [{"id": "x", "type": "toggle", "later": true},
             {"id": "y", "type": "picker", "options": [{"tag": "a", "later": "b"}, "c"]}]}]}
            """#
        #expect(
            try issues(of: text).map(\.pathText) == [
                "later", "sections[0].later", "sections[0].fields[0].later",
                "sections[0].fields[1].options[0].later",
            ])
        #expect(try issues(of: text, limits: .received).isEmpty)
    }

    @Test("sizes over the limits are refused")
    func sizes() throws {
        var limits = FormLimits()
        limits.frameBytesMax = 16 << 10
        let text = #"{"form": "f", "fields": [{"id": "x", "type": "text", "maxLength": 1000}]}"#
        let found = try issues(of: text, limits: limits)
        #expect(found.count == 1 && found.first?.message.contains("snapshot") == true)
        limits = FormLimits()
        limits.frameBytesMax = 6200
        #expect(try issues(of: text, limits: limits).first?.message.contains("has") == true)
        limits = FormLimits()
        limits.fieldsMax = 0
        #expect(try issues(of: text, limits: limits).contains { $0.message.contains("controls") })
        limits = FormLimits()
        limits.optionsMax = 1
        let picker = #"{"form": "f", "fields": [{"id": "x", \#(pickerAB)}]}"#
        #expect(try issues(of: picker, limits: limits).contains { $0.message.contains("options") })
        limits = FormLimits()
        limits.principalsMax = 3
        let guarded =
            #"{"form": "f", "access": {"read": ["uid:1", "gid:2"]}, "fields": [{"id": "#
            + #""x", "type": "toggle", "access": {"write": ["uid:1", "uid:2"]}}, {"id": "y", "#
            + #""type": "toggle", "access": {"write": ["uid:1"]}}]}"#
        let crowded = try issues(of: guarded, limits: limits)
        #expect(crowded.count == 1 && crowded[0].message.contains("users and groups"))
        limits.principalsMax = 5
        #expect(try issues(of: guarded, limits: limits).isEmpty)
    }
}
