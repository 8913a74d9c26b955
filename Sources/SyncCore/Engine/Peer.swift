/// A moment as the shell measured it: the core has no clock of its own.
public struct Moment: Sendable, Hashable {
    /// Wall clock: milliseconds since 1970-01-01T00:00Z. It may jump; it is shown and it feeds the
    /// hybrid logical clock, nothing is measured with it.
    public var wallMilliseconds: Int64
    /// Monotonic clock: nanoseconds since an arbitrary start. Deadlines and rates rest on it.
    public var monotonicNanoseconds: UInt64
    /// Boot clock: milliseconds since an arbitrary start, those of a suspended machine included.
    /// What is kept for hours rests on it.
    public var bootMilliseconds: Int64

    /// A moment of these clocks; the boot clock is the monotonic one where it is not told.
    public init(
        wallMilliseconds: Int64, monotonicNanoseconds: UInt64, bootMilliseconds: Int64? = nil
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
        self.bootMilliseconds =
            bootMilliseconds ?? Int64(clamping: monotonicNanoseconds / 1_000_000)
    }
}

/// Names one connection of one run of the daemon; never used again in that run.
public struct ConnectionID: Hashable, Comparable, Sendable {
    /// The number that clients see as `connection`.
    public let number: UInt64

    /// The connection of that number.
    public init(_ number: UInt64) {
        self.number = number
    }

    public static func < (left: ConnectionID, right: ConnectionID) -> Bool {
        left.number < right.number
    }
}

/// Who is at the other end, as the kernel says (SO_PEERCRED, SO_PEERGROUPS: socket(7), unix(7)),
/// read once when the connection is accepted.
public struct Peer: Sendable, Hashable {
    public let pid: Int32
    public let identity: Identity

    /// All but the process: one object serves all connections of a user, as they nearly always have
    /// the same groups.
    public final class Identity: Sendable, Hashable {
        public let uid: UInt32
        public let gid: UInt32
        public let groups: [UInt32]
        public let user: String
        public let groupNames: [String]

        init(
            uid: UInt32, gid: UInt32, groups: [UInt32], user: String, groupNames: [String]
        ) {
            self.uid = uid
            self.gid = gid
            self.groups = groups
            self.user = user
            self.groupNames = groupNames
        }

        public static func == (left: Identity, right: Identity) -> Bool {
            left === right
                || left.uid == right.uid && left.gid == right.gid && left.user == right.user
                    && left.groups == right.groups && left.groupNames == right.groupNames
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(uid)
            hasher.combine(gid)
        }
    }

    public var uid: UInt32 { identity.uid }
    public var gid: UInt32 { identity.gid }
    /// Supplementary groups, `gid` not necessarily among them.
    public var groups: [UInt32] { identity.groups }
    /// The login name; the uid in digits where the system knows no name.
    public var user: String { identity.user }
    /// Names of `gid` and of `groups`, as far as the system knows them.
    public var groupNames: [String] { identity.groupNames }

    /// A peer with the given credentials.
    public init(
        pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], user: String,
        groupNames: [String] = []
    ) {
        self.pid = pid
        identity = Identity(uid: uid, gid: gid, groups: groups, user: user, groupNames: groupNames)
    }

    /// Another process of the same.
    public init(pid: Int32, _ identity: Identity) {
        self.pid = pid
        self.identity = identity
    }
}
