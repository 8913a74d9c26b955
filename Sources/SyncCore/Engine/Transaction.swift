/// One transaction on a form: all its changes are valid and applied as one revision, or none is.
///
/// Each change is computed on the result of those before it. Only `finish` changes the form, so a
/// rejected transaction leaves no trace.
struct Transaction {
    let form: LiveForm
    let definition: FormDefinition
    /// The author of the writes. When leases end, each field has an author of its own.
    var author: Author
    /// The present time, for leases.
    let reading: Deadlines.Reading
    /// The end of the values that are set; `nil` if they do not end by themselves.
    var lease: Lease.End?
    /// Whether an undo restores leases. Then `leaseMax` adds none.
    var restoresLeases = false
    let stamp: HybridTimestamp
    private(set) var context: CausalContext
    /// What the written controls hold now, those with silent writes included.
    let contents: WrittenContents
    /// Controls that were named, whose conditions are judged at the end.
    var named = Few<Int>()
    /// The controls that were written, in the order of their first writes.
    private(set) var written = IndexTable<LastWrite>()
    /// Controls with an edit that was concurrent with another; one may occur several times.
    var concurrent = Few<Int>()
    /// The first of them, for `state.explain`.
    var meetings: [RevisionRecord.Met] = []
    private(set) var dots = Few<Dot>()
    /// How it was approved, if it changes what is guarded.
    var approval: RevisionRecord.Approval?
    /// Presses of buttons with `runs`; `nil` without one.
    private(set) var runPresses: RunPresses?
    var runTerms = RunTerms()
    /// The step that an undo has executed last, by control.
    private(set) var undone = IndexTable<UndoStep>()
    /// The author's connection. The author has seen what it wrote before.
    private let connection: Connection?
    /// The number of values that may still be written or visited: see `Limits.valuesMax`.
    private var valuesLeft: Int
    private let valuesMax: Int
    /// Controls of which only the leases changed.
    private(set) var leased = Few<Int>()
    /// The authors of fields that have another author than the transaction.
    private(set) var authors = IndexTable<Author>()
    /// Controls with a silent write; one may occur several times.
    private(set) var silent: [Int] = []
    /// The contents of such controls after it, unless an earlier write has changed them.
    private var silentContents = IndexTable<CellContent>()
    /// Whether an edit that repeats the present value is a silent write. In an undo it has no
    /// effect.
    var allowsSilentWrites = true

    /// What a transaction keeps about its writes to a control, apart from the resulting content.
    struct LastWrite {
        /// The last write that changed the control.
        var dot: Dot
        /// The sum of the increments; `nil` without one.
        var sum: DecimalNumber?
    }

    init(
        _ form: LiveForm, author: Author, stamp: HybridTimestamp, reading: Deadlines.Reading,
        connection: Connection? = nil, valuesMax: Int = .max,
        contents: WrittenContents = WrittenContents()
    ) {
        self.form = form
        definition = form.working.definition
        self.author = author
        self.stamp = stamp
        self.reading = reading
        self.connection = connection
        self.valuesMax = valuesMax
        valuesLeft = valuesMax
        context = form.working.context
        self.contents = contents
        contents.begin(over: form)
    }

    /// The value of a control's store, with the changes so far.
    func value(_ index: Int) -> JSON { contents.value(index) }

    /// The content of a control, with the changes so far.
    func content(_ index: Int) -> CellContent { contents[index] }

    // MARK: - Changes

    /// Adds a change of a control by an author who had seen `seen`.
    ///
    /// - Parameter seal: Encrypts a secret for a dot; `nil` if there is no key.
    mutating func apply(
        _ action: Change.Action, to control: Int, seen: Seen,
        seal: (String, Int, Dot) -> [UInt8]?
    ) throws(WireError) {
        for target in definition.targets[control] { try spend(on: target) }
        let own: StoredEdit?
        let edits: [FieldEdit]
        do {
            // A closure that used `value` of the transaction would copy it for each value.
            let contents = contents
            (own, edits) = try Self.edits(action, control, definition) { contents.value($0) }
        } catch {
            throw WireError(invalid: error, form: form.name)
        }
        named.append(control)
        if let own {
            let edit = FieldEdit(target: control, edit: own)
            let known = extended(seen, of: control)
            return try write(edit, known, seal)
        }
        for edit in edits {
            // Not as arguments: the transaction would be copied for them.
            let reaching = reaching(edit)
            let known = extended(seen, of: edit.target)
            try write(reaching, known, seal)
        }
    }

