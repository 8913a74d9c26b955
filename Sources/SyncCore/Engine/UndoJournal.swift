/// What can be taken back in one form, and by whom.
///
/// *Mine* is the same uid and the same `session` (PROTOCOL.md, Methods). Undo takes back the newest
/// transaction of mine that was not taken back yet, and is itself a transaction that redo takes
/// back. A new edit of mine ends redo. Bounded: the oldest transactions fall out.
struct UndoJournal {
    /// Whose transaction it is.
    struct Owner: Hashable {
        let uid: UInt32
        let session: String?

        /// Whether a transaction of `other` is one of mine: without a session, all of the uid's
        /// are.
        func includes(_ other: Owner) -> Bool {
            guard uid == other.uid else { return false }
            guard let session else { return true }
            return other.session.map(session.isSameBytes) ?? false
        }
    }

    struct Transaction {
        let revision: UInt64
        let owner: Owner
        let kind: RevisionRecord.Kind
        /// What is left to take back.
        var steps: [UndoStep]
        /// Bytes of the record that it was made of: about what it holds in memory.
        let bytes: Int
    }

    /// Bytes of all records together: large texts fall out sooner than small edits.
    private static let bytesMax = 4 << 20

    /// What is asked for.
    enum Direction {
        case undo, redo

        /// The kinds of transactions that it takes back.
        fileprivate func takesBack(_ kind: RevisionRecord.Kind) -> Bool {
            switch self {
            case .undo: kind == .set || kind == .redo
            case .redo: kind == .undo
            }
        }
    }

    /// Oldest first; those before `head` have fallen out. An edit adds one and drops one, so that
    /// neither may cost what the depth is.
    private var kept: [Transaction] = []
    private var head = 0
    /// Bytes of the records of all transactions.
    private var heldBytes = 0
    /// Transactions of kind `undo`: what an edit ends, nearly always none.
    private var undoCount = 0

    /// Oldest first.
    var transactions: ArraySlice<Transaction> { kept[head...] }

    /// Notes a transaction that was done.
    ///
    /// - Parameter bytes: About as many as the record takes in the store.
    mutating func append(
        _ record: RevisionRecord, bytes: Int, revision: UInt64, depthMax: Int
    ) {
        let owner = Owner(uid: record.by.uid, session: record.session)
        if let old = record.takesBack {
            consume(old, fields: record.undo.map(\.field) + record.skipped)
        }
        for step in record.undo {
            for restoration in step.restorations { note(restoration) }
        }
        if record.kind == .set, undoCount > 0 {
            removeAll { $0.kind == .undo && owner.includes($0.owner) }
        }
        guard !record.undo.isEmpty else { return }
        kept.append(
            Transaction(
                revision: revision, owner: owner, kind: record.kind, steps: record.undo,
                bytes: bytes))
        count(kept[kept.count - 1], 1)
        while kept.count - head > depthMax || (heldBytes > Self.bytesMax && kept.count - head > 1) {
            count(kept[head], -1)
            // What fell out is let go of now, its place later.
            kept[head].steps = []
            head += 1
        }
        if head > max(64, depthMax / 4) {
            kept.removeFirst(head)
            head = 0
        }
    }

    private mutating func count(_ transaction: Transaction, _ sign: Int) {
        heldBytes += sign * transaction.bytes
        if transaction.kind == .undo { undoCount += sign }
    }

    private mutating func removeAll(where isGone: (Transaction) -> Bool) {
        for transaction in transactions where isGone(transaction) { count(transaction, -1) }
        kept.removeFirst(head)
        head = 0
        kept.removeAll(where: isGone)
    }

    /// The newest transaction that `direction` may take back: of `owner`, or of anyone where `nil`;
    /// with a field, the newest that touched it, cut to that field.
    func newest(_ direction: Direction, owner: Owner?, field: String?) -> Transaction? {
        for transaction in transactions.reversed() where direction.takesBack(transaction.kind) {
            guard owner?.includes(transaction.owner) ?? true else { continue }
            guard let field else { return transaction }
            let steps = transaction.steps.filter { $0.field.isSameBytes(as: field) }
            guard !steps.isEmpty else { continue }
            var cut = transaction
            cut.steps = steps
            return cut
        }
        return nil
    }

    /// Steps of a transaction that cannot be taken back any more, or have been.
    mutating func consume(_ revision: UInt64, fields: [String]) {
        guard let index = transactions.lastIndex(where: { $0.revision == revision }) else { return }
        kept[index].steps.removeAll { step in
            fields.contains { $0.isSameBytes(as: step.field) }
        }
        if kept[index].steps.isEmpty { removeAll { $0.revision == revision } }
    }

    private mutating func note(_ restoration: UndoStep.Restoration) {
        for place in head..<kept.count {
            for step in kept[place].steps.indices { kept[place].steps[step].note(restoration) }
        }
    }
}
