/// Controls Torture/Faults/faults.c: builds it, and tells it which calls must fail.

import Glibc

/// A disk and a clock for one daemon.
public final class FaultShim {
    /// The words of `struct control`, in order.
    public enum Word: Int, Sendable {
        case calls, syncs, killAt, killHow, syncFails, writeErrno, noSync
        case clockShift, bootShift
    }

    /// The point in a call at which the process is killed.
    public enum KillPoint: UInt64, CaseIterable, Sendable {
        case before, after, middle
    }

    private let folder: String
    private let library: String
    private let words: UnsafeMutablePointer<UInt64>
    private static let bytes = 4096

    /// A shim with its files in `folder`.
    public init(folder: String, library: String) throws {
        // The loader ignores a missing library, and then nothing would ever fail.
        guard access(library, R_OK) == 0 else { throw Trouble("\(library) is not there") }
        self.folder = folder
        self.library = library
        let path = folder + "/control"
        try Folder.write(path, [UInt8](repeating: 0, count: Self.bytes))
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        guard
            let shared = mmap(
                nil, Self.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            shared != MAP_FAILED
        else { throw Trouble("mmap \(path): \(errno)") }
        words = shared.assumingMemoryBound(to: UInt64.self)
    }

    deinit { munmap(words, Self.bytes) }

    /// One word of the control block.
    public subscript(word: Word) -> UInt64 {
        get { words[word.rawValue] }
        set { words[word.rawValue] = newValue }
    }

    /// The offset of the wall clock in milliseconds.
    public var clockShift: Int64 {
        get { Int64(bitPattern: self[.clockShift]) }
        set { self[.clockShift] = UInt64(bitPattern: newValue) }
    }

    /// Lets time pass, in all since the start: moves the wall clock and the boot clock forward.
    ///
    /// - Parameter leap: How far the wall clock was set wrong, in milliseconds.
    public func pass(_ milliseconds: Int64, leap: Int64 = 0) {
        clockShift = milliseconds + leap
        self[.bootShift] = UInt64(bitPattern: milliseconds)
    }

    /// No call fails any more.
    public func heal() {
        self[.killAt] = 0
        self[.syncFails] = 0
        self[.writeErrno] = 0
    }

    /// The environment of a daemon with the store in `directory`.
    public func environment(directory: String, trace: String? = nil) -> [String: String] {
        var variables = [
            "LD_PRELOAD": library, "TORTURE_DIRECTORY": directory,
            "TORTURE_CONTROL": folder + "/control",
        ]
        variables["TORTURE_TRACE"] = trace
        return variables
    }

    /// Compiles the shim; a C compiler came with Swift.
    public static func build(source: String, into folder: String) throws -> String {
        let library = folder + "/faults.so"
        let arguments = ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
        for compiler in compilers {
            guard access(compiler, X_OK) == 0 else { continue }
            if try Child([compiler] + arguments, errors: library + ".log").wait() == 0 {
                return library
            }
        }
        throw Trouble("no C compiler made \(source); see \(library).log")
    }

    private static var compilers: [String] {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        let folders = path.split(separator: ":").map(String.init)
        return ["clang", "cc", "gcc"].flatMap { name in folders.map { $0 + "/" + name } }
    }
}