    /// The edit of the control's own store, or those of other controls that it shows.
    @inline(__always)
    private static func edits(
        _ action: Change.Action, _ control: Int, _ definition: FormDefinition,
        _ value: (Int) -> JSON
    ) throws(InvalidValue) -> (own: StoredEdit?, others: [FieldEdit]) {
        if let own = try definition.ownEdit(for: action, control: control, values: value) {
            return (own, [])
        }
        return (nil, try definition.edits(for: action, control: control, values: value))
    }

    /// Counts the values that a write of a control visits, because the number of changes alone does
    /// not limit the work of a transaction.
    mutating func spend(on target: Int) throws(WireError) {
        switch definition.types[target] {
        case .picker where definition.controls[target].isMultiple:
            var tags = 1
            if case .tags(let set) = content(target).store { tags = max(tags, set.entries.count) }
            valuesLeft -= 1 + tags
        case .wheels:
            if case .wheels(let wheels) = definition.controls[target].kind {
                valuesLeft -= wheels.weight
            }
        case .button where definition.controls[target].runs != nil:
            valuesLeft -= RunRules.pressWeight
        default: valuesLeft -= 1
        }
        guard valuesLeft < 0 else { return }
        throw .limit(
            "valuesMax", max: Int64(valuesMax),
            "this transaction writes or visits more than \(valuesMax) values; "
                + "split it into several")
    }

    /// An increment that reaches the value that was computed for it. Concurrent increments can move
    /// the sum beyond a bound; without this correction, steps back would have no effect until they
    /// had made up for the excess. The sum differs from the shown number only at a bound.
    private func reaching(_ edit: FieldEdit) -> FieldEdit {
        guard case .increment(let difference, let result) = edit.edit, difference != .zero
        else { return edit }
        let content = content(edit.target)
        guard case .counter(let counter) = content.store, let shown = content.value.numberValue,
            let domain = definition.controls[edit.target].numberDomain,
            shown == domain.min || shown == domain.max
        else { return edit }
        let control = definition.controls[edit.target]
        let sum = counter.value(
            control.conflictPolicy, default: control.defaultValue.numberValue ?? .zero)
        guard let sum, let past = shown.subtracting(sum), past != .zero,
            let whole = difference.adding(past)
        else { return edit }
        return FieldEdit(
            target: edit.target, edit: .increment(difference: whole, result: result))
    }

    /// The writes of a control that the author has seen: those of the token, of the author's
    /// connection, and of this transaction, so that the second of two sets of a field replaces the
    /// first. Only dots of the cell are added, so the cost does not depend on other fields.
    func extended(_ seen: Seen, for content: CellContent) -> Seen {
        guard case .context(var context) = seen else { return seen }
        let ownContext = connection?.ownContext(of: form.key)
        func add(_ dot: Dot) {
            if context.contains(dot) { return }
            if isOwn(dot) || ownContext?.contains(dot) ?? false { context.insert(dot) }
        }
        if case .register(let register) = content.store, content.silentWrites.isEmpty {
            // Nearly always, and then no list has to be made.
            for sibling in register.siblings { add(sibling.dot) }
        } else {
            content.heldDots.forEach(add)
        }
        return .context(context)
    }

    private func extended(_ seen: Seen, of target: Int) -> Seen {
        if case .present = seen { return seen }
        return extended(seen, for: content(target))
    }

    /// Whether the write is part of this transaction.
    func isOwn(_ dot: Dot) -> Bool {
        guard let first = dots.first else { return false }
        return dot.replica == first.replica && dot.counter >= first.counter
    }

