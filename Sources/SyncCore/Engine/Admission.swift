/// Whether a request can be executed now: all checks that do not depend on its method.
///
///     request ──admit──┬─▶ run
///        ▲             ├─▶ replay, refuse, unanswered
///        │             ├─▶ afterCommit ──committed, or failed──┐
///        │             └─▶ fetch ────────fetched───────────────┤
///        └─────────────────────────────────────────────────────┘
///
/// Invariants: it changes nothing. A request that waited passes the same checks as one that did
/// not, because it is admitted again; after a restart the client sends it again. Checks that depend
/// on the method (whether the form exists, whether the peer has permission, whether a subscription
/// is within the limits) are part of its execution, which is also after every wait.
struct Admission {
    /// Why the daemon stops; `nil` while it serves.
    let leaving: GoodbyeReason?
    /// Why the store takes no edits; `nil` while it does.
    let trouble: String?
    /// Whether a batch from the daemon's start must be durable before any request is answered.
    let mustCommitFirst: Bool
    let answerBytesMax: Int
    let keysMax: Int
    let keyBytesMax: Int
    let keyHours: Int

    /// An idempotency key, as far as it is known.
    struct Key {
        let use: PendingCall.KeyUse
        let knowledge: KeyIndex.Knowledge
        /// What all keys of its uid take.
        let usage: KeyIndex.Usage
    }

    /// What a check needs to know of a request.
    struct Kind {
        /// It changes something.
        let isEdit: Bool
        /// It reads committed state, so it waits for the connection's own edits.
        let waitsForOwnEdits: Bool

        static let edit = Kind(isEdit: true, waitsForOwnEdits: false)
        static let read = Kind(isEdit: false, waitsForOwnEdits: true)
        /// An edit of what the store has, such as history.
        static let storedEdit = Kind(isEdit: true, waitsForOwnEdits: true)
        static let neither = Kind(isEdit: false, waitsForOwnEdits: false)
    }

    /// Whether a request without a key, with an answer of its own, is executed now: what `admit`
    /// says of nearly all requests.
    @inline(__always)
    static func runs(
        _ kind: Kind, on connection: Connection, isServing: Bool, isHealthy: Bool
    ) -> Bool {
        if kind.waitsForOwnEdits, connection.editsPending > 0 { return false }
        return !kind.isEdit || isServing && isHealthy
    }

    /// Checks a request.
    ///
    /// - Parameter isKeyUnused: The store has just reported that it does not have the request's
    ///   key.
    @inline(__always)
    func admit(
        _ kind: Kind, _ call: PendingCall, _ key: Key?, isKeyUnused: Bool = false
    ) -> Verdict {
        if mustCommitFirst { return .afterCommit }
        if kind.waitsForOwnEdits, call.connection.editsPending > 0 { return .afterCommit }
        let isEdit = kind.isEdit
        if isEdit, case .slot = call.target, let leaving { return .unanswered(leaving) }
        // The answers of a batch share one frame. When they have filled a large part of it, the
        // remaining elements are not executed.
        if case .batch(let batch) = call.target, batch.bytes > answerBytesMax {
            return .refuse(.batchIsFull("answerBytesMax", answerBytesMax))
        }
        if let key, let verdict = judge(key, isKeyUnused: isKeyUnused) { return verdict }
        guard isEdit else { return .run }
        if leaving != nil {
            return .refuse(.notStarted("the daemon is stopping; try again in a moment"))
        }
        return trouble.map { .refuse(.storeUnavailable($0)) } ?? .run
    }

    /// The verdict on a request with an idempotency key; `nil` if the key is new.
    private func judge(_ key: Key, isKeyUnused: Bool) -> Verdict? {
        switch key.knowledge {
        case .answered(let result, let known, let pending):
            guard known == key.use.digest else { return .refuse(.keyOfAnotherRequest) }
            return .replay(result, pending)
        case .inStore where !isKeyUnused:
            return .fetch(.key(uid: key.use.id.uid, key: key.use.id.key))
        case .inStore, .unused: return keyLimitError(key.usage).map { .refuse($0) }
        }
    }

    /// A used key is kept for the promised time, so a uid with too many keys cannot use another
    /// one. If the oldest key were dropped, its retry would be executed twice.
    private func keyLimitError(_ usage: KeyIndex.Usage) -> WireError? {
        func error(_ name: String, _ max: Int) -> WireError {
            .limit(
                name, max: max,
                "\(usage.keys) idempotency keys are kept for you already; they expire after "
                    + "\(keyHours) hours")
        }
        if usage.keys >= keysMax { return error("keysPerUserMax", keysMax) }
        if usage.bytes >= keyBytesMax { return error("keyBytesPerUserMax", keyBytesMax) }
        return nil
    }
}

/// The result of `Admission.admit`.
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

extension WireError {
    /// The idempotency key was used before for another request.
    static let keyOfAnotherRequest = WireError(
        .invalidParams, "this idempotencyKey was used for another request; use a new one for each",
        path: "idempotencyKey")

    /// The answer to edits while the store cannot write.
    static func storeUnavailable(_ reason: String) -> WireError {
        WireError(
            .unavailable,
            "the store cannot write: \(reason.escapedForDisplay()); "
                + "reading still works; try again later")
    }

    /// The answers of a batch of requests are too large.
    static func batchIsFull(_ limit: String, _ max: Int) -> WireError {
        .limit(
            limit, max: max,
            "the answers of this batch take more than \(max) bytes; ask for the rest in another")
    }
}

extension Request {
    /// What admission needs to know of the request. Edits can have an idempotency key.
    var kind: Admission.Kind {
        switch self {
        case .formApply(let params): params.isDryRun ? .read : .edit
        case .formSetOptions, .formDelete, .stateSet, .stateLease, .stateUndo, .stateRedo,
            .buttonFinish, .buttonCancel, .proposalApprove,
            .proposalRefuse, .proposalWithdraw:
            .edit
        case .historyRedact: .storedEdit
        case .formList, .formWatch, .formGet, .stateGet, .stateSubscribe, .stateHistory,
            .stateExplain, .stateReveal, .buttonOutcome, .proposalList, .serverStatus,
            .serverBackup:
            .read
        case .hello, .ping, .stateUnsubscribe, .presenceUpdate, .buttonHandle, .buttonProgress,
            .linkAttach, .linkUp, .linkDown, .linkMessage, .linkRepair,
            .linkTest, .formLink, .formUnlink:
            .neither
        }
    }
}
