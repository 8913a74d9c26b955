// Edits that were made for another store than the one whose daemon answers now: how a program sees
// them, and what becomes of the calls that wait for them.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// An edit that was made for another daemon than the one that answers now, and is kept.
public struct KeptEdit: Sendable, Hashable {
    /// The form's name.
    public let form: String
    /// The ids of the controls that it sets.
    public let fields: [String]
}

/// The kept edits of a machine, each with those who asked for it.
typealias KeptRequests = KeptEdits<[FormMachine.Asked]>

extension KeptRequests {
    /// The result of a flush with this number.
    func flushed(_ number: UInt64) -> Result<JSON, FormError> {
        let waiting = edits.reduce(0) { $0 + $1.owner.count { $0.number < number } }
        return waiting == 0 ? .success([:]) : .failure(.otherReplica(.pending(edits: waiting)))
    }
}

extension FormMachine {
    /// The store whose daemon answers.
    var presentStore: String? { state.withLock { $0.kept.store } }

    /// The daemon has said which store it has: the edits that were kept for that store are sent.
    func greeted(by store: String) {
        state.withLock { state in
            for kept in state.kept.greeted(by: store) { send(kept.edit, kept.owner, &state) }
            for feed in state.feeds {
                guard let request = feed.subscriptionIfAway() else { continue }
                state.outbox.append(.subscribe(request))
            }
        }
        wake()
    }

    /// Sends a kept edit; all its owners get the answer.
    private func send(_ edit: StateSet, _ owners: [Asked], _ state: inout State) {
        let asked = Asked(number: owners.map(\.number).min() ?? 0) { result in
            for owner in owners { owner.done(result) }
        }
        state.unanswered.insert(asked.number)
        state.outbox.append(.ask(.stateSet(edit), asked))
    }

    /// A request was not sent, since it was made for another store: an edit is kept.
    func keep(_ request: Request, _ tickets: [Ticket]) {
        let asked = state.withLock { state in
            let asked = tickets.compactMap { state.waiting.removeValue(forKey: $0) }
            for one in asked { state.unanswered.remove(one.number) }
            return asked
        }
        guard case .stateSet(let edit) = request, !edit.requireCurrent, keep(edit, asked) else {
            let error = FormError.otherReplica(.unknown(UnansweredRequest(request: request)))
            for one in asked { one.done(.failure(error)) }
            return finishFlushes()
        }
        finishFlushes()
    }

    /// Keeps an edit, if it is known for which store it was made; a call that waits for it ends.
    private func keep(_ edit: StateSet, for store: String? = nil, _ asked: [Asked]) -> Bool {
        let ended = state.withLock { state -> [@Sendable (FormError) -> Void]? in
            guard state.kept.keep(edit, for: store, asked) else { return nil }
            return asked.compactMap { asked in asked.call.flatMap { state.calls.remove($0) } }
        }
        for end in ended ?? [] { end(.otherReplica(.pending(edits: asked.count))) }
        return ended != nil
    }

    /// Keeps an edit of a form that the daemon that answers does not have.
    func keep(
        _ edit: StateSet, for store: String, call: UInt64?,
        then done: @escaping @Sendable (Result<JSON, FormError>) -> Void
    ) {
        if edit.requireCurrent { return done(.failure(.otherReplica(.notSent))) }
        let asked = state.withLock { state in
            state.lastNumber += 1
            return Asked(number: state.lastNumber, done: done, call: call)
        }
        _ = keep(edit, for: store, [asked])
    }

    func keptEdits(of form: String) -> [KeptEdit] {
        state.withLock { $0.kept.edits }.filter { $0.edit.form == form }.map {
            KeptEdit(form: form, fields: $0.fields)
        }
    }

    /// Sends the kept edits of a form to the daemon that answers, over what is there.
    func applyKept(of form: String) {
        state.withLock { state in
            for kept in state.kept.take(where: { $0.edit.form == form }) {
                send(kept.renewed(context: nil), kept.owner, &state)
            }
        }
        wake()
    }

    /// Forgets the kept edits of a form.
    func discardKept(of form: String) {
        let discarded = state.withLock { $0.kept.take { $0.edit.form == form } }
        for asked in discarded.flatMap(\.owner) { asked.done(.success(.null)) }
    }
}

extension FormFeed {
    /// The store that the form is followed in.
    var store: String? { state.withLock { $0.replica.store } }

    /// The daemon that answers now does not have the form. The form shows its last values and keeps
    /// edits.
    func isAway(kept: [KeptEdit]) {
        state.withLock { state in
            state.isOnline = false
            state.isAway = true
        }
        tell(.replicaChanged(kept: kept))
    }

    /// The store that edits are kept for, while the daemon that answers has no such form.
    var awayStore: String? { state.withLock { $0.isAway ? $0.replica.store : nil } }

    /// The request that subscribes again if the last subscription was refused.
    func subscriptionIfAway() -> StateSubscribe? {
        state.withLock { state in
            guard state.isAway else { return nil }
            return StateSubscribe(
                form: name, since: state.replica.position, presence: state.hasPresence)
        }
    }
}

extension FormSession {
    /// Edits of this form that were not answered when a daemon with another store answered. They
    /// are sent when their own daemon answers again; until then the properties show them.
    public var keptEdits: [KeptEdit] { feed.machine.keptEdits(of: name) }

    /// Sends the kept edits to the daemon that answers now, where they overwrite the current
    /// values. They are answered like assignments: ``FormClient/flush(timeout:)`` waits for them.
    ///
    /// - Throws: ``FormError/otherReplica(_:)`` if that daemon does not have the form; the edits
    ///   are kept.
    public func applyKeptEdits() throws(FormError) {
        if let end = attachment.end { throw end }
        if feed.awayStore != nil { throw .otherReplica(.pending(edits: keptEdits.count)) }
        feed.machine.applyKept(of: name)
    }

    /// Discards the kept edits; the properties show the daemon's values.
    public func discardKeptEdits() {
        feed.machine.discardKept(of: name)
    }
}