    mutating func write(
        _ edit: FieldEdit, _ seen: Seen, _ seal: (String, Int, Dot) -> [UInt8]?
    ) throws(WireError) {
        let target = edit.target
        let edit = leased(edit.edit, target)
        var cell = content(target)
        guard let store = cell.store else { return }
        let end = leaseEnd(of: edit, target, cell)
        let hasLease = end != nil || cell.leases != nil
        // A write of the same value makes a leased value permanent.
        if !hasLease, isIdle(edit, cell) {
            if allowsSilentWrites { writeSilently(edit, target) }
            return
        }
        // A copy for each of thousands of writes would cost as much as the write.
        let before = hasLease ? cell : nil
        if definition.controls[target].conflictPolicy == .first, !store.isCurrent(for: seen) {
            throw conflict([target], "somebody was first")
        }
        if case .presses = store { try admitPress(target) }
        guard let dot = context.nextDot(for: author.replica) else {
            throw WireError(
                .unavailable, "the replica's counter is used up; start with --new-replica")
        }
        let wasSetOfTags = isSetOfTags(cell)
        switch store {
        case .register(let register):
            cell.store = write(register, edit, target, dot, seen)
        case .components(let components):
            cell.store = write(components, edit, target, dot, seen)
        case .tags(let tags):
            cell.store = write(
                tags, edit, shown: cell.value.arrayValue ?? [], dot, seen)
        case .counter(let counter):
            cell.store = try write(counter, edit, target, dot, seen)
        case .presses(var counter):
            counter.press(dot: dot)
            cell.store = .presses(counter)
            if definition.controls[target].runs != nil {
                let presses = runPresses ?? RunPresses()
                presses.add(dot, of: target)
                runPresses = presses
            }
        case .sealed(var register):
            guard let bytes = sealed(edit, target, dot, seal) else {
                throw WireError(
                    .unavailable, "no key to seal secrets with; see the daemon's log",
                    form: form.name, field: definition.controls[target].id)
            }
            register.write(bytes.value, dot: dot, stamp: stamp)
            cell.store = .sealed(register)
            cell.isUnreadable = false
        }
        if case .addTags(_, let again) = edit, !again.isEmpty, wasSetOfTags {
            renew(again, in: &cell, target, dot)
        }
        cell.forgetGoneSilentWrites()
        cell.resolve(target, of: definition)
        if let before {
            cell.leases = leases(after: edit, end, target, before: before, now: cell, dot, seen)
        }
        note(cell, target, dot)
        if case .increment(let difference, _) = edit { noteSum(difference, target) }
    }

    mutating func note(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        keep(content, target, dot)
        if let place = written.place(of: target) {
            var last = written.value(at: place)
            last.dot = dot
            written.replace(place, by: last)
        } else {
            written.set(LastWrite(dot: dot), at: target)
        }
    }

    private mutating func noteSum(_ difference: DecimalNumber, _ target: Int) {
        guard let place = written.place(of: target) else { return }
        var last = written.value(at: place)
        last.sum = last.sum.flatMap { $0.adding(difference) } ?? difference
        written.replace(place, by: last)
    }

    /// Records the content of a control of which only the leases changed.
    mutating func noteLeases(_ content: consuming CellContent, _ target: Int) {
        contents.set(content, of: target)
        leased.append(target)
    }

    /// Replaces the content of a control that was written.
    mutating func replaceContent(_ content: consuming CellContent, _ target: Int) {
        contents.set(content, of: target)
    }

    /// Records the present author as the author of a field.
    mutating func noteAuthor(_ target: Int) { authors.set(author, at: target) }

    /// Records that an undo has executed a step of a control.
    mutating func noteUndone(_ step: UndoStep, _ target: Int) {
        undone.set(step, at: target)
    }

    /// Records the content of a control after the silent write `dot`.
    mutating func noteSilent(_ content: CellContent, _ target: Int, _ dot: Dot) {
        keep(content, target, dot)
        silent.append(target)
        if written.place(of: target) == nil { silentContents.set(content, at: target) }
    }

    /// The content of a control before the first write that changed it.
    func contentBefore(_ target: Int) -> CellContent {
        guard let place = silentContents.place(of: target) else {
            return form.working.cells[target].content
        }
        return silentContents.value(at: place)
    }

    private mutating func keep(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        context.insert(dot)
        dots.append(dot)
        contents.set(content, of: target)
    }

    /// Whether a control was written in this transaction.
    func isWritten(_ target: Int) -> Bool { contents.has(target) }

