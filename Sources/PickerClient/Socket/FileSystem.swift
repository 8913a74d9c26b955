// The file system operations of the client. It only creates what a daemon needs to start.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The properties of a file that the client needs.
public struct FileFacts: Hashable, Sendable {
    /// The kind of file.
    public enum Kind: Hashable, Sendable { case socket, directory, regular, link, other }
    public var kind: Kind
    /// The owner's uid.
    public var owner: UInt32
    /// The group's gid.
    public var group: UInt32
    /// The permission bits, 0…0o7777.
    public var mode: UInt32

    /// The properties of a file.
    public init(kind: Kind, owner: UInt32, group: UInt32, mode: UInt32) {
        self.kind = kind
        self.owner = owner
        self.group = group
        self.mode = mode
    }

    /// The file at `path`: stat(2), or lstat(2) if links are not followed. `nil` if there is none
    /// or it cannot be seen.
    public static func at(_ path: String, followingLinks: Bool = true) -> FileFacts? {
        var facts = stat()
        let status = followingLinks ? stat(path, &facts) : lstat(path, &facts)
        guard status == 0 else { return nil }
        let kind: Kind =
            switch facts.st_mode & S_IFMT {
            case S_IFSOCK: .socket
            case S_IFDIR: .directory
            case S_IFREG: .regular
            case S_IFLNK: .link
            default: .other
            }
        return FileFacts(
            kind: kind, owner: facts.st_uid, group: facts.st_gid, mode: facts.st_mode & 0o7777)
    }
}

/// Creates a directory with mode 0700 and its missing parents: mkdir(2). Returns the errno of the
/// first failure.
func createDirectories(_ path: String) -> Int32? {
    if FileFacts.at(path)?.kind == .directory { return nil }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
        if let failure = createDirectories(String(path[..<slash])) { return failure }
    }
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return nil }
    return errno
}

/// An errno in words: strerror_r(3), the Glibc overlay distinguishes the GNU and POSIX variants.
public func describe(errno code: Int32) -> String {
    String(cString: strerror(code))
}
