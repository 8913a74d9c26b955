import SyncCore
import Testing

@testable import pickerctl

private let controls: JSON = [
    "form": "f",
    "sections": [
        [
            "fields": [
                ["id": "flavor", "type": "picker", "options": ["chocolate", "vanilla", "a,b"]],
                [
                    "id": "size", "type": "picker", "optional": true,
                    "options": [["section": "All", "options": [["tag": 1], ["tag": 2]]]],
                ],
                ["id": "sure", "type": "picker", "options": [["tag": true], ["tag": false]]],
                [
                    "id": "days", "type": "picker", "multiple": true,
                    "options": ["mon", "tue", "wed", "a,b"],
                ],
                [
                    "id": "source", "type": "wheels",
                    "components": [["id": "name", "options": ["salary", "gift"]]],
                ],
                ["id": "cone", "type": "toggle"], ["id": "count", "type": "stepper"],
                ["id": "start", "type": "date"],
                ["id": "egg", "type": "date", "mode": "countdown"],
                ["id": "note", "type": "text"], ["id": "key", "type": "secure"],
                ["id": "go", "type": "button"], ["id": "hint", "type": "label"],
                ["id": "again", "type": "picker", "binds": "flavor"],
            ]
        ]
    ],
]

private let outline = FormOutline(controls)

@Suite struct ValueTests {
    @Test(
        "the control's type decides what a text means",
        arguments: [
            ("flavor", "vanilla", "\"vanilla\""), ("flavor", "mint", "\"mint\""),
            ("flavor", "", "\"\""), ("size", "2", "2"), ("size", "", "null"),
            ("size", "null", "null"), ("size", "x", "\"x\""), ("sure", "true", "true"),
            ("days", "mon,wed", "[\"mon\",\"wed\"]"), ("days", "mon, wed", "[\"mon\",\"wed\"]"),
            ("days", "", "[]"), ("days", "[\"tue\"]", "[\"tue\"]"), ("days", "a,b", "[\"a,b\"]"),
            ("source", "{\"name\":\"gift\"}", "{\"name\":\"gift\"}"), ("cone", "true", "true"),
            ("cone", "off", "false"), ("cone", "YES", "true"), ("count", "3", "3"),
            ("count", "+3", "3"), ("count", ".5", "0.5"), ("count", "-0.30", "-0.30"),
            ("count", "007", "7"), ("start", "2026-11-21", "\"2026-11-21\""),
            ("start", "", "null"), ("egg", "300", "300"), ("note", "null", "\"null\""),
            ("note", "", "\"\""), ("note", "a=b", "\"a=b\""), ("again", "vanilla", "\"vanilla\""),
        ])
    func typed(field: String, text: String, json: String) throws {
        let control = try #require(outline[field])
        #expect(try ValueParser.value(text, for: control).encodedText == json)
    }

