// The form of every daemon of the fleet, with each kind of control and each policy.

import SeededRandom
import SyncCore

/// A field that stores a value.
enum FleetField: Int, CaseIterable {
    case ask, latest, first, stop, consent, wheels, tags, count, scoops, button, secret

    private static let ids = allCases.map { "\($0)" }
    private static let keys = allCases.map { CausalForm.Key($0.id, $0.kind) }
    private static let initials = allCases.map(\.madeInitial)
    static let tagNames = ["bar", "baz", "qux"]
    static let componentNames = ["month", "year"]
    static let colours = ["red", "green", "blue"]
    static let seats = ["a", "b", "c"]
    static let months = ["jan", "feb", "mar"]
    static let years = ["26", "27"]

    var id: String { Self.ids[rawValue] }
    var key: CausalForm.Key { Self.keys[rawValue] }
    var causal: CausalField { CausalField(place: rawValue, kind: kind, policy: policy) }

    var kind: FieldStore.Kind {
        switch self {
        case .ask, .latest, .first, .stop, .consent: .register
        case .wheels: .components
        case .tags: .tags
        case .count, .scoops: .counter
        case .button: .presses
        case .secret: .sealed
        }
    }

    var policy: ConflictPolicy {
        switch self {
        case .ask, .wheels: .ask
        case .first: .first
        case .stop: .trueWins
        case .consent: .falseWins
        case .latest, .tags, .count, .scoops, .button, .secret: .latest
        }
    }

    /// The value that it shows before a user sets it.
    var initial: JSON { Self.initials[rawValue] }

    private var madeInitial: JSON {
        switch self {
        case .ask: .string("")
        case .latest: .string("red")
        case .first: .string("a")
        case .stop, .consent: .bool(false)
        case .wheels: .object(JSONObject([("month", .string("jan")), ("year", .string("26"))]))
        case .tags: .array([.string("bar")])
        case .count: .integer(0)
        case .scoops: .integer(2)
        case .button: .object(JSONObject([("presses", 0)]))
        case .secret: .null
        }
    }

    /// The bounds of a number.
    var bounds: ClosedRange<Int> { self == .scoops ? 0...5 : -100_000...100_000 }

    /// The values that an undo of one transaction may have.
    static let undoable: [FleetField] = [.ask, .latest, .first, .stop, .consent, .tags]

    init?(id: String) {
        guard let place = Self.ids.firstIndex(of: id) else { return nil }
        self.init(rawValue: place)
    }
}

/// A control. It may have no store of its own.
enum FleetControl: CaseIterable {
    static let hue = "hue"
    static let both = "both"

    /// The fields that a control shows and writes.
    static func targets(_ id: String) -> [FleetField] {
        switch id {
        case hue: [.latest]
        case both: [.stop, .consent]
        default: FleetField(id: id).map { [$0] } ?? []
        }
    }

    /// The controls that show one of `fields`, sorted.
    static func told(of fields: Set<FleetField>) -> Set<String> {
        var ids = Set(fields.map(\.id))
        if fields.contains(.latest) { ids.insert(hue) }
        if fields.contains(.stop) || fields.contains(.consent) { ids.insert(both) }
        return ids
    }
}

extension JSON {
    static func strings(_ list: [String]) -> JSON { .array(list.map { .string($0) }) }

    /// The form.
    static let fleetForm: JSON = {
        let text = """
            {"form":"fleet","fields":[
            {"id":"ask","type":"text","onConflict":"ask"},
            {"id":"latest","type":"picker","options":["red","green","blue"]},
            {"id":"hue","type":"picker","binds":"latest","options":["red","green","blue"]},
            {"id":"first","type":"picker","options":["a","b","c"],"onConflict":"first"},
            {"id":"stop","type":"toggle","onConflict":"trueWins"},
            {"id":"consent","type":"toggle","onConflict":"falseWins"},
            {"id":"both","type":"toggle","sources":["stop","consent"]},
            {"id":"wheels","type":"wheels","onConflict":"ask","components":[
            {"id":"month","options":["jan","feb","mar"]},{"id":"year","options":["26","27"]}]},
            {"id":"tags","type":"picker","multiple":true,"options":["bar","baz","qux"],
            "default":["bar"]},
            {"id":"count","type":"stepper","min":-100000,"max":100000,"default":0},
            {"id":"scoops","type":"stepper","min":0,"max":5,"default":2},
            {"id":"button","type":"button"},{"id":"secret","type":"secure"}]}
            """
        return (try? JSON(parsing: Array(text.utf8))) ?? .null
    }()
}

extension SplitMix64 {
    /// One of several things.
    mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    /// A change of the form. `number` makes the written values unique.
    mutating func fleetChange(_ number: Int) -> Change {
        let field = pick(FleetField.allCases)
        if chance(8), field != .button { return Change(field: field.id, .reset) }
        switch field {
        case .ask: return Change(field: field.id, .value(.string("text \(number)")))
        case .latest:
            let id = chance(30) ? FleetControl.hue : field.id
            return Change(field: id, .value(.string(pick(FleetField.colours))))
        case .first: return Change(field: field.id, .value(.string(pick(FleetField.seats))))
        case .stop, .consent:
            let id = chance(25) ? FleetControl.both : field.id
            return Change(field: id, chance(50) ? .toggle : .value(.bool(chance(50))))
        case .wheels:
            var rows = JSONObject()
            if chance(60) { rows["month"] = .string(pick(FleetField.months)) }
            if rows.isEmpty || chance(40) { rows["year"] = .string(pick(FleetField.years)) }
            return Change(field: field.id, .value(.object(rows)))
        case .tags:
            let tags = FleetField.tagNames.filter { _ in chance(45) }.map { JSON.string($0) }
            switch below(3) {
            case 0: return Change(field: field.id, .value(.array(tags)))
            case 1: return Change(field: field.id, .add(tags))
            default: return Change(field: field.id, .remove(tags))
            }
        case .count, .scoops:
            if chance(75) {
                let amount = Int64(pick([1, 1, 2, -1, -1, -3]))
                return Change(field: field.id, .increment(DecimalNumber(amount)))
            }
            return Change(field: field.id, .value(.integer(below(6))))
        case .button: return Change(field: field.id, .press)
        case .secret:
            return Change(field: field.id, .value(.string("\(FleetOracle.canary) \(number)")))
        }
    }
}
