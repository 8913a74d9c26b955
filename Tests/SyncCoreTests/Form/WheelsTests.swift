// Wheels: partial edits, and rows that depend on other components.

import SyncCore
import Testing

@Suite("Wheels")
struct WheelsTests {
    /// Rows of `state` depend on `country`, those of `city` on both.
    static let places = #"""
        "type": "wheels", "components": [
          {"id": "city", "options": ["none"]},
          {"id": "country", "options": ["de", "us"]},
          {"id": "state", "options": ["by", {"tag": "he", "label": "Hesse"}]}],
        "optionsFor": [
          {"component": "state", "when": {"country": "us"}, "options": ["ca", "tx"]},
          {"component": "city", "when": {"country": "us", "state": "ca"}, "options": ["la", "sf"]},
          {"component": "city", "when": {"country": "us"}, "options": ["austin"]},
          {"component": "city", "when": {"state": "he"}, "options": ["ffm"]}]
        """#

    private func values(_ rows: JSON? = nil) throws -> FormValues {
        FormValues(try form(of: Self.places), rows.map { ["x": $0] } ?? [:])
    }

    @Test("the default is the first rows in force")
    func defaults() throws {
        let plain = try form(of: Self.places)
        #expect(
            plain.controls[0].defaultValue == ["city": "none", "country": "de", "state": "by"])
        let american = try form(
            fields: #"{"id": "x", \#(Self.places), "default": {"country": "us"}}"#)
        #expect(
            american.controls[0].defaultValue == ["city": "la", "country": "us", "state": "ca"])
    }

    @Test("an edit writes what it names and what it moves, and nothing else")
    func partial() throws {
        let german: JSON = ["city": "none", "country": "de", "state": "by"]
        #expect(
            try values(german).admit(["country": "us"])
                == ["city": "la", "country": "us", "state": "ca"])
        #expect(try values(german).admit(["state": "he"]) == ["city": "ffm", "state": "he"])
        #expect(try values(german).admit(["country": "de"]) == ["country": "de"])
        #expect(
            try values(german).admit(["country": "us", "state": "tx"])
                == ["city": "austin", "country": "us", "state": "tx"])
        let american: JSON = ["city": "sf", "country": "us", "state": "ca"]
        #expect(try values(american).admit(["city": "la"]) == ["city": "la"])
        #expect(
            try values(american).edits(.value(["city": "la"])) == [
                FieldEdit(target: 0, edit: .setRows(JSONObject([("city", "la")])))
            ])
    }

    @Test(
        "rows that are not in force are refused",
        arguments: [
            #"{"state": "ca"}"#, #"{"country": "fr"}"#, #"{"continent": "eu"}"#, #"{"state": 1}"#,
            #"{"country": "us", "state": "by"}"#, #""de""#, #"{"state": null}"#,
        ])
    func refused(edit: String) throws {
        #expect(throws: InvalidValue.self) { try values().admit(json(edit)) }
    }

    @Test("a row that a merge left behind reads invalid until somebody picks another")
    func merged() throws {
        let left: JSON = ["city": "none", "country": "us", "state": "by"]
        let shown = try values(left).shown("x")
        #expect(shown.isInvalid && shown.value == left)
        // An edit of a component that `state` does not depend on leaves it as it is.
        #expect(try values(left).admit(["city": "austin"]) == ["city": "austin"])
        #expect(try values(left).admit(["state": "tx"]) == ["city": "austin", "state": "tx"])
    }

    @Test("components that a store does not have yet show their first rows")
    func incomplete() throws {
        #expect(
            try values(["country": "us", "gone": "x"]).shown("x")
                == ShownValue(["city": "la", "country": "us", "state": "ca"]))
    }

    @Test("rows written as tags alone take the component's labels over")
    func labels() throws {
        let form = try form(
            of: #"""
                "type": "wheels", "components": [{"id": "a", "options": ["r", "s"]},
                  {"id": "b", "options": [{"tag": "g", "label": "Capital Gains"}]}],
                "optionsFor": [{"component": "b", "when": {"a": "s"}, "options": ["g", "h"]}]
                """#)
        guard case .wheels(let wheels) = form.controls[0].kind else {
            Issue.record("no wheels")
            return
        }
        let rows = wheels.rows(of: 1, selection: JSONObject([("a", "s")]))
        #expect(rows.options.map(\.label) == ["Capital Gains", "H"])
    }
}
