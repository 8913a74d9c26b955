/// The transactions that can be undone in one form, by user.
///
/// A transaction is *mine* if it has the same uid and the same `session` (PROTOCOL.md, All
/// methods). Undo undoes my newest transaction that was not undone yet. The undo is itself a
/// transaction, which redo undoes. A new edit of mine ends redo. The size is limited: beyond the
/// limit, the user with most transactions loses the oldest one, so nobody's edits displace
/// another's.
struct UndoJournal {
    /// The owner of a transaction.
    struct Owner: Hashable {
        let uid: UInt32
        let session: String?

        /// Whether a transaction of `other` is mine. Without a session, all transactions of the uid
        /// are.
        func includes(_ other: Owner) -> Bool {
            guard uid == other.uid else { return false }
            guard let session else { return true }
            return other.session.map(session.isSameBytes) ?? false
        }
    }

    /// An edit. Its owner cannot redo the undos before it.
    struct RedoEnd {
        let owner: Owner
        let revision: UInt64
    }

    struct Transaction {
        let revision: UInt64
        let owner: Owner
        let kind: RevisionRecord.Kind
        /// What is left to take back.
        var steps: Few<UndoStep>
        /// Bytes of the record that it was made of: about what it holds in memory.
        let bytes: Int
        /// The edit that it is, or that it goes back to as an undo or redo.
        let redoEnd: RedoEnd?
        /// Reduced to one field, although others can be undone too.
        var isPart = false
    }

    /// The most bytes of all records together. Large texts are dropped sooner than small edits.
    private static let bytesMax = 4 << 20

    /// Undo or redo.
    enum Direction {
        case undo, redo

        /// The kinds of transactions that this direction undoes.
        /// The end of a lease is nobody's edit: only an undo of its field takes it back.
        fileprivate func undoes(_ kind: RevisionRecord.Kind, ofField: Bool) -> Bool {
            switch self {
            case .undo: kind == .set || kind == .redo || kind == .ended && ofField
            case .redo: kind == .undo
            }
        }
    }

    /// The transactions of one uid.
    private struct Line {
        let uid: UInt32
        /// Oldest first. An edit adds one and drops another, and neither may take time in
        /// proportion to the number of transactions.
        private(set) var transactions = Queue<Transaction>()
        /// Bytes of all records.
        private(set) var bytes = 0
        /// The number of transactions of kind `undo`, which an edit ends; nearly always none.
        private var undoCount = 0

        init(uid: UInt32) {
            self.uid = uid
        }

        var count: Int { transactions.count }

        /// The revision of the oldest transaction.
        var oldest: UInt64 { transactions.first?.revision ?? .max }

        mutating func append(_ transaction: Transaction) {
            transactions.append(transaction)
            count(transaction, 1)
        }

        mutating func dropOldest() {
            if let oldest = transactions.takeFirst() { count(oldest, -1) }
        }

        /// An edit ends the redo of its owner.
        mutating func endRedo(_ end: RedoEnd) {
            guard undoCount > 0 else { return }
            removeAll {
                $0.kind == .undo && $0.revision < end.revision && end.owner.includes($0.owner)
            }
        }

        /// Removes steps from a transaction; returns whether the transaction is here.
        mutating func consume(_ revision: UInt64, fields: Set<String>) -> Bool {
            guard let index = transactions.lastIndex(where: { $0.revision == revision }) else {
                return false
            }
            transactions[index].steps.removeAll { fields.contains($0.field) }
            if transactions[index].steps.isEmpty { removeAll { $0.revision == revision } }
            return true
        }

        /// The steps name the writes that replace those that they named.
        mutating func renew(by renewals: UndoRenewals) {
            for place in transactions.indices { renew(at: place, by: renewals) }
        }

        /// The steps of one transaction do, if it is here.
        mutating func renew(_ revision: UInt64, by renewals: UndoRenewals) {
            let place = transactions.firstIndex { $0.revision == revision }
            if let place { renew(at: place, by: renewals) }
        }

        private mutating func renew(at place: Int, by renewals: UndoRenewals) {
            for step in transactions[place].steps.indices {
                transactions[place].steps[step].renew(by: renewals)
            }
        }

        private mutating func count(_ transaction: Transaction, _ sign: Int) {
            bytes += sign * transaction.bytes
            if transaction.kind == .undo { undoCount += sign }
        }

        private mutating func removeAll(where isGone: (Transaction) -> Bool) {
            for transaction in transactions where isGone(transaction) { count(transaction, -1) }
            transactions.removeAll(where: isGone)
        }
    }

    /// In the order of each uid's first edit; none is empty.
    private var lines: [Line] = []
    /// The number of transactions and the bytes of their records, of all uids.
    private(set) var count = 0
    private var bytes = 0

    /// The only function that changes lines, so that the sums stay correct.
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

