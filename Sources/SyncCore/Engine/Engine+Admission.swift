// Whether a request may be done now: every gate that does not depend on its method.
//
// Always holds: a request that waited, for a commit or for the store, is judged by the same gates
// as one that did not (`admit` runs again), and judging changes nothing. What depends on the method
// (is the form there, may the peer, is there room for a subscription) is asked where the method is
// done, which is after every wait, too.

/// What becomes of a request.
enum Verdict {
    /// It is done now.
    case run
    /// It shows committed state: it is done once its connection's own edits are committed.
    case afterCommit
    /// Only the store knows whether its idempotency key was used.
    case fetch(StoreQuery)
    /// It was answered before under its key, with this result.
    case replay([UInt8], KeyIndex.Pending?)
    case refuse(WireError)
    /// The daemon is on its way out. It is neither done nor answered: the client sends it again, to
    /// the daemon that comes next (PROTOCOL.md, What you can rely on, 6).
    case unanswered(GoodbyeReason)
}

extension Engine {
    /// Judges a request on how things are now.
    ///
    /// - Parameter isKeyUnused: The store has just said that it does not have the request's key.
    func admit(_ request: Request, _ call: PendingCall, isKeyUnused: Bool = false) -> Verdict {
        if request.waitsForOwnEdits, call.connection.editsPending > 0 { return .afterCommit }
        let isEdit = request.isEdit
        if isEdit, case .slot = call.target, let reason = lifecycle.reasonToLeave {
            return .unanswered(reason)
        }
        // A batch is answered in one frame: once its answers have come to a good part of one, the
        // rest is not begun.
        let answerBytesMax = configuration.limits.answerBytesMax
        if case .batch(let batch) = call.target, batch.bytes > answerBytesMax {
            return .refuse(batchIsFull("answerBytesMax", answerBytesMax))
        }
        if let key = call.key, let verdict = judge(key, isKeyUnused: isKeyUnused) {
            return verdict
        }
        if isEdit, let refusal = refusalOfEdits { return .refuse(refusal) }
        return .run
    }

    /// What an idempotency key says of its request; `nil` where it is a new one.
    private func judge(_ key: PendingCall.KeyUse, isKeyUnused: Bool) -> Verdict? {
        switch keys.lookUp(key.id) {
        case .answered(let result, let known, let pending):
            guard known == key.digest else { return .refuse(.keyOfAnotherRequest) }
            return .replay(result, pending)
        case .inStore where !isKeyUnused:
            return .fetch(.key(uid: key.id.uid, key: key.id.key))
        case .inStore, .unused:
            return lackOfRoomForKey(of: key.id.uid).map { .refuse($0) }
        }
    }

    /// A key that was used is kept as long as was promised, so that who has too many may use no
    /// more: forgetting the oldest would do their retries twice.
    private func lackOfRoomForKey(of uid: UInt32) -> WireError? {
        let limits = configuration.limits
        let usage = keys.usage(of: uid)
        let bounds = [
            ("keysPerUserMax", usage.keys, limits.keysPerUserMax),
            ("keyBytesPerUserMax", usage.bytes, limits.keyBytesPerUserMax),
        ]
        for (name, used, max) in bounds where used >= max {
            return .limit(
                name, max: Int64(max),
                "\(usage.keys) idempotency keys are kept for you already; they expire after "
                    + "\(limits.keyHours) hours")
        }
        return nil
    }

    /// Why no edit is taken at present; `nil` where edits are.
    private var refusalOfEdits: WireError? {
        guard lifecycle == .serving else {
            return .unbegun("the daemon is stopping; try again in a moment")
        }
        return switch health {
        case .healthy: nil
        case .rebuilding: unavailable("it is being rebuilt")
        case .broken(_, let reason): unavailable(reason)
        }
    }
}

extension Request {
    /// Whether it changes something: what an idempotency key can be given with.
    var isEdit: Bool {
        switch self {
        case .formApply(let params): !params.isDryRun
        case .formSetOptions, .formDelete, .stateSet, .stateUndo, .stateRedo: true
        default: false
        }
    }

    /// Whether it shows committed state, so that it comes after the connection's own edits.
    var waitsForOwnEdits: Bool {
        switch self {
        case .formList, .formWatch, .formGet, .stateGet, .stateSubscribe, .stateHistory,
            .stateReveal, .serverStatus, .serverBackup:
            true
        case .formApply(let params): params.isDryRun
        case .hello, .ping, .formSetOptions, .formDelete, .stateSet, .stateUnsubscribe,
            .stateUndo, .stateRedo, .presenceUpdate:
            false
        }
    }
}
