/// System calls on files for the store. An error names the file.

internal import CSQLite
internal import Glibc

/// The identity of a file: a copy has another inode, and a reused inode has another birth time. The
/// device is not included, because its number may change at every boot.
struct FileIdentity: Equatable {
    var inode: UInt64
    /// Nanoseconds since 1970; 0 if the file system does not store it.
    var birth: Int64
}

/// Thin wrappers, named after the system calls or what they do.
enum POSIX {
    /// The error for a failed call; `errno` unless a number is given.
    static func failure(_ call: String, _ file: String, _ number: Int32 = errno) -> StoreError {
        switch number {
        case ENOSPC, EDQUOT: .full(file: file)
        case EROFS, EACCES, EPERM: .readOnly(file: file)
        default: .inputOutput(file: file, reason: "\(call): \(text(number))")
        }
    }

    /// strerror(3).
    static func text(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }

    /// lstat(2); `nil` if the file does not exist.
    static func status(_ path: String) throws(StoreError) -> stat? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure("lstat", path)
        }
        return status
    }

    static func exists(_ path: String) throws(StoreError) -> Bool {
        try status(path) != nil
    }

    /// Bytes of a file; 0 if it does not exist.
    static func size(_ path: String) throws(StoreError) -> Int {
        Int(try status(path)?.st_size ?? 0)
    }

    /// statx(2), the only call that returns a file's birth time.
    static func identity(_ path: String) throws(StoreError) -> FileIdentity {
        var inode: UInt64 = 0
        var birth: Int64 = 0
        guard unsafe pickersync_identity(path, &inode, &birth) == 0 else {
            throw failure("statx", path)
        }
        return FileIdentity(inode: inode, birth: birth)
    }

    /// realpath(3).
    static func resolve(_ path: String) throws(StoreError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw failure("realpath", path) }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// rename(2).
    static func move(_ from: String, to: String) throws(StoreError) {
        guard unsafe rename(from, to) == 0 else { throw failure("rename", to) }
    }

    /// unlink(2). A file that does not exist is not an error.
    static func remove(_ path: String) throws(StoreError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
    }

    /// fsync(2) of a file or a directory.
    ///
    /// Not for a file that SQLite has open: closing our descriptor would release its locks
    /// (fcntl(2)).
    static func sync(_ path: String) throws(StoreError) {
        let descriptor = try open(path, O_RDONLY)
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("fsync", path) }
    }

    /// open(2), close-on-exec, never through a symbolic link. A named pipe does not keep the caller
    /// waiting for its other end: O_NONBLOCK changes nothing for regular files.
    static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0
    ) throws(StoreError) -> Int32 {
        while true {
            let descriptor = unsafe Glibc.open(
                path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw failure("open", path) }
        }
    }

    /// Creates an empty file with mode 0600, which must not exist.
    static func create(_ path: String) throws(StoreError) {
        Glibc.close(try open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600))
    }

    /// write(2) until all is written.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, of path: String
    ) throws(StoreError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe Glibc.write(
                descriptor, bytes.baseAddress! + written, bytes.count - written)
            if count > 0 {
                written += count
            } else if errno != EINTR {
                throw failure("write", path)
            }
        }
    }

    /// read(2) until the buffer is full or the file ends.
    /// - Returns: the number of bytes.
    static func read(
        _ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, of path: String
    ) throws(StoreError) -> Int {
        var got = 0
        while got < bytes.count {
            let count = unsafe Glibc.read(
                descriptor, bytes.baseAddress! + got, bytes.count - got)
            if count == 0 { break }
            if count > 0 {
                got += count
            } else if errno != EINTR {
                throw failure("read", path)
            }
        }
        return got
    }

    /// Copies a file. `to` appears only when it is complete and durable.
    static func copy(_ from: String, to: String) throws(StoreError) {
        let partial = to + ".partial"
        try remove(partial)
        let source = try open(from, O_RDONLY)
        defer { Glibc.close(source) }
        let target = try open(partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(StoreError) {
            defer { Glibc.close(target) }
            try copyBytes(from: source, to: target, of: to)
            guard fsync(target) == 0 else { throw failure("fsync", to) }
        } catch {
            try? remove(partial)
            throw error
        }
        try move(partial, to: to)
    }

    private static func copyBytes(
        from source: Int32, to target: Int32, of path: String
    ) throws(StoreError) {
        let size = 1 << 16
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = unsafe try read(buffer, from: source, of: path)
            if count == 0 { return }
            unsafe try write(
                UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: target, of: path)
        }
    }

    /// The names in a directory with this prefix, ascending (readdir(3)).
    static func names(in directory: String, prefix: String) throws(StoreError) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw failure("opendir", directory) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe String(cString: UnsafeRawPointer(tuple).assumingMemoryBound(to: CChar.self))
            }
            if name.utf8.starts(with: prefix.utf8) { names.append(name) }
        }
        return names.sorted()
    }

    /// The contents of a small file; `nil` if it cannot be read or is longer than `bytesMax`.
    static func contents(_ path: String, bytesMax: Int) -> [UInt8]? {
        guard let descriptor = try? open(path, O_RDONLY) else { return nil }
        defer { Glibc.close(descriptor) }
        var got: Int?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax + 1) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            got = unsafe try? read(bytes, from: descriptor, of: path)
            count = got ?? 0
        }
        guard let got, got <= bytesMax else { return nil }
        return bytes
    }

    /// A time as in file names: `20261121T102607.123Z`.
    static func stamp(_ time: timespec) -> String {
        var seconds = time.tv_sec
        var parts = unsafe tm()
        unsafe _ = gmtime_r(&seconds, &parts)
        func digits(_ value: Int, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        return unsafe digits(Int(parts.tm_year) + 1900, 4) + digits(Int(parts.tm_mon) + 1, 2)
            + digits(Int(parts.tm_mday), 2) + "T" + digits(Int(parts.tm_hour), 2)
            + digits(Int(parts.tm_min), 2) + digits(Int(parts.tm_sec), 2) + "."
            + digits(time.tv_nsec / 1_000_000, 3) + "Z"
    }
}
