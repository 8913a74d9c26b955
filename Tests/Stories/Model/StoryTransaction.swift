// The changes of one request, one after the other. All of them are done, or none.

import SyncCore

/// Why a request is refused.
struct StoryRefusal: Error, Equatable {
    var kind: String
    var form: String?
    var field: String?

    init(_ kind: String, form: String? = nil, field: String? = nil) {
        self.kind = kind
        self.form = form
        self.field = field
    }
}

/// One transaction on a copy of a form.
struct StoryTransaction {
    var form: StoryForm
    let author: StoryAuthor
    var named: [String] = []
    private(set) var written: Set<String> = []
    /// Controls whose leases changed, and nothing else.
    private(set) var leased: Set<String> = []
    /// The end of the values that are set.
    var lease: StoryLeaseEnd?
    /// Controls with a silent write.
    var repeated: Set<String> = []
    /// In an undo, an edit that sets the present value is not a silent write.
    var isUndo = false
    private(set) var met: Set<String> = []
    private(set) var newWrites: [Int] = []
    /// The content of each control before its first write.
    private(set) var contentsBefore: [String: StoryContent] = [:]
    private(set) var leasesBefore: [String: StoryLeases] = [:]
    var steps: [StoryUndo] = []
    /// Presses of buttons with `runs`.
    private(set) var presses: [StoryForm.Press] = []

    init(_ form: StoryForm, by author: StoryAuthor) {
        self.form = form
        self.author = author
    }

    var definition: StoryDefinition { form.definition }

    private func refusal(_ kind: String, _ field: String) -> StoryRefusal {
        StoryRefusal(kind, form: form.name, field: field)
    }

    // MARK: - Changes

    /// Applies one change of a request.
    mutating func apply(_ change: JSON, to id: String, _ sight: StorySight) throws {
        guard let control = definition.control(id) else { throw refusal("notFound", id) }
        let shown = form.shown(id)
        named.append(id)
        for target in definition.targets(id) {
            guard let root = definition.control(target) else { continue }
            let edit = try edit(change, of: control, shown, root)
            try write(edit, to: root, withOwn(sight))
        }
        if definition.targets(id).isEmpty { throw refusal("invalidValue", id) }
    }

    /// An edit of a store.
    enum Edit: Equatable {
        case set(JSON)
        case rows([String: JSON])
        case increment(Int)
        /// The tags that are new, and those that are in the set already.
        case add([String], again: [String])
        case remove([String])
        case seal(String)
        case press
        case unset
    }

    /// The edit that a change makes in the present state.
    func edit(
        _ change: JSON, of control: StoryControl, _ shown: StoryForm.Reading,
        _ root: StoryControl
    ) throws -> Edit {
        let invalid = refusal("invalidValue", control.id)
        if let value = change["value"] { return try assignment(value, control, root) }
        if let amount = change["increment"]?.integerValue {
            guard [.stepper, .slider, .gauge].contains(control.kind) else { throw invalid }
            return increment(control, by: Int(amount), shown)
        }
        if change["toggle"] != nil {
            guard control.kind == .toggle else { throw invalid }
            return .set(.bool(!(shown.value.boolValue ?? false)))
        }
        if let direction = change["move"]?.stringValue {
            guard control.kind == .picker else { throw invalid }
            let wraps = change["wraps"]?.boolValue ?? false
            guard let tag = moved(control, direction, wraps: wraps, shown.value) else {
                throw invalid
            }
            guard !root.disabledOptions.contains(tag), root.options.contains(tag) else {
                throw invalid
            }
            return .set(.string(tag))
        }
        if change["reset"] != nil {
            guard control.kind != .button, control.kind != .label else { throw invalid }
            return .unset
        }
        if change["press"] != nil {
            guard control.kind == .button else { throw invalid }
            return .press
        }
        guard control.kind == .multiple else { throw invalid }
        let present = (shown.value.arrayValue ?? []).compactMap(\.stringValue)
        if let tags = change["add"]?.arrayValue {
            return .add(
                try tagsToAdd(tags, control, present),
                again: tags.compactMap(\.stringValue).filter(present.contains))
        }
        return .remove(try tagsToRemove(change["remove"]?.arrayValue ?? [], control, present))
    }

    private func tagsToAdd(
        _ tags: [JSON], _ control: StoryControl, _ present: [String]
    ) throws -> [String] {
        var added: [String] = []
        for tag in tags {
            guard let tag = tag.stringValue, control.options.contains(tag) else {
                throw refusal("invalidValue", control.id)
            }
            if present.contains(tag) { continue }
            if control.disabledOptions.contains(tag) {
                throw refusal("invalidValue", control.id)
            }
            added.append(tag)
        }
        return control.options.filter(added.contains)
    }

    private func tagsToRemove(
        _ tags: [JSON], _ control: StoryControl, _ present: [String]
    ) throws -> [String] {
        var removed: [String] = []
        for tag in tags {
            guard let tag = tag.stringValue,
                control.options.contains(tag) || present.contains(tag)
            else { throw refusal("invalidValue", control.id) }
            if present.contains(tag), !removed.contains(tag) { removed.append(tag) }
        }
        return removed
    }

