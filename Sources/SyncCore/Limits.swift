/// Every bound of the daemon in one place, each with its unit and the reason for its value.
///
/// A bound is charged to whoever causes it: a connection, a uid, a form. `pickersyncd --help` and
/// `server.status` list them; the configuration's `limits` sets them by these names.
public struct Limits: Sendable, Hashable {
    /// Bytes of one frame's JSON text.
    public var maxFrame = 1 << 20
    /// Connections of all users together.
    public var connectionsMax = 16_384
    /// Connections of one uid.
    public var connectionsPerUserMax = 12_288
    /// Subscriptions of one uid.
    public var subscriptionsPerUserMax = 24_576
    /// Bytes of answers that a connection has not taken before it is read no further.
    public var answerBytesMax = 256 << 10
    /// Bytes of requests that wait behind a commit or a fetch before a connection is read no
    /// further.
    public var inboxBytesMax = 256 << 10
    /// Bytes of frames that have not come whole yet, of all connections of one uid.
    public var unfinishedBytesPerUserMax = 64 << 20
    /// Bytes of requests that wait and answers that were not taken, of all connections of one uid:
    /// 256 connections that stop reading with all that each may hold.
    public var heldBytesPerUserMax = 64 << 20
    /// Bytes of changes that only stalled writes hold, of all forms.
    public var retainedBytesMax = 32 << 20
    /// Bytes of encoded changes of one form kept in memory for subscribers that are behind.
    public var changeLogBytesMax = 4 << 20
    /// Revisions of one form that the store keeps for `since`, history and undo.
    public var historyRevisionsMax = 10_000
    /// Bytes that they take: large texts fall out sooner than small edits.
    public var historyBytesMax = 64 << 20
    /// Bytes of the revisions of all forms that one uid created: the form with most of them drops
    /// its oldest.
    public var historyBytesPerUserMax = 1 << 30
    /// Revisions of each user that the store keeps of a form beyond those: who writes much pushes
    /// nobody else out of its history and undo.
    public var historyRevisionsPerUser = 100
    /// Days that the store keeps them.
    public var historyDaysMax = 7
    /// Forms in the daemon.
    public var formsMax = 1_000
    /// Forms that one uid may have created.
    public var formsPerUserMax = 500
    /// Controls in a form.
    public var fieldsMax = 10_000
    /// Options of all pickers of a form together.
    public var optionsMax = 50_000
    /// Changes in one transaction.
    public var changesMax = 10_000
    /// Values that one transaction may write or go through: a change counts one, that of a control
    /// with `sources` one for each, of a picker of several tags as many as are picked, of wheels
    /// their components and rules. Some tens of milliseconds.
    public var valuesMax = 40_000
    /// Steps that the patterns of a form may take for one request: a step is some nanoseconds, so
    /// some ten milliseconds.
    public var patternStepsMax = 2_000_000
    /// Requests in one JSON-RPC batch.
    public var requestBatchMax = 1_000
    /// Bytes of a draft that somebody is holding.
    public var draftBytesMax = 4 << 10
    /// Drafts a second from one connection.
    public var draftsPerSecondMax = 30
    /// Hours that an idempotency key is kept.
    public var keyHours = 24
    /// Idempotency keys of one uid that are kept: nearly three edits a second with a key of their
    /// own, day and night. Each takes about half a kilobyte of the store and two bytes of memory.
    public var keysPerUserMax = 250_000
    /// Bytes that the answers under them take in the store.
    public var keyBytesPerUserMax = 256 << 20
    /// Transactions of a form that can be undone: beyond them whoever has most loses its oldest.
    public var undoDepthMax = 500
    /// Milliseconds between two writes with `durability = interval`.
    public var intervalMilliseconds = 100
    /// Bytes of revisions that wait to be written below `durability = commit`: beyond them they are
    /// written at once, and while the disk is behind edits are answered when they are written.
    public var unwrittenBytesMax = 64 << 20

    /// The bounds as shipped.
    public init() {}
}

/// One bound as help, status and configuration show it.
public struct LimitDescription: Sendable {
    /// The name in the configuration and in `server.status`.
    public let name: String
    /// What is counted.
    public let unit: String
    /// Why there is such a bound.
    public let reason: String
    /// The values that make sense.
    public let range: ClosedRange<Int>
    /// Where the value lives.
    public let path: any WritableKeyPath<Limits, Int> & Sendable
}

