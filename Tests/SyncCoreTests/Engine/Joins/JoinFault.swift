// Bugs that a run can have, to show that it finds them.

import EngineTestKit

@testable import SyncCore

/// A bug that can be put in, to show that the oracle finds it.
enum JoinFault: CaseIterable {
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
    /// The time of a write is changed when it arrives.
    case alteredStamp
}

extension JoinWorld {
    /// The item with the bug.
    func faulty(_ item: SharedItem) -> SharedItem {
        switch (fault, item) {
        case (.noDroppedDots, .delta(let delta)):
            var context = CausalContext()
            for counter in delta.counters { context.insert(Dot(delta.replica, counter)) }
            return .delta(delta.with(context, delta.stores))
        case (.unlistedRemoval, .delta(let delta)):
            return .delta(delta.with(delta.context, delta.stores.filter { !$0.store.isEmpty }))
        case (.noAttic, .whole(let whole)):
            let said = whole.stores.first { $0.id == "$definition" }
            guard let said,
                let kept = SharedDefinition(
                    in: [CausalForm.Field(id: said.id, store: said.store)])
            else { return item }
            let fields = FormDefinition.fieldIDs(of: kept.file)
            let shown = Set(fields.map { kept.storeIDs[$0] ?? $0 })
            return .whole(
                WholeForm(
                    form: whole.form, life: whole.life, context: whole.context,
                    stores: whole.stores.filter { $0.id.first == "$" || shown.contains($0.id) }))
        case (.otherStoreID, .delta(let delta)):
            return .delta(delta.with(delta.context, delta.stores.map(\.withOtherStoreIDs)))
        case (.alteredStamp, .delta(let delta)):
            return .delta(delta.with(delta.context, delta.stores.map(\.withOtherStamps)))
        default: return item
        }
    }

    /// Drops what a host has in the attic; returns whether there was anything.
    func dropAttic(of one: JoinHost) -> Bool {
        guard let key = one.form?.key else { return false }
        let names = (one.host.store.fields[key] ?? [:]).keys.filter {
            guard let store = CausalForm.Key(rowName: $0) else { return false }
            return !SharedDefinition.isRegister(store)
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
    fileprivate func with(_ context: CausalContext, _ stores: [Store]) -> FormDelta {
        FormDelta(
            form: form, life: life, replica: replica, counters: counters, stamp: stamp,
            context: context,
            stores: stores.map {
                Store(id: $0.id, store: $0.store.restricted(to: context), isSilent: $0.isSilent)
            }, record: record, message: message)
    }
}

extension FormDelta.Store {
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
        return Self(id: id, store: .register(changed), isSilent: isSilent)
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
