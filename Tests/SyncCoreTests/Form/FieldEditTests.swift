// Relative edits and their results.

import SyncCore
import Testing

@Suite("Relative edits")
struct FieldEditTests {
    @Test(
        "an increment stops at the ends and counts only what it moved",
        arguments: [
            (#""type": "stepper", "min": 0, "max": 10"#, "9", "1", "10", "1"),
            (#""type": "stepper", "min": 0, "max": 10"#, "10", "1", "10", "0"),
            (#""type": "stepper", "min": 0, "max": 10"#, "9", "5", "10", "1"),
            (#""type": "stepper", "min": 0, "max": 10"#, "1", "-5", "0", "-1"),
            (#""type": "stepper", "min": 1, "max": 50, "step": 5"#, "46", "5", "50", "4"),
            (#""type": "stepper", "min": 0, "max": 10, "wraps": true"#, "10", "1", "0", "-10"),
            (#""type": "stepper", "min": 0, "max": 10, "wraps": true"#, "0", "-1", "10", "10"),
            (#""type": "stepper""#, "-3", "-4", "-7", "-4"),
            (#""type": "gauge", "max": 100"#, "99.5", "2", "100", "0.5"),
            (#""type": "slider", "max": 100, "step": 5"#, "50", "1", "55", "5"),
            (#""type": "slider", "max": 100, "step": 5"#, "50", "-1", "45", "-5"),
            (#""type": "slider", "max": 100, "step": 5"#, "50", "5", "55", "5"),
            (#""type": "slider", "max": 10, "step": 3"#, "9", "1", "9", "0"),
            (#""type": "slider", "step": 0.1"#, "0.1", "0.2", "0.3", "0.2"),
            (#""type": "slider", "step": 0.1"#, "0.9", "0.2", "1.0", "0.1"),
            (#""type": "slider""#, "0.5", "0.125", "0.625", "0.125"),
        ])
    func increments(
        attributes: String, present: String, by amount: String, result: String, difference: String
    ) throws {
        let values = FormValues(try form(of: attributes), ["x": .number(try decimal(present))])
        let found = try values.increment(try decimal(amount))
        #expect(found.value.description == result)
        #expect(found.difference == (try decimal(difference)))
        #expect(
            try values.edits(.increment(decimal(amount))) == [
                FieldEdit(
                    target: 0,
                    edit: .increment(difference: found.difference, result: found.value))
            ])
    }

    @Test("an increment beyond all numbers is refused, not a trap")
    func hugeIncrements() throws {
        let values = FormValues(
            try form(of: #""type": "stepper""#), ["x": .number(DecimalNumber(.max))])
        #expect(throws: InvalidValue.self) { try values.increment(DecimalNumber(.max)) }
        #expect(throws: InvalidValue.self) { try values.increment(decimal("0.5")) }
    }

    @Test("a toggle turns over, from mixed to true")
    func toggling() throws {
        let form = try form(
            fields: #"""
                {"id": "a", "type": "toggle", "default": true}, {"id": "b", "type": "toggle"},
                {"id": "both", "type": "toggle", "sources": ["a", "b"]}
                """#)
        #expect(
            try FormValues(form).edits(.toggle, "a") == [FieldEdit(target: 0, edit: .set(false))])
        #expect(
            try FormValues(form).edits(.toggle, "both") == [
                FieldEdit(target: 0, edit: .set(true)), FieldEdit(target: 1, edit: .set(true)),
            ])
        #expect(try FormValues(form, ["b": true]).edits(.toggle, "both").first?.edit == .set(false))
    }

    static let gaps =
        #""type": "picker", "optional": true, "options": [{"tag": "a", "disabled": true}, "b", "#
        + #"{"tag": "c", "disabled": true}, "d", {"tag": "e", "disabled": true}]"#

    @Test(
        "moving skips disabled options",
        arguments: [
            (#""b""#, Change.Direction.next, false, "d"),
            (#""d""#, .next, false, "d"),
            (#""d""#, .next, true, "b"),
            (#""b""#, .previous, false, "b"),
            (#""b""#, .previous, true, "d"),
            (#""d""#, .previous, false, "b"),
            (#""c""#, .next, false, "d"),
            (#""c""#, .previous, false, "b"),
            (#""e""#, .next, false, "d"),
            (#""a""#, .previous, false, "b"),
            ("null", .next, false, "b"),
            ("null", .previous, false, "d"),
            (#""gone""#, .next, true, "b"),
            (#""gone""#, .previous, true, "d"),
            (#""d""#, .first, false, "b"),
            (#""b""#, .last, false, "d"),
        ])
    func moves(present: String, to direction: Change.Direction, wraps: Bool, result: String) throws
    {
        let values = FormValues(try form(of: Self.gaps), ["x": try json(present)])
        #expect(
            try values.edits(.move(direction, wraps: wraps)) == [
                FieldEdit(target: 0, edit: .set(.string(result)))
            ])
    }

    @Test("tags are added and removed by what is there")
    func tags() throws {
        let form = try form(
            of:
                #"""
                "type": "picker", "multiple": true,
                "options": ["a", "b", "c", {"tag": "d", "disabled": true}]
                """#
        )
        let values = FormValues(form, ["x": ["b", "gone"]])
        #expect(
            try values.edits(.add(["c", "b", "a", "c"])) == [
                FieldEdit(target: 0, edit: .addTags(["a", "c"], again: ["b"]))
            ])
        #expect(
            try values.edits(.remove(["gone", "c", "b"])) == [
                FieldEdit(target: 0, edit: .removeTags(["b", "gone"]))
            ])
        #expect(throws: InvalidValue.self) { try values.edits(.add(["d"])) }
        #expect(throws: InvalidValue.self) { try values.edits(.add(["x"])) }
        #expect(throws: InvalidValue.self) { try values.edits(.remove(["x"])) }
    }

    @Test(
        "an edit that does not fit the type says what does",
        arguments: [
            (
                #""type": "toggle""#, Change.Action.increment(DecimalNumber(1)),
                "value, toggle or reset"
            ),
            (#""type": "text""#, .toggle, "value or reset"),
            (#""type": "stepper""#, .press, "value, increment or reset"),
            (#""type": "button""#, .reset, "press"),
            (#""type": "button""#, .toggle, "press"),
            (#""type": "label", "text": """#, .reset, "no edit at all"),
            (#""type": "picker", "options": ["a"]"#, .add(["a"]), "value, move or reset"),
            (
                #""type": "picker", "options": ["a"], "multiple": true"#,
                .move(.next, wraps: false),
                "value, add, remove or reset"
            ),
        ])
    func unfit(attributes: String, action: Change.Action, expected: String) throws {
        let values = FormValues(try form(of: attributes))
        let error = #expect(throws: InvalidValue.self) { try values.edits(action) }
        #expect(error?.expected == expected)
    }

    @Test("resets, presses and secrets are told to the store as such")
    func plainEdits() throws {
        let form = try form(
            fields: #"""
                {"id": "t", "type": "toggle"}, {"id": "b", "type": "button"},
                {"id": "s", "type": "secure"}, {"id": "b2", "type": "button", "binds": "b"}
                """#)
        let values = FormValues(form)
        #expect(try values.edits(.reset, "t") == [FieldEdit(target: 0, edit: .unset)])
        #expect(try values.edits(.press, "b") == [FieldEdit(target: 1, edit: .press)])
        #expect(try values.edits(.press, "b2") == [FieldEdit(target: 1, edit: .press)])
        #expect(try values.shown("b2") == ShownValue(["presses": 0]))
        #expect(try values.edits(.value("k"), "s") == [FieldEdit(target: 2, edit: .seal("k"))])
    }
}

@Suite("Increments, at random")
struct IncrementLawTests {
    @Test("the result is in the domain, and the difference leads to it")
    func laws() throws {
        let seed = FormRandom.seed
        var random = FormRandom(seed: seed)
        let forms = try [
            #""type": "slider", "min": -0.5, "max": 2, "step": 0.25"#,
            #""type": "slider", "min": 1, "max": 9.5, "step": 3"#,
            #""type": "stepper", "min": -3, "max": 3, "step": 0.5"#,
            #""type": "stepper", "min": -3, "max": 3, "wraps": true"#,
            #""type": "gauge", "min": 0.001, "max": 5"#,
        ].map { try form(of: $0) }
        for round in 0..<3000 {
            let form = try #require(forms.randomElement(using: &random))
            let domain = try #require(form.controls[0].numberDomain)
            func number() throws -> DecimalNumber {
                try #require(
                    DecimalNumber(
                        significand: Int128(Int.random(in: -9999...9999, using: &random)),
                        exponent: -3))
            }
            let values = FormValues(form)
            let start = try values.admit(.number(domain.clamped(try number()))).numberValue
            let present = try #require(start)
            let amount = try number()
            let result = try FormValues(form, ["x": .number(present)]).increment(amount)
            let note: Comment = "seed \(seed), round \(round)"
            #expect(domain.contains(result.value), note)
            #expect(present.adding(result.difference) == result.value, note)
            #expect(try values.admit(.number(result.value)) == .number(result.value), note)
            if case .stepper(let stepper) = form.controls[0].kind, stepper.wraps { continue }
            // Never in the opposite direction.
            #expect(result.difference.significand.signum() * amount.significand.signum() >= 0, note)
        }
    }
}
