// A line of the log: what a person reads, and what a program may search for.
//
// Always holds: neither the message nor a field has the value of a secure field; whoever writes a
// line out escapes it.

/// A line for the log; never holds the value of a secure field.
public struct LogEntry: Sendable {
    /// syslog(3) priorities, of which these are used.
    public enum Priority: Int, Sendable, Hashable, Comparable, CaseIterable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7

        public static func < (left: Priority, right: Priority) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    public var priority: Priority
    /// One line, escaped by whoever writes it out.
    public var message: String
    /// What the line is about, in an order of its own; left out where people read.
    public var fields: [Field]

    /// A line of that priority.
    public init(_ priority: Priority, _ message: String, _ fields: [Field] = []) {
        self.priority = priority
        self.message = message
        self.fields = fields
    }

    /// What a line is about, apart from its words: systemd.journal-fields(7).
    public struct Field: Sendable, Hashable {
        /// The names that there are; a name is a promise to those who search for it.
        public enum Name: String, Sendable, CaseIterable {
            /// What happened: one of `Event`.
            case event = "EVENT"
            case form = "FORM"
            case field = "FIELD"
            /// The revision or version that came of it.
            case revision = "REVISION"
            case version = "VERSION"
            case uid = "UID"
            case user = "USER"
            case pid = "PID"
            case connection = "CONNECTION"
            /// What the client says that it is.
            case client = "CLIENT"
            /// `error.data.kind` of a refusal.
            case kind = "KIND"
            /// The bound that was met.
            case limit = "LIMIT"

            /// The name in the journal.
            public var journalName: String { "PICKERSYNC_" + rawValue }
        }

        public var name: Name
        public var value: String

        /// A field and its value.
        public init(_ name: Name, _ value: String) {
            self.name = name
            self.value = value
        }

        /// What happened, for those who search for one kind of line.
        public static func event(_ event: Event) -> Field { Field(.event, event.rawValue) }
        public static func form(_ name: String) -> Field { Field(.form, name) }
        public static func field(_ id: String) -> Field { Field(.field, id) }
        public static func connection(_ id: ConnectionID) -> Field {
            Field(.connection, "\(id.number)")
        }
    }

    /// What lines tell of.
    public enum Event: String, Sendable, CaseIterable {
        case connected, disconnected, refused, forbidden
        /// Audit lines: written before the act, which is refused where they cannot be.
        case revealed, applied, options, deleted
        /// A connection was let go because it does not read.
        case slow
        /// The store cannot be written, is written anew, can be written again.
        case storeFailed = "store-failed"
        case storeRestored = "store-restored"
    }
}

extension Peer {
    /// `alice (uid 1000, pid 4242)`, for the log.
    var whom: String { "\(user) (uid \(uid), pid \(pid))" }

    /// Who it is, as fields of a line.
    var logFields: [LogEntry.Field] {
        [
            LogEntry.Field(.uid, "\(uid)"), LogEntry.Field(.user, user),
            LogEntry.Field(.pid, "\(pid)"),
        ]
    }
}
