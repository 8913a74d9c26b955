// An entry of the log: a message for people and fields for programs.
//
// Invariant: neither the message nor a field contains the value of a secure field. The writer of
// the log escapes entries.

/// An entry of the log. It never contains the value of a secure field.
public struct LogEntry: Sendable {
    /// Those priorities of syslog(3) that the daemon uses.
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
    /// One line. The writer of the log escapes it.
    public var message: String
    /// Details for searches; not shown to people.
    public var fields: [Field]

    /// An entry with that priority.
    public init(_ priority: Priority, _ message: String, _ fields: [Field] = []) {
        self.priority = priority
        self.message = message
        self.fields = fields
    }

    /// A detail of an entry, for searches: systemd.journal-fields(7).
    public struct Field: Sendable, Hashable {
        /// The names of fields. They are part of the interface for those who search the journal.
        public enum Name: String, Sendable, CaseIterable {
            /// What happened: one of `Event`.
            case event = "EVENT"
            case form = "FORM"
            case field = "FIELD"
            /// The resulting revision or version.
            case revision = "REVISION"
            case version = "VERSION"
            case uid = "UID"
            case user = "USER"
            case pid = "PID"
            case connection = "CONNECTION"
            /// The client's name, as it claims.
            case client = "CLIENT"
            /// `error.data.kind` of a rejection.
            case kind = "KIND"
            /// The limit that was reached.
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

        /// The kind of event, for searches.
        public static func event(_ event: Event) -> Field { Field(.event, event.rawValue) }
        public static func form(_ name: String) -> Field { Field(.form, name) }
        public static func field(_ id: String) -> Field { Field(.field, id) }
        public static func connection(_ id: ConnectionID) -> Field {
            Field(.connection, "\(id.number)")
        }
    }

    /// The kinds of events.
    public enum Event: String, Sendable, CaseIterable {
        case connected, disconnected, refused, forbidden
        /// Audit entries: written before the action, which is rejected if the entry cannot be
        /// written.
        case revealed, applied, options, deleted, redacted
        /// The same for a change of what is guarded without approval.
        case brokenGlass = "broken-glass"
        /// A connection was closed because it does not read.
        case slow
        /// The store cannot be written, is being rebuilt, or can be written again.
        case storeFailed = "store-failed"
        case storeRestored = "store-restored"
    }
}

extension Peer {
    /// `alice (uid 1000, pid 4242)`, for the log.
    var whom: String { "\(user) (uid \(uid), pid \(pid))" }

    var logFields: [LogEntry.Field] {
        [
            LogEntry.Field(.uid, "\(uid)"), LogEntry.Field(.user, user),
            LogEntry.Field(.pid, "\(pid)"),
        ]
    }
}
