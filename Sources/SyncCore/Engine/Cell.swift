/// The content of one control of a form, and who changed it last.
///
/// A control that stores nothing itself (`binds`, `sources`, labels) has a cell too, for the
/// metadata of what it shows. A cell is immutable except for its caches. It is a class, so that
/// both states of a form and a batch share it and a copy is one retain. Confined to the loop.
final class Cell {
    /// Changed only by the transaction that makes the cell.
    var content: CellContent
    /// The revision of the last change to what the control shows; 0 if there is none.
    let revision: UInt64
    /// The time of that change: milliseconds since 1970-01-01T00:00Z.
    let at: Int64
    let by: Author?
    /// The presses of a button with `runs`; `nil` for other controls and until the first press.
    let runs: SharedRuns?
    /// What readers see: a cache. It derives from cells that are replaced together with this one,
    /// so it is valid as long as the cell.
    var shown = Shown.unknown
    /// The members of the Field as JSON text: a cache for readers. Only for short texts.
    var text: SharedBytes?

    enum Shown {
        case unknown
        /// The value of the cell, without flags.
        case value
        case other(ShownValue)
    }

    /// The longest text that a cell keeps: enough for most fields, and long texts are not in memory
    /// twice.
    static let textBytesMax = 1024

    /// A cell that `revision` changed; 0 if nobody has changed the control.
    init(
        _ content: consuming CellContent, revision: UInt64 = 0, at: Int64 = 0, by: Author? = nil,
        runs: SharedRuns? = nil
    ) {
        self.content = content
        self.runs = runs
        self.revision = revision
        self.at = at
        self.by = by
    }

    /// Clears the caches.
    func forgetShown() {
        shown = .unknown
        text = nil
    }

    /// The value that readers see, if it is known.
    var shownValue: JSON? {
        switch shown {
        case .unknown: nil
        case .value: value
        case .other(let shown): shown.value
        }
    }

    /// The same field as readers see it, with the content after a silent write.
    func withSilentWrites(_ content: consuming CellContent) -> Cell {
        let cell = Cell(content, revision: revision, at: at, by: by, runs: runs)
        cell.shown = shown
        cell.text = text
        return cell
    }

    var store: FieldStore? { content.store }
    var value: JSON { content.value }
    var isSet: Bool { content.isSet }
}

/// A control's dot store and its value, which is computed when the store changes and read often.
struct CellContent {
    /// The dot store; `nil` if the control stores nothing itself.
    var store: FieldStore?
    /// The value of the store under the control's policy, before bounds are applied. The default if
    /// nobody has set it.
    var value: JSON
    var isSet = false
    /// A secure value exists but cannot be decrypted, because the key was lost.
    var isUnreadable = false
    /// Silent writes among those of the store, in the order of their places; nearly always none.
    var silentWrites: [SilentWrite] = []

    /// The leases of the value; nearly always none.
    var leases: LeaseStack?
}

extension CellContent {
    /// A control that nobody has changed: an empty store of its kind and its default.
    init(kind: FieldStore.Kind?, defaultValue: JSON) {
        self.init(store: kind.map { FieldStore($0) }, value: defaultValue)
    }

    /// A control with what was kept of it.
    init(
        _ index: Int, of definition: FormDefinition, store: FieldStore?,
        silentWrites: [SilentWrite] = [], leases: LeaseStack? = nil
    ) {
        self.init(store: store, value: .null, silentWrites: silentWrites, leases: leases)
        resolve(index, of: definition)
    }

    /// Computes the value from the store again.
    mutating func resolve(_ index: Int, of definition: FormDefinition) {
        // No copy of the control, because a copy retains each of its texts.
        let policy = definition.controls[index].conflictPolicy
        // Nearly every store is a register with one value.
        if case .register(let register) = store, register.siblings.count == 1,
            let current = register.siblings[0].payload.value
        {
            isSet = true
            value = current
            return
        }
        isSet = false
        value = definition.controls[index].defaultValue
        switch store {
        case .register(let register):
            guard let current = policy.current(register.siblings)?.payload.value else { return }
            isSet = true
            value = current
        case .components(let components):
            var rows = value.objectValue ?? JSONObject()
            for component in components.components {
                guard let tag = policy.current(component.register.siblings)?.payload.value
                else { continue }
                isSet = true
                // The default has the components in their order.
                rows.set(
                    tag, of: component.id, at: definition.component(component.id, of: index))
            }
            value = .object(rows)
        case .tags(let tags):
            guard !tags.isEmpty else { return }
            isSet = true
            value = .array(tags.tags.map(\.json))
        case .counter(let counter):
            let current = policy.current(counter.bases)
            // Increments to a base other than the current one are ignored.
            isSet =
                current?.value != nil
                || counter.increments.contains { $0.epoch == current?.dot }
            value = Self.number(counter, current, index, definition)
        case .presses(let counter):
            isSet = !counter.isEmpty
            value = .object(
                JSONObject([("presses", .integer(Int64(clamping: counter.presses)))]))
        case .sealed(let register):
            isSet = register.isSet && !isUnreadable
            value = .bool(isSet)
        case nil: break
        }
    }

