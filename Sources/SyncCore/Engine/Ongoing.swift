// What a form has under way beside its values: runs of buttons, for example.

/// Something that a form has under way beside its values, such as a run of a button.
public struct OngoingRow: Sendable, Hashable {
    public var form: FormKey
    /// What it is, with its name among those of its kind.
    public var name: OngoingName
    /// Encoded by the machine of the core that the kind belongs to.
    public var state: [UInt8]

    /// A row with these columns.
    public init(form: FormKey, name: OngoingName, state: [UInt8]) {
        self.form = form
        self.name = name
        self.state = state
    }
}

/// The name of an `OngoingRow` within its form.
public struct OngoingName: Sendable, Hashable, Comparable {
    /// A short ASCII word.
    public var kind: String
    /// ASCII, unique in the form and kind.
    public var id: String

    /// The name of that id among those of a kind.
    public init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    /// In the order of bytes, by kind and then by id.
    public static func < (left: OngoingName, right: OngoingName) -> Bool {
        if left.kind != right.kind {
            return left.kind.utf8.lexicographicallyPrecedes(right.kind.utf8)
        }
        return left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
    }
}

/// What a form has under way beside its values, by name: rows of the store's table `ongoing`.
///
/// It is part of both states of a form, so it becomes visible with the batch that makes it durable,
/// and is rolled back with a failed batch. The bytes belong to the machine of each kind. An empty
/// value allocates nothing.
struct Ongoing {
    /// By kind and id: thousands of rows of one kind cost those who read another nothing.
    private var kinds: [String: [String: [UInt8]]] = [:]

    /// Nothing is under way.
    init() {}

    /// What the store had of one form.
    init(_ rows: [OngoingRow]) {
        for row in rows { set(row.name, to: row.state) }
    }

    /// All names, in no order.
    var names: some Sequence<OngoingName> {
        kinds.lazy.flatMap { kind, rows in rows.keys.map { OngoingName(kind: kind, id: $0) } }
    }

    /// The bytes under a name; `nil` if there is no such row.
    subscript(name: OngoingName) -> [UInt8]? { kinds[name.kind]?[name.id] }

    /// The rows of one kind, by id.
    func rows(ofKind kind: String) -> [(id: String, state: [UInt8])] {
        (kinds[kind] ?? [:]).map { (id: $0.key, state: $0.value) }
            .sorted { $0.id.precedesInBytes($1.id) }
    }

    /// All rows as rows of a form, by name.
    func rows(of form: FormKey) -> [OngoingRow] {
        names.sorted().map { OngoingRow(form: form, name: $0, state: self[$0] ?? []) }
    }

    /// The operation that makes the store agree about one name.
    func step(_ name: OngoingName, of form: FormKey) -> StoreOperation {
        guard let state = self[name] else { return .removeOngoing(form: form, name: name) }
        return .putOngoing(OngoingRow(form: form, name: name, state: state))
    }

    fileprivate mutating func set(_ name: OngoingName, to state: [UInt8]?) {
        kinds[name.kind, default: [:]][name.id] = state
    }
}

extension Engine {
    /// Changes what a form has under way; `nil` removes the row. It is written with the batch that
    /// gathers, together with a revision that is published in the same event.
    func note(_ state: [UInt8]?, as name: OngoingName, of form: LiveForm) {
        form.working.ongoing.set(name, to: state)
        link.gathering.withChanges(form) { _ = $0.ongoing.insert(name) }
        // Not an assignment of all rows: the next change would copy them.
        if configuration.durability != .commit { form.committed.ongoing.set(name, to: state) }
    }
}
