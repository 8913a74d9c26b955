// The definitions that hosts apply in turn, and edits of them.

import SeededRandom
import SyncCore

/// Definitions of one form: fields come, go, get other ids and other types.
enum JoinForms {
    private static let note = #"{"id":"note","type":"text","onConflict":"ask"}"#
    private static let remark = #"{"id":"remark","type":"text","onConflict":"ask","was":"note"}"#
    private static let ownRemark = #"{"id":"remark","type":"text","onConflict":"ask"}"#
    private static let count = #"{"id":"count","type":"stepper","min":0,"max":1000}"#
    private static let countText = #"{"id":"count","type":"text"}"#
    private static let tags =
        #"{"id":"tags","type":"picker","multiple":true,"options":["x","y","z"]}"#
    private static let pick = #"{"id":"pick","type":"picker","options":["o0","o1"]}"#
    private static let morePick = #"{"id":"pick","type":"picker","options":["o0","o1","o2"]}"#
    private static let secret = #"{"id":"secret","type":"secure"}"#
    private static let flag = #"{"id":"flag","type":"toggle","onConflict":"falseWins"}"#
    private static let button = #"{"id":"button","type":"button"}"#
    private static let wheels =
        #"{"id":"wheels","type":"wheels","components":[{"id":"m","options":["a","b"]},"#
        + #"{"id":"n","options":["1","2"]}]}"#

    static let all: [String] = [
        [note, count, tags, pick, secret, flag, button, wheels],
        [remark, count, pick, secret, flag],
        [ownRemark, note, count, tags, pick],
        [note, countText, tags, morePick, button],
        [count, flag, wheels, pick],
        [note, count, tags, morePick, secret, flag, button],
    ].map { fields in
        #"{"form":"shared","fields":["# + fields.joined(separator: ",") + "]}"
    }

    /// A change of one field of a definition.
    static func change(
        of definition: FormDefinition, _ number: Int, _ random: inout SplitMix64
    ) -> Change? {
        guard let control = definition.controls.randomElement(using: &random) else { return nil }
        func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        if below(10) == 0, control.type != .button { return Change(field: control.id, .reset) }
        switch control.type {
        case .text, .secure:
            return Change(field: control.id, .value(.string("text \(number)")))
        case .stepper:
            return below(2) == 0
                ? Change(field: control.id, .increment(DecimalNumber(Int64(1 + below(3)))))
                : Change(field: control.id, .value(.integer(Int64(below(100)))))
        case .toggle: return Change(field: control.id, .value(.bool(below(2) == 0)))
        case .button: return Change(field: control.id, .press)
        case .picker where control.isMultiple:
            let tags = ["x", "y", "z"].filter { _ in below(2) == 0 }.map { JSON.string($0) }
            return Change(field: control.id, below(2) == 0 ? .add(tags) : .remove(tags))
        case .picker: return Change(field: control.id, .value(.string("o\(below(3))")))
        case .wheels:
            let row = below(2) == 0 ? ("m", ["a", "b"][below(2)]) : ("n", ["1", "2"][below(2)])
            return Change(
                field: control.id, .value(.object(JSONObject([(row.0, .string(row.1))]))))
        default: return nil
        }
    }
}
