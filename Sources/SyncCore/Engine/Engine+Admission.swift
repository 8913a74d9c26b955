// Whether a request can be executed now: all checks that do not depend on its method.
//
// Invariants: a request that waited for a commit or for the store passes the same checks as one
// that did not, because `admit` runs again. `admit` changes nothing. Checks that depend on the
// method (whether the form exists, whether the peer has permission, whether a subscription is
// within the limits) are part of its execution, which is also after every wait.

/// The result of `admit`.
enum Verdict {
    /// Execute it now.
    case run
    /// It reads committed state, so it waits until its connection's own edits are committed.
    case afterCommit
    /// Only the store knows whether its idempotency key was used.
    case fetch(StoreQuery)
    /// Its key was used before, with this result.
    case replay([UInt8], KeyIndex.Pending?)
    case refuse(WireError)
    /// The daemon is stopping. The request is neither executed nor answered: the client sends it
    /// again to the next daemon (PROTOCOL.md, What you can rely on, 6).
    case unanswered(GoodbyeReason)
}

extension Engine {
    /// Checks a request against the current state.
    ///
    /// - Parameter isKeyUnused: The store has just reported that it does not have the request's
    ///   key.
    func admit(_ request: Request, _ call: PendingCall, isKeyUnused: Bool = false) -> Verdict {
        if request.waitsForOwnEdits, call.connection.editsPending > 0 { return .afterCommit }
        let isEdit = request.isEdit
        if isEdit, case .slot = call.target, let reason = lifecycle.reasonToLeave {
            return .unanswered(reason)
        }
        // The answers of a batch share one frame. When they have filled a large part of it, the
        // remaining elements are not executed.
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

    /// The verdict on a request with an idempotency key; `nil` if the key is new.
    private func judge(_ key: PendingCall.KeyUse, isKeyUnused: Bool) -> Verdict? {
        switch link.keys.lookUp(key.id) {
        case .answered(let result, let known, let pending):
            guard known == key.digest else { return .refuse(.keyOfAnotherRequest) }
            return .replay(result, pending)
        case .inStore where !isKeyUnused:
            return .fetch(.key(uid: key.id.uid, key: key.id.key))
        case .inStore, .unused:
            return lackOfRoomForKey(of: key.id.uid).map { .refuse($0) }
        }
    }

    /// A used key is kept for the promised time, so a uid with too many keys cannot use another
    /// one. If the oldest key were dropped, its retry would be executed twice.
    private func lackOfRoomForKey(of uid: UInt32) -> WireError? {
        let limits = configuration.limits
        let usage = link.keys.usage(of: uid)
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

    /// Why no edits are accepted now; `nil` if they are.
    private var refusalOfEdits: WireError? {
        guard lifecycle == .serving else {
            return .unbegun("the daemon is stopping; try again in a moment")
        }
        return link.trouble.map { unavailable($0) }
    }
}

extension Request {
    /// Whether the request is an edit, so that it can have an idempotency key.
    var isEdit: Bool {
        switch self {
        case .formApply(let params): !params.isDryRun
        case .formSetOptions, .formDelete, .stateSet, .stateUndo, .stateRedo: true
        default: false
        }
    }

    /// Whether the request reads committed state, so that it has to wait for the connection's own
    /// edits.
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
