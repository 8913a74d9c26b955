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

    /// Oldest first.
    private(set) var transactions: [Transaction] = []
    private var bytes: Int { transactions.reduce(0) { $0 + $1.bytes } }

    /// Notes a transaction that was done.
    ///
    /// - Parameter bytes: Of the record as the store keeps it.
    mutating func append(
        _ record: RevisionRecord, bytes: Int, revision: UInt64, depthMax: Int
    ) {
        let owner = Owner(uid: record.by.uid, session: record.session)
        if let old = record.takesBack { consume(old, fields: record.undo.map(\.field)) }
        for restoration in record.undo.flatMap(\.restorations) { note(restoration) }
        if record.kind == .set {
            transactions.removeAll { $0.kind == .undo && owner.includes($0.owner) }
        }
        guard !record.undo.isEmpty else { return }
        transactions.append(
            Transaction(
                revision: revision, owner: owner, kind: record.kind, steps: record.undo,
                bytes: bytes))
        if transactions.count > depthMax {
            transactions.removeFirst(transactions.count - depthMax)
        }
        var held = self.bytes
        while held > Self.bytesMax, transactions.count > 1 {
            held -= transactions.removeFirst().bytes
        }
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
        transactions[index].steps.removeAll { step in
            fields.contains { $0.isSameBytes(as: step.field) }
        }
        if transactions[index].steps.isEmpty { transactions.remove(at: index) }
    }

    private mutating func note(_ restoration: UndoStep.Restoration) {
        for place in transactions.indices {
            for step in transactions[place].steps.indices {
                transactions[place].steps[step].note(restoration)
            }
        }
    }
}
