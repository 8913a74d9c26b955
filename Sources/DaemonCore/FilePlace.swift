internal import EventLoop
internal import Glibc

// The file at a path, without following a link in the last component: lstat(2).

/// The kinds of file that the daemon tells apart.
enum FilePlace: Hashable {
    case absent
    case directory(Facts)
    case socket(Facts)
    case link(Facts)
    case other

    /// Owner, mode and inode of the file.
    struct Facts: Hashable {
        var uid: UInt32
        var mode: UInt32
        var device: UInt64
        var inode: UInt64
    }

    /// Inspects a path. If that fails, the file counts as absent if a part of the path is missing,
    /// otherwise as another kind of file.
    init(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            self = errno == ENOENT || errno == ENOTDIR ? .absent : .other
            return
        }
        let facts = Facts(
            uid: status.st_uid, mode: status.st_mode & 0o7777, device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino))
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .directory(facts)
        case S_IFSOCK: self = .socket(facts)
        case S_IFLNK: self = .link(facts)
        default: self = .other
        }
    }

    /// The path with all symbolic links resolved: realpath(3).
    static func resolving(_ path: String) -> FilePlace {
        guard let real = realpath(path, nil) else { return .absent }
        defer { free(real) }
        return FilePlace(String(cString: real))
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Gives the members of a group access to a folder, but not to another file that has replaced
    /// it: open(2) with O_NOFOLLOW, fchown(2), fchmod(2).
    static func open(_ folder: String, to group: UInt32) throws(SystemError) {
        let number = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(errno: errno, operation: "open", path: folder) }
        let descriptor = OwnedDescriptor(adopting: number)
        guard fchown(descriptor.rawValue, uid_t.max, group) == 0,
            fchmod(descriptor.rawValue, 0o750) == 0
        else { throw SystemError(errno: errno, operation: "chgrp", path: folder) }
    }

    /// Creates a folder and its missing parents: mkdir(2).
    ///
    /// The mode is that of the last one; its parents get 0755, minus the umask.
    static func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        if mkdir(path, mode_t(mode)) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            let above = folder(of: path)
            guard above != path, above != "." else { break }
            try makeDirectory(above, mode: 0o755)
            if mkdir(path, mode_t(mode)) == 0 || errno == EEXIST { return }
        default: break
        }
        throw SystemError(errno: errno, operation: "mkdir", path: path)
    }
}
