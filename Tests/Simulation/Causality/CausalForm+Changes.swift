// Changes and joins of whole copies of a form: what the theory says, beside which simulations and
// laws hold the stores and the engine.

package import SyncCore

extension CausalForm {
    /// A form that nobody has edited.
    package init() { self.init(context: CausalContext(), sorted: [])! }

    /// The store with `key`; an empty one if nobody has written to it.
    package subscript(key: Key) -> FieldStore {
        let index = position(of: key)
        return holds(key, at: index) ? fields[index].store : FieldStore(key.kind)
    }

    /// Changes the store with `key`, with a new dot of `replica`.
    ///
    /// - Parameter change: Writes with the dot that it gets, without changing the store's kind.
    /// - Returns: the dot; `nil` if the replica has none left, and then nothing changes.
    @discardableResult
    package mutating func change(
        _ key: Key, by replica: ReplicaID, _ change: (inout FieldStore, Dot) -> Void
    ) -> Dot? {
        guard let dot = context.nextDot(for: replica) else { return nil }
        let index = position(of: key)
        let isHeld = holds(key, at: index)
        var store = isHeld ? fields[index].store : FieldStore(key.kind)
        // The form releases its reference during the change, so that the store is not copied.
        if isHeld { fields[index].store = .sealed(SealedRegister()) }
        change(&store, dot)
        precondition(store.kind == key.kind, "a change must not change the kind of the store")
        context.insert(dot)
        set(key, store, at: index, isHeld)
        return dot
    }

    /// Changes the store with `key` with `dot`; returns the change as a delta.
    ///
    /// - Parameters:
    ///   - dot: A new dot of this copy's replica, from `context.nextDot`, used only for this
    ///     change.
    ///   - change: Writes with that dot, without changing the store's kind.
    @discardableResult
    package mutating func change(
        _ key: Key, dot: Dot, _ change: (inout FieldStore) -> Void
    ) -> CausalForm {
        var store = self[key]
        let before = store
        change(&store)
        precondition(store.kind == key.kind, "a change must not change the kind of the store")
        context.insert(dot)
        set(key, store)
        var touched = CausalContext(dots: CollectionOfOne(dot))
        for old in store.dropped(since: before) { touched.insert(old) }
        return Self.delta(touched, key, store)
    }

    /// Removes the store with `key`; returns the change as a delta.
    ///
    /// Concurrent writes by others reappear when their copies are joined. A secret remains in
    /// copies that have it until they remove it too.
    @discardableResult
    package mutating func remove(_ key: Key) -> CausalForm {
        let removed = CausalContext(dots: self[key].dots)
        set(key, FieldStore(key.kind))
        return Self.delta(removed, key, FieldStore(key.kind))
    }

    /// Joins another copy, or a delta, into this one.
    package mutating func join(_ other: CausalForm) {
        let contexts = JoinContexts(own: context, other: other.context)
        var kept: [Field] = []
        kept.reserveCapacity(max(fields.count, other.fields.count))
        var left = fields[...]
        var right = other.fields[...]
        while let first = left.first ?? right.first {
            let key = right.first.map { min(first.key, $0.key) } ?? first.key
            var store = FieldStore(key.kind)
            var theirs = FieldStore(key.kind)
            if let own = left.first, own.key == key {
                store = own.store
                left.removeFirst()
            }
            if let field = right.first, field.key == key {
                theirs = field.store
                right.removeFirst()
            }
            store.join(theirs, contexts: contexts)
            if !store.isEmpty { kept.append(Field(id: key.id, store: store)) }
        }
        fields = kept
        context.formUnion(other.context)
    }

    /// The join of both copies.
    package func joined(_ other: CausalForm) -> CausalForm {
        var result = self
        result.join(other)
        return result
    }

    /// The token of this copy for clients. It does not contain loose dots that no store holds.
    package var token: String {
        if context.loose.isEmpty { return ContextToken.render(context) }
        let held = CausalContext(dots: fields.flatMap(\.store.dots))
        return ContextToken.render(context.prunedLoose(where: held.contains))
    }

    private static func delta(
        _ touched: CausalContext, _ key: Key, _ store: FieldStore
    ) -> CausalForm {
        var delta = CausalForm()
        delta.context = touched
        delta.set(key, store.restricted(to: touched))
        return delta
    }

    private mutating func set(_ key: Key, _ store: FieldStore) {
        let index = position(of: key)
        set(key, store, at: index, holds(key, at: index))
    }

    private mutating func set(_ key: Key, _ store: FieldStore, at index: Int, _ isHeld: Bool) {
        switch (isHeld, store.isEmpty) {
        case (true, true): fields.remove(at: index)
        case (true, false): fields[index].store = store
        case (false, true): break
        case (false, false): fields.insert(Field(id: key.id, store: store), at: index)
        }
    }

    private func holds(_ key: Key, at index: Int) -> Bool {
        index < fields.count && fields[index].key == key
    }

    private func position(of key: Key) -> Int {
        fields.partitionIndex { !($0.key < key) }
    }
}
