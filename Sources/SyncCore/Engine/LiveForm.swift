/// A form in the daemon: two states, its change log, and its subscribers.
///
/// Edits are validated against `working`. Reads, answers and subscribers see `committed`. A commit
/// moves the cells of its batch from `working` to `committed`. Confined to the loop.
package final class LiveForm {
    /// The key of the form in the store; never used again.
    let key: FormKey
    let name: String
    /// The start of each notification and answer with its state: see `JSONWriter.stateStart`.
    let stateStart: [UInt8]
    /// The uid that created the form.
    let owner: UInt32
    /// The name of a contiguous log of revisions.
    var log: String
    /// The one that begins with a definition which is not durable yet.
    var nextLog: String?

    package var working: FormState
    package var committed: FormState
    var existence: Existence
    /// The number of the log entry that says why the store rejected this form's edits; `nil` while
    /// it accepts them. The form is read-only until it is deleted or the store is opened or
    /// rebuilt.
    var failureReport: Int64?

    /// The state of a form between its creation and its deletion.
    enum Existence: Equatable {
        /// Its creation is not durable yet. Readers do not see it.
        case creating
        case there
        /// Its deletion is not durable yet. Edits do not see it.
        case deleting
        case gone
    }

    /// `nil` unless it is shared with other hosts.
    package var link: FormLink? { didSet { if link == nil { presence.forgetHosts() } } }
    var changeLog: ChangeLog
    var names = FieldNames()
    /// The field numbers of a definition's controls, looked up once.
    private var controlNumbers: [Int] = []
    /// Its place in the gathering batch.
    var gathered: (batch: UInt64, place: Int)?
    private var numbered: FormDefinition?
    /// The definition whose controls all have numbers.
    private var named: FormDefinition?
    /// Its subscribers by uid, in the order in which the uids subscribed.
    private(set) var audiences: [Audience] = []
    /// Whether its subscribers will be marked as ready.
    var hasNews = false
    var presence = PresenceBoard()
    /// Handlers and progress of buttons with `runs`; `nil` until somebody handles or presses one.
    var runs: FormRuns?
    /// Who was told of its proposals; `nil` until somebody proposes something.
    var proposals: FormProposals?
    /// The undo journal, which includes edits that are not durable yet. It must have one owner, or
    /// the next edit would copy it.
    var undo = UndoJournal()
    /// The journal is not in memory but in the store and the pending batches. This is so after a
    /// start and after a failed batch, until the first undo.
    var isUndoStored = false
    /// Revisions since the store was last asked to prune.
    var revisionsSincePruning = 0
    /// The size of the stored revisions that this run added.
    var historyBytes = HistoryBytes()
    /// Who made the revisions that this run added.
    var authors = RevisionAuthors()
    /// Who holds leases with `while: connection`, by the lease's id.
    var leaseHolders = LeaseHolders()

    init(
        key: FormKey, name: String, owner: UInt32, log: String, state: FormState,
        existence: Existence
    ) {
        self.key = key
        self.name = name
        stateStart = JSONWriter.stateStart(of: name)
        self.owner = owner
        self.log = log
        working = state
        committed = state.copy()
        self.existence = existence
        changeLog = ChangeLog(next: state.revision + 1)
    }

    /// Whether readers see it: its creation is durable and its deletion is not.
    var isReadable: Bool { committed.revision > 0 && existence != .gone }

    /// Whether edits see it: its deletion has not been requested.
    package var isEditable: Bool { existence == .creating || existence == .there }

    var subscriptions: some Sequence<Subscription> { audiences.lazy.flatMap(\.members) }

    var subscriptionCount: Int { audiences.reduce(0) { $0 + $1.members.count } }

    func add(_ subscription: Subscription) {
        let account = subscription.connection.account
        let audience = audiences.first { $0.account === account } ?? Audience(account)
        if audience.members.isEmpty { audiences.append(audience) }
        audience.add(subscription)
        noteNames()
        subscription.refreshFilter(names)
    }

    func remove(_ subscription: Subscription) {
        let account = subscription.connection.account
        guard let place = audiences.firstIndex(where: { $0.account === account }) else { return }
        audiences[place].remove(subscription)
        if audiences[place].members.isEmpty { audiences.remove(at: place) }
    }

    func removeSubscriptions() { audiences = [] }

    /// Numbers the controls that readers see, once per definition.
    func noteNames() {
        let (old, new) = (named, committed.definition)
        guard old !== new else { return }
        named = new
        for index in new.controls.indices {
            // Most definitions replace one with the same controls in the same places.
            if let old, index < old.controls.count,
                old.controls[index].id.isSameBytes(as: new.controls[index].id)
            {
                continue
            }
            _ = names.number(of: new.controls[index].id)
        }
    }

    /// Numbers the names from 0 again if most numbers belong to removed fields. Otherwise each new
    /// definition with other ids would add numbers as long as the daemon runs.
    ///
    /// The filters of all subscribers must be matched again.
    func forgetGoneNames() {
        let controls = committed.definition.controls.count
        guard names.count > 2 * controls + FieldNames.goneMax else { return }
        let old = names
        names = FieldNames()
        named = nil
        numbered = nil
        changeLog.renumber { names.number(of: old[$0]) }
        runs?.progress.renumber { names.number(of: old[$0]) }
        for subscription in subscriptions { subscription.forgetFilter() }
    }

    /// The numbers of controls of a definition, by index.
    func numbers(
        ofControls controls: Few<Int>, in definition: FormDefinition
    ) -> FieldNumbers {
        if numbered !== definition {
            numbered = definition
            controlNumbers = definition.controls.map { names.number(of: $0.id) }
        }
        if controls.count == 1 { return FieldNumbers(single: controlNumbers[controls.element(0)]) }
        return FieldNumbers(controls.lazy.map { self.controlNumbers[$0] })
    }

    func numbers(of ids: some Sequence<String>) -> FieldNumbers {
        FieldNumbers(ids.map { names.number(of: $0) })
    }
}

