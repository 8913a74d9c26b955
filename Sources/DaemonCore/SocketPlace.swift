internal import EventLoop
internal import Glibc

// The socket that the daemon binds by itself.
//
// Invariants: one daemon for each path. A daemon takes the lock `PATH.lock` before it binds, and
// keeps it until it exits. It removes a socket only while it has the lock, and only if nobody
// answers there. So of two daemons that start at once only one binds, and no daemon takes over the
// socket of a running one, even if that was started without a lock. The lock file is never removed
// (see `LockFile`).

/// A bound socket, with the resources that are released at the end.
struct SocketPlace: ~Copyable {
    let path: String
    private let lock: LockFile
    private var listener: OwnedDescriptor?
    private let facts: FilePlace.Facts

    /// Binds and listens.
    /// - Parameters:
    ///   - group: its members may connect too (mode 0660 instead of 0600).
    ///   - stateDirectory: of the store behind it; kept in the lock for those who start it again.
    /// - Throws: status 75 where another daemon serves the path, 78 for a path that is too long,
    ///   73 for everything else.
    static func bind(
        _ path: String, group: UInt32?, stateDirectory: String? = nil
    ) throws(StartFailure) -> SocketPlace {
        guard path.utf8.count <= UnixSocket.pathBytesMax else {
            throw StartFailure(
                .configuration,
                "the socket's path \(path) has \(path.utf8.count) bytes, and a socket's may have "
                    + "\(UnixSocket.pathBytesMax): name a shorter one with --socket")
        }
        try prepareFolder(FilePlace.folder(of: path), group: group)
        let lock = try takeLock(path, stateDirectory)
        try clear(path)
        do throws(SystemError) {
            // Private until the group is set.
            let listener = try UnixSocket.listen(at: path, mode: 0o600)
            guard case .socket(let facts) = FilePlace(path) else {
                throw SystemError(errno: ENOENT, operation: "lstat", path: path)
            }
            if let group { try UnixSocket.permit(path, group: group, mode: 0o660) }
            return SocketPlace(path: path, lock: lock, listener: listener, facts: facts)
        } catch {
            throw StartFailure(.cannotCreate, "cannot create the socket: \(error)")
        }
    }

    private init(
        path: String, lock: consuming LockFile, listener: consuming OwnedDescriptor,
        facts: FilePlace.Facts
    ) {
        self.path = path
        self.lock = lock
        self.listener = consume listener
        self.facts = facts
    }

    /// The listening descriptor, once.
    mutating func takeListener() -> OwnedDescriptor? { listener.take() }

    /// Removes the socket if it is still the one that was bound, then releases the lock.
    consuming func remove() {
        guard case .socket(let found) = FilePlace(path), found.inode == facts.inode,
            found.device == facts.device
        else { return }
        _ = unlink(path)
    }

    // MARK: Steps

    /// A private folder is accessible to us, and to the group if there is one.
    private static func prepareFolder(_ folder: String, group: UInt32?) throws(StartFailure) {
        try refuseStrangers(above: folder)
        do throws(SystemError) {
            if FilePlace(folder) == .absent {
                try FilePlace.makeDirectory(folder, mode: 0o700)
                if let group { try FilePlace.open(folder, to: group) }
            }
        } catch {
            throw StartFailure(.cannotCreate, "cannot create the socket's folder: \(error)")
        }
        // A link to a folder, such as /var/run, is followed if nobody else can change it.
        if case .link(let facts) = FilePlace(folder) { try refuseStranger(facts, folder) }
        guard case .directory(let facts) = FilePlace.resolving(folder) else {
            throw StartFailure(
                .cannotCreate, "\(folder) is not a directory: choose another with --socket")
        }
        try refuseStranger(facts, folder)
        if facts.mode & 0o002 != 0, facts.mode & 0o1000 == 0 {
            throw StartFailure(
                .cannotCreate,
                "everybody may write \(folder), so anybody could replace the socket: "
                    + "chmod o-w it, or name another with --socket")
        }
    }