    /// The value of a base with its increments, within the control's bounds.
    private static func number(
        _ counter: EpochCounter, _ base: EpochCounter.Base?, _ index: Int,
        _ definition: FormDefinition
    ) -> JSON {
        let initial = definition.controls[index].defaultValue.numberValue ?? .zero
        let start = base?.value ?? initial
        guard let total = counter.value(of: base, default: initial),
            let increments = total.subtracting(start)
        else { return .number(start) }
        return .number(definition.counterValue(index, base: start, increments: increments))
    }

    /// Whether there may be concurrent values: a cheap check before `siblings`.
    var mayHaveSiblings: Bool {
        switch store {
        case .register(let register): register.siblings.count > 1
        case .counter(let counter): counter.bases.count > 1
        case .components: true
        case .tags, .presses, .sealed, nil: false
        }
    }

    /// The values that were set concurrently with the current value and differ from it, each once,
    /// greatest rank first. The notification of a concurrent edit contains all of them. Later
    /// readers see them only under the policy `ask`.
    func siblings(
        _ index: Int, of definition: FormDefinition, listedOnly: Bool
    ) -> [Sibling] {
        others(index, of: definition, listedOnly: listedOnly).map(\.sibling)
    }

    /// What new writes set, if concurrent values are current instead; of wheels, each component by
    /// itself.
    func lost(_ isNew: (Dot) -> Bool, _ index: Int, of definition: FormDefinition) -> JSON? {
        let lost = others(index, of: definition, listedOnly: false)
            .filter { isNew($0.dot) }.map(\.sibling.value)
        guard lost.count > 1, case .components = store else { return lost.first }
        var components = JSONObject()
        for member in lost.flatMap({ $0.objectValue?.members ?? [] }) {
            components[member.name] = member.value
        }
        return .object(components)
    }

    private func others(
        _ index: Int, of definition: FormDefinition, listedOnly: Bool
    ) -> [(sibling: Sibling, dot: Dot)] {
        guard let store else { return [] }
        let policy = definition.controls[index].conflictPolicy
        let defaultValue = definition.controls[index].defaultValue
        func differing<S: Concurrent>(
            _ all: [S], _ value: (S) -> JSON, _ author: (S) -> Author
        ) -> [(sibling: Sibling, dot: Dot)] {
            let others = listedOnly ? policy.listed(all) : policy.others(all)
            guard !others.isEmpty, let current = policy.current(all) else { return [] }
            var listed = [value(current)]
            return others.compactMap { other in
                let value = value(other)
                if listed.contains(value) { return nil }
                listed.append(value)
                let sibling = Sibling(
                    value: value, by: author(other).wire,
                    at: Timestamp(milliseconds: other.stamp.milliseconds))
                return (sibling, other.dot)
            }
        }
        switch store {
        case .register(let register):
            return differing(
                register.siblings, { $0.payload.value ?? defaultValue }, { $0.payload.author })
        case .components(let components):
            return components.components.flatMap { component in
                let initial = defaultValue[component.id] ?? .null
                return differing(
                    component.register.siblings,
                    { .object(JSONObject([(component.id, $0.payload.value ?? initial)])) },
                    { $0.payload.author })
            }
        case .counter(let counter):
            return differing(
                counter.bases, { Self.number(counter, $0, index, definition) }, { $0.author })
        case .tags, .presses, .sealed: return []
        }
    }
}

// MARK: - Rows

/// A cell as the store keeps it. The engine passes it to the store's thread, which encodes it.
package struct CellRow: CausalityCodable, Sendable {
    package var revision: UInt64
    package var at: Int64
    package var by: Author?
    package var store: FieldStore?
    var silentWrites: [SilentWrite]
    var leases: LeaseStack?

    package var hasHosts: Bool { by?.host != nil }

    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(revision)
        writer.signed(at)
        writer.optional(by) { $1.write(to: &$0) }
        writer.optional(store) { $1.write(to: &$0) }
        // Nearly all rows end here, and all rows that earlier versions wrote.
        if !silentWrites.isEmpty || leases != nil {
            writer.list(silentWrites.lazy.map(SilentWriteRow.init))
        }
        leases?.write(to: &writer)
    }

    /// The row of a store that no control shows.
    init(store: FieldStore) {
        revision = 0
        at = 0
        self.store = store
        silentWrites = []
    }

    init(_ cell: Cell) {
        revision = cell.revision
        at = cell.at
        by = cell.by
        store = cell.store
        silentWrites = cell.content.silentWrites
        leases = cell.content.leases
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        revision = try reader.unsigned()
        at = try reader.signed()
        by = try reader.optional()
        store = try reader.optional()
        silentWrites = []
        leases = nil
        if reader.isAtEnd { return }
        let start = reader.offset
        for row in try reader.list(of: SilentWriteRow.self) {
            guard let silentWrite = row.silentWrite(in: store) else {
                throw .invalid(offset: start, what: "a tag of a silent write")
            }
            silentWrites.append(silentWrite)
        }
        silentWrites.sort { $0.place < $1.place }
        if !reader.isAtEnd { leases = try LeaseStack.read(from: &reader) }
    }
}

extension CellRow {
    /// The content for the current control. A store whose kind is not the control's is ignored.
    func content(_ index: Int, of definition: FormDefinition) -> CellContent {
        let kind = definition.controls[index].storeKind
        return CellContent(
            index, of: definition,
            store: store?.kind == kind ? store : kind.map { FieldStore($0) },
            silentWrites: silentWrites,
            leases: store?.kind == kind && Transaction.canLease(store) ? leases : nil)
    }
}