    /// Whether an edit would change nothing that is read.
    private func isIdle(_ edit: StoredEdit, _ cell: CellContent) -> Bool {
        switch (edit, cell.store) {
        case (.set(let value), .register(let register)):
            cell.isSet && cell.value == value && register.siblings.count == 1
        case (.set(let value), .counter(let counter)):
            cell.isSet && cell.value == value && counter.bases.count < 2
        case (.set(let value), .tags(let set)):
            cell.isSet && set.holdsOnly(value.arrayValue ?? [])
        case (.setRows(let rows), .components(let components)):
            rows.members.allSatisfy { id, tag in
                let siblings = components[id].siblings
                return siblings.count == 1 && siblings[0].payload.value == tag
            }
        case (.increment(let difference, _), _): difference == .zero
        case (.addTags(let tags, _), _): tags.isEmpty && cell.isSet
        case (.removeTags(let tags), _): tags.isEmpty
        case (.unset, .register(let register)): !cell.isSet && register.siblings.count < 2
        case (.unset, .counter(let counter)): !cell.isSet && counter.bases.count < 2
        case (.unset, .sealed(let register)): !register.isSet
        case (.unset, _): !cell.isSet
        default: false
        }
    }

    private mutating func write(
        _ register: MultiValueRegister<Written>, _ edit: StoredEdit, _ target: Int, _ dot: Dot,
        _ seen: Seen
    ) -> FieldStore {
        var register = register
        var value: JSON?
        if case .set(let new) = edit { value = new }
        let fate = register.write(
            Written(value: value, author: author), dot: dot, stamp: stamp, seen: seen,
            policy: definition.controls[target].conflictPolicy)
        note(fate, target, seen)
        return .register(register)
    }

    private mutating func write(
        _ components: ComponentMap, _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ seen: Seen
    ) -> FieldStore {
        var components = components
        var rows: [(String, JSON?)] = []
        switch edit {
        case .setRows(let object): rows = object.members.map { ($0.name, $0.value) }
        case .unset: rows = components.components.map { ($0.id, nil) }
        default: break
        }
        for (id, tag) in rows {
            let fate = components.write(
                Written(value: tag, author: author), component: id, dot: dot, stamp: stamp,
                seen: seen, policy: definition.controls[target].conflictPolicy)
            note(fate, target, seen)
        }
        return .components(components)
    }

    private func write(
        _ tags: AddWinsSet, _ edit: StoredEdit, shown: [JSON], _ dot: Dot, _ seen: Seen
    ) -> FieldStore {
        var tags = tags
        func list(_ json: [JSON]) -> [AddWinsSet.Tag] { json.compactMap { AddWinsSet.Tag($0) } }
        switch edit {
        case .set(let value): tags.assign(list(value.arrayValue ?? []), dot: dot, seen: seen)
        // A field that nobody has set shows its default, so the edit changes the default's tags.
        case .addTags(let added, _) where tags.isEmpty:
            tags.assign(list(shown + added), dot: dot, seen: seen)
        case .removeTags(let removed) where tags.isEmpty:
            let removed = Set(removed)
            tags.assign(list(shown.filter { !removed.contains($0) }), dot: dot, seen: seen)
        case .addTags(let added, _): tags.edit(add: list(added), remove: [], dot: dot, seen: seen)
        case .removeTags(let removed):
            tags.edit(add: [], remove: list(removed), dot: dot, seen: seen)
        default: tags.reset(seen: seen)
        }
        return .tags(tags)
    }

    private mutating func write(
        _ counter: EpochCounter, _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ seen: Seen
    ) throws(WireError) -> FieldStore {
        var counter = counter
        let policy = definition.controls[target].conflictPolicy
        switch edit {
        case .increment(let difference, _):
            let base = policy.current(counter.bases)
            guard counter.increment(by: difference, base: base, dot: dot) else {
                throw WireError(
                    .invalidValue, "\(definition.controls[target].id): the sum is out of range",
                    form: form.name, field: definition.controls[target].id,
                    expected: definition.expectedDescription(of: target))
            }
        default:
            var value: DecimalNumber?
            if case .set(let new) = edit { value = new.numberValue }
            let fate = counter.set(
                value, author: author, dot: dot, stamp: stamp, seen: seen, policy: policy)
            note(fate, target, seen)
        }
        return .counter(counter)
    }

    /// A secret's bytes. `value: nil` is a reset. The result is `nil` if it cannot be encrypted.
    private func sealed(
        _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ seal: (String, Int, Dot) -> [UInt8]?
    ) -> (value: [UInt8]?, Void)? {
        guard case .seal(let secret) = edit else { return (nil, ()) }
        return seal(secret, target, dot).map { ($0, ()) }
    }
}
