/// The source of the encryption key: systemd's credentials, or a file in the state directory.
///
/// The plaintext of the key exists only in libsodium's guarded memory.

internal import CSodium
internal import Glibc

extension Sealer {
    /// Loads the key from systemd's credentials, or else from the file `key` in the state
    /// directory, which is created if it does not exist.
    ///
    /// Call this after `Store.open`, which creates the directory and whose lock prevents a second
    /// daemon from creating another key.
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - credentials: `$CREDENTIALS_DIRECTORY` (systemd.exec(5)), where `pickersync-key` contains
    ///     32 bytes or 64 hexadecimal digits; `nil` if it is not set.
    public static func load(
        directory: String, credentials: String?
    ) throws(SealerError) -> Sealer {
        let (sealer, unkept) = try prepare(directory: directory, credentials: credentials)
        do throws(StoreError) {
            try unkept?.keep()
        } catch {
            try? POSIX.remove(directory + "/key.new")
            throw .inputOutput(file: directory + "/key", reason: error.description)
        }
        return sealer
    }

    /// The same, but a new key is not durable until it is kept, which must happen before anything
    /// that was encrypted with it is stored.
    public static func prepare(
        directory: String, credentials: String?
    ) throws(SealerError) -> (sealer: Sealer, unkept: UnkeptKey?) {
        guard sodium_init() >= 0 else { throw .noMemory(file: directory) }
        if let credentials {
            let file = credentials + "/pickersync-key"
            // The mode is not checked: systemd grants access by an ACL, and shows 0440.
            if let sealer = try reading(file, mustBePrivate: false) { return (sealer, nil) }
        }
        let file = directory + "/key"
        if let sealer = try reading(file, mustBePrivate: true) { return (sealer, nil) }
        return (try making(file), UnkeptKey(file: file, directory: directory))
    }

    /// Loads the keys that the hosts of a fleet share: two while it changes its key, of which the
    /// first one seals. They are in these files, or else in systemd's credentials
    /// `pickersync-fleet-key` and `pickersync-fleet-key-other`, or else one in `fleet-key` of the
    /// state directory.
    public static func fleetKeys(
        files: [String], directory: String, credentials: String?
    ) throws(SealerError) -> [Sealer] {
        guard sodium_init() >= 0 else { throw .noMemory(file: directory) }
        let credential = credentials.map { $0 + "/pickersync-fleet-key" }
        if files.isEmpty, let credential,
            let key = try reading(credential, mustBePrivate: false)
        {
            let other = try reading(credential + "-other", mustBePrivate: false)
            return [key] + (other.map { [$0] } ?? [])
        }
        var keys: [Sealer] = []
        for file in files.isEmpty ? [directory + "/fleet-key"] : files {
            guard let key = try reading(file, mustBePrivate: true) else {
                throw .absent(file: file)
            }
            keys.append(key)
        }
        return keys
    }

    /// Makes a new key in a file that does not exist yet, with mode 0600.
    public static func makeFleetKey(file: String) throws(SealerError) {
        guard sodium_init() >= 0 else { throw .noMemory(file: file) }
        let slash = file.lastIndex(of: "/")
        let directory = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        let key = try random(file)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe Glibc.open(file, flags, 0o600)
        guard descriptor >= 0 else {
            guard errno != EEXIST else {
                throw .inputOutput(
                    file: file, reason: "there is such a file already; name another one")
            }
            throw failure("open", file)
        }
        defer { Glibc.close(descriptor) }
        do throws(StoreError) {
            try key.writeKey(to: descriptor, of: file)
            try POSIX.sync(file)
            try POSIX.sync(directory)
        } catch {
            try? POSIX.remove(file)
            throw .inputOutput(file: file, reason: error.description)
        }
    }