/// Dense numbers of a form's field ids. They stay valid when the definition changes, until
/// `LiveForm.forgetGoneNames`. Ids are ASCII, which Swift's `String` hashes and compares as bytes.
struct FieldNames {
    /// A form keeps the names of this many removed fields, plus twice as many names as it has
    /// fields, before it numbers them again.
    static let goneMax = 4_096

    private var numbers: [String: Int] = [:]
    private var ids: [String] = []

    var count: Int { ids.count }

    subscript(number: Int) -> String { ids[number] }

    mutating func number(of id: String) -> Int {
        if let number = numbers[id] { return number }
        let number = ids.count
        numbers[id] = number
        ids.append(id)
        return number
    }
}

/// A form at one revision. It is a class, so that a reader does not copy its parts; `copy` makes a
/// copy.
package final class FormState {
    package let definition: FormDefinition
    /// The definition as last applied, before run-time options.
    let applied: JSON
    /// Incremented by each change of the definition.
    var version: UInt64
    /// The revision of the last change of the definition.
    var definitionRevision: UInt64
    var revision: UInt64
    package var context: CausalContext
    /// By control index.
    var cells: [Cell]
    /// What is under way beside the values.
    var ongoing = Ongoing()
    /// What hosts share beside the values of controls; `nil` if it was never shared.
    var shared: SharedState?

    /// A form that nobody has edited.
    init(_ definition: FormDefinition, applied: JSON) {
        self.definition = definition
        self.applied = applied
        version = 1
        definitionRevision = 0
        revision = 0
        context = CausalContext()
        cells = definition.controls.map {
            Cell(CellContent(kind: $0.storeKind, defaultValue: $0.defaultValue))
        }
    }

    private init(_ other: FormState) {
        definition = other.definition
        applied = other.applied
        version = other.version
        definitionRevision = other.definitionRevision
        revision = other.revision
        context = other.context
        cells = other.cells
        ongoing = other.ongoing
        shared = other.shared
    }

    /// A copy that can be changed without changing this one.
    func copy() -> FormState { FormState(self) }

    var shownContext: CausalContext {
        if !context.hasLoose { return context }
        let held = heldDots
        return context.prunedLoose(where: held.contains)
    }

    /// Writes the context token of the shown values.
    @inline(__always)
    func writeToken(into writer: inout JSONWriter) {
        // Nearly always there are no loose dots, and the context need not be copied.
        if !context.hasLoose { writer.token(context) } else { writer.token(shownContext) }
    }

    var token: String { ContextToken.render(shownContext) }

    /// The writes that some cell holds: work for every field.
    var heldDots: Set<Dot> { Set(cells.lazy.flatMap(\.content.heldDots)) }

    /// The writes in the token of the answer to an edit: those that its author had seen, and the
    /// new dots (CAUSALITY.md, 2 and 3). If the token would be longer than a client may send, dots
    /// that are in no store are left out, and then all loose dots. A token that names fewer writes
    /// than were seen is safe: the next edit is concurrent with the others.
    func answerContext(_ seen: CausalContext, _ dots: DotRun) -> CausalContext {
        var context = seen.isEmpty ? seen : seen.clipped(to: self.context)
        for dot in dots { context.insert(dot) }
        // An entry of a replica or a loose dot takes at most 48 bytes of a token.
        if context.vector.entries.count + context.loose.count <= 64 { return context }
        if context.loose.count > 64 {
            let held = heldDots
            context = context.prunedLoose(where: held.contains)
        }
        let isShort = ContextToken.render(context).utf8.count <= ContextToken.bytesMax
        return isShort ? context : CausalContext(context.vector)
    }

    /// The value of a control: see ShownValue.swift.
    package func value(_ index: Int) -> JSON { cells[index].value }

    /// What readers see of a control.
    func shown(_ index: Int) -> ShownValue {
        let cell = cells[index]
        switch cell.shown {
        case .value: return ShownValue(cell.value)
        case .other(let shown): return shown
        case .unknown:
            let shown = definition.shown(index) { value($0) }
            cell.shown = .other(shown)
            return shown
        }
    }

    /// The cell of a control, of which is known what readers see.
    func cellAsShown(_ index: Int) -> Cell {
        let cell = cells[index]
        if case .unknown = cell.shown { _ = shown(index) }
        return cell
    }

    /// The state of a field for readers.
    ///
    /// - Parameter notifying: For a notification of a concurrent edit, which lists the concurrent
    ///   values under any policy.
    func field(_ index: Int, notifying: Bool = false) -> FieldState {
        let cell = cells[index]
        let shown = shown(index)
        let targets = definition.targets[index]
        var state = FieldState(
            value: shown.value, revision: Revision(clamping: cell.revision),
            isSet: !targets.isEmpty && targets.allSatisfy { cells[$0].isSet },
            at: cell.by == nil ? nil : Timestamp(milliseconds: cell.at),
            isMixed: shown.isMixed, isInvalid: shown.isInvalid, isMissing: shown.isMissing)
        if let by = cell.by {
            state.byText = by.text
            if by.text.isEmpty { state.by = by.wire }
        }
        if definition.types[index] == .secure {
            state.isSecretSet = targets.allSatisfy { cells[$0].isSet }
            state.isInvalid = targets.contains { cells[$0].content.isUnreadable }
        }
        if targets.count == 1, let leases = cells[targets[0]].content.leases {
            let top = leases.top
            state.lease = FieldLease(
                id: top.id, until: top.end.shown.map { Timestamp(milliseconds: $0) },
                by: top.by.wire,
                then: cells[targets[0]].content.valueAfterLease(targets[0], of: definition))
        }
        if definition.types[index] == .button, let root = targets.first,
            definition.controls[root].runs != nil
        {
            state.runs = board(root).wire
        }
        for target in targets where cells[target].content.mayHaveSiblings {
            state.conflict += cells[target].content.siblings(
                target, of: definition, listedOnly: !notifying)
        }
        return state
    }

    /// The members of a field's state as JSON text, encoded once per change for all readers.
    func text(_ index: Int) -> SharedBytes {
        if let text = cells[index].text { return text }
        let text = JSONWriter.write {
            write(index, notifying: false, into: &$0)
        } _: {
            SharedBytes($0)
        }
        if text.count <= Cell.textBytesMax { cells[index].text = text }
        return text
    }

    /// Writes the members of a field's state into an open object: see `field`.
    func write(_ index: Int, notifying: Bool, into writer: inout JSONWriter) {
        let cell = cellAsShown(index)
        guard let by = cell.by, !by.text.isEmpty, hasUsualMembers(cell, index)
        else { return field(index, notifying: notifying).encodeMembers(into: &writer) }
        let revision = Revision(clamping: cell.revision)
        if case .other(let shown) = cell.shown {
            FieldState.encodeStart(shown.value, revision, isSet: cell.isSet, into: &writer)
        } else {
            FieldState.encodeStart(cell.value, revision, isSet: cell.isSet, into: &writer)
        }
        writer.key("by")
        writer.raw(by.text)
        writer.member("at", Timestamp(milliseconds: cell.at))
    }

    /// Whether a field has no other members than nearly every one: it shows its own value, which
    /// has no flags, concurrent values, leases or runs and is not secret.
    private func hasUsualMembers(_ cell: Cell, _ index: Int) -> Bool {
        if case .other(let shown) = cell.shown, shown.hasFlags { return false }
        guard definition.targets[index].count == 1, definition.targets[index][0] == index,
            cell.content.leases == nil, !cell.content.mayHaveSiblings
        else { return false }
        return switch definition.types[index] {
        case .secure: false
        case .button: definition.controls[index].runs == nil
        default: true
        }
    }
}
