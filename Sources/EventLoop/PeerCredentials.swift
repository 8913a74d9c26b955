// The process at the other end of a Unix socket, as the kernel reports it. A peer cannot forge it.

internal import CUV
internal import Glibc

/// The process that connected, as it was when it called connect(2) or socketpair(2).
///
/// Since then the process may have exited or changed its user, and its id may be reused.
public struct PeerCredentials: Hashable, Sendable {
    /// The process; 0 if it is not visible from our PID namespace.
    public let pid: Int32
    /// The effective user; 65534 if it has no number in our user namespace.
    public let uid: UInt32
    /// The effective group. The supplementary ones are in `groups(of:)`.
    public let gid: UInt32

    /// Credentials as given, for a test or a peer that is known otherwise.
    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Asks the kernel: getsockopt(2), SO_PEERCRED in unix(7).
    public init(of descriptor: CInt) throws(SystemError) {
        var credentials = cuv_credentials()
        let status = unsafe cuv_peer_credentials(descriptor, &credentials)
        guard status == 0 else {
            throw SystemError(errno: -status, operation: "getsockopt SO_PEERCRED")
        }
        self.init(pid: credentials.pid, uid: credentials.uid, gid: credentials.gid)
    }

    /// The supplementary groups of the peer, in the kernel's order: SO_PEERGROUPS, Linux 4.13.
    public static func groups(of descriptor: CInt) throws(SystemError) -> [UInt32] {
        // NGROUPS_MAX is 65,536; nearly everybody is in fewer than 64.
        var room = 64
        while true {
            var groups = [UInt32](repeating: 0, count: room)
            var count = room
            let status = unsafe cuv_peer_groups(descriptor, &groups, &count)
            if status == 0 { return Array(groups.prefix(count)) }
            guard status == -ERANGE, count > room else {
                throw SystemError(errno: -status, operation: "getsockopt SO_PEERGROUPS")
            }
            room = count
        }
    }
}
