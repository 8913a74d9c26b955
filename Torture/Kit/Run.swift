/// The parameters of a row: executables, a folder on a real disk, a seed, and how much to test.

import Glibc
public import TestKit

/// One run of one row.
public final class Run {
    /// The folder of `pickersyncd` and `pickerctl`.
    public let executables: String
    /// The folder Torture/ of the sources.
    public let sources: String
    /// A folder for this row on a real file system, short enough for socket paths.
    public let folder: String
    /// The seed of the random generator, printed with the row.
    public let seed: UInt64
    /// The randomness itself.
    public var random: SplitMix64
    /// The part of the whole test to run: 1 for all of it.
    public let share: Double
    /// What all watchers of all rows saw (promise 7).
    public let tally: WatchTally
    /// Whether times are checked, which is only possible if nothing else runs on the machine.
    public let isTimed: Bool
    /// Whether progress is printed to standard error.
    public let isTalkative: Bool
    private let started = monotonicNanoseconds()

    /// A run in a new folder below `scratch`.
    public init(
        executables: String, scratch: String, sources: String, seed: UInt64, share: Double,
        tally: WatchTally, isTimed: Bool = true, isTalkative: Bool = false
    ) throws {
        self.executables = executables
        self.sources = sources
        self.seed = seed
        self.share = share
        self.tally = tally
        self.isTimed = isTimed
        self.isTalkative = isTalkative
        random = SplitMix64(seed: seed)
        var template = Array("\(scratch)/t-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("mkdtemp in \(scratch): \(errno)") }
        folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { Folder.remove(folder) }

    /// The part of `whole`, at least one.
    public func count(_ whole: Int) -> Int {
        share >= 1 ? whole : max(1, Int(Double(whole) * share))
    }

    /// Whether the whole test runs.
    public var isWhole: Bool { share >= 1 }

    /// Seconds since it began.
    public var elapsed: Double { Double(monotonicNanoseconds() - started) / 1e9 }

    /// Prints progress.
    public func say(_ line: @autoclosure () -> String) {
        guard isTalkative else { return }
        Console.error("  \(line())")
    }
}

/// Nanoseconds of the monotonic clock.
public func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Files and folders by name.
public enum Folder {
    /// Creates a folder; an existing one is not an error.
    public static func make(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Trouble("mkdir \(path): \(errno)")
        }
    }

    /// The names in a folder, sorted; empty if it does not exist.
    public static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file or a folder with all that is in it.
    public static func remove(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        for name in names(path) { remove(path + "/" + name) }
        rmdir(path)
    }

    /// A file's bytes; `nil` where it cannot be read.
    public static func contents(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer.prefix(count)
        }
    }

    /// Writes a file, replacing its contents.
    public static func write(_ path: String, _ bytes: some Collection<UInt8>) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Trouble("open \(path): \(errno)") }
        defer { close(descriptor) }
        let bytes = Array(bytes)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            guard count > 0 else { throw Trouble("write \(path): \(errno)") }
            done += count
        }
    }

    /// Copies the files of a folder, without subfolders.
    public static func copy(_ from: String, to: String) throws {
        try make(to)
        for name in names(from) {
            if let bytes = contents(from + "/" + name) { try write(to + "/" + name, bytes) }
        }
    }

    /// A file's size in bytes; 0 if it does not exist.
    public static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// Lines for people, beside the table.
public enum Console {
    /// Writes a line to standard error.
    public static func error(_ line: String) { write(line, to: STDERR_FILENO) }

    /// Writes a line to standard output, at once.
    public static func line(_ line: String) { write(line, to: STDOUT_FILENO) }

    private static func write(_ line: String, to descriptor: Int32) {
        var text = line + "\n"
        text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
