// Edits that were made for another store than the one whose daemon answers now, as when another
// daemon was started on the socket.
//
//   unanswered --another store answers--> kept --its store answers again--> sent there, once
//                                          |  --apply--> sent to the daemon that answers
//                                          +  --discard--> gone
//
// Invariant: no kept edit reaches another store before the program says so; sent to its own
// store it has its idempotency key, so that it is done once.

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

/// A kept edit, with those who asked for it.
struct KeptRequest: Sendable {
    let store: String
    let edit: StateSet
    var asked: [FormMachine.Asked]

    var shown: KeptEdit { KeptEdit(form: edit.form, fields: edit.changes.map(\.field)) }

    /// The edit, to be sent again; its answer is that of everybody who asked for it.
    func outgoing(_ edit: StateSet) -> FormMachine.Outgoing {
        let asked = asked
        let number = asked.map(\.number).min() ?? 0
        return .ask(
            .stateSet(edit),
            FormMachine.Asked(number: number) { result in for one in asked { one.done(result) } })
    }
}

extension [KeptRequest] {
    /// What a flush has to tell that was asked for with that number.
    func flushed(_ number: UInt64) -> Result<JSON, FormError> {
        let edits = reduce(0) { $0 + $1.asked.count { $0.number < number } }
        return edits == 0 ? .success([:]) : .failure(.otherReplica(.pending(edits: edits)))
    }
}

extension FormMachine {
    /// The store whose daemon answers.
    var presentStore: String? { state.withLock { $0.store } }

    /// The daemon has said whose store it has: what was kept for that is sent to it.
    func greeted(by store: String) {
        state.withLock { state in
            if state.store != store { state.formerStore = state.store }
            state.store = store
            for kept in state.kept where kept.store == store { send(kept, kept.edit, &state) }
            state.kept.removeAll { $0.store == store }
            for feed in state.feeds {
                guard let request = feed.subscriptionIfAway() else { continue }
                state.outbox.append(.subscribe(request))
            }
        }
        wake()
    }

    private func send(_ kept: KeptRequest, _ edit: StateSet, _ state: inout State) {
        let outgoing = kept.outgoing(edit)
        if case .ask(_, let asked) = outgoing { state.unanswered.insert(asked.number) }
        state.outbox.append(outgoing)
    }

    /// A request was not sent, since it was made for another store: an edit is kept.
    func keep(_ request: Request, _ tickets: [Ticket]) {
        let (asked, kept) = state.withLock { state -> ([Asked], KeptRequest?) in
            let asked = tickets.compactMap { state.waiting.removeValue(forKey: $0) }
            for one in asked { state.unanswered.remove(one.number) }
            guard case .stateSet(let edit) = request, !edit.requireCurrent,
                let store = state.formerStore
            else { return (asked, nil) }
            return (asked, KeptRequest(store: store, edit: edit, asked: asked))
        }
        if let kept {
            keep(kept)
        } else {
            let error = FormError.otherReplica(.unknown(UnansweredRequest(request: request)))
            for one in asked { one.done(.failure(error)) }
        }
        finishFlushes()
    }

    /// Keeps an edit; a call that waits for it ends.
    private func keep(_ kept: KeptRequest) {
        let ended = state.withLock { state in
            state.kept.append(kept)
            return kept.asked.compactMap { asked in asked.call.flatMap { state.calls.remove($0) } }
        }
        for end in ended { end(.otherReplica(.pending(edits: kept.asked.count))) }
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
        keep(KeptRequest(store: store, edit: edit, asked: [asked]))
    }

    func keptEdits(of form: String) -> [KeptEdit] {
        state.withLock { $0.kept.filter { $0.edit.form == form }.map(\.shown) }
    }

    /// Sends the kept edits of a form to the daemon that answers, over what is there.
    func applyKept(of form: String) {
        state.withLock { state in
            for kept in state.kept where kept.edit.form == form {
                // What this program had seen in the other store says nothing here, and neither does
                // the key.
                let changes = kept.edit.changes.map { Change(field: $0.field, $0.action) }
                send(kept, StateSet(form: form, changes: changes), &state)
            }
            state.kept.removeAll { $0.edit.form == form }
        }
        wake()
    }

    /// Forgets the kept edits of a form.
    func discardKept(of form: String) {
        let discarded = state.withLock { state in
            defer { state.kept.removeAll { $0.edit.form == form } }
            return state.kept.filter { $0.edit.form == form }
        }
        for kept in discarded { for asked in kept.asked { asked.done(.success(.null)) } }
    }
}

extension FormFeed {
    /// The store that the form is followed in.
    var store: String? { state.withLock { $0.store } }

    /// The daemon that answers now has no such form: it shows what it was last, and keeps edits.
    func isAway(kept: [KeptEdit]) {
        state.withLock { state in
            state.isOnline = false
            state.isAway = true
        }
        tell(.replicaChanged(kept: kept))
    }

    /// The store that edits are kept for, while the daemon that answers has no such form.
    var awayStore: String? { state.withLock { $0.isAway ? $0.store : nil } }

    /// The request that follows the form again, where the last one was refused.
    func subscriptionIfAway() -> StateSubscribe? {
        state.withLock { state in
            guard state.isAway, let log = state.log else { return nil }
            return StateSubscribe(
                form: name, since: StateSubscribe.Since(log: log, revision: state.revision),
                presence: state.hasPresence)
        }
    }
}

extension FormSession {
    /// Edits of this form that had no answer when another daemon, with another store, began to
    /// answer. They are sent when their own daemon answers again; until then the properties show
    /// them.
    public var keptEdits: [KeptEdit] { feed.machine.keptEdits(of: name) }

    /// Makes the kept edits in the daemon that answers now, over what is there. What becomes of
    /// them is told as of an assignment: ``FormClient/flush(timeout:)`` waits for it.
    ///
    /// - Throws: ``FormError/otherReplica(_:)`` where that daemon has no such form; they stay.
    public func applyKeptEdits() throws(FormError) {
        if let end = attachment.end { throw end }
        if feed.awayStore != nil { throw .otherReplica(.pending(edits: keptEdits.count)) }
        feed.machine.applyKept(of: name)
    }

    /// Forgets the kept edits; the properties show what the daemon has.
    public func discardKeptEdits() {
        feed.machine.discardKept(of: name)
    }
}
