/// The transactions that can be undone in one form, by user.
///
/// A transaction is *mine* if it has the same uid and the same `session` (PROTOCOL.md, All
/// methods). Undo undoes my newest transaction that was not undone yet. The undo is itself a
/// transaction, which redo undoes. A new edit of mine ends redo. The size is limited: beyond the
/// limit, the user with most transactions loses the oldest one, so nobody's edits displace
/// another's.
struct UndoJournal {
    struct Owner: Hashable {
        let uid: UInt32
        let session: String?
        /// The host, where the form is shared: the same uid is another person elsewhere.
        let host: String?
        /// The user, for one who is the same person on all hosts.
        let user: String?

        init(uid: UInt32, session: String?, host: String? = nil, user: String? = nil) {
            self.uid = uid
            self.session = session
            self.host = host
            self.user = user
        }

        func isPerson(_ author: Author) -> Bool {
            if let user { return author.host != nil && user.isSameBytes(as: author.user) }
            return uid == author.uid && host == author.host
        }

        /// Whether a transaction of an author is mine.
        func includes(_ author: Author, session theirs: String?) -> Bool {
            isPerson(author) && isSession(theirs)
        }

        private func isSession(_ theirs: String?) -> Bool {
            guard let session else { return true }
            return theirs.map(session.isSameBytes) ?? false
        }

        /// Whether a transaction of `other` is mine. Without a session, all transactions of the uid
        /// are.
        func includes(_ other: Owner) -> Bool {
            uid == other.uid && host == other.host && isSession(other.session)
        }
    }

    /// An edit. Its owner cannot redo the undos before it.
    struct RedoEnd {
        let owner: Owner
        let revision: UInt64
    }

    /// A transaction that can be undone. It refers to its record, which the store's thread and the
    /// batch share: nothing is copied for a journal from which nobody undoes.
    struct Transaction {
        let revision: UInt64
        let record: RevisionRecord
        /// Bytes of its record: about the size in memory.
        let bytes: Int
        /// The steps that have not been undone, where they are not those of the record.
        private var ownSteps: [UndoStep]?
        /// Reduced to one field, although others can be undone too.
        var isPart = false

        init(_ record: RevisionRecord, revision: UInt64, bytes: Int) {
            self.record = record
            self.revision = revision
            self.bytes = bytes
        }

        var kind: RevisionRecord.Kind { record.kind }

        var owner: Owner {
            Owner(uid: record.by.uid, session: record.session, host: record.by.host)
        }

        /// The edit that it is, or that it goes back to as an undo or redo.
        var redoEnd: RedoEnd? {
            kind == .set ? RedoEnd(owner: owner, revision: revision) : record.details.redoEnd
        }

        var steps: Few<UndoStep> {
            get { ownSteps.map { Few($0) } ?? record.details.undo }
            set { ownSteps = Array(newValue) }
        }

        var isEmpty: Bool { ownSteps?.isEmpty ?? record.isFinal }

        /// Renews the steps of fields whose values were restored.
        mutating func renew(by renewals: UndoRenewals) {
            // Nearly no transaction is concerned, and the steps of the others are not copied.
            var renewed = ownSteps ?? []
            if ownSteps == nil {
                let steps = record.details.undo
                guard steps.indices.contains(where: { renewals.mayConcern(steps[$0]) })
                else { return }
                renewed = Array(steps)
            } else if !renewed.indices.contains(where: { renewals.mayConcern(renewed[$0]) }) {
                return
            }
            for place in renewed.indices { renewed[place].renew(by: renewals) }
            ownSteps = renewed
        }
    }

    /// The most bytes of all records together. Large texts are dropped sooner than small edits.
    private static let bytesMax = 4 << 20

    enum Direction {
        case undo, redo

        /// Whether this direction undoes a kind of transaction. The end of a lease is nobody's
        /// edit, so only an undo of its field undoes it.
        fileprivate func undoes(_ kind: RevisionRecord.Kind, ofField: Bool) -> Bool {
            switch self {
            case .undo: kind == .set || kind == .redo || kind == .ended && ofField
            case .redo: kind == .undo
            }
        }
    }

    /// The transactions of one uid of one host.
    private struct UserTransactions {
        let uid: UInt32
        let host: String?
        /// Oldest first. An edit adds one and drops another, and neither may take time in
        /// proportion to the number of transactions.
        private(set) var transactions = Queue<Transaction>()
        private(set) var bytes = 0
        /// The number of transactions of kind `undo`, which an edit ends; nearly always none.
        private var undoCount = 0

        init(_ author: Author) {
            uid = author.uid
            host = author.host
        }

        var count: Int { transactions.count }

        var oldest: UInt64 { transactions.first?.revision ?? .max }

        /// Whether an edit may end the redo of its owner.
        var hasUndone: Bool { undoCount > 0 }

        mutating func append(_ transaction: consuming Transaction) {
            count(transaction, 1)
            transactions.append(transaction)
        }

        /// Returns the bytes of what was dropped.
        mutating func dropOldest() -> Int {
            guard let oldest = transactions.takeFirst() else { return 0 }
            count(oldest, -1)
            return oldest.bytes
        }

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
            if transactions[index].isEmpty { removeAll { $0.revision == revision } }
            return true
        }

        mutating func renew(by renewals: UndoRenewals) {
            for place in transactions.indices { transactions[place].renew(by: renewals) }
        }

