/// What can be taken back in one form, and by whom.
///
/// *Mine* is the same uid and the same `session` (PROTOCOL.md, All methods). Undo takes back the
/// newest transaction of mine that was not taken back yet, and is itself a transaction that redo
/// takes back. A new edit of mine ends redo. Bounded: where there are too many, whoever has most of
/// them loses its oldest, so that nobody's edits push another's out.
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
        /// Cut to one field, where others can be taken back too.
        var isPart = false
    }

    /// Bytes of all records together: large texts fall out sooner than small edits.
    private static let bytesMax = 4 << 20

    /// What is asked for.
    enum Direction {
        case undo, redo

        /// The kinds of transactions that it takes back.
        fileprivate func undoes(_ kind: RevisionRecord.Kind) -> Bool {
            switch self {
            case .undo: kind == .set || kind == .redo
            case .redo: kind == .undo
            }
        }
    }

    /// What one uid can take back.
    private struct Line {
        let uid: UInt32
        /// Oldest first; those before `head` have fallen out. An edit adds one and another drops
        /// one, so that neither may cost what the depth is.
        private var kept: [Transaction] = []
        private var head = 0
        /// Bytes of the records of all transactions.
        private(set) var bytes = 0
        /// Transactions of kind `undo`: what an edit ends, nearly always none.
        private var undoCount = 0

        init(uid: UInt32) {
            self.uid = uid
        }

        var count: Int { kept.count - head }

        /// The revision of the oldest.
        var oldest: UInt64 { transactions.first?.revision ?? .max }

        /// Oldest first.
        var transactions: ArraySlice<Transaction> { kept[head...] }

        mutating func append(_ transaction: Transaction) {
            kept.append(transaction)
            count(transaction, 1)
        }

        mutating func dropOldest() {
            count(kept[head], -1)
            // What fell out is let go of now, its place later.
            kept[head].steps = []
            head += 1
            if head > max(64, kept.count / 4) {
                kept.removeFirst(head)
                head = 0
            }
        }

        /// An edit of `owner` ends its redo.
        mutating func endRedo(of owner: Owner) {
            if undoCount > 0 { removeAll { $0.kind == .undo && owner.includes($0.owner) } }
        }

        /// Takes steps out of a transaction; whether it is here.
        mutating func consume(_ revision: UInt64, fields: Set<String>) -> Bool {
            guard let index = transactions.lastIndex(where: { $0.revision == revision }) else {
                return false
            }
            kept[index].steps.removeAll { fields.contains($0.field) }
            if kept[index].steps.isEmpty { removeAll { $0.revision == revision } }
            return true
        }

        /// Steps of a field say the writes that stand now.
        mutating func note(_ restorations: [String: [UndoStep.Restoration]]) {
            for place in head..<kept.count {
                for step in kept[place].steps.indices {
                    let restored = restorations[kept[place].steps[step].field]
                    for restoration in restored ?? [] { kept[place].steps[step].note(restoration) }
                }
            }
        }

        private mutating func count(_ transaction: Transaction, _ sign: Int) {
            bytes += sign * transaction.bytes
            if transaction.kind == .undo { undoCount += sign }
        }

        private mutating func removeAll(where isGone: (Transaction) -> Bool) {
            for transaction in transactions where isGone(transaction) { count(transaction, -1) }
            kept.removeFirst(head)
            head = 0
            kept.removeAll(where: isGone)
        }
    }

    /// In the order in which the uids came; none is empty.
    private var lines: [Line] = []
    /// Transactions that can be taken back, and bytes of their records, of all uids.
    private(set) var count = 0
    private var bytes = 0

    /// The one way in which lines change: the sums follow.
    private mutating func change<Result>(
        at place: Int, _ body: (inout Line) -> Result
    ) -> Result {
        count -= lines[place].count
        bytes -= lines[place].bytes
        let result = body(&lines[place])
        count += lines[place].count
        bytes += lines[place].bytes
        if lines[place].count == 0 { lines.remove(at: place) }
        return result
    }

    /// Notes a transaction that was done.
    ///
    /// - Parameter bytes: About as many as the record takes in the store.
    mutating func append(
        _ record: RevisionRecord, bytes: Int, revision: UInt64, depthMax: Int
    ) {
        let owner = Owner(uid: record.by.uid, session: record.session)
        takeOut(record)
        let place = lines.firstIndex { $0.uid == owner.uid }
        if place == nil, record.undo.isEmpty { return }
        if place == nil { lines.append(Line(uid: owner.uid)) }
        change(at: place ?? lines.count - 1) { line in
            if record.kind == .set { line.endRedo(of: owner) }
            guard !record.undo.isEmpty else { return }
            line.append(
                Transaction(
                    revision: revision, owner: owner, kind: record.kind, steps: record.undo,
                    bytes: bytes))
        }
        while count > depthMax { dropOldest { $0.count } }
        while self.bytes > Self.bytesMax, count > 1 { dropOldest { $0.bytes } }
    }

    /// Takes out what a transaction took back, and notes what it let stand again.
    mutating func takeOut(_ record: RevisionRecord) {
        if let old = record.undoes {
            consume(old, fields: record.undo.map(\.field) + record.skipped)
        }
        // Once through the journal, however many fields there are. Ids are ASCII, so that equal
        // strings are equal bytes.
        let restorations = Dictionary(grouping: record.undo.flatMap(\.restorations), by: \.field)
        if restorations.isEmpty { return }
        for place in lines.indices { lines[place].note(restorations) }
    }

    /// Whoever has most loses its oldest (McKenney, "Stochastic Fairness Queueing", INFOCOM 1990);
    /// of two who have as much, the one whose is older.
    private mutating func dropOldest(ofMost size: (Line) -> Int) {
        guard var most = lines.indices.first else { return }
        for place in lines.indices.dropFirst() {
            let (more, oldest) = (size(lines[place]), lines[place].oldest)
            if (more, lines[most].oldest) > (size(lines[most]), oldest) { most = place }
        }
        change(at: most) { $0.dropOldest() }
    }

    /// The newest transaction that `direction` may take back: of `owner`, or of anyone where `nil`;
    /// with a field, the newest that touched it, cut to that field.
    func newest(_ direction: Direction, owner: Owner?, field: String?) -> Transaction? {
        func newest(in line: Line) -> Transaction? {
            for transaction in line.transactions.reversed()
            where direction.undoes(transaction.kind) {
                guard owner?.includes(transaction.owner) ?? true else { continue }
                guard let field else { return transaction }
                let steps = transaction.steps.filter { $0.field.isSameBytes(as: field) }
                guard !steps.isEmpty else { continue }
                var cut = transaction
                cut.steps = steps
                cut.isPart = steps.count < transaction.steps.count
                return cut
            }
            return nil
        }
        guard let owner else {
            return lines.compactMap { newest(in: $0) }.max { $0.revision < $1.revision }
        }
        return lines.first { $0.uid == owner.uid }.flatMap { newest(in: $0) }
    }

    /// Steps of a transaction that cannot be taken back any more, or have been.
    mutating func consume(_ revision: UInt64, fields: [String]) {
        let fields = Set(fields)
        for place in lines.indices {
            if change(at: place, { $0.consume(revision, fields: fields) }) { return }
        }
    }
}
