// One daemon at a time. Always holds: the lock goes with its descriptor, so a crash releases it,
// and the file itself is never removed: a lock on a removed file would lock nobody out.

internal import Glibc

/// An exclusive lock on a file: flock(2).
public struct LockFile: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor

    /// Makes the file if there is none, for its owner alone, and locks it without waiting.
    ///
    /// A symbolic link in the last place is refused: in a directory that others write, it would let
    /// them choose what is opened. Calls open(2) and flock(2).
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
}
