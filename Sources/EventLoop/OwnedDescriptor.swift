// A file descriptor with one owner. Invariants: only the owner of the value may close the
// descriptor, and it is closed exactly once on every path.

internal import Glibc

/// A file descriptor that is closed when its owner is destroyed.
///
/// It cannot be copied, so the compiler prevents leaks on error paths and double closes. In a
/// daemon, a second close would close a descriptor that another connection has reused. Calls
/// close(2).
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, borrowed: valid while this value lives.
    public let rawValue: CInt

    /// Takes over an open descriptor, for example one that systemd passed.
    public init(adopting rawValue: CInt) {
        precondition(rawValue >= 0, "a descriptor is not negative")
        self.rawValue = rawValue
    }

    deinit { _ = close(rawValue) }

    /// Gives up the ownership: from here on the caller closes the descriptor.
    public consuming func relinquish() -> CInt {
        let rawValue = self.rawValue
        discard self
        return rawValue
    }
}

extension OwnedDescriptor {
    /// Makes calls on the descriptor return at once or wait: fcntl(2), O_NONBLOCK.
    public borrowing func setNonBlocking(_ isNonBlocking: Bool) throws(SystemError) {
        let flags = fcntl(rawValue, F_GETFL)
        let wanted = isNonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK
        guard flags >= 0, fcntl(rawValue, F_SETFL, wanted) == 0 else {
            throw SystemError(errno: errno, operation: "fcntl")
        }
    }
}
