// The form of the fleet in the causal core, from the rows of a store.

import SyncCore

extension CausalForm {
    private static let order = FleetField.allCases.sorted { $0.key < $1.key }

    /// The form with these stores, which must be coherent with the context.
    static func fleet(
        _ context: CausalContext, _ store: (FleetField) throws -> FieldStore
    ) throws -> CausalForm {
        var fields: [Field] = []
        for field in order {
            let store = try store(field)
            if !store.isEmpty { fields.append(Field(id: field.id, store: store)) }
        }
        guard let form = CausalForm(context: context, sorted: fields) else {
            throw Violation("a store has writes that are not in its context [\(context)]")
        }
        return form
    }
}

extension SharedItem {
    /// The item in a few words.
    var summary: String {
        switch self {
        case .delta(let delta): "\(delta.replica):\(delta.counters)"
        case .whole(let whole): "all of [\(whole.context)]"
        }
    }
}