extension Limits {
    /// All bounds, in the order in which they are shown.
    public static let all: [LimitDescription] = [
        .init(
            "maxFrame", "bytes", "one message; a longer one ends the connection", 4096...(64 << 20),
            \.maxFrame),
        .init(
            "connectionsMax", "connections", "descriptors and memory of the daemon", 1...1_000_000,
            \.connectionsMax),
        .init(
            "connectionsPerUserMax", "connections", "no user takes every place", 1...1_000_000,
            \.connectionsPerUserMax),
        .init(
            "subscriptionsPerUserMax", "subscriptions", "work for each change", 1...1_000_000,
            \.subscriptionsPerUserMax),
        .init(
            "answerBytesMax", "bytes", "answers that a client does not take", 4096...(64 << 20),
            \.answerBytesMax),
        .init(
            "inboxBytesMax", "bytes", "requests that wait behind a commit", 4096...(64 << 20),
            \.inboxBytesMax),
        .init(
            "unfinishedBytesPerUserMax", "bytes", "frames held open half sent",
            4096...(1 << 40), \.unfinishedBytesPerUserMax),
        .init(
            "heldBytesPerUserMax", "bytes", "requests and answers that wait, a user",
            65_536...(1 << 40), \.heldBytesPerUserMax),
        .init(
            "retainedBytesMax", "bytes", "changes that stalled writes hold",
            65_536...(1 << 40), \.retainedBytesMax),
        .init(
            "changeLogBytesMax", "bytes", "changes kept in memory, a form", 4096...(1 << 30),
            \.changeLogBytesMax),
        .init(
            "historyRevisionsMax", "revisions", "size of the store, a form", 1...10_000_000,
            \.historyRevisionsMax),
        .init(
            "historyBytesMax", "bytes", "size of the store, a form", 65_536...(1 << 40),
            \.historyBytesMax),
        .init(
            "historyBytesPerUserMax", "bytes", "size of the store, a user's forms",
            65_536...(1 << 40), \.historyBytesPerUserMax),
        .init(
            "historyRevisionsPerUser", "revisions", "no user pushes another out", 0...10_000,
            \.historyRevisionsPerUser),
        .init("historyDaysMax", "days", "age of the history", 1...36_500, \.historyDaysMax),
        .init("formsMax", "forms", "memory of the daemon", 1...1_000_000, \.formsMax),
        .init(
            "formsPerUserMax", "forms", "no user takes every place", 1...1_000_000,
            \.formsPerUserMax),
        .init("fieldsMax", "controls", "size of a form", 1...100_000, \.fieldsMax),
        .init("optionsMax", "options", "size of a form", 1...1_000_000, \.optionsMax),
        .init("changesMax", "changes", "time of one transaction", 1...100_000, \.changesMax),
        .init(
            "valuesMax", "values", "time of one transaction", 1_000...1_000_000, \.valuesMax),
        .init(
            "patternStepsMax", "steps", "time of one request", 10_000...1_000_000_000,
            \.patternStepsMax),
        .init(
            "requestBatchMax", "requests", "time of one JSON-RPC batch", 1...100_000,
            \.requestBatchMax),
        .init(
            "draftBytesMax", "bytes", "a draft is broadcast, never kept", 16...(64 << 10),
            \.draftBytesMax),
        .init(
            "draftsPerSecondMax", "drafts", "a hand on a slider, a connection", 1...1_000,
            \.draftsPerSecondMax),
        .init("keyHours", "hours", "how late a retry may come", 1...720, \.keyHours),
        .init("keysPerUserMax", "keys", "size of the store", 100...10_000_000, \.keysPerUserMax),
        .init(
            "keyBytesPerUserMax", "bytes", "size of the store", 65_536...(1 << 40),
            \.keyBytesPerUserMax),
        .init("undoDepthMax", "transactions", "memory, a form", 1...10_000, \.undoDepthMax),
        .init(
            "intervalMilliseconds", "ms", "what a crash may cost with durability interval",
            1...60_000, \.intervalMilliseconds),
        .init(
            "unwrittenBytesMax", "bytes", "memory, where an answer does not wait for the disk",
            65_536...(1 << 40), \.unwrittenBytesMax),
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
