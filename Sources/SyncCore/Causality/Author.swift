// Who wrote: what the other people at a form are told about an edit.
//
// Always holds: strings are compared as bytes, as everywhere a value is stored.

/// Who wrote a value: the person, the program and the place.
///
/// User and uid are what the kernel said of the peer; client and tty are what it said of itself.
/// Immutable, and a class: each cell and sibling has one, and a copy is one retain instead of four.
public final class Author: Sendable {
    /// The login name of the peer's uid, or the uid in digits.
    public let user: String
    /// The peer's uid, from its socket's credentials.
    public let uid: UInt32
    /// The program, as it named itself: `pickerctl/1.0`.
    public let client: String?
    /// The terminal, as it was named by the program.
    public let tty: String?
    /// The connection's number at its daemon.
    public let connection: UInt64
    /// The daemon's store incarnation.
    public let replica: ReplicaID
    /// The replica as it is shown, made once.
    let replicaText: String
    /// The author as on the wire, JSON text, for one whose writes are still to come: each has it.
    /// Empty for one that came with a stored value.
    let text: [UInt8]

    /// The author with these properties.
    public convenience init(
        user: String, uid: UInt32, client: String? = nil, tty: String? = nil,
        connection: UInt64, replica: ReplicaID
    ) {
        self.init(
            user: user, uid: uid, client: client, tty: tty, connection: connection,
            replica: replica, text: [])
    }

    /// The same author with its text.
    func withText() -> Author {
        var writer = JSONWriter()
        WireAuthor(self).encode(into: &writer)
        return Author(
            user: user, uid: uid, client: client, tty: tty, connection: connection,
            replica: replica, text: writer.take())
    }

    private init(
        user: String, uid: UInt32, client: String?, tty: String?, connection: UInt64,
        replica: ReplicaID, text: [UInt8]
    ) {
        self.text = text
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
    }

    /// Hashes what is cheap and tells authors apart.
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

/// What a register keeps of a write: the value and who wrote it.
public struct Written: Hashable, Sendable {
    /// The value; `nil` for a reset, which is a write too: it competes under the field's policy
    /// like any other, and while it stands the field reads unset and follows its default.
    public let value: JSON?
    /// Who wrote it.
    public let author: Author

    /// `value`, written by `author`.
    public init(value: JSON?, author: Author) {
        self.value = value
        self.author = author
    }
}
