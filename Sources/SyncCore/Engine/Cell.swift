/// What one control of a form holds: its dot store, what that reads as, and who changed it last.
///
/// A control that stores nothing of its own (`binds`, `sources`, labels) has a cell too, for the
/// metadata of what it shows. Values are resolved once, when a store changes, and read often.
struct Cell: Sendable {
    /// The dot store; `nil` where the control stores nothing of its own.
    var store: FieldStore?
    /// What the store reads as under the control's policy, bounds left aside: the default where
    /// nobody has set it.
    var value: JSON
    /// Whether somebody has set it.
    var isSet = false
    /// The revision of the last change of what the control shows; 0 for none.
    var revision: UInt64 = 0
    /// When that was: milliseconds since 1970-01-01T00:00Z.
    var at: Int64 = 0
    /// Who made it.
    var by: Author?
    /// A secure value is there but cannot be opened: the key was lost.
    var isUnreadable = false

    /// The cell of a control that nobody has touched: an empty store of its kind, its default.
    init(kind: FieldStore.Kind?, defaultValue: JSON) {
        store = kind.map { FieldStore($0) }
        value = defaultValue
    }

    /// The cell of a control with what was kept of it.
    init(
        _ index: Int, of definition: FormDefinition, store: FieldStore?, revision: UInt64,
        at: Int64, by: Author?
    ) {
        self.store = store
        value = .null
        self.revision = revision
        self.at = at
        self.by = by
        resolve(index, of: definition)
    }

    /// Reads the store again, as `ShownValue.swift` asks for values.
    mutating func resolve(_ index: Int, of definition: FormDefinition) {
        let control = definition.controls[index]
        let policy = control.conflictPolicy
        isSet = false
        value = control.defaultValue
        switch store {
        case .register(let register):
            guard let standing = policy.standing(register.siblings)?.payload.value else { return }
            isSet = true
            value = standing
        case .components(let components):
            var rows = control.defaultValue.objectValue ?? JSONObject()
            for (id, sibling) in components.standing(policy) {
                guard let tag = sibling.payload.value else { continue }
                isSet = true
                rows[id] = tag
            }
            value = .object(rows)
        case .tags(let tags):
            guard !tags.isEmpty else { return }
            isSet = true
            value = .array(tags.tags.map(\.json))
        case .counter(let counter):
            let standing = policy.standing(counter.bases)
            // Increments to another base than the one that stands are not read.
            isSet =
                standing?.value != nil
                || counter.increments.contains { $0.epoch == standing?.dot }
            value = Self.number(counter, standing, index, definition)
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

    /// What a base reads with its increments, within the control's bounds.
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

    /// What others set at the same time as the value that stands, greatest rank first: all of it
    /// for the notification of a concurrent edit, under `ask` alone for everybody who reads later.
    func siblings(
        _ index: Int, of definition: FormDefinition, listedOnly: Bool
    ) -> [Sibling] {
        guard let store else { return [] }
        let control = definition.controls[index]
        let policy = control.conflictPolicy
        func chosen<S: Concurrent>(_ all: [S]) -> [S] {
            listedOnly ? policy.listed(all) : policy.others(all)
        }
        switch store {
        case .register(let register):
            return chosen(register.siblings).map {
                $0.wire($0.payload.value ?? control.defaultValue)
            }
        case .components(let components):
            return components.components.flatMap { component in
                chosen(component.register.siblings).map { sibling in
                    let tag = sibling.payload.value ?? control.defaultValue[component.id] ?? .null
                    return sibling.wire(.object(JSONObject([(component.id, tag)])))
                }
            }
        case .counter(let counter):
            return chosen(counter.bases).map { base in
                Sibling(
                    value: Self.number(counter, base, index, definition), by: base.author.wire,
                    at: Timestamp(milliseconds: base.stamp.milliseconds))
            }
        case .tags, .presses, .sealed: return []
        }
    }
}

extension MultiValueRegister.Sibling where Payload == Written {
    fileprivate func wire(_ value: JSON) -> Sibling {
        Sibling(
            value: value, by: payload.author.wire,
            at: Timestamp(milliseconds: stamp.milliseconds))
    }
}

// MARK: - Rows

/// A cell as the store keeps it.
private struct CellRow: CausalityCodable {
    var revision: UInt64
    var at: Int64
    var by: Author?
    var store: FieldStore?

    func write(to writer: inout CausalityWriter) {
        writer.unsigned(revision)
        writer.signed(at)
        writer.optional(by) { $1.write(to: &$0) }
        writer.optional(store) { $1.write(to: &$0) }
    }

    init(_ cell: Cell) {
        revision = cell.revision
        at = cell.at
        by = cell.by
        store = cell.store
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        revision = try reader.unsigned()
        at = try reader.signed()
        by = try reader.optional { reader throws(CausalityDecodeError) in
            try Author(from: &reader)
        }
        store = try reader.optional { reader throws(CausalityDecodeError) in
            try FieldStore(from: &reader)
        }
    }
}

extension Cell {
    /// The cell as the store keeps it.
    func encoded() -> [UInt8] { CellRow(self).encoded }

    /// Reads what `encoded` wrote, for the control that is there now; a store of another kind than
    /// the control's is left out.
    init(
        decoding bytes: [UInt8], _ index: Int, of definition: FormDefinition
    ) throws(CausalityDecodeError) {
        let row = try CellRow(decoding: bytes)
        let kind = definition.controls[index].storeKind
        self.init(
            index, of: definition,
            store: row.store?.kind == kind ? row.store : kind.map { FieldStore($0) },
            revision: row.revision, at: row.at, by: row.by)
    }
}
