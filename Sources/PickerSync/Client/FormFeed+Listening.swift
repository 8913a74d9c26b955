// Events of the daemon, and how readers and listeners get them.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// A closure of the declaration for one field: `onChange`, or a button's action.
struct FieldListener: Sendable {
    /// What a listener receives.
    enum Kind: Sendable {
        /// The old and the new state, also after a gap in the revisions.
        case change(@Sendable (FieldState?, FieldState) -> Void)
        /// One call for each press; presses in a gap are skipped.
        case press(@Sendable () -> Void)
        /// Works on each press that the daemon gives to this program.
        case run(@Sendable (AssignedPress) async throws -> Void)
        /// Whether the control has anybody's focus.
        case editing(@Sendable (Bool) -> Void)
    }

    var field: String
    var kind: Kind
    /// Whether it also receives the initial value.
    var isInitial = false
    /// The attachment that it belongs to.
    var owner: UInt64 = 0
    /// The calls that wait.
    let backlog = ListenerBacklog()
}

extension FormFeed {
    /// A reader that gets events from now on, until the attachment ends.
    func observe(for owner: UInt64) -> EventQueue {
        let queue = EventQueue { [weak self] queue in
            let id = ObjectIdentifier(queue)
            self?.state.withLock { state in
                state.readers[id] = nil
                state.readerOrder.removeAll { $0 == id }
            }
        }
        let id = ObjectIdentifier(queue)
        let isOpen = state.withLock { state in
            state.readers[id] = Reader(queue: queue, owner: owner)
            state.readerOrder.append(id)
            return state.isOpen && state.attachments.contains(owner)
        }
        if !isOpen { queue.send(.ended(nil)) }
        return queue
    }

    func tell(_ event: FormEvent) {
        let readers = state.withLock { state in
            state.readerOrder.compactMap { state.readers[$0]?.queue }
        }
        for reader in readers { reader.send(event) }
    }

    // MARK: Subscription

    /// A subscription began with a snapshot: the first one, or because the log could not be
    /// resumed.
    func began(_ result: SubscribeResult) {
        var isFirst = false
        var changes: [FieldChange] = []
        var listeners: [FieldListener] = []
        var told = FormReplica()
        var opening: [@Sendable (FormError?) -> Void] = []
        let store = machine.presentStore
        var isOtherStore = false
        state.withLock { state in
            isFirst = !state.isOpen
            isOtherStore = !isFirst && state.replica.store != store
            state.replica.store = store
            state.isAway = false
            told = state.told
            changes = state.told.began(result)
            state.replica.began(result)
            state.proposals = result.proposals ?? []
            state.opened = result.context
            // Tokens of another log have no meaning here.
            if !isFirst { state.seen = [:] }
            state.isOpen = true
            state.isOnline = true
            listeners = state.listeners
            opening = state.opening
            state.opening = []
        }
        for open in opening { open(nil) }
        handlePresses()
        if isFirst {
            tellInitial(listeners)
            return
        }
        tell(.reconnected)
        if isOtherStore { tell(.replicaChanged(kept: machine.keptEdits(of: name))) }
        notify(listeners, of: changes, told: told, isContinuous: false)
        tell(changes, revision: result.revision, coalescedFrom: nil)
    }

    /// Gives the initial values to the listeners that want them.
    func tellInitial(_ listeners: [FieldListener]) {
        let fields = state.withLock { $0.replica }
        for listener in listeners where listener.isInitial {
            guard case .change(let action) = listener.kind, let field = fields[listener.field]
            else { continue }
            machine.perform { action(nil, field) }
        }
    }

    /// The subscription continues without a gap.
    func resumed(_ result: SubscribeResult) {
        let wasOnline = state.withLock { state in
            defer { (state.isOnline, state.isAway) = (true, false) }
            state.proposals = result.proposals ?? []
            return state.isOnline
        }
        handlePresses()
        if !wasOnline { tell(.reconnected) }
    }

    /// A proposal was made, was voted on, or has ended.
    func told(of proposal: FormProposal) {
        state.withLock { state in
            let known = state.proposals.firstIndex { $0.id == proposal.id }
            switch (known, proposal.state.isFinal) {
            case (let known?, true): state.proposals.remove(at: known)
            case (let known?, false): state.proposals[known] = proposal
            case (nil, true): break
            case (nil, false): state.proposals.append(proposal)
            }
        }
        tell(.proposal(proposal))
    }

    /// The connection was lost.
    func disconnected() {
        let wasOnline = state.withLock { state in
            defer { state.isOnline = false }
            state.replica.disconnected()
            return state.isOnline && state.isOpen
        }
        runner.disconnected()
        if wasOnline { tell(.disconnected) }
    }

