// What a transaction changed in the stores that hosts share.

/// The writes of a transaction, restricted to the stores and dots that it touched: the part of a
/// `FormDelta` that is known before the revision.
///
/// A class, so that the transaction of a form that is not shared has one word for it.
final class SharedChange {
    /// The new dots, and those that they replaced or removed.
    let context: CausalContext
    let stores: [FormDelta.Store]
    let replica: ReplicaID
    let counters: ClosedRange<UInt64>
    let stamp: HybridTimestamp

    /// A store before and after a transaction.
    struct Pair {
        let key: CausalForm.Key
        let before: FieldStore
        let after: FieldStore
        var isSilent = false
    }

    /// - Parameters:
    ///   - dots: The new dots, which are consecutive. At least one: a change is known to another
    ///     host exactly if its dots are.
    ///   - pairs: The stores that may have changed.
    init(_ pairs: [Pair], dots: CausalContext, of replica: ReplicaID, stamp: HybridTimestamp) {
        var context = dots
        var touched: [Pair] = []
        for pair in pairs {
            let dropped = pair.after.dropped(since: pair.before)
            for dot in dropped { context.insert(dot) }
            if !dropped.isEmpty || pair.after != pair.before { touched.append(pair) }
        }
        self.context = context
        let all = context
        stores = touched.sorted { $0.key < $1.key }.map {
            FormDelta.Store(
                id: $0.key.id, store: $0.after.restricted(to: all), isSilent: $0.isSilent)
        }
        self.replica = replica
        self.stamp = stamp
        let own = dots.loose.map(\.counter) + dots.vector.entries.map(\.counter)
        // A vector entry of new dots alone begins with 1.
        counters = (dots.vector.isEmpty ? own.min() ?? 1 : 1)...(own.max() ?? 1)
    }
}

extension Transaction {
    /// What a transaction on a shared form tells the other hosts; `nil` if it changes no store.
    func sharedChange(_ written: Few<Int>, _ silent: Few<Int>) -> SharedChange? {
        let state = form.working
        func pair(_ index: Int, isSilent: Bool) -> SharedChange.Pair? {
            guard let key = state.storeKey(index), let before = state.cells[index].store,
                let after = content(index).store
            else { return nil }
            return SharedChange.Pair(key: key, before: before, after: after, isSilent: isSilent)
        }
        let pairs =
            written.compactMap { pair($0, isSilent: false) }
            + silent.compactMap { pair($0, isSilent: true) }
        var new = CausalContext(dots: dots)
        if new.isEmpty {
            // The end of a lease may only remove a value.
            guard pairs.contains(where: { $0.before != $0.after }),
                let dot = context.nextDot(for: author.replica)
            else { return nil }
            new.insert(dot)
        }
        return SharedChange(pairs, dots: new, of: author.replica, stamp: stamp)
    }
}

extension FormState {
    /// What a new definition changed in the stores of a shared form; `nil` if the replica had no
    /// dot left for it.
    func sharedChange(
        since before: FormState, of replica: ReplicaID, _ stamp: HybridTimestamp
    ) -> SharedChange? {
        let known = before.context.highestCounter(of: replica)
        let newest = context.highestCounter(of: replica)
        guard newest > known else { return nil }
        let (old, new) = (before.stores, stores)
        let pairs = Set(old.keys).union(new.keys).sorted().map { key in
            SharedChange.Pair(
                key: key, before: old[key] ?? FieldStore(key.kind),
                after: new[key] ?? FieldStore(key.kind))
        }
        return SharedChange(
            pairs, dots: CausalContext(dots: (known + 1...newest).map { Dot(replica, $0) }),
            of: replica, stamp: stamp)
    }
}
