/// All limits of the daemon, with units and reasons.
///
/// A limit is charged to its cause: a connection, a uid or a form. `pickersyncd --limits` and
/// `server.status` list them; the configuration's `limits` sets them by these names.
public struct Limits: Sendable, Hashable {
    /// Bytes of one frame's JSON text.
    public var maxFrame = 1 << 20
    /// Connections of all users together.
    public var connectionsMax = 16_384
    /// Connections of one uid.
    public var connectionsPerUserMax = 12_288
    /// Groups of one user that count: their names are looked up for each connection. A user with a
    /// range of subordinate groups (subgid(5)) can be in 65,536.
    public var groupsMax = 1_024
    /// Subscriptions of one uid.
    public var subscriptionsPerUserMax = 24_576
    /// Bytes of unread answers before a connection is read no further.
    public var answerBytesMax = 256 << 10
    /// Bytes of requests that wait for a commit or a fetch before a connection is read no further.
    public var inboxBytesMax = 256 << 10
    /// Bytes of incomplete frames, of all connections of one uid.
    public var unfinishedBytesPerUserMax = 64 << 20
    /// Bytes of waiting requests and unread answers, of all connections of one uid: enough for 256
    /// connections that stop reading with the most that each may hold.
    public var heldBytesPerUserMax = 64 << 20
    /// Bytes of changes of all forms that only stalled writes still hold.
    public var retainedBytesMax = 32 << 20
    /// Bytes of encoded changes of one form kept in memory for subscribers that are behind.
    public var changeLogBytesMax = 4 << 20
    /// Revisions of one form that the store keeps for `since`, history and undo.
    public var historyRevisionsMax = 10_000
    /// Bytes of the revisions of one form that the store keeps. Large texts are dropped sooner than
    /// small edits.
    public var historyBytesMax = 64 << 20
    /// The most bytes of revisions of all forms that one uid created. The form with most of them
    /// drops its oldest.
    public var historyBytesPerUserMax = 1 << 30
    /// Revisions of each user that the store keeps of a form beyond the newest, so that a user with
    /// many edits does not remove another's revisions from history and undo.
    public var historyRevisionsPerUser = 100
    /// Days that the store keeps revisions.
    public var historyDaysMax = 7
    /// Forms in the daemon.
    public var formsMax = 1_000
    /// Forms that one uid may have created.
    public var formsPerUserMax = 500
    /// Controls in a form.
    public var fieldsMax = 10_000
    /// Options of all pickers of a form together.
    public var optionsMax = 25_000
    /// Users and groups in all access lists of a form together: each request searches such lists.
    public var principalsMax = 1_000
    /// Changes in one transaction.
    public var changesMax = 5_000
    /// The most values that one transaction may write or visit. A change counts one; of a control
    /// with `sources` one for each source; of a picker with several tags one for each picked tag;
    /// of wheels one for each component and rule; a press of a button with `runs` fifteen. A few
    /// tens of milliseconds.
    public var valuesMax = 20_000
    /// The most steps that the patterns of a form may take for one request. A step takes some two
    /// hundred instructions, so some fifteen milliseconds.
    public var patternStepsMax = 600_000
    /// Values and names of members in the JSON text of one frame: short ones take far more time and
    /// memory than their bytes.
    public var requestValuesMax = 100_000
    /// Requests in one JSON-RPC batch.
    public var requestBatchMax = 1_000
    /// Bytes of a draft in presence.
    public var draftBytesMax = 4 << 10
    /// Drafts a second from one connection.
    public var draftsPerSecondMax = 30
    /// Connections that take presses of one form's buttons. For each press they are asked which of
    /// them takes it.
    public var handlersMax = 100
    /// Presses of one button that wait for a handler. When there are so many, each user has a tenth
    /// of them for themselves, up to twice as many in all.
    public var queueMax = 100
    /// Bytes of the values that the waiting and running presses of a form keep for their handlers;
    /// with the same share for each user.
    public var queueBytesMax = 16 << 20
    /// Ended presses of a form whose outcome is kept.
    public var outcomesMax = 1_000
    /// Proposals of a form that wait for approval.
    public var proposalsMax = 100
    /// Proposals of one uid that wait for approval, in all forms.
    public var proposalsPerUserMax = 20
    /// Bytes of the proposals of a form that wait, and of those that have ended.
    public var proposalBytesMax = 256 << 10
    /// Proposals of a form that have ended and are kept.
    public var proposalsEndedMax = 100
    /// Days that the store keeps them.
    public var proposalDaysMax = 7
    /// Seconds in which a handler takes over its runs again with their tickets.
    public var reclaimSeconds = 30
    /// Hours that an idempotency key is kept.
    public var keyHours = 24
    /// The most stored idempotency keys of one uid: nearly three edits per second with their own
    /// keys, day and night. Each takes about half a kilobyte of the store and two bytes of memory.
    public var keysPerUserMax = 250_000
    /// Bytes of the stored answers under the idempotency keys of one uid.
    public var keyBytesPerUserMax = 256 << 20
    /// Transactions of a form that can be undone. Beyond that, the user with most of them loses the
    /// oldest.
    public var undoDepthMax = 500
    /// Milliseconds between two writes with `durability = interval`.
    public var intervalMilliseconds = 100
    /// Bytes of unwritten revisions below `durability = commit`. Beyond that they are written at
    /// once, and while the disk is too slow, edits are answered only when they are written.
    public var unwrittenBytesMax = 64 << 20
    /// Bytes of the edits of one form that wait to be sent to other hosts. Beyond that, the whole
    /// form is sent instead. The same after a start if more than 4 MiB or 1,024 commits waited.
    public var linkOutboxBytesMax = 64 << 20
    /// Bytes of the edits of a form in one message to other hosts.
    public var linkBundleBytesMax = 64 << 10
    /// Messages to other hosts that the server has not acknowledged.
    public var linkBundlesUnackedMax = 4
    /// Bytes of a whole form that is sent to other hosts, or taken from them: the same on all.
    public var linkWholeBytesMax = 16 << 20
    /// Other hosts that are known.
    public var linkHostsMax = 64
    /// How often a second other hosts are told who is in a form, and where. A host takes twice as
    /// many.
    public var linkPresencePerSecondMax = 20