    /// A revision that is new.
    func changed(_ change: StateChanged) {
        take(change.changes, revision: change.revision, context: change.context)
        tell(change.changes, revision: change.revision, coalescedFrom: change.coalescedFrom)
    }

    private func tell(_ changes: [FieldChange], revision: Revision, coalescedFrom: Revision?) {
        if changes.isEmpty { return }
        tell(
            .changed(
                FormChange(revision: revision, coalescedFrom: coalescedFrom, fields: changes)))
    }

    /// A new definition with the values that it changed.
    func redefined(_ content: FormChanged.Definition, revision: Int64) {
        let ids = content.fieldIDs
        state.withLock { state in
            state.replica.keep { ids.contains($0) }
            state.told.keep { ids.contains($0) }
            state.seen = state.seen.filter { ids.contains($0.key) }
        }
        take(content.changes, revision: revision, context: content.context)
        tell(.redefined(content.definition))
        tell(content.changes, revision: revision, coalescedFrom: content.coalescedFrom)
    }

    private func take(_ changes: [FieldChange], revision: Int64, context: String?) {
        let (listeners, told) = state.withLock { state in
            let told = state.told
            state.replica.changed(changes, revision: revision, context: context)
            state.told.changed(changes, revision: revision, context: context)
            return (state.listeners, told)
        }
        notify(listeners, of: changes, told: told, isContinuous: true)
    }

    private func notify(
        _ listeners: [FieldListener], of changes: [FieldChange], told: FormReplica,
        isContinuous: Bool
    ) {
        for change in changes {
            for listener in listeners where listener.field == change.field {
                switch listener.kind {
                case .change(let action):
                    let backlog = listener.backlog
                    guard backlog.add(told[change.field], change.state) else { continue }
                    machine.perform {
                        if let change = backlog.takeChange() { action(change.old, change.new) }
                    }
                case .press(let action):
                    let before = told[change.field].flatMap { Presses(field: $0) }?.count ?? 0
                    let after = Presses(field: change.state)?.count ?? before
                    guard isContinuous, after > before else { continue }
                    tellPresses(after.subtractingReportingOverflow(before), action, listener)
                case .run, .editing: break
                }
            }
        }
    }

    private func tellPresses(
        _ count: (partialValue: Int64, overflow: Bool), _ action: @escaping @Sendable () -> Void,
        _ listener: FieldListener
    ) {
        let count = count.overflow ? .max : count.partialValue
        let backlog = listener.backlog
        let told = backlog.add(presses: count)
        for _ in 0..<told {
            machine.perform {
                backlog.takePress()
                action()
            }
        }
        guard told < count else { return }
        machine.log?(
            .warning, "\(count - Int64(told)) presses were not passed on: too many were waiting",
            ["form": name, "field": listener.field])
    }

    /// The people who have the form open changed.
    func presenceChanged(_ change: PresenceChanged) {
        var tellings: [(listener: FieldListener, isEdited: Bool)] = []
        let peers = state.withLock { state in
            let before = state.replica.peers
            state.replica.presenceChanged(change)
            for listener in state.listeners {
                guard case .editing = listener.kind else { continue }
                let was = before.contains { $0.focus == listener.field }
                let isEdited = state.replica.peers.contains { $0.focus == listener.field }
                if was != isEdited { tellings.append((listener, isEdited)) }
            }
            return state.replica.peers
        }
        for (listener, isEdited) in tellings {
            guard case .editing(let action) = listener.kind else { continue }
            let backlog = listener.backlog
            guard backlog.set(isEdited: isEdited) else { continue }
            machine.perform { if let isEdited = backlog.takeEditing() { action(isEdited) } }
        }
        tell(.presence(peers.map { FormPeer($0) }))
    }

    /// The form is not followed any more; `nil` if it was deleted.
    func ended(_ error: FormError?) {
        let opening = state.withLock { state in
            defer { state.opening = [] }
            state.isOpen = false
            state.end = state.end ?? error ?? .notOpen
            state.listeners = []
            return state.opening
        }
        runner.cancelAll()
        for open in opening { open(error ?? .notOpen) }
        tell(.ended(error))
    }

    /// One of the attachments ended: its listeners and readers end too.
    func left(_ attachment: UInt64) {
        let readers = state.withLock { state in
            state.attachments.remove(attachment)
            state.listeners.removeAll { $0.owner == attachment }
            return state.readerOrder.compactMap { id in
                state.readers[id].flatMap { $0.owner == attachment ? $0.queue : nil }
            }
        }
        handlePresses()
        for reader in readers { reader.send(.ended(nil)) }
    }
}
