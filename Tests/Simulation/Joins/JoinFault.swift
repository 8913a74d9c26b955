// Bugs that a run can have, to show that it finds them.

import EngineTestKit
import SyncCore

/// A bug that can be put in, to show that the oracle finds it.
package enum JoinFault: CaseIterable, Sendable {
    /// The cursor is durable before the join is.
    case cursorBeforeJoin
    /// A change lacks the dots that it replaced or removed.
    case noDroppedDots
    /// A change does not list the stores from which it only removed something.
    case unlistedRemoval
    /// A whole lacks what is in the attic.
    case noAttic
    /// A definition is adopted, and the stores that it has no control for are dropped.
    case droppedStores
    /// A control that got another id gets another store.
    case otherStoreID
    /// The store loses the context of a deleted form.
    case forgottenDeletion
    /// The time of a write is changed when it arrives.
    case alteredStamp
    /// A daemon applies its form file at every start.
    case fileAtEveryStart
}

extension JoinWorld {
    /// The item with the bug.
    func faulty(_ item: SharedItem) -> SharedItem {
        switch (fault, item) {
        case (.noDroppedDots, .delta(let delta)):
            let dots = CausalContext(dots: delta.counters.map { Dot(delta.replica, $0) })
            return .delta(
                delta.with(delta.stores.map { $0.with($0.store.restricted(to: dots)) }, dots))
        case (.unlistedRemoval, .delta(let delta)):
            return .delta(delta.with(delta.stores.filter { !$0.store.isEmpty }))
        case (.noAttic, .whole(let whole)):
            guard
                case .register(let said) = whole.stores.first(where: { $0.id == "$definition" })?
                    .store, let kept = ConflictPolicy.latest.current(said.siblings)?.payload.value,
                let file = kept["definition"]
            else { return item }
            let shown = Set(
                FormDefinition.fieldIDs(of: file).map { kept["stores"]?[$0]?.stringValue ?? $0 })
            var less = whole
            less.stores.removeAll { $0.id.first != "$" && !shown.contains($0.id) }
            return .whole(less)
        case (.otherStoreID, .delta(let delta)):
            return .delta(delta.with(delta.stores.map(\.withOtherStoreIDs)))
        case (.alteredStamp, .delta(let delta)):
            return .delta(delta.with(delta.stores.map(\.withOtherStamps)))
        default: return item
        }
    }

    /// Drops what a host has in the attic; returns whether there was anything.
    func dropAttic(of one: JoinHost) -> Bool {
        guard let key = one.row?.key else { return false }
        // A row of a store that no control shows is `~KIND:ID`; ids of registers begin with `$`.
        let names = (one.host.store.fields[key] ?? [:]).keys.sorted().filter {
            $0.hasPrefix("~") && !$0.contains(":$")
        }
        if names.isEmpty { return false }
        one.host.edit { store in
            store.commit(
                Batch(
                    number: 0,
                    operations: names.map { .removeField(form: key, field: $0) }))
        }
        return true
    }
}

extension FormDelta {
    fileprivate func with(_ stores: [Store], _ context: CausalContext? = nil) -> FormDelta {
        var other = self
        other.stores = stores
        other.context = context ?? self.context
        return other
    }
}

extension FormDelta.Store {
    fileprivate func with(_ store: FieldStore) -> Self {
        Self(id: id, store: store, isSilent: isSilent)
    }

    private func mapped(
        _ change: (Written, HybridTimestamp) -> (Written, HybridTimestamp)
    ) -> Self {
        guard case .register(let register) = store else { return self }
        let siblings = register.siblings.map { sibling in
            let (payload, stamp) = change(sibling.payload, sibling.stamp)
            return MultiValueRegister<Written>.Sibling(
                dot: sibling.dot, stamp: stamp, payload: payload)
        }
        guard let changed = MultiValueRegister(sorted: siblings) else { return self }
        return with(.register(changed))
    }

    /// The definition without the ids of its stores.
    fileprivate var withOtherStoreIDs: Self {
        if id != "$definition" { return self }
        return mapped { written, stamp in
            var object = written.value?.objectValue ?? JSONObject()
            object["stores"] = nil
            return (Written(value: .object(object), author: written.author), stamp)
        }
    }

    /// The writes with times of this host.
    fileprivate var withOtherStamps: Self {
        mapped { written, stamp in
            (written, HybridTimestamp(milliseconds: stamp.milliseconds / 1_000_000 * 1_000_000))
        }
    }
}
