// What comes from the daemon, and who is told of it.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// A closure that is told of one field, from the declaration: `onChange`, a button's action.
struct FieldListener: Sendable {
    /// How a listener is told.
    enum Kind: Sendable {
        /// Old and new; also across a gap, where revisions between are unknown.
        case change(@Sendable (FieldState?, FieldState) -> Void)
        /// Once a press; presses in a gap are nobody's any more.
        case press(@Sendable () -> Void)
        /// Whether anybody has the control in their hand.
        case editing(@Sendable (Bool) -> Void)
    }

    var field: String
    var kind: Kind
    /// Whether it is told of the value that is there at first.
    var isInitial = false
    /// The attachment that it belongs to; it ends with that.
    var owner: UInt64 = 0
    /// What it is still to be told.
    let backlog = ListenerBacklog()
}

extension FormFeed {
    /// A reader who is told from now on, until the attachment ends.
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

    /// The subscription began, or began with a snapshot because the log had no continuation.
    func began(_ result: SubscribeResult) {
        let fields = result.fields ?? []
        var isFirst = false
        var changes: [FieldChange] = []
        var listeners: [FieldListener] = []
        var told: [String: FieldState] = [:]
        var opening: [@Sendable (FormError?) -> Void] = []
        let store = machine.presentStore
        var isOtherStore = false
        state.withLock { state in
            isFirst = !state.isOpen
            isOtherStore = !isFirst && state.store != store
            state.store = store
            state.isAway = false
            told = state.told
            (state.fields, state.told) = ([:], [:])
            for field in fields {
                let old = told[field.id]
                if !isFirst, old?.value != field.state.value {
                    changes.append(
                        FieldChange(field: field.id, state: field.state, was: old?.value))
                }
                state.fields[field.id] = field.state
                state.told[field.id] = field.state
            }
            state.context = result.context
            state.opened = result.context
            state.revision = result.revision
            state.log = result.log
            // Tokens of another line of revisions say nothing here.
            if !isFirst { state.seen = [:] }
            state.isOpen = true
            state.isOnline = true
            listeners = state.listeners
            opening = state.opening
            state.opening = []
        }
        for open in opening { open(nil) }
        if isFirst {
            tellInitial(listeners)
            return
        }
        tell(.reconnected)
        if isOtherStore { tell(.replicaChanged(kept: machine.keptEdits(of: name))) }
        guard !changes.isEmpty else { return }
        notify(listeners, of: changes, told: told, isContinuous: false)
        tell(.changed(FormChange(revision: result.revision, fields: changes)))
    }

    /// Tells those who asked for it what is there at first.
    func tellInitial(_ listeners: [FieldListener]) {
        let fields = state.withLock { $0.fields }
        for listener in listeners where listener.isInitial {
            guard case .change(let action) = listener.kind, let field = fields[listener.field]
            else { continue }
            machine.perform { action(nil, field) }
        }
    }

    /// The subscription continues without a gap.
    func resumed() {
        let wasOnline = state.withLock { state in
            defer { (state.isOnline, state.isAway) = (true, false) }
            return state.isOnline
        }
        if !wasOnline { tell(.reconnected) }
    }

    /// The connection is gone.
    func disconnected() {
        let wasOnline = state.withLock { state in
            defer { state.isOnline = false }
            state.peers = []
            return state.isOnline && state.isOpen
        }
        if wasOnline { tell(.disconnected) }
    }

    /// A revision that was not told yet.
    func changed(_ change: StateChanged) {
        take(change.changes, revision: change.revision, context: change.context)
        guard !change.changes.isEmpty else { return }
        tell(
            .changed(
                FormChange(
                    revision: change.revision, coalescedFrom: change.coalescedFrom,
                    fields: change.changes)))
    }

    /// A new definition with the values that it changed.
    func redefined(_ content: FormChanged.Definition, revision: Int64) {
        let ids = content.fieldIDs
        state.withLock { state in
            state.fields = state.fields.filter { ids.contains($0.key) }
            state.told = state.told.filter { ids.contains($0.key) }
            state.seen = state.seen.filter { ids.contains($0.key) }
        }
        take(content.changes, revision: revision, context: content.context)
        tell(.redefined(content.definition))
        guard !content.changes.isEmpty else { return }
        tell(
            .changed(
                FormChange(
                    revision: revision, coalescedFrom: content.coalescedFrom,
                    fields: content.changes)))
    }

    private func take(_ changes: [FieldChange], revision: Int64, context: String?) {
        let (listeners, told) = state.withLock { state in
            let told = state.told
            state.revision = revision
            if let context { state.context = context }
            for change in changes {
                Self.take(change.field, change.state, into: &state)
                state.told[change.field] = change.state
            }
            return (state.listeners, told)
        }
        notify(listeners, of: changes, told: told, isContinuous: true)
    }

    private func notify(
        _ listeners: [FieldListener], of changes: [FieldChange], told: [String: FieldState],
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
                case .editing: break
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
            .warning, "\(count - Int64(told)) presses were not told: too many wait",
            ["form": name, "field": listener.field])
    }

    /// People of one form that are told at most: about as many connections as a daemon has by
    /// default.
    private static let peersMax = 16_384

    /// Who has the form open changed.
    func presenceChanged(_ change: PresenceChanged) {
        var tellings: [(listener: FieldListener, isEdited: Bool)] = []
        let peers = state.withLock { state in
            let before = state.peers
            for peer in change.peers {
                state.peers.removeAll { $0.connection == peer.connection }
                guard !peer.isGone, state.peers.count < Self.peersMax else { continue }
                state.peers.append(
                    FormPeer(
                        connection: peer.connection, user: peer.user, client: peer.client,
                        tty: peer.tty, focus: peer.focus, draft: peer.draft))
            }
            for listener in state.listeners {
                guard case .editing = listener.kind else { continue }
                let was = before.contains { $0.focus == listener.field }
                let isEdited = state.peers.contains { $0.focus == listener.field }
                if was != isEdited { tellings.append((listener, isEdited)) }
            }
            return state.peers
        }
        for (listener, isEdited) in tellings {
            guard case .editing(let action) = listener.kind else { continue }
            let backlog = listener.backlog
            guard backlog.set(isEdited: isEdited) else { continue }
            machine.perform { if let isEdited = backlog.takeEditing() { action(isEdited) } }
        }
        tell(.presence(peers))
    }

    /// Nothing comes any more; `nil` where the form was deleted.
    func ended(_ error: FormError?) {
        let opening = state.withLock { state in
            defer { state.opening = [] }
            state.isOpen = false
            state.end = state.end ?? error ?? .notOpen
            state.listeners = []
            return state.opening
        }
        for open in opening { open(error ?? .notOpen) }
        tell(.ended(error))
    }

    /// One of the attachments ended: its listeners and readers go with it.
    func left(_ attachment: UInt64) {
        let readers = state.withLock { state in
            state.attachments.remove(attachment)
            state.listeners.removeAll { $0.owner == attachment }
            return state.readerOrder.compactMap { id in
                state.readers[id].flatMap { $0.owner == attachment ? $0.queue : nil }
            }
        }
        for reader in readers { reader.send(.ended(nil)) }
    }
}
