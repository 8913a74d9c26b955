// What a shared form has beside the values that its controls show.

/// Which form it is of those that have or had one name: two that were made independently have two
/// lives, until somebody makes one form of them.
package struct FormLives: Hashable, Sendable {
    /// The life of the definition in force.
    package let present: UInt64
    /// Lives of forms that have become one with it: the smallest numbers of them, so that hosts
    /// which joined them in another order keep the same.
    package let former: Set<UInt64>
    /// The most former lives. A person decides on each; the next decision is refused.
    static let formerMax = 64

    init(present: UInt64, former: Set<UInt64> = []) {
        self.present = present
        let others = former.subtracting([present])
        self.former =
            others.count <= Self.formerMax ? others : Set(others.sorted()[..<Self.formerMax])
    }

    /// No life: of a form that was deleted while it was not shared.
    static let none = FormLives(present: 0)

    var all: Set<UInt64> { former.union([present]) }

    func isSame(as other: FormLives) -> Bool {
        present == other.present || !all.isDisjoint(with: other.all)
    }

    /// The lives of a form that was both.
    func joined(_ other: FormLives) -> FormLives {
        if self == other { return self }
        return FormLives(present: present, former: former.union(other.all))
    }
}

/// The part of a shared form's state that no control shows.
///
/// Hosts agree on the stores of a form by *store ids*. A control's store keeps its id when the
/// control gets another (`was`), because a store under another key is another store: a join would
/// take the dots for removed. A new control's store has the control's id unless another has it.
///
/// Immutable, so that both states of a form share it.
final class SharedState: Sendable {
    let lives: FormLives
    /// Stores that no control shows, sorted by key, none empty. `$definition` and `$options/ID` are
    /// registers of what was applied. The others are the *attic*: what another host wrote to a
    /// control that is not here, or not of that type any more. They wait for a definition that has
    /// the control, and go with a definition by somebody who has seen them and does not have it.
    let hidden: [CausalForm.Field]
    /// The id of each control's store, by control index.
    let storeIDs: [String]
    /// The controls by the keys of their stores.
    let controls: [CausalForm.Key: Int]

    /// What a form with these controls has beside their values.
    convenience init(
        lives: FormLives, hidden: [CausalForm.Field], storeIDs: [String], of controls: [Control]
    ) {
        var places: [CausalForm.Key: Int] = [:]
        for (index, control) in controls.enumerated() {
            guard let kind = control.storeKind else { continue }
            places[CausalForm.Key(storeIDs[index], kind)] = index
        }
        self.init(lives, hidden, storeIDs, places)
    }

    private init(
        _ lives: FormLives, _ hidden: [CausalForm.Field], _ storeIDs: [String],
        _ controls: [CausalForm.Key: Int]
    ) {
        self.lives = lives
        self.hidden = hidden
        self.storeIDs = storeIDs
        self.controls = controls
    }

    /// The same controls with other stores beside them.
    func with(lives: FormLives? = nil, hidden: [CausalForm.Field]) -> SharedState {
        SharedState(lives ?? self.lives, hidden, storeIDs, controls)
    }
}

/// The value of the register `$definition`.
struct SharedDefinition {
    static let key = CausalForm.Key("$definition", .register)
    private static let optionsPrefix = "$options/"

    let lives: FormLives
    /// The definition as it was applied, before run-time options.
    let file: JSON
    /// The store ids of controls that have another id.
    let storeIDs: [String: String]
    /// Whose the form is; `nil` if that is not known.
    let owner: SharedOwner?

    /// The definition of a form with these stores.
    init(
        lives: FormLives, file: JSON, controls: [Control], storeIDs: [String], owner: SharedOwner?
    ) {
        self.owner = owner
        self.lives = lives
        self.file = file
        var others: [String: String] = [:]
        for (control, id) in zip(controls, storeIDs) where control.id != id {
            others[control.id] = id
        }
        self.storeIDs = others
    }

    /// The key of the run-time options of the control with that store.
    static func optionsKey(_ storeID: String) -> CausalForm.Key {
        CausalForm.Key(optionsPrefix + storeID, .register)
    }

    /// Whether a store is one of the definition's registers.
    static func isRegister(_ key: CausalForm.Key) -> Bool { key.id.utf8.first == UInt8(ascii: "$") }

    /// What the register in a list of stores says now; `nil` if it says nothing that can be read.
    init?(in hidden: [CausalForm.Field]) {
        guard let value = hidden.current(Self.key), let file = value["definition"],
            let life = Self.life(value["life"]), case .register(let register) = hidden[Self.key]
        else { return nil }
        // Of two definitions that met, each may know of lives that the other does not.
        lives = register.siblings.compactMap(\.payload.value).reduce(FormLives(present: life)) {
            let former = ($1["formerLives"]?.arrayValue ?? []).compactMap(Self.life)
            guard let present = Self.life($1["life"]) else { return $0 }
            return $0.joined(FormLives(present: present, former: Set(former)))
        }
        self.file = file
        owner = SharedOwner(value)
        storeIDs = (value["stores"]?.objectValue?.members ?? []).reduce(into: [:]) {
            $0[$1.name] = $1.value.stringValue
        }
    }

    /// The definitions in a list of stores that somebody applied without having seen the one in
    /// force, and that say something else.
    static func others(in hidden: [CausalForm.Field]) -> [OtherDefinition] {
        guard case .register(let register) = hidden[Self.key], register.siblings.count > 1 else {
            return []
        }
        let file = hidden.current(Self.key)?["definition"]
        return register.siblings.filter { $0.payload.value?["definition"] != file }.map {
            OtherDefinition(
                by: WireAuthor($0.payload.author),
                at: Timestamp(milliseconds: $0.stamp.milliseconds))
        }
    }

