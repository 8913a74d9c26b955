// One daemon at a time. Invariants: the kernel releases the lock with its descriptor, also after a
// crash; the file is never removed, because a lock on a removed file excludes nobody.

internal import Glibc

/// An exclusive lock on a file: flock(2).
public struct LockFile: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Creates the file with mode 0600 if it does not exist, and locks it without waiting.
    ///
    /// The last component must not be a symbolic link: in a directory that others may write, a link
    /// would let them choose which file is opened. Calls open(2) and flock(2).
    /// - Returns: nil if somebody else holds the lock.
    public static func acquire(_ path: String) throws(SystemError) -> LockFile? {
        let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw SystemError(errno: errno, operation: "open", path: path) }
        let descriptor = OwnedDescriptor(adopting: number)
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EWOULDBLOCK: return nil
            case EINTR: continue
            case let reason: throw SystemError(errno: reason, operation: "flock", path: path)
            }
        }
        return LockFile(descriptor: descriptor)
    }

    private init(descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    // A child between fork and exec has a duplicate of the descriptor, with which the lock would
    // remain after close(2) alone.
    deinit { flock(descriptor.rawValue, LOCK_UN) }
}