    /// Who owns a folder above could put another in the place of the last one. Root is no
    /// exception: what it makes in another user's folder is that user's to move.
    private static func refuseStrangers(above folder: String) throws(StartFailure) {
        var path = folder
        while FilePlace.resolving(path) == .absent {
            let above = FilePlace.folder(of: path)
            guard above != path else { return }
            path = above
        }
        guard let real = realpath(path, nil) else { return }
        defer { free(real) }
        path = String(cString: real)
        while true {
            if case .directory(let facts) = FilePlace(path) { try refuseStranger(facts, path) }
            guard path != "/" else { return }
            path = FilePlace.folder(of: path)
        }
    }

    private static func refuseStranger(
        _ facts: FilePlace.Facts, _ folder: String
    ) throws(StartFailure) {
        guard facts.uid != geteuid(), facts.uid != 0 else { return }
        throw StartFailure(
            .cannotCreate,
            "\(folder) belongs to uid \(facts.uid), who could replace the socket: "
                + "name another with --socket")
    }

    private static func takeLock(
        _ path: String, _ stateDirectory: String?
    ) throws(StartFailure) -> LockFile {
        let lockPath = path + ".lock"
        let lock: LockFile?
        do throws(SystemError) {
            lock = try LockFile.acquire(lockPath)
        } catch {
            throw StartFailure(.cannotCreate, "cannot lock the socket: \(error)")
        }
        guard let lock else {
            let whom = writtenPID(lockPath).map { " (pid \($0))" } ?? ""
            throw StartFailure(
                .alreadyServed, "another pickersyncd\(whom) serves \(path): it holds \(lockPath)")
        }
        writeHolder(lockPath, stateDirectory)
        return lock
    }

    /// Removes a stale socket, while holding the lock.
    private static func clear(_ path: String) throws(StartFailure) {
        switch FilePlace(path) {
        case .absent: return
        case .socket: break
        case .link:
            throw StartFailure(
                .cannotCreate, "\(path) is a symbolic link, which is not followed: remove it")
        case .directory, .other:
            throw StartFailure(
                .cannotCreate, "\(path) exists and is not a socket: remove it or choose another"
            )
        }
        let found: UnixSocket.Probe
        do throws(SystemError) {
            found = try UnixSocket.probe(path)
            if found == .abandoned { try UnixSocket.remove(path) }
        } catch {
            throw StartFailure(.cannotCreate, "cannot reuse \(path): \(error)")
        }
        guard found != .answering else {
            throw StartFailure(
                .alreadyServed, "another process serves \(path): stop it or choose another path")
        }
    }

    /// Describes what `bind` would find, without changing anything.
    static func inspect(_ path: String) throws(StartFailure) -> String {
        switch FilePlace(path) {
        case .absent: return "to be made"
        case .socket: break
        case .link, .directory, .other:
            throw StartFailure(.cannotCreate, "\(path) exists and is not a socket")
        }
        switch try? UnixSocket.probe(path) {
        case .abandoned: return "left by a daemon that is gone, to be replaced"
        case .absent: return "to be made"
        case .answering, nil:
            let whom = writtenPID(path + ".lock").map { "pickersyncd (pid \($0))" } ?? "a process"
            throw StartFailure(.alreadyServed, "\(whom) serves \(path)")
        }
    }

    // MARK: Who holds the lock

    /// Writes our pid, for the error message of another daemon (only the lock itself says that we
    /// run), and the state directory, for clients that find no daemon: another directory would open
    /// another store on this socket.
    private static func writeHolder(_ path: String, _ stateDirectory: String?) {
        let descriptor = Glibc.open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var text = "\(getpid())\n"
        if let stateDirectory, !stateDirectory.utf8.contains(0x0A) {
            text += absolute(stateDirectory) + "\n"
        }
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    private static func writtenPID(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self))
    }
}