        /// Renews the steps of one transaction, if it is here.
        mutating func renew(_ revision: UInt64, by renewals: UndoRenewals) {
            let place = transactions.firstIndex { $0.revision == revision }
            if let place { transactions[place].renew(by: renewals) }
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
    private var users: [UserTransactions] = []
    /// The number of transactions and the bytes of their records, of all uids.
    private(set) var count = 0
    private var bytes = 0

    /// Changes what a user has. The sums stay correct.
    private mutating func change<Result>(
        at place: Int, _ body: (inout UserTransactions) -> Result
    ) -> Result {
        count -= users[place].count
        bytes -= users[place].bytes
        let result = body(&users[place])
        count += users[place].count
        bytes += users[place].bytes
        if users[place].count == 0 { users.remove(at: place) }
        return result
    }

    /// Adds a transaction.
    ///
    /// - Parameter bytes: The approximate size of its record in the store.
    mutating func append(
        _ record: RevisionRecord, bytes: Int, revision: UInt64, depthMax: Int
    ) {
        if record.mayRestore { takeOut(record) }
        add(Transaction(record, revision: revision, bytes: bytes), depthMax: depthMax)
    }

    private mutating func add(_ transaction: consuming Transaction, depthMax: Int) {
        let record = transaction.record
        if record.mayRestore, let end = record.details.redoEnd,
            let place = self.place(of: end.owner.uid, end.owner.host)
        {
            change(at: place) { $0.endRedo(end) }
        }
        let known = self.place(of: record.by.uid, record.by.host)
        let isEmpty = transaction.isEmpty
        if known == nil, isEmpty { return }
        if known == nil { users.append(UserTransactions(record.by)) }
        let place = known ?? users.count - 1
        // An edit ends the redo of its owner.
        let end = record.kind == .set && users[place].hasUndone ? transaction.redoEnd : nil
        if !isEmpty {
            count += 1
            bytes += transaction.bytes
            users[place].append(transaction)
        }
        if let end { change(at: place) { $0.endRedo(end) } }
        while count > depthMax { dropOldest { $0.count } }
        while self.bytes > Self.bytesMax, count > 1 { dropOldest { $0.bytes } }
    }

    /// Removes what a transaction reverted, and records which values it restored.
    private mutating func takeOut(_ record: RevisionRecord) {
        consumeTarget(of: record.details)
        let renewals = UndoRenewals(record.details.undo)
        if renewals.isEmpty { return }
        for place in users.indices { users[place].renew(by: renewals) }
    }

    private mutating func consumeTarget(of details: RevisionRecord.Details) {
        guard let old = details.undoes else { return }
        consume(old, fields: details.undo.map(\.field) + details.skipped)
    }

    /// A stored revision from which a journal is created.
    struct Stored {
        let revision: UInt64
        let record: RevisionRecord
        /// It undid a part of another revision, and cannot be undone itself.
        let isPart: Bool
    }

    /// The journal of these revisions, oldest first. The result is the same as that of `append` for
    /// each of them, but the time grows with their number and not with its square.
    init(_ stored: [Stored], depthMax: Int) {
        for row in stored {
            consumeTarget(of: row.record.details)
            guard !row.isPart else { continue }
            var transaction = Transaction(
                row.record, revision: row.revision, bytes: row.record.bytesEstimate)
            transaction.steps = Few(UndoStep.merged(Array(row.record.details.undo)))
            add(transaction, depthMax: depthMax)
        }
        var renewals = UndoRenewals()
        for row in stored.reversed() {
            if let place = self.place(of: row.record.by.uid, row.record.by.host) {
                users[place].renew(row.revision, by: renewals)
            }
            renewals.addOlder(row.record.details.undo)
        }
    }

    init() {}

    /// Drops the oldest transaction of the user with the greatest `size` (McKenney, "Stochastic
    /// Fairness Queueing", INFOCOM 1990). Of equal users, the one with the oldest transaction.
    private mutating func dropOldest(ofMost size: (UserTransactions) -> Int) {
        guard var most = users.indices.first else { return }
        if users.count == 1 { return dropOldest(at: most) }
        for place in users.indices.dropFirst() {
            let (more, oldest) = (size(users[place]), users[place].oldest)
            if (more, users[most].oldest) > (size(users[most]), oldest) { most = place }
        }
        dropOldest(at: most)
    }

    private mutating func dropOldest(at place: Int) {
        bytes -= users[place].dropOldest()
        count -= 1
        if users[place].count == 0 { users.remove(at: place) }
    }

    /// The newest transaction that `direction` can undo: of `owner`, or of anybody if `nil`. With a
    /// field, the newest one that touched the field, reduced to it.
    func newest(_ direction: Direction, owner: Owner?, field: String?) -> Transaction? {
        func newest(in user: UserTransactions) -> Transaction? {
            for transaction in user.transactions.reversed()
            where direction.undoes(transaction.kind, ofField: field != nil) {
                let isTheirs =
                    transaction.kind == .ended
                    ? owner?.isPerson(transaction.record.by) ?? true
                    : owner?.includes(transaction.record.by, session: transaction.record.session)
                        ?? true
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
        guard let owner, owner.user == nil else {
            return users.compactMap { newest(in: $0) }.max { $0.revision < $1.revision }
        }
        return place(of: owner.uid, owner.host).flatMap { newest(in: users[$0]) }
    }

    private func place(of uid: UInt32, _ host: String?) -> Int? {
        users.firstIndex { $0.uid == uid && $0.host == host }
    }

    /// Removes steps of a transaction that cannot be undone, or have been undone.
    mutating func consume(_ revision: UInt64, fields: [String]) {
        let fields = Set(fields)
        for place in users.indices {
            if change(at: place, { $0.consume(revision, fields: fields) }) { return }
        }
    }
}
