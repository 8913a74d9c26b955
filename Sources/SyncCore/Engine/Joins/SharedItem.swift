// What travels between the hosts of a shared form: changes of single transactions, and whole forms.
//
// Invariant: decoding accepts only what `write` makes, with every dot of a store in the context, so
// a join of it keeps the invariants of `CausalForm`.

/// An item of a message to other hosts.
public enum SharedItem: Sendable {
    /// One transaction.
    case delta(FormDelta)
    /// A form with everything that is known of it.
    case whole(WholeForm)

    /// The name of the form.
    public var form: String {
        switch self {
        case .delta(let delta): delta.form
        case .whole(let whole): whole.form
        }
    }

    /// Its bytes in a message.
    var encoded: [UInt8] {
        switch self {
        case .delta(let delta): delta.encoded
        case .whole(let whole): whole.encoded
        }
    }

    /// Which form of that name it is.
    var lives: FormLives {
        switch self {
        case .delta(let delta): FormLives(present: delta.life)
        case .whole(let whole): whole.lives
        }
    }

    /// The writes that it knows.
    package var context: CausalContext {
        switch self {
        case .delta(let delta): delta.context
        case .whole(let whole): whole.context
        }
    }

    /// The stores that it has, ascending.
    package var fields: [CausalForm.Field] {
        switch self {
        case .delta(let delta): delta.stores.map { CausalForm.Field(id: $0.id, store: $0.store) }
        case .whole(let whole): whole.fields
        }
    }
}

/// The change of one transaction to a shared form.
///
/// Its context has the new dots and those that they replaced or removed. Each store that the
/// transaction touched is there with only these dots, and is empty if it only lost some.
public struct FormDelta: Sendable {
    /// A store that a transaction touched.
    package struct Store: Sendable {
        /// The id of the store: see `SharedState`.
        package let id: String
        package var store: FieldStore
        /// Only repeats what was there, so nothing that is read has changed.
        package let isSilent: Bool

        /// A store of a change.
        package init(id: String, store: FieldStore, isSilent: Bool) {
            self.id = id
            self.store = store
            self.isSilent = isSilent
        }
    }

    /// The name of the form.
    public let form: String
    let life: UInt64
    /// Who made the transaction.
    public let replica: ReplicaID
    /// The counters of its new dots.
    public let counters: ClosedRange<UInt64>
    let stamp: HybridTimestamp
    package var context: CausalContext
    /// Sorted by id and kind.
    package var stores: [Store]
    /// Author, kind and undo steps; `nil` if it made no revision.
    let record: RevisionRecord?
    let message: String?
}

/// A shared form with everything that one host knows of it. One that was deleted has no definition.
public struct WholeForm: Sendable {
    /// A store, with the last change of the control that shows it.
    package struct Store: Sendable {
        package let id: String
        package var store: FieldStore
        let at: Int64
        let by: Author?
    }

    /// The name of the form.
    public let form: String
    package let lives: FormLives
    /// The writes that it knows.
    public let context: CausalContext
    /// Sorted by id and kind; none is empty.
    package var stores: [Store]

    /// The stores, as a form keeps those that no control shows.
    var fields: [CausalForm.Field] {
        stores.map { CausalForm.Field(id: $0.id, store: $0.store) }
    }

    /// Whether the form was deleted here while it was not shared, so others do not hear of it.
    var isApart: Bool { lives == .none }

    /// Whether the form was deleted: nothing is in the register of its definition.
    var isDeleted: Bool { fields[SharedDefinition.key].isEmpty }

    /// Whether one of the two knows a write that the other one has. They are states of one form
    /// then, also if their lives do not say so yet: one may be older than the decision that made
    /// one form of two.
    func sharesWrites(with other: WholeForm) -> Bool {
        func hasSeen(_ context: CausalContext, _ stores: [Store]) -> Bool {
            stores.contains { $0.store.dots.contains { context.contains($0) } }
        }
        return hasSeen(context, other.stores) || hasSeen(other.context, stores)
    }
}

// MARK: - Bytes

extension FormDelta: CausalityCodable {
    /// Tags of members from here on may be skipped by those who do not know them.
    private static let optionalTags: UInt8 = 128
    private static let messageTag: UInt8 = 1

    public var hasHosts: Bool { record?.by.host != nil }

    public func write(to writer: inout CausalityWriter) {
        writer.string(form)
        writer.unsigned(life)
        replica.write(to: &writer)
        writer.unsigned(counters.lowerBound)
        writer.unsigned(counters.upperBound)
        stamp.write(to: &writer)
        context.write(to: &writer)
        writer.list(stores)
        writer.optional(record) { $0.blob($1.encoded()) }
        writer.count(message == nil ? 0 : 1)
        if let message {
            writer.byte(Self.messageTag)
            writer.string(message)
        }
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        form = try reader.string()
        life = try reader.unsigned()
        replica = try ReplicaID(from: &reader)
        let start = reader.offset
        let (first, last) = (try reader.unsigned(), try reader.unsigned())
        guard first > 0, first <= last else {
            throw .invalid(offset: start, what: "counters in ascending order, above 0")
        }
        counters = first...last
        stamp = try HybridTimestamp(from: &reader)
        let context = try CausalContext(from: &reader)
        let stores = try reader.list(of: Store.self)
        let keys = stores.map { CausalForm.Key($0.id, $0.store.kind) }
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }),
            stores.allSatisfy({ $0.store.dots.allSatisfy(context.contains) }),
            context.contains(Dot(replica, first)), context.contains(Dot(replica, last))
        else {
            throw .invalid(
                offset: start, what: "stores in ascending order, each dot in the context")
        }
        self.context = context
        self.stores = stores
        record = try reader.optional { reader throws(CausalityDecodeError) in
            let start = reader.offset
            return try reader.checked(
                RevisionRecord(try reader.blob()), from: start, "the record of a revision")
        }
        var message: String?
        for _ in 0..<(try reader.unsigned()) {
            let start = reader.offset
            let tag = try reader.byte()
            if tag == Self.messageTag, message == nil {
                message = try reader.string()
            } else if tag >= Self.optionalTags {
                _ = try reader.blob()
            } else {
                throw .invalid(offset: start, what: "a member that this version knows, once")
            }
        }
        self.message = message
    }
}

