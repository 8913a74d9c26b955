/// What one control of a form holds: its content, and who changed it last.
///
/// A control that stores nothing of its own (`binds`, `sources`, labels) has a cell too, for the
/// metadata of what it shows. Never changed but for what it remembers of itself, and a class: the
/// two states of a form and a batch share one, and a copy is one retain. Confined to the loop.
final class Cell {
    let content: CellContent
    /// The revision of the last change of what the control shows; 0 for none.
    let revision: UInt64
    /// When that was: milliseconds since 1970-01-01T00:00Z.
    let at: Int64
    /// Who made it.
    let by: Author?
    /// What readers see, once somebody asked. It derives from cells that are replaced together
    /// with this one, so it holds for as long as the cell.
    var shown: ShownValue?
    /// The members of the Field as readers get it, as JSON text: encoded once a change, whoever is
    /// told. Kept where it is short.
    var text: [UInt8]?

    /// Bytes of a text that is kept: most fields, and no long texts twice.
    static let textBytesMax = 512

    /// A cell that was changed by a revision; by none where nobody has touched the control.
    init(_ content: CellContent, revision: UInt64 = 0, at: Int64 = 0, by: Author? = nil) {
        self.content = content
        self.revision = revision
        self.at = at
        self.by = by
    }

    /// Forgets what it remembers of itself.
    func forgetShown() {
        shown = nil
        text = nil
    }

    /// The same field as readers see it, with the content after a silent write.
    func affirmed(by content: CellContent) -> Cell {
        let cell = Cell(content, revision: revision, at: at, by: by)
        cell.shown = shown
        cell.text = text
        return cell
    }

    var store: FieldStore? { content.store }
    var value: JSON { content.value }
    var isSet: Bool { content.isSet }
}

/// A control's dot store and what that reads as: resolved once, when a store changes, and read
/// often.
struct CellContent {
    /// The dot store; `nil` where the control stores nothing of its own.
    var store: FieldStore?
    /// What the store reads as under the control's policy, bounds left aside: the default where
    /// nobody has set it.
    var value: JSON
    /// Whether somebody has set it.
    var isSet = false
    /// A secure value is there but cannot be opened: the key was lost.
    var isUnreadable = false
    /// Silent writes among those of the store; nearly always none.
    var affirmations: [Affirmation.Place: Affirmation] = [:]

    /// A control that nobody has touched: an empty store of its kind, its default.
    init(kind: FieldStore.Kind?, defaultValue: JSON) {
        store = kind.map { FieldStore($0) }
        value = defaultValue
    }

    /// A control with what was kept of it.
    init(
        _ index: Int, of definition: FormDefinition, store: FieldStore?,
        affirmations: [Affirmation] = []
    ) {
        self.store = store
        for affirmation in affirmations { self.affirmations[affirmation.place] = affirmation }
        value = .null
        resolve(index, of: definition)
    }

    /// Reads the store again, as `ShownValue.swift` asks for values.
    mutating func resolve(_ index: Int, of definition: FormDefinition) {
        // Never a copy of the control: that is a retain for each of its texts.
        let policy = definition.controls[index].conflictPolicy
        isSet = false
        value = definition.controls[index].defaultValue
        switch store {
        case .register(let register):
            guard let standing = policy.standing(register.siblings)?.payload.value else { return }
            isSet = true
            value = standing
        case .components(let components):
            var rows = value.objectValue ?? JSONObject()
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

    /// Whether others may have set something at the same time: a look that costs nothing.
    var mayHaveSiblings: Bool {
        switch store {
        case .register(let register): register.siblings.count > 1
        case .counter(let counter): counter.bases.count > 1
        case .components: true
        case .tags, .presses, .sealed, nil: false
        }
    }

    /// What others set at the same time as the value that stands, greatest rank first: all of it
    /// for the notification of a concurrent edit, under `ask` alone for everybody who reads later.
    func siblings(
        _ index: Int, of definition: FormDefinition, listedOnly: Bool
    ) -> [Sibling] {
        guard let store else { return [] }
        let policy = definition.controls[index].conflictPolicy
        let defaultValue = definition.controls[index].defaultValue
        func chosen<S: Concurrent>(_ all: [S]) -> [S] {
            listedOnly ? policy.listed(all) : policy.others(all)
        }
        switch store {
        case .register(let register):
            return chosen(register.siblings).map {
                $0.wire($0.payload.value ?? defaultValue)
            }
        case .components(let components):
            return components.components.flatMap { component in
                chosen(component.register.siblings).map { sibling in
                    let tag = sibling.payload.value ?? defaultValue[component.id] ?? .null
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

/// A cell as the store keeps it; handed to the store's thread as it is, and encoded there.
package struct CellRow: CausalityCodable, Sendable {
    package var revision: UInt64
    package var at: Int64
    package var by: Author?
    package var store: FieldStore?
    var affirmations: [Affirmation]

    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(revision)
        writer.signed(at)
        writer.optional(by) { $1.write(to: &$0) }
        writer.optional(store) { $1.write(to: &$0) }
        // Rows of before, and nearly all of now, end here.
        if !affirmations.isEmpty { writer.list(affirmations) }
    }

    init(_ cell: Cell) {
        revision = cell.revision
        at = cell.at
        by = cell.by
        store = cell.store
        let kept = cell.content.affirmations
        affirmations = kept.isEmpty ? [] : kept.values.sorted()
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        revision = try reader.unsigned()
        at = try reader.signed()
        by = try reader.optional { reader throws(CausalityDecodeError) in
            try Author(from: &reader)
        }
        store = try reader.optional { reader throws(CausalityDecodeError) in
            try FieldStore(from: &reader)
        }
        affirmations = reader.isAtEnd ? [] : try reader.list()
    }
}

extension CellRow {
    /// The content for the control that is there now; a store of another kind than the control's
    /// is left out.
    func content(_ index: Int, of definition: FormDefinition) -> CellContent {
        let kind = definition.controls[index].storeKind
        return CellContent(
            index, of: definition,
            store: store?.kind == kind ? store : kind.map { FieldStore($0) },
            affirmations: affirmations)
    }
}