    private func assignment(
        _ value: JSON, _ control: StoryControl, _ root: StoryControl
    ) throws -> Edit {
        let invalid = refusal("invalidValue", control.id)
        for judge in control.id == root.id ? [control] : [control, root] {
            guard judge.kind != .button, judge.kind != .label else { throw invalid }
            if judge.kind == .secure {
                guard let secret = value.stringValue else { throw invalid }
                return .seal(secret)
            }
            if judge.kind == .wheels {
                guard let rows = value.objectValue,
                    rows.members.allSatisfy({ row in
                        judge.wheels.contains {
                            $0.id == row.name && $0.options.contains(row.value.stringValue ?? "?")
                        }
                    })
                else { throw invalid }
                return .rows(
                    Dictionary(
                        rows.members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
            }
            guard judge.accepts(value) else { throw invalid }
            let present = stored(root.id)
            if let tags = value.arrayValue {
                let names = tags.compactMap(\.stringValue)
                guard Set(names).count == names.count,
                    names.allSatisfy({ tag in
                        !judge.disabledOptions.contains(tag) || present.contains(.string(tag))
                    })
                else { throw invalid }
            } else if let tag = value.stringValue, judge.kind == .picker,
                judge.disabledOptions.contains(tag)
            {
                throw invalid
            }
        }
        if root.kind == .multiple {
            return .set(
                .array(
                    StoryContent.ordered(
                        (value.arrayValue ?? []).compactMap(\.stringValue), root)))
        }
        if root.kind == .slider, let number = value.integerValue {
            return .set(.integer(Self.snapped(Int(number), root, rounding: 0)))
        }
        return .set(value)
    }

    private func stored(_ id: String) -> [JSON] { form.stored(id).value.arrayValue ?? [] }

    /// The nearest step of a slider, or the next one above or below.
    private static func snapped(_ number: Int, _ control: StoryControl, rounding: Int) -> Int {
        let over = number - control.minimum
        let low = over / control.step * control.step
        let rest = over - low
        if rest == 0 { return number }
        let isUp = rounding > 0 || rounding == 0 && 2 * rest >= control.step
        return control.minimum + low + (isUp ? control.step : 0)
    }

    func increment(
        _ control: StoryControl, by amount: Int, _ shown: StoryForm.Reading
    ) -> Edit {
        let present = Int(shown.value.integerValue ?? 0)
        let sum = present + amount
        var value = max(control.minimum, min(control.maximum, sum))
        if control.kind == .slider {
            value =
                amount == 0 ? present : Self.snapped(value, control, rounding: amount > 0 ? 1 : -1)
        } else if control.wraps, sum != value {
            value = sum > control.maximum ? control.minimum : control.maximum
        }
        return .increment(value - present)
    }

    private func moved(
        _ control: StoryControl, _ direction: String, wraps: Bool, _ shown: JSON
    ) -> String? {
        let options = control.options
        let enabled = options.indices.filter { !control.disabledOptions.contains(options[$0]) }
        guard let first = enabled.first, let last = enabled.last else { return nil }
        let present = shown.stringValue.flatMap { options.firstIndex(of: $0) }
        guard let present, direction == "next" || direction == "previous" else {
            return options[direction == "first" || direction == "next" ? first : last]
        }
        let isNext = direction == "next"
        let further = isNext ? enabled.first { $0 > present } : enabled.last { $0 < present }
        if let further { return options[further] }
        if wraps { return options[isNext ? first : last] }
        return options[
            control.disabledOptions.contains(options[present]) ? (isNext ? last : first) : present]
    }

    // MARK: - Writing

    /// A transaction has seen its own writes.
    private func withOwn(_ sight: StorySight) -> StorySight {
        guard case .only(var writes) = sight else { return sight }
        for write in newWrites { writes.insert(write) }
        return .only(writes)
    }

    /// Whether an edit does not change the value.
    private func isIdle(_ edit: Edit, _ control: StoryControl, _ content: StoryContent) -> Bool {
        let (value, isSet) = content.read(control)
        switch (edit, content) {
        case (.set(let new), .register(let register)):
            return isSet && value == new && register.siblings.count == 1
        case (.set(let new), .counter(let counter)):
            return isSet && value == new && counter.bases.siblings.count < 2
        case (.set(let new), .tags):
            return isSet && Set(new.arrayValue ?? []) == Set(value.arrayValue ?? [])
        case (.rows(let rows), .wheels(let wheels)):
            return rows.allSatisfy { id, tag in
                let siblings = wheels[id]?.siblings ?? []
                return siblings.count == 1 && siblings[0].value == tag
            }
        case (.increment(let amount), _): return amount == 0
        case (.add(let tags, _), _): return tags.isEmpty && isSet
        case (.remove(let tags), _): return tags.isEmpty
        case (.unset, .register(let register)): return !isSet && register.siblings.count < 2
        case (.unset, .counter(let counter)): return !isSet && counter.bases.siblings.count < 2
        case (.unset, _): return !isSet
        default: return false
        }
    }

    /// Writes to one store.
    mutating func write(_ edit: Edit, to control: StoryControl, _ sight: StorySight) throws {
        let id = control.id
        let policy = control.conflictPolicy
        let old = form.contents[id] ?? .nothing
        if lease == nil, form.leases[id] == nil, isIdle(edit, control, old) {
            return repeatPresent(edit, control, old)
        }
        if policy == "first", !hasSeen(id, sight.covers) { throw refusal("conflict", id) }
        let write = form.writes + 1
        var isConcurrent = false
        var new = old
        switch (edit, old) {
        case (.set, .register(var register)), (.unset, .register(var register)):
            isConcurrent =
                register.write(edit.value, as: write, by: author, sight, policy).isConcurrent
            new = .register(register)
        case (.rows, .wheels(var wheels)), (.unset, .wheels(var wheels)):
            for id in edit.rows ?? wheels.keys.sorted() {
                let fate = wheels[id, default: StoryRegister()].write(
                    edit[id], as: write, by: author, sight, policy)
                if fate.isConcurrent { isConcurrent = true }
            }
            new = .wheels(wheels)
        case (.increment(let amount), .counter(var counter)):
            let base = counter.bases.standing(policy)
            counter.add(
                amount + (isUndo ? 0 : past(counter, control)), to: base?.write, as: write,
                start: epochStart)
            new = .counter(counter)
        case (_, .counter(var counter)):
            isConcurrent = counter.set(edit.value, as: write, by: author, sight, policy)
            new = .counter(counter)
        case (_, .tags(var tags)):
            let present = old.read(control).value.arrayValue?.compactMap(\.stringValue) ?? []
            let wasSet = !tags.isEmpty
            Self.edit(&tags, edit, present, write, sight)
            if wasSet, case .add(_, let again) = edit {
                repeatTags(again, of: &tags, control, write)
            }
            new = .tags(tags)
        case (.press, .presses(let count, let newest)):
            try form.admitPress(control, after: presses)
            if control.runs != nil {
                presses.append(StoryForm.Press(field: control.id, write: write))
            }
            new = .presses(count + 1, newest: newest.filter { $0 <= epochStart } + [write])
        case (.seal(let secret), .secret): new = .secret(secret, last: write)
        case (_, .secret): new = .secret(nil, last: write)
        default: return
        }
        note(new, control, write)
        if old.canLease { renewLeases(after: edit, control, old, write, sight) }
        if isConcurrent { met.insert(id) }
        noteStep(control, write)
    }

    /// The write before the present epoch of the replica.
    private var epochStart: Int { form.epochs.last?.after ?? 0 }

    /// The part of the sum that is beyond a bound. The next increment removes it; an undo, which
    /// is exactly the inverse of an increment, does not.
    func past(_ counter: StoryCounter, _ control: StoryControl) -> Int {
        let base = counter.bases.standing(control.conflictPolicy)
        let shown = StoryContent.number(counter, base, control)
        guard shown == control.minimum || shown == control.maximum else { return 0 }
        let start = Int(base?.value?.integerValue ?? control.defaultValue.integerValue ?? 0)
        return shown - start - counter.sum(over: base?.write)
    }

    private static func edit(
        _ tags: inout StoryTags, _ edit: Edit, _ present: [String], _ write: Int,
        _ sight: StorySight
    ) {
        switch edit {
        case .set(let list):
            tags.assign((list.arrayValue ?? []).compactMap(\.stringValue), as: write, sight)
        case .add(let added, _):
            if tags.isEmpty {
                tags.assign(present + added, as: write, sight)
            } else {
                tags.edit(adding: added, removing: [], as: write, sight)
            }
        case .remove(let removed):
            if tags.isEmpty {
                tags.assign(present.filter { !removed.contains($0) }, as: write, sight)
            } else {
                tags.edit(adding: [], removing: removed, as: write, sight)
            }
        default: tags.reset(sight)
        }
    }

    /// Stores the result of a write.
    mutating func note(_ content: StoryContent, _ control: StoryControl, _ write: Int) {
        if written.insert(control.id).inserted {
            contentsBefore[control.id] = form.contents[control.id]
            leasesBefore[control.id] = form.leases[control.id]
        }
        keep(content, control, write)
    }

    /// Notes that only the leases of a control changed.
    mutating func noteLeases(_ control: StoryControl, _ content: StoryContent) {
        form.contents[control.id] = content
        leased.insert(control.id)
    }

    mutating func keep(_ content: StoryContent, _ control: StoryControl, _ write: Int) {
        form.contents[control.id] = content
        form.writes = max(form.writes, write)
        newWrites.append(write)
    }
}

extension StoryTransaction.Edit {
    /// The value of a register; `nil` for a reset.
    var value: JSON? { if case .set(let value) = self { value } else { nil } }

    /// The components that are named.
    var rows: [String]? { if case .rows(let rows) = self { rows.keys.sorted() } else { nil } }

    /// The value of a component.
    subscript(id: String) -> JSON? { if case .rows(let rows) = self { rows[id] } else { nil } }
}