    @Test(
        "what cannot be a value says what was expected, and the status says which mistake it is",
        arguments: [
            ("cone", "maybe", pickerctl.ExitStatus.data, "true or false"),
            ("count", "three", .data, "a number"), ("count", "1e99", .data, "a number"),
            ("egg", "soon", .data, "seconds"), ("source", "salary", .data, "COMPONENT"),
            ("go", "1", .usage, "pickerctl press"), ("hint", "x", .usage, "label"),
        ])
    func refused(field: String, text: String, status: pickerctl.ExitStatus, words: String) throws {
        let control = try #require(outline[field])
        let failure = #expect(throws: Failure.self) {
            try ValueParser.value(text, for: control)
        }
        #expect(failure?.status == status)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
    }

    @Test("a component takes a tag of its own rows, and the nearest name is told")
    func components() throws {
        let wheels = try #require(outline["source"])
        let gift = try ValueParser.component("gift", "name", of: wheels)
        #expect(gift.encodedText == "{\"name\":\"gift\"}")
        let failure = #expect(throws: Failure.self) {
            try ValueParser.component("gift", "nam", of: wheels)
        }
        #expect(failure?.status == .noInput)
        #expect(failure?.message.contains("did you mean name?") == true)
    }

    @Test(
        "an argument of set is taken apart",
        arguments: [
            (
                "flavor=vanilla", "flavor", Assignment.Operation.set,
                Assignment.Source.text("vanilla")
            ),
            ("flavor=", "flavor", .set, .text("")), ("note=a=b", "note", .set, .text("a=b")),
            ("scoops+=1", "scoops", .plus, .text("1")), ("scoops-=1", "scoops", .minus, .text("1")),
            ("key=-", "key", .set, .standardInput), ("note=@/a/b", "note", .set, .file("/a/b")),
            ("note:=\"@x\"", "note", .json, .text("\"@x\"")), ("n=-1", "n", .set, .text("-1")),
            ("n+=-1", "n", .plus, .text("-1")),
        ])
    func assignments(
        text: String, field: String, operation: Assignment.Operation, source: Assignment.Source
    ) throws {
        let assignment = try #require(Assignment(text))
        #expect(assignment.field == field)
        #expect(assignment.operation == operation)
        #expect(assignment.source == source)
        #expect(assignment.form == nil)
    }

    @Test("the form is before the field, a component after it")
    func names() throws {
        let assignment = try #require(Assignment("income/source.name=salary"))
        #expect(assignment.form == "income")
        #expect(assignment.field == "source")
        #expect(assignment.component == "name")
        for text in ["flavor", "=x", "", "form/=x", "a.=x", "+=1"] {
            #expect(Assignment(text) == nil, "\(text)")
        }
    }

    @Test("what get prints, set reads back")
    func roundTrip() throws {
        let values: [(String, JSON)] = [
            ("flavor", "vanilla"), ("size", 2), ("size", .null), ("sure", false),
            ("days", ["mon", "wed"]), ("days", ["a,b"]), ("days", ["a,b", "mon"]), ("days", []),
            ("source", ["name": "gift"]), ("cone", true), ("count", 3), ("start", "2026-11-21"),
            ("start", .null), ("note", "x, [y]"),
        ]
        for (field, value) in values {
            let control = try #require(outline[field])
            #expect(try ValueParser.value(ValueText.bare(value), for: control) == value)
        }
    }

    @Test("quoting for a shell holds whatever the value has in it")
    func quoting() {
        #expect(ValueText.shellQuoted("it's $HOME") == "'it'\\''s $HOME'")
        #expect(ValueText.shellQuoted("") == "''")
    }

    @Test("an id becomes one environment variable")
    func variables() {
        #expect(FieldOutline.variable("all-lights") == "PICKER_ALL_LIGHTS")
        #expect(FieldOutline.variable("signIn") == "PICKER_SIGNIN")
        // Whatever a daemon calls a field: nothing that a shell would run.
        #expect(FieldOutline.variable("a;$(b)`c`=\n'ä") == "PICKER_A___B__C______")
    }

    @Test("numbers are read as people write them, and nothing else is a number")
    func numbers() {
        for text in [
            "", "+", "-", ".", "e5", "1 ", " 1", "0x10", "1,5", "--1", "NaN", "inf", "+-1",
        ] {
            #expect(ValueParser.number(text) == nil, "\(text)")
        }
        #expect(ValueParser.number("5.")?.description == "5")
    }

    @Test("a condition compares as the control holds; what is mixed or invalid equals nothing")
    func conditions() {
        func fields(_ state: FieldState) -> [NamedField] { [NamedField(id: "x", state: state)] }
        let plain = FieldState(value: ["b", "a"], revision: 1, isSet: true)
        #expect(FieldCondition(field: "x", .equal, ["a", "b"]).holds(in: fields(plain)))
        #expect(!FieldCondition(field: "x", .equal, ["a"]).holds(in: fields(plain)))
        #expect(FieldCondition(field: "x", .notEqual, ["a"]).holds(in: fields(plain)))
        let mixed = FieldState(value: .null, revision: 1, isSet: true, isMixed: true)
        #expect(!FieldCondition(field: "x", .equal, .null).holds(in: fields(mixed)))
        let invalid = FieldState(value: "q", revision: 1, isSet: true, isInvalid: true)
        #expect(!FieldCondition(field: "x", .equal, "q").holds(in: fields(invalid)))
        #expect(!FieldCondition(field: "y", .notEqual, "q").holds(in: fields(plain)))
        let wheels = FieldState(value: ["name": "gift"], revision: 1, isSet: true)
        #expect(
            FieldCondition(field: "x", component: "name", .equal, "gift").holds(in: fields(wheels)))
    }
}
