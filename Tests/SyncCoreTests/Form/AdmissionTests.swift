// What each type of control accepts, and the canonical form.

import SyncCore
import Testing

@Suite("A control takes what is in its domain")
struct AdmissionTests {
    @Test(
        "values in the domain are taken in canonical form",
        arguments: [
            (#""type": "picker", "options": ["a", "b"]"#, #""b""#, #""b""#),
            (#""type": "picker", "options": ["\u00e9"]"#, #""e\u0301""#, #""\u00e9""#),
            (#""type": "picker", "options": [1, 2]"#, "2.0", "2"),
            (#""type": "picker", "options": [true, false]"#, "false", "false"),
            (#""type": "picker", "options": ["a"], "optional": true"#, "null", "null"),
            (
                #""type": "picker", "options": ["a", "b", "c"], "multiple": true"#, #"["c", "a"]"#,
                #"["a", "c"]"#
            ),
            (#""type": "picker", "options": ["a"], "multiple": true"#, "[]", "[]"),
            (#""type": "toggle""#, "true", "true"),
            (#""type": "slider", "max": 100, "step": 5"#, "52", "50"),
            (#""type": "slider", "max": 100, "step": 5"#, "52.5", "55"),
            (#""type": "slider", "min": 1, "max": 10, "step": 3"#, "10", "10"),
            (#""type": "slider", "min": 1, "max": 9, "step": 3"#, "9", "7"),
            (#""type": "slider", "min": -1, "max": 1, "step": 0.3"#, "-0.88", "-1.0"),
            (#""type": "slider", "step": 0.1"#, "0.30000000000001", "0.3"),
            (#""type": "slider", "step": 0.1"#, "0.30000000000000004", "0.3"),
            (#""type": "stepper", "step": 0.01"#, "0.12345678901234567", "0.12"),
            (#""type": "stepper", "max": 10, "step": 0.1"#, "10.000000000000002", "10.0"),
            (#""type": "gauge", "max": 100"#, "0.30000000000000004", "0.3"),
            (#""type": "slider""#, "0.375", "0.375"),
            (#""type": "stepper""#, "-7", "-7"),
            (#""type": "stepper", "min": 1, "max": 50, "step": 5"#, "7", "7"),
            (#""type": "gauge", "max": 100"#, "12.5", "12.5"),
            (#""type": "date", "mode": "date""#, #""2024-02-29""#, #""2024-02-29""#),
            (#""type": "date""#, #""2026-11-21T14:30""#, #""2026-11-21T14:30""#),
            (#""type": "date", "components": ["time"]"#, #""00:00""#, #""00:00""#),
            (#""type": "date", "mode": "yearAndMonth""#, #""2026-11""#, #""2026-11""#),
            (#""type": "date", "mode": "countdown""#, "300.0", "300"),
            (#""type": "date", "mode": "countdown", "minuteInterval": 5"#, "600", "600"),
            (#""type": "date", "mode": "date""#, "null", "null"),
            (#""type": "text", "maxLength": 2"#, #""👨‍👩‍👧‍👦🇩🇪""#, #""👨‍👩‍👧‍👦🇩🇪""#),
            (#""type": "text", "multiline": true"#, #""a\n\tb""#, #""a\n\tb""#),
            (#""type": "text", "pattern": "[0-9]+", "default": "1""#, #""42""#, #""42""#),
            (#""type": "text", "pattern": "[0-9]+""#, #""""#, #""""#),
            (#""type": "secure""#, #""hush""#, #""hush""#),
        ])
    func taken(attributes: String, proposed: String, stored: String) throws {
        let values = FormValues(try form(of: attributes))
        let admitted = try values.admit(json(proposed))
        #expect(admitted == (try json(stored)))
        // Also compared as text, because precision and the bytes of the tag are part of the
        // canonical form.
        #expect(admitted.encodedText == (try json(stored)).encodedText)
    }

    @Test(
        "maxLength counts clusters: as many of the longest emoji are taken, and no more",
        arguments: [
            "🧑🏻‍❤️‍💋‍🧑🏼", "👩🏿‍❤️‍💋‍👨🏻", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🧑🏻‍🤝‍🧑🏿", "🇩🇪", "a",
        ])
    func clusters(_ cluster: String) throws {
        for type in ["text", "secure"] {
            let values = FormValues(try form(of: #""type": "\#(type)", "maxLength": 32"#))
            let most = JSON.string(String(repeating: cluster, count: 32))
            #expect(try values.admit(most) == most)
            #expect(throws: InvalidValue.self) {
                try values.admit(.string(String(repeating: cluster, count: 33)))
            }
        }
    }

    @Test(
        "values outside are refused, with what was expected",
        arguments: [
            (#""type": "picker", "options": ["a", "b"]"#, #""c""#, "one of a or b"),
            (#""type": "picker", "options": ["a", "b"]"#, "null", "one of a or b"),
            (#""type": "picker", "options": ["a"], "optional": true"#, "1", "one of a, or null"),
            (#""type": "picker", "options": [1]"#, #""1""#, "one of 1"),
            (#""type": "picker", "options": [true]"#, "1", "one of true"),
            (
                #""type": "picker", "options": ["a", {"tag": "b", "disabled": true}]"#, #""b""#,
                "one of a"
            ),
            (
                #""type": "picker", "options": ["a"], "multiple": true"#, #"["a", "a"]"#,
                "a list of distinct tags out of a"
            ),
            (#""type": "toggle""#, "1", "true or false"),
            (
                #""type": "slider", "max": 100, "step": 5"#, "101",
                "a number from 0 to 100 in steps of 5"
            ),
            (#""type": "stepper", "max": 5"#, "6", "a number up to 5"),
            (#""type": "gauge""#, #""0""#, "a number from 0 to 1"),
            (#""type": "date", "mode": "date""#, #""2026-02-30""#, "a date such as 2026-11-21"),
            (
                #""type": "date", "mode": "date", "min": "2026-01-01""#, #""2025-12-31""#,
                "a date such as 2026-11-21 from 2026-01-01 on"
            ),
            (
                #""type": "date", "mode": "time", "minuteInterval": 15"#, #""10:20""#,
                "a time such as 14:30 in steps of 15 minutes"
            ),
            (
                #""type": "date", "mode": "date", "default": "2026-01-01""#, "null",
                "a date such as 2026-11-21"
            ),
            (#""type": "date", "mode": "countdown""#, "86400", "whole seconds from 0 to 86399"),
            (#""type": "date", "mode": "countdown""#, "1.5", "whole seconds from 0 to 86399"),
            (
                #""type": "text", "maxLength": 1"#, #""ab""#,
                "one line of text of at most 1 characters"
            ),
            (
                #""type": "text", "pattern": "[0-9]+""#, #""x""#,
                "one line of text that matches [0-9]+"
            ),
            (#""type": "text""#, #""a\nb""#, "one line of text"),
            (#""type": "text", "multiline": true"#, #""a\u009fb""#, "a text"),
            (
                #""type": "secure", "maxLength": 2"#, #""abc""#,
                "one line of text of at most 2 characters"
            ),
            (#""type": "button""#, "1", "a press"),
            (#""type": "label", "text": """#, "1", "no value"),
        ])
    func refused(attributes: String, proposed: String, expected: String) throws {
        let values = FormValues(try form(of: attributes))
        let error = #expect(throws: InvalidValue.self) { try values.admit(json(proposed)) }
        #expect(error?.field == "x")
        #expect(error?.expected == expected)
    }

    @Test("a secret is not quoted when it is refused")
    func secretsStaySecret() throws {
        let values = FormValues(try form(of: #""type": "secure", "maxLength": 2"#))
        let error = #expect(throws: InvalidValue.self) { try values.admit("hush-hush") }
        #expect(error?.description.contains("hush") == false)
    }

    @Test(
        "a control without a default has the one of its type",
        arguments: [
            (#""type": "picker", "options": [{"tag": "a", "disabled": true}, "b"]"#, #""b""#),
            (#""type": "picker", "options": ["a"], "optional": true"#, "null"),
            (#""type": "picker", "options": ["a"], "multiple": true"#, "[]"),
            (#""type": "toggle""#, "false"),
            (#""type": "slider", "min": 2, "max": 3"#, "2"),
            (#""type": "stepper""#, "0"),
            (#""type": "stepper", "max": -2"#, "-2"),
            (#""type": "gauge", "min": 50, "max": 60"#, "50"),
            (#""type": "date""#, "null"),
            (#""type": "text""#, #""""#),
            (#""type": "secure""#, "null"),
            (#""type": "button""#, #"{"presses": 0}"#),
        ])
    func defaults(attributes: String, expected: String) throws {
        #expect(try form(of: attributes).controls[0].defaultValue == json(expected))
    }

    @Test("a picked option that was disabled since may stay among several")
    func disabledStays() throws {
        let form = try form(
            of:
                #"""
                "type": "picker", "multiple": true,
                "options": ["a", {"tag": "b", "disabled": true}]
                """#
        )
        #expect(throws: InvalidValue.self) { try FormValues(form).admit(["b"]) }
        #expect(try FormValues(form, ["x": ["b"]]).admit(["b", "a"]) == ["a", "b"])
    }

    @Test("what a slider snaps to is on its grid, within its bounds, and nowhere nearer")
    func snapping() throws {
        let seed = FormRandom.seed
        var random = FormRandom(seed: seed)
        for round in 0..<2000 {
            let places = Int.random(in: 0...4, using: &random)
            func number(_ range: ClosedRange<Int64>) throws -> DecimalNumber {
                let digits = Int128(Int64.random(in: range, using: &random))
                return try #require(DecimalNumber(significand: digits, exponent: -places))
            }
            let step = try number(1...500)
            let min = try number(-10_000...10_000)
            let max = try #require(min.adding(try number(0...20_000)))
            let value = try number(-10_000...30_000)
            let domain = NumberDomain(min: min, max: max, step: step, fractionDigits: places)
            let snapped = try #require(domain.snapped(domain.clamped(value)))
            let offset = try #require(snapped.subtracting(min)?.scaled(to: -places))
            let width = try #require(step.scaled(to: -places))
            #expect(offset % width == 0, "seed \(seed), round \(round)")
            #expect(domain.contains(snapped), "seed \(seed), round \(round)")
            let distance = try #require(
                domain.clamped(value).subtracting(snapped)?.scaled(to: -places))
            let isLast = try #require(max.subtracting(snapped)?.scaled(to: -places)) < width
            #expect(
                distance.magnitude * 2 <= width.magnitude || isLast, "seed \(seed), round \(round)")
        }
    }
}
