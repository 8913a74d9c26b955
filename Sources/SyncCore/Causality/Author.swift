// The author of a write, as other users see it.
//
// Invariant: strings are compared as bytes, as for every stored value.

/// The author of a write: the user, the program and the terminal.
///
/// User and uid come from the kernel; client and tty are claims of the peer. It is an immutable
/// class, because each cell and sibling has one, and a copy is one retain instead of four.
public final class Author: Sendable {
    /// The login name of the peer's uid, or the uid in digits.
    public let user: String
    /// The peer's uid, from its socket's credentials.
    public let uid: UInt32
    /// The program's name, as it claims: `pickerctl/1.0`.
    public let client: String?
    /// The terminal, as the program claims.
    public let tty: String?
    /// The number of the connection at its daemon.
    public let connection: UInt64
    /// The replica of the daemon's store.
    public let replica: ReplicaID
    /// The name of the daemon's host, where the form is shared by several hosts.
    public let host: String?
    /// The replica as text, computed once.
    let replicaText: String
    /// The author as JSON text for the protocol, computed once for authors of new writes. Empty for
    /// an author that was read from the store.
    let text: [UInt8]

    /// An author with these properties.
    public convenience init(
        user: String, uid: UInt32, client: String? = nil, tty: String? = nil,
        connection: UInt64, replica: ReplicaID, host: String? = nil
    ) {
        self.init(
            user: user, uid: uid, client: client, tty: tty, connection: connection,
            replica: replica, host: host, text: [])
    }

    func withText() -> Author {
        Author(
            user: user, uid: uid, client: client, tty: tty, connection: connection,
            replica: replica, host: host,
            text: JSONWriter.bytes { WireAuthor(self).encode(into: &$0) })
    }

    private init(
        user: String, uid: UInt32, client: String?, tty: String?, connection: UInt64,
        replica: ReplicaID, host: String?, text: [UInt8]
    ) {
        self.text = text
        self.host = host
        self.user = user
        self.uid = uid
        self.client = client
        self.tty = tty
        self.connection = connection
        self.replica = replica
        replicaText = replica.description
    }
}

extension Author: Hashable {
    /// Equality of all properties, strings by bytes.
    public static func == (left: Author, right: Author) -> Bool {
        left.uid == right.uid && left.connection == right.connection
            && left.replica == right.replica && left.user.isSameBytes(as: right.user)
            && isSame(left.client, right.client) && isSame(left.tty, right.tty)
            && isSame(left.host, right.host)
    }

    /// Hashes the properties that are cheap and distinguish authors.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(uid)
        hasher.combine(connection)
        hasher.combine(replica)
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isSameBytes(as: right)
        default: false
        }
    }
}

/// A write to a register: the value and its author.
public struct Written: Hashable, Sendable {
    /// The value; `nil` for a reset. A reset is a write too: it competes under the field's policy
    /// like any other, and while it is the current one the field is unset and shows its default.
    public let value: JSON?
    /// The author of the write.
    public let author: Author

    /// `value`, written by `author`.
    public init(value: JSON?, author: Author) {
        self.value = value
        self.author = author
    }
}
