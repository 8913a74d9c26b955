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

    /// The delta between two states of a form of `replica`.
    static func fleetDelta(
        from before: CausalForm, to after: CausalForm, by replica: ReplicaID
    ) throws -> CausalForm {
        var touched = CausalContext()
        let first = before.context.highestCounter(of: replica)
        for counter in first..<max(first, after.context.highestCounter(of: replica)) {
            touched.insert(Dot(replica, counter + 1))
        }
        for field in order {
            for dot in after[field.key].dropped(since: before[field.key]) { touched.insert(dot) }
        }
        return try fleet(touched) { after[$0.key].restricted(to: touched) }
    }

    /// A fault: the last changed field is left out, and its writes count as known.
    func withoutLastField(of own: CausalForm) -> CausalForm {
        guard let last = fields.last, fields.count > 1 else { return self }
        let left = Field(id: last.key.id, store: own[last.key].restricted(to: context))
        let fields = fields.dropLast() + (left.store.isEmpty ? [] : [left])
        return CausalForm(context: context, sorted: Array(fields)) ?? self
    }
}
