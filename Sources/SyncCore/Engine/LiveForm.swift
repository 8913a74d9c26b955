/// A form as it lives in the daemon: its state twice, its change log, who watches it.
///
/// `working` is what edits are validated on; `committed` is what reads, answers and subscribers
/// see. A commit moves the cells of its batch from one to the other. Confined to the loop.
final class LiveForm {
    /// Names the form in the store; never used again.
    let key: FormKey
    let name: String
    /// The uid that created it.
    let owner: UInt32
    /// Names one unbroken line of revisions.
    var log: String

    var working: FormState
    var committed: FormState
    var existence: Existence
    /// The number under which the log says why the store refused this form's edits; `nil` while it
    /// takes them. Until the form is deleted or the store is opened or rebuilt, it is read only.
    var failureReport: Int64?

    /// Where a form is between its creation and its deletion.
    enum Existence: Equatable {
        /// Its creation is on its way to the disk: nobody reads it yet.
        case creating
        case there
        /// Its deletion is on its way to the disk: nobody edits it any more.
        case deleting
        case gone
    }

    var changeLog: ChangeLog
    var names = FieldNames()
    /// The numbers of a definition's controls, looked up once.
    private var controlNumbers: [Int] = []
    /// Where it stands in the batch that gathers.
    var gathered: (batch: UInt64, place: Int)?
    private var numbered: FormDefinition?
    /// The definition whose controls all have numbers.
    private var named: FormDefinition?
    /// Who watches it, by uid, in the order in which the uids came.
    private(set) var audiences: [Audience] = []
    /// Whether it stands among the engine's forms with news.
    var hasNews = false
    var presence = PresenceBoard()
    /// What can be taken back, edits that are not durable yet among it. One journal, and never a
    /// second owner: that would cost the next edit a copy of it.
    var undo = UndoJournal()
    /// The journal has not been made: what can be taken back is in the store and in the batches on
    /// their way to it. So it is after a start and after a batch that failed, until the first undo.
    var isUndoStored = false
    /// Revisions added since the store was last asked to prune.
    var revisionsSincePruning = 0
    /// Bytes of the revisions that the store keeps, as far as this run added them.
    var historyBytes = HistoryBytes()
    /// Who made the newest revision, and how many in a row.
    private(set) var lastAuthor: (uid: UInt32?, revisions: Int) = (nil, 0)

    init(
        key: FormKey, name: String, owner: UInt32, log: String, state: FormState,
        existence: Existence
    ) {
        self.key = key
        self.name = name
        self.owner = owner
        self.log = log
        working = state
        committed = state.copy()
        self.existence = existence
        changeLog = ChangeLog(next: state.revision + 1)
    }

    /// Whether readers see it: its creation is durable and its deletion is not.
    var isReadable: Bool { committed.revision > 0 && existence != .gone }

    /// Whether edits see it: its deletion was not asked for yet.
    var isEditable: Bool { existence == .creating || existence == .there }

    /// Who watches it.
    var subscriptions: some Sequence<Subscription> { audiences.lazy.flatMap(\.members) }

    var subscriptionCount: Int { audiences.reduce(0) { $0 + $1.members.count } }

    /// Takes a subscription in.
    func add(_ subscription: Subscription) {
        let account = subscription.connection.account
        let audience = audiences.first { $0.account === account } ?? Audience(account)
        if audience.members.isEmpty { audiences.append(audience) }
        audience.add(subscription)
        noteNames()
        subscription.refreshFilter(names)
    }

    /// Takes a subscription out.
    func remove(_ subscription: Subscription) {
        let account = subscription.connection.account
        guard let place = audiences.firstIndex(where: { $0.account === account }) else { return }
        audiences[place].remove(subscription)
        if audiences[place].members.isEmpty { audiences.remove(at: place) }
    }

    /// Takes all subscriptions out.
    func removeSubscriptions() { audiences = [] }

    /// A revision of that uid was added.
    func note(author uid: UInt32?) {
        lastAuthor = uid == lastAuthor.uid ? (uid, lastAuthor.revisions + 1) : (uid, 1)
    }

    /// Gives the controls that readers see their numbers, once a definition.
    func noteNames() {
        guard named !== committed.definition else { return }
        named = committed.definition
        for control in committed.definition.controls { _ = names.number(of: control.id) }
    }