    /// The default limits.
    public init() {}
}

/// A limit as shown in help, status and configuration.
public struct LimitDescription: Sendable {
    /// The name in the configuration and in `server.status`.
    public let name: String
    /// The unit.
    public let unit: String
    /// The reason for the limit.
    public let reason: String
    /// The accepted values.
    public let range: ClosedRange<Int>
    /// The property with the value.
    public let path: any WritableKeyPath<Limits, Int> & Sendable
}

extension Limits {
    /// All limits in display order.
    public static let all: [LimitDescription] = [
        .init(
            "maxFrame", "bytes", "size of one message", 4096...(64 << 20),
            \.maxFrame),
        .init(
            "connectionsMax", "connections", "descriptors and memory", 1...1_000_000,
            \.connectionsMax),
        .init(
            "connectionsPerUserMax", "connections", "fairness between users", 1...1_000_000,
            \.connectionsPerUserMax),
        .init(
            "groupsMax", "groups", "name look-ups, per connection", 16...65_536, \.groupsMax),
        .init(
            "subscriptionsPerUserMax", "subscriptions", "work for each change", 1...1_000_000,
            \.subscriptionsPerUserMax),
        .init(
            "answerBytesMax", "bytes", "answers that nobody reads", 4096...(64 << 20),
            \.answerBytesMax),
        .init(
            "inboxBytesMax", "bytes", "requests that wait for a commit", 4096...(64 << 20),
            \.inboxBytesMax),
        .init(
            "unfinishedBytesPerUserMax", "bytes", "incomplete messages",
            4096...(1 << 40), \.unfinishedBytesPerUserMax),
        .init(
            "heldBytesPerUserMax", "bytes", "requests and answers in memory",
            65_536...(1 << 40), \.heldBytesPerUserMax),
        .init(
            "retainedBytesMax", "bytes", "memory of stalled writes",
            65_536...(1 << 40), \.retainedBytesMax),
        .init(
            "changeLogBytesMax", "bytes", "changes in memory, per form", 4096...(1 << 30),
            \.changeLogBytesMax),
        .init(
            "historyRevisionsMax", "revisions", "size of the store, per form", 1...10_000_000,
            \.historyRevisionsMax),
        .init(
            "historyBytesMax", "bytes", "size of the store, per form", 65_536...(1 << 40),
            \.historyBytesMax),
        .init(
            "historyBytesPerUserMax", "bytes", "size of the store, per user",
            65_536...(1 << 40), \.historyBytesPerUserMax),
        .init(
            "historyRevisionsPerUser", "revisions", "fairness between users", 0...10_000,
            \.historyRevisionsPerUser),
        .init("historyDaysMax", "days", "age of the history", 1...36_500, \.historyDaysMax),
        .init("formsMax", "forms", "memory of the daemon", 1...1_000_000, \.formsMax),
        .init(
            "formsPerUserMax", "forms", "fairness between users", 1...1_000_000,
            \.formsPerUserMax),
        .init("fieldsMax", "controls", "size of a form", 1...100_000, \.fieldsMax),
        .init("optionsMax", "options", "size of a form", 1...1_000_000, \.optionsMax),
        .init(
            "principalsMax", "principals", "time of one request", 1...100_000, \.principalsMax),
        .init("changesMax", "changes", "time of one transaction", 1...100_000, \.changesMax),
        .init(
            "valuesMax", "values", "time of one transaction", 1_000...1_000_000, \.valuesMax),
        .init(
            "patternStepsMax", "steps", "time of one request", 10_000...1_000_000_000,
            \.patternStepsMax),
        .init(
            "requestValuesMax", "values", "time and memory of one request",
            1_000...100_000_000, \.requestValuesMax),
        .init(
            "requestBatchMax", "requests", "time of one JSON-RPC batch", 1...100_000,
            \.requestBatchMax),
        .init(
            "draftBytesMax", "bytes", "drafts are sent to all watchers", 16...(64 << 10),
            \.draftBytesMax),
        .init(
            "draftsPerSecondMax", "drafts", "a dragged slider sends drafts", 1...1_000,
            \.draftsPerSecondMax),
        .init(
            "handlersMax", "connections", "work for each press, per form", 1...10_000,
            \.handlersMax),
        .init("queueMax", "presses", "size of the store, per button", 1...10_000, \.queueMax),
        .init(
            "queueBytesMax", "bytes", "values of presses, per form",
            65_536...(1 << 40), \.queueBytesMax),
        .init(
            "outcomesMax", "presses", "size of the store, per form", 1...10_000, \.outcomesMax),
        .init(
            "proposalsMax", "proposals", "size of the store, per form", 1...1_000,
            \.proposalsMax),
        .init(
            "proposalsPerUserMax", "proposals", "fairness between users", 1...1_000,
            \.proposalsPerUserMax),
        .init(
            "proposalBytesMax", "bytes", "proposals of a form",
            4096...(64 << 20), \.proposalBytesMax),
        .init(
            "proposalsEndedMax", "proposals", "size of the store, per form", 0...1_000,
            \.proposalsEndedMax),
        .init(
            "proposalDaysMax", "days", "how long ended ones are kept", 1...36_500,
            \.proposalDaysMax),
        .init(
            "reclaimSeconds", "s", "how long a handler may be away", 1...3_600,
            \.reclaimSeconds),
        .init("keyHours", "hours", "how late a retry may come", 1...720, \.keyHours),
        .init("keysPerUserMax", "keys", "size of the store", 100...10_000_000, \.keysPerUserMax),
        .init(
            "keyBytesPerUserMax", "bytes", "size of the store", 65_536...(1 << 40),
            \.keyBytesPerUserMax),
        .init("undoDepthMax", "transactions", "memory, per form", 1...10_000, \.undoDepthMax),
        .init(
            "intervalMilliseconds", "ms", "loss with durability interval",
            1...60_000, \.intervalMilliseconds),
        .init(
            "unwrittenBytesMax", "bytes", "edits that wait for the disk",
            65_536...(1 << 40), \.unwrittenBytesMax),
        .init(
            "linkOutboxBytesMax", "bytes", "unsent edits, per form",
            65_536...(1 << 40), \.linkOutboxBytesMax),
        .init(
            "linkBundleBytesMax", "bytes", "size of a message between hosts",
            1_024...(1 << 20), \.linkBundleBytesMax),
        .init(
            "linkBundlesUnackedMax", "messages", "what is sent again after a loss", 1...64,
            \.linkBundlesUnackedMax),
        .init(
            "linkWholeBytesMax", "bytes", "size of a form between hosts", (1 << 20)...(64 << 20),
            \.linkWholeBytesMax),
        .init("linkHostsMax", "hosts", "size of a fleet", 1...256, \.linkHostsMax),
        .init(
            "linkPresencePerSecondMax", "messages", "work of all hosts, per form", 1...1_000,
            \.linkPresencePerSecondMax),
    ]
}

extension LimitDescription {
    fileprivate init(
        _ name: String, _ unit: String, _ reason: String, _ range: ClosedRange<Int>,
        _ path: any WritableKeyPath<Limits, Int> & Sendable
    ) {
        self.name = name
        self.unit = unit
        self.reason = reason
        self.range = range
        self.path = path
    }
}