    /// Adds a transaction.
    ///
    /// - Parameter bytes: The approximate size of its record in the store.
    mutating func append(
        _ record: RevisionRecord, bytes: Int, revision: UInt64, depthMax: Int
    ) {
        takeOut(record)
        add(record, record.undo, bytes: bytes, revision: revision, depthMax: depthMax)
    }

    private mutating func add(
        _ record: RevisionRecord, _ steps: Few<UndoStep>, bytes: Int, revision: UInt64,
        depthMax: Int
    ) {
        let owner = Owner(uid: record.by.uid, session: record.session)
        if let end = record.redoEnd,
            let place = lines.firstIndex(where: { $0.uid == end.owner.uid })
        {
            change(at: place) { $0.endRedo(end) }
        }
        let redoEnd =
            record.kind == .set ? RedoEnd(owner: owner, revision: revision) : record.redoEnd
        let place = lines.indices.first { lines[$0].uid == owner.uid }
        if place == nil, steps.isEmpty { return }
        if place == nil { lines.append(Line(uid: owner.uid)) }
        change(at: place ?? lines.count - 1) { line in
            if record.kind == .set, let redoEnd { line.endRedo(redoEnd) }
            guard !steps.isEmpty else { return }
            line.append(
                Transaction(
                    revision: revision, owner: owner, kind: record.kind, steps: steps,
                    bytes: bytes, redoEnd: redoEnd))
        }
        while count > depthMax { dropOldest { $0.count } }
        while self.bytes > Self.bytesMax, count > 1 { dropOldest { $0.bytes } }
    }

    /// Removes what a transaction reverted, and records which values it restored.
    private mutating func takeOut(_ record: RevisionRecord) {
        consumeTarget(of: record)
        // Once through the journal, however many fields there are. Ids are ASCII, so that equal
        // strings are equal bytes.
        // An edit restores nothing; an undo, a redo and the end of a lease do.
        if record.undoes == nil && record.kind != .ended { return }
        let renewals = UndoRenewals(record.undo)
        if renewals.isEmpty { return }
        for place in lines.indices { lines[place].renew(by: renewals) }
    }

    private mutating func consumeTarget(of record: RevisionRecord) {
        guard let old = record.undoes else { return }
        consume(old, fields: record.undo.map(\.field) + record.skipped)
    }

    /// A revision that a journal is made of.
    struct Stored {
        let revision: UInt64
        let record: RevisionRecord
        /// It took back a part of another, and cannot be taken back itself.
        let isPart: Bool
    }

    /// The journal that these revisions leave, oldest first: what `append` would make of them one
    /// after the other, in a work that grows with their number and not with its square.
    init(_ stored: [Stored], depthMax: Int) {
        for row in stored {
            consumeTarget(of: row.record)
            guard !row.isPart else { continue }
            add(
                row.record, Few(UndoStep.merged(Array(row.record.undo))),
                bytes: row.record.bytesEstimate,
                revision: row.revision, depthMax: depthMax)
        }
        var renewals = UndoRenewals()
        for row in stored.reversed() {
            if let place = lines.firstIndex(where: { $0.uid == row.record.by.uid }) {
                lines[place].renew(row.revision, by: renewals)
            }
            renewals.addOlder(row.record.undo)
        }
    }

    /// A journal with nothing in it.
    init() {}

    /// The user with the most transactions loses its oldest (McKenney, "Stochastic Fairness
    /// Queueing", INFOCOM 1990);
    private mutating func dropOldest(ofMost size: (Line) -> Int) {
        guard var most = lines.indices.first else { return }
        if lines.count == 1 { return change(at: most) { $0.dropOldest() } }
        for place in lines.indices.dropFirst() {
            let (more, oldest) = (size(lines[place]), lines[place].oldest)
            if (more, lines[most].oldest) > (size(lines[most]), oldest) { most = place }
        }
        change(at: most) { $0.dropOldest() }
    }

    /// The newest transaction that `direction` can undo: of `owner`, or of anybody if `nil`. With a
    /// field, the newest one that touched the field, reduced to it.
    func newest(_ direction: Direction, owner: Owner?, field: String?) -> Transaction? {
        func newest(in line: Line) -> Transaction? {
            for transaction in line.transactions.reversed()
            where direction.undoes(transaction.kind, ofField: field != nil) {
                let isTheirs =
                    transaction.kind == .ended
                    ? owner.map { $0.uid == transaction.owner.uid } ?? true
                    : owner?.includes(transaction.owner) ?? true
                guard isTheirs else { continue }
                guard let field else { return transaction }
                let steps = transaction.steps.filter { $0.field.isSameBytes(as: field) }
                guard !steps.isEmpty else { continue }
                var cut = transaction
                cut.steps = Few(steps)
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

    /// Removes steps of a transaction that cannot be undone, or have been undone.
    mutating func consume(_ revision: UInt64, fields: [String]) {
        let fields = Set(fields)
        for place in lines.indices {
            if change(at: place, { $0.consume(revision, fields: fields) }) { return }
        }
    }
}