    /// The numbers of controls of the definition that edits see, by index.
    func numbers(ofControls controls: [Int]) -> FieldNumbers {
        let definition = working.definition
        if numbered !== definition {
            numbered = definition
            controlNumbers = definition.controls.map { names.number(of: $0.id) }
        }
        if controls.count == 1 { return FieldNumbers(single: controlNumbers[controls[0]]) }
        return FieldNumbers(controls.lazy.map { self.controlNumbers[$0] })
    }

    /// The numbers of fields by their ids.
    func numbers(of ids: some Sequence<String>) -> FieldNumbers {
        FieldNumbers(ids.map { names.number(of: $0) })
    }
}

/// Dense numbers for the ids of a form's fields, given out once a run, so that they outlive a
/// change of the definition. Ids are ASCII, which Swift's `String` hashes and compares as bytes.
struct FieldNames {
    private var numbers: [String: Int] = [:]
    private var ids: [String] = []

    var count: Int { ids.count }

    /// The id of that number.
    subscript(number: Int) -> String { ids[number] }

    mutating func number(of id: String) -> Int {
        if let number = numbers[id] { return number }
        let number = ids.count
        numbers[id] = number
        ids.append(id)
        return number
    }
}

/// All that a form is at one revision. A class, so that a look at it is no copy of all its parts;
/// `copy` makes another.
final class FormState {
    let definition: FormDefinition
    /// The definition as it was last applied, before run-time options.
    let applied: JSON
    /// Grows by one with each change of the definition.
    var version: UInt64
    /// The revision that changed the definition last.
    var definitionRevision: UInt64
    var revision: UInt64
    var context: CausalContext
    /// By control.
    var cells: [Cell]

    /// A form that nobody has touched.
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
    }

    /// The same, to be changed without this one.
    func copy() -> FormState { FormState(self) }

    /// The writes that the clock that goes with what is shown names.
    var shownContext: CausalContext {
        if context.loose.isEmpty { return context }
        let held = heldDots
        return context.prunedLoose(where: held.contains)
    }

    /// The clock that goes with what is shown.
    var token: String { ContextToken.render(shownContext) }

    /// The writes that some cell holds: work for every field.
    var heldDots: Set<Dot> { Set(cells.lazy.flatMap(\.content.heldDots)) }

    /// The writes in the token of the answer to an edit by somebody who had been shown `seen`:
    /// those, and the new dots (CAUSALITY.md, 2 and 3). Where it would be too long to be handed
    /// back, dots that nothing holds any more are left out, then all loose ones: saying less than
    /// one has seen loses nothing.
    func answerContext(_ seen: CausalContext, _ dots: [Dot]) -> CausalContext {
        var context = seen.isEmpty ? seen : seen.clipped(to: self.context)
        for dot in dots { context.insert(dot) }
        // Neither a replica nor a loose dot takes more than 48 bytes of a token.
        if context.vector.entries.count + context.loose.count <= 64 { return context }
        if context.loose.count > 64 {
            let held = heldDots
            context = context.prunedLoose(where: held.contains)
        }
        let isShort = ContextToken.render(context).utf8.count <= ContextToken.bytesMax
        return isShort ? context : CausalContext(context.vector)
    }

    /// What the form reads: see ShownValue.swift.
    func value(_ index: Int) -> JSON { cells[index].value }

    /// What readers see of a control.
    func shown(_ index: Int) -> ShownValue {
        if let shown = cells[index].shown { return shown }
        let shown = definition.shown(index) { value($0) }
        cells[index].shown = shown
        return shown
    }

    /// What a reader sees of a field.
    ///
    /// - Parameter notifying: The edit that is being told met others that its author had not seen:
    ///   they are listed whatever the policy.
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
        for target in targets where cells[target].content.mayHaveSiblings {
            state.conflict += cells[target].content.siblings(
                target, of: definition, listedOnly: !notifying)
        }
        return state
    }

    /// The members of what a reader sees of a field, as JSON text: encoded once a change, for its
    /// author, subscribers and later readers alike.
    func text(_ index: Int) -> [UInt8] {
        if let text = cells[index].text { return text }
        let text = encoded(field(index))
        if text.count <= Cell.textBytesMax { cells[index].text = text }
        return text
    }

    /// The same for those who are told of an edit: see `field`.
    func text(_ index: Int, notifying: Bool) -> [UInt8] {
        notifying ? encoded(field(index, notifying: true)) : text(index)
    }

    private func encoded(_ field: FieldState) -> [UInt8] {
        var writer = JSONWriter()
        writer.reserveCapacity(240)
        field.encodeMembers(into: &writer)
        return writer.take()
    }
}