extension FormDelta.Store: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(id)
        writer.flag(isSilent)
        store.write(to: &writer)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        id = try reader.string()
        isSilent = try reader.flag()
        store = try FieldStore(from: &reader)
    }
}

extension WholeForm: CausalityCodable {
    /// The author of the definition has one.
    public var hasHosts: Bool { true }

    public func write(to writer: inout CausalityWriter) {
        writer.string(form)
        writer.unsigned(lives.present)
        writer.count(lives.former.count)
        for life in lives.former.sorted() { writer.unsigned(life) }
        context.write(to: &writer)
        writer.list(stores)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        form = try reader.string()
        let present = try reader.unsigned()
        var former: [UInt64] = []
        for _ in 0..<(try reader.unsigned()) {
            let start = reader.offset
            let life = try reader.unsigned()
            guard life != present, former.last.map({ $0 < life }) ?? true else {
                throw .invalid(offset: start, what: "other lives in ascending order")
            }
            former.append(life)
        }
        lives = FormLives(present: present, former: Set(former))
        context = try CausalContext(from: &reader)
        let start = reader.offset
        stores = try reader.list()
        let fields = stores.map { CausalForm.Field(id: $0.id, store: $0.store) }
        guard CausalForm(context: context, sorted: fields) != nil else {
            throw .invalid(
                offset: start,
                what: "stores in ascending order, none empty, each dot in the context")
        }
    }
}

extension WholeForm.Store: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(id)
        store.write(to: &writer)
        writer.signed(at)
        writer.optional(by) { $1.write(to: &$0) }
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        id = try reader.string()
        store = try FieldStore(from: &reader)
        at = try reader.signed()
        by = try reader.optional { reader throws(CausalityDecodeError) in
            try Author(from: &reader)
        }
    }
}

// MARK: - What an item says

extension SharedItem {
    /// The record of the transaction; `nil` for a whole, and for silent writes.
    var record: RevisionRecord? {
        if case .delta(let delta) = self { delta.record } else { nil }
    }

    var message: String? {
        if case .delta(let delta) = self { delta.message } else { nil }
    }

    /// Whom the revision is by; `nil` if nobody in particular.
    var author: Author? {
        switch self {
        case .delta(let delta): delta.record?.by.withText()
        case .whole(let whole): whole.lastAuthor
        }
    }

    /// Whether a store has only repeated what was there.
    func isSilent(_ key: CausalForm.Key?) -> Bool {
        guard let key, case .delta(let delta) = self else { return true }
        return delta.record == nil
            || delta.stores.contains { $0.isSilent && $0.id == key.id && $0.store.kind == key.kind }
    }

    /// Who has written the value that a control shows now, and when.
    func lastChange(
        of key: CausalForm.Key?, _ content: CellContent, _ policy: ConflictPolicy
    ) -> (at: Int64, by: Author)? {
        if case .register(let register) = content.store,
            let current = policy.current(register.siblings)
        {
            var at = current.stamp.milliseconds
            // The end of a lease has an earlier stamp.
            if case .delta(let delta) = self, current.dot.replica == delta.replica,
                delta.counters.contains(current.dot.counter)
            {
                at = delta.record?.at ?? at
            }
            return (at, current.payload.author.withText())
        }
        switch self {
        case .delta(let delta): return delta.record.map { ($0.at, $0.by.withText()) }
        case .whole(let whole):
            let store = whole.stores.first { $0.id == key?.id && $0.store.kind == key?.kind }
            return store.flatMap { store in store.by.map { (store.at, $0.withText()) } }
        }
    }

    /// The newest time in it.
    var greatestStamp: HybridTimestamp {
        let newest = fields.lazy.compactMap(\.store.greatestStamp).max()
        let start = HybridTimestamp(milliseconds: .min)
        guard case .delta(let delta) = self else { return newest ?? start }
        return max(delta.stamp, newest ?? start)
    }
}

extension WholeForm {
    /// The author of the newest change.
    var lastAuthor: Author? {
        stores.filter { $0.by != nil }.max { $0.at < $1.at }?.by?.withText()
    }
}

extension FieldStore {
    /// The newest time of a write in it; `nil` if its writes have none.
    var greatestStamp: HybridTimestamp? {
        switch self {
        case .register(let store): store.siblings.map(\.stamp).max()
        case .components(let store):
            store.components.flatMap(\.register.siblings).map(\.stamp).max()
        case .counter(let store): store.bases.map(\.stamp).max()
        case .sealed(let store): store.secret?.stamp
        case .tags, .presses: nil
        }
    }
}