    private static func life(_ json: JSON?) -> UInt64? {
        json?.stringValue.flatMap { UInt64($0, radix: 16) }
    }

    /// The same as the definition of a form that had other lives as well.
    func with(_ lives: FormLives) -> SharedDefinition {
        SharedDefinition(lives: lives, file: file, storeIDs: storeIDs, owner: owner)
    }

    private init(
        lives: FormLives, file: JSON, storeIDs: [String: String], owner: SharedOwner?
    ) {
        self.owner = owner
        self.lives = lives
        self.file = file
        self.storeIDs = storeIDs
    }

    /// The value of the register.
    var json: JSON {
        var object = JSONObject([
            ("life", .string(String(lives.present, radix: 16))), ("definition", file),
        ])
        if !lives.former.isEmpty {
            object["formerLives"] = .array(
                lives.former.sorted().map { .string(String($0, radix: 16)) })
        }
        if !storeIDs.isEmpty {
            let sorted = storeIDs.sorted { $0.key < $1.key }
            object["stores"] = .object(JSONObject(sorted.map { ($0.key, .string($0.value)) }))
        }
        if let owner {
            object["owner"] = .object(
                JSONObject([("user", .string(owner.user)), ("host", .string(owner.host))]))
        }
        return .object(object)
    }

    /// The store ids of the controls of a definition.
    func storeIDs(of definition: FormDefinition) -> [String] {
        definition.controls.map { storeIDs[$0.id] ?? $0.id }
    }

    /// The run-time options in a list of stores, by control.
    func options(in hidden: [CausalForm.Field], of definition: FormDefinition) -> [String: JSON] {
        zip(definition.controls, storeIDs(of: definition)).reduce(into: [:]) { found, pair in
            found[pair.0.id] = hidden.current(Self.optionsKey(pair.1))
        }
    }
}

extension [CausalForm.Field] {
    /// The store with a key; empty if it is not in the list, which is sorted.
    subscript(key: CausalForm.Key) -> FieldStore {
        get {
            let place = partitionIndex { !($0.key < key) }
            guard place < count, self[place].key == key else { return FieldStore(key.kind) }
            return self[place].store
        }
        set {
            let place = partitionIndex { !($0.key < key) }
            let isThere = place < count && self[place].key == key
            let added = newValue.isEmpty ? [] : [CausalForm.Field(id: key.id, store: newValue)]
            replaceSubrange(place..<(isThere ? place + 1 : place), with: added)
        }
    }

    /// The present value of a register.
    func current(_ key: CausalForm.Key) -> JSON? {
        guard case .register(let register) = self[key] else { return nil }
        return ConflictPolicy.latest.current(register.siblings)?.payload.value
    }

    /// Writes a value over what a register has now.
    mutating func write(
        _ value: JSON, _ key: CausalForm.Key, dot: Dot, stamp: HybridTimestamp, by author: Author
    ) {
        guard case .register(var register) = self[key] else { return }
        register.write(
            Written(value: value, author: author), dot: dot, stamp: stamp, seen: .present,
            policy: .latest)
        self[key] = .register(register)
    }
}

// MARK: - The state of a form

extension FormState {
    /// The dot of a write to one store.
    ///
    /// No two stores share a dot. A write that replaces it in one store has it in the context of
    /// its delta, and so a host that hears of this write first takes the other for removed.
    /// - Throws: `unavailable` if the replica has none left.
    func takeDot(of replica: ReplicaID) throws(WireError) -> Dot {
        guard let dot = context.nextDot(for: replica) else { throw .counterUsedUp }
        context.insert(dot)
        return dot
    }

    /// The definitions that met the one in force.
    var otherDefinitions: [OtherDefinition] { SharedDefinition.others(in: shared?.hidden ?? []) }

    /// The key of a control's store among hosts; `nil` if it stores nothing itself.
    func storeKey(_ index: Int) -> CausalForm.Key? {
        guard let shared, let kind = definition.controls[index].storeKind else { return nil }
        return CausalForm.Key(shared.storeIDs[index], kind)
    }

    /// The controls by the keys of their stores.
    var controlsByStore: [CausalForm.Key: Int] { shared?.controls ?? [:] }

    /// All stores that are not empty, by key.
    var stores: [CausalForm.Key: FieldStore] {
        var stores: [CausalForm.Key: FieldStore] = [:]
        for index in cells.indices {
            guard let key = storeKey(index), let store = cells[index].store, !store.isEmpty
            else { continue }
            stores[key] = store
        }
        for field in shared?.hidden ?? [] { stores[field.key] = field.store }
        return stores
    }
}

// MARK: - Rows

extension CausalForm.Key {
    /// The name of the row of a store that no control shows. No control can have it.
    var rowName: String { "~\(kind.rawValue):\(id)" }

    /// The key of such a row; `nil` for the row of a control.
    init?(rowName: String) {
        guard rowName.utf8.first == UInt8(ascii: "~") else { return nil }
        let parts = rowName.dropFirst().split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2,
            let kind = UInt8(parts[0]).flatMap(FieldStore.Kind.init(rawValue:))
        else { return nil }
        self.init(String(parts[1]), kind)
    }
}

extension LiveForm {
    /// The row of a store that no control shows.
    func row(hidden field: CausalForm.Field) -> FieldRow {
        FieldRow(form: key, field: field.key.rowName, cell: CellRow(store: field.store))
    }
}