    /// The key in a file; `nil` if the file does not exist.
    private static func reading(
        _ file: String, mustBePrivate: Bool
    ) throws(SealerError) -> Sealer? {
        // Without O_NONBLOCK a named pipe would block the start of the daemon forever.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = unsafe Glibc.open(file, flags)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP:
                throw .unsafe(
                    file: file, finding: "a symbolic link", remedy: "put the file itself there")
            default: throw failure("open", file)
            }
        }
        defer { Glibc.close(descriptor) }
        if mustBePrivate { try check(descriptor, file) }

        // One byte more than digits and a newline, to detect a longer file.
        let bytesMax = 66
        guard let memory = unsafe sodium_malloc(bytesMax) else { throw .noMemory(file: file) }
        defer { unsafe sodium_free(memory) }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: memory, count: bytesMax)
        let count: Int
        do throws(StoreError) {
            count = unsafe try POSIX.read(buffer, from: descriptor, of: file)
        } catch {
            throw .inputOutput(file: file, reason: error.description)
        }
        return unsafe try parsing(UnsafeRawBufferPointer(rebasing: buffer[..<count]), of: file)
    }

    /// A key file that others can read is no longer secret; one that others can write is under
    /// their control.
    private static func check(_ descriptor: Int32, _ file: String) throws(SealerError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("fstat", file) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unsafe(
                file: file, finding: "not a regular file", remedy: "put the key itself there")
        }
        guard status.st_uid == geteuid() else {
            throw .unsafe(
                file: file, finding: "owned by uid \(status.st_uid), not by \(geteuid())",
                remedy: "change its owner")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .unsafe(
                file: file,
                finding: "others may use it (mode \(String(status.st_mode & 0o777, radix: 8)))",
                remedy: "chmod 600 it, and set the secure fields again if others may have read it")
        }
    }

    private static func parsing(
        _ bytes: UnsafeRawBufferPointer, of file: String
    ) throws(SealerError) -> Sealer {
        if bytes.count == keyBytes {
            return unsafe try Sealer(file: file) { unsafe $0.copyMemory(from: bytes) }
        }
        let endsLine = unsafe bytes.last == 0x0a
        let isDigits = bytes.count == 64 || (bytes.count == 65 && endsLine)
        guard isDigits else {
            let size = bytes.count > 65 ? "more than 65" : "\(bytes.count)"
            throw .malformed(file: file, finding: "it contains \(size) bytes")
        }
        var decoded = 0
        let sealer = unsafe try Sealer(file: file) { key in
            unsafe _ = sodium_hex2bin(
                key.baseAddress!.assumingMemoryBound(to: UInt8.self), key.count,
                bytes.baseAddress!.assumingMemoryBound(to: CChar.self), 64, nil, &decoded, nil)
        }
        guard decoded == keyBytes else {
            throw .malformed(file: file, finding: "it contains other characters than digits")
        }
        return sealer
    }

    /// Creates a random key, and writes it to a temporary file.
    private static func making(_ file: String) throws(SealerError) -> Sealer {
        let sealer = try random(file)
        let partial = UnkeptKey.partial(of: file)
        do throws(StoreError) {
            try POSIX.remove(partial)
            let descriptor = try POSIX.open(partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            defer { Glibc.close(descriptor) }
            try sealer.writeKey(to: descriptor, of: partial)
        } catch {
            try? POSIX.remove(partial)
            throw .inputOutput(file: file, reason: error.description)
        }
        return sealer
    }

    private static func random(_ file: String) throws(SealerError) -> Sealer {
        unsafe try Sealer(file: file) { unsafe randombytes_buf($0.baseAddress!, $0.count) }
    }

    private static func failure(_ call: String, _ file: String) -> SealerError {
        .inputOutput(file: file, reason: "\(call): \(POSIX.text(errno))")
    }
}

/// A new key whose file is not durable yet.
public struct UnkeptKey: Sendable {
    let file: String
    let directory: String

    static func partial(of file: String) -> String { file + ".new" }

    /// Gives the key file its name. It appears complete and durable, or not at all. Can be called
    /// again after a failure.
    func keep() throws(StoreError) {
        let partial = Self.partial(of: file)
        if try POSIX.exists(partial) {
            try POSIX.sync(partial)
            // link(2), unlike rename(2), never replaces an existing key.
            if unsafe link(partial, file) != 0 {
                let number = errno
                // Left by a call that failed after this step.
                guard number == EEXIST, try POSIX.identity(partial) == POSIX.identity(file) else {
                    throw POSIX.failure("link", file, number)
                }
            }
            try POSIX.remove(partial)
        }
        try POSIX.sync(directory)
    }
}
