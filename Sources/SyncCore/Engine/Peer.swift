/// The time as the shell measured it, because the core has no clock.
public struct Moment: Sendable, Hashable {
    /// Wall clock: milliseconds since 1970-01-01T00:00Z. It may jump. It is displayed and is an
    /// input of the hybrid logical clock, but durations are not measured with it.
    public var wallMilliseconds: Int64
    /// Monotonic clock: nanoseconds since an arbitrary start, for deadlines and rates.
    public var monotonicNanoseconds: UInt64
    /// Boot clock: milliseconds since an arbitrary start, including suspended time. For data that
    /// is kept for hours.
    public var bootMilliseconds: Int64
    /// The start of the machine that the boot clock counts from; 0 if it is not known.
    public var boot: UInt64

    /// A time on these clocks. Without a boot clock, the monotonic clock is used.
    public init(
        wallMilliseconds: Int64, monotonicNanoseconds: UInt64, bootMilliseconds: Int64? = nil,
        boot: UInt64 = 0
    ) {
        self.boot = boot
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
        self.bootMilliseconds =
            bootMilliseconds ?? Int64(clamping: monotonicNanoseconds / 1_000_000)
    }
}

/// The number of a connection in one run of the daemon; never used again in that run.
public struct ConnectionID: Hashable, Comparable, Sendable {
    /// The number that clients see as `connection`.
    public let number: UInt64

    /// The connection with that number.
    public init(_ number: UInt64) {
        self.number = number
    }

    public static func < (left: ConnectionID, right: ConnectionID) -> Bool {
        left.number < right.number
    }
}

/// The user at the other end, as reported by the kernel when the connection is accepted
/// (SO_PEERCRED, SO_PEERGROUPS: socket(7), unix(7)).
public struct Peer: Sendable, Hashable {
    public let pid: Int32
    public let identity: Identity

    /// Everything except the process. All connections of a user share one object, because they
    /// nearly always have the same groups.
    public final class Identity: Sendable, Hashable {
        public let uid: UInt32
        public let gid: UInt32
        public let groups: [UInt32]
        public let user: String
        public let groupNames: [String]
        /// The uid that the user logged in with; `nil` if nobody logged in. It stays the same after
        /// sudo(8).
        public let loginUID: UInt32?
        /// Whether `loginUID` could be read. It cannot after the end of the process that connected,
        /// which can hand the socket to another one (unix(7), SCM_RIGHTS).
        public let isLoginKnown: Bool
        /// The host of somebody who is connected to another daemon of the fleet, and their uid
        /// there; `nil` for everybody else. `loginUID` is of that host as well.
        let home: Home?
        /// The groups of a user who is in many, as sets, because an access list is compared with
        /// all of them. `nil` if a linear search is faster.
        private let lookUp: (groups: Set<UInt32>, names: Set<String>)?

        private static let searchedMax = 4

        struct Home: Hashable {
            let host: String
            let uid: UInt32
        }

        init(
            uid: UInt32, gid: UInt32, groups: [UInt32], user: String, groupNames: [String],
            loginUID: UInt32?, isLoginKnown: Bool, home: Home? = nil
        ) {
            self.home = home
            self.loginUID = loginUID
            self.isLoginKnown = isLoginKnown
            self.uid = uid
            self.gid = gid
            self.groups = groups
            self.user = user
            self.groupNames = groupNames
            lookUp =
                groups.count > Self.searchedMax ? (Set(groups), Set(groupNames)) : nil
        }

        /// Whether the user is in a group, by its number or by its name.
        func isMember(of group: UInt32) -> Bool {
            gid == group || (lookUp?.groups.contains(group) ?? groups.contains(group))
        }

        func isMember(of group: String) -> Bool {
            // The set compares by Unicode equivalence, so a match is compared by bytes again.
            if let lookUp, !lookUp.names.contains(group) { return false }
            return groupNames.contains { $0.isSameBytes(as: group) }
        }

        public static func == (left: Identity, right: Identity) -> Bool {
            left === right
                || left.uid == right.uid && left.gid == right.gid && left.user == right.user
                    && left.groups == right.groups && left.groupNames == right.groupNames
                    && left.loginUID == right.loginUID
                    && left.isLoginKnown == right.isLoginKnown && left.home == right.home
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(uid)
            hasher.combine(gid)
        }
    }

    public var uid: UInt32 { identity.uid }
    public var gid: UInt32 { identity.gid }
    /// Supplementary groups. They need not include `gid`.
    public var groups: [UInt32] { identity.groups }
    /// The login name, or the uid in digits if the system has no name.
    public var user: String { identity.user }
    /// Names of `gid` and `groups`, as far as the system has names.
    public var groupNames: [String] { identity.groupNames }

    /// A peer with these credentials.
    public init(
        pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], user: String,
        groupNames: [String] = [], loginUID: UInt32? = nil, isLoginKnown: Bool = true
    ) {
        self.pid = pid
        identity = Identity(
            uid: uid, gid: gid, groups: groups, user: user, groupNames: groupNames,
            loginUID: loginUID, isLoginKnown: isLoginKnown)
    }

    /// Another process of the same user.
    public init(pid: Int32, _ identity: Identity) {
        self.pid = pid
        self.identity = identity
    }
}
