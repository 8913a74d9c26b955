/// The contents of a disk after a power cut, computed from recorded system calls.
///
/// The model is pessimistic, as POSIX allows. Data written since the last sync of its file may be
/// there, missing, or there in part (sectors of 512 bytes). A name that was created, renamed or
/// removed since the last sync of the folder may be in either state. A sync of a file does not
/// include its name.

public import TestKit

/// One line of the record from faults.c.
public struct DiskCall {
    /// `O`pen, `W`rite, `T`runcate, `S`ync, `F`ailed sync, `X` skipped sync, `C`lose, `R`ename,
    /// `U`nlink, `N` for bytes sent on a socket.
    public let kind: UInt8
    /// The descriptor.
    public let descriptor: Int
    /// The offset in the file, its new length, or whether it was truncated by open.
    public let position: Int
    /// Bytes written, or a path.
    public let first: ArraySlice<UInt8>
    /// The second path.
    public let second: ArraySlice<UInt8>

    /// Reads a whole record.
    public static func read(_ bytes: [UInt8]) -> [DiskCall] {
        func number(_ place: Int, _ count: Int) -> Int {
            bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var calls: [DiskCall] = []
        var place = 0
        while place + 24 <= bytes.count {
            let lengths = (number(place + 16, 4), number(place + 20, 4))
            let start = place + 24
            let end = start + lengths.0 + lengths.1
            guard end <= bytes.count else { break }
            calls.append(
                DiskCall(
                    kind: bytes[place], descriptor: number(place + 4, 4),
                    position: number(place + 8, 8), first: bytes[start..<start + lengths.0],
                    second: bytes[start + lengths.0..<end]))
            place = end
        }
        return calls
    }

    var path: String { String(decoding: first, as: UTF8.self) }
    var secondPath: String { String(decoding: second, as: UTF8.self) }
}

/// The files of one folder, with their certain and uncertain contents.
public struct DiskModel {
    private enum Change {
        case write(Int, ArraySlice<UInt8>)
        case cut(Int)
    }

    private struct File {
        var certain: [UInt8] = []
        var pending: [Change] = []
    }

    private enum NameChange {
        case link(String, Int)
        case move(String, String)
        case remove(String)
    }

    private enum Opened { case file(Int), folder }

    private let folder: String
    private var files: [File] = []
    private var names: [String: Int] = [:]
    private var certainNames: [String: Int] = [:]
    private var pendingNames: [NameChange] = []
    private var opened: [Int: Opened] = [:]

    /// An empty folder.
    public init(folder: String) { self.folder = folder }

    /// Applies one call.
    public mutating func apply(_ call: DiskCall, _ random: inout SplitMix64) {
        switch call.kind {
        case UInt8(ascii: "O"): open(call)
        case UInt8(ascii: "C"): opened[call.descriptor] = nil
        case UInt8(ascii: "W"): change(call.descriptor, .write(call.position, call.first))
        case UInt8(ascii: "T"): change(call.descriptor, .cut(call.position))
        case UInt8(ascii: "S"): sync(call.descriptor)
        case UInt8(ascii: "F"):
            // The kernel marks the pages as clean: what is not on disk by now never will be.
            guard case .file(let id) = opened[call.descriptor] else { return }
            files[id].certain = Self.torn(files[id], &random)
            files[id].pending = []
        case UInt8(ascii: "R"):
            name(.move(call.path, call.secondPath))
        case UInt8(ascii: "U"): name(.remove(call.path))
        default: return
        }
    }

    private mutating func open(_ call: DiskCall) {
        if call.path == folder {
            opened[call.descriptor] = .folder
            return
        }
        let id: Int
        if let known = names[call.path] {
            id = known
        } else {
            id = files.count
            files.append(File())
            name(.link(call.path, id))
        }
        opened[call.descriptor] = .file(id)
        if call.position == 1 { files[id].pending.append(.cut(0)) }
    }

    private mutating func change(_ descriptor: Int, _ change: Change) {
        guard case .file(let id) = opened[descriptor] else { return }
        files[id].pending.append(change)
    }

    private mutating func sync(_ descriptor: Int) {
        switch opened[descriptor] {
        case .file(let id):
            for change in files[id].pending { Self.apply(change, to: &files[id].certain) }
            files[id].pending = []
        case .folder:
            certainNames = names
            pendingNames = []
        case nil: return
        }
    }

    private mutating func name(_ change: NameChange) {
        Self.apply(change, to: &names)
        pendingNames.append(change)
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .link(let path, let id): names[path] = id
        case .move(let old, let new):
            if let id = names.removeValue(forKey: old) { names[new] = id }
        case .remove(let path): names[path] = nil
        }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .cut(let length):
            if length < bytes.count {
                bytes.removeLast(bytes.count - length)
            } else {
                bytes += [UInt8](repeating: 0, count: length - bytes.count)
            }
        case .write(let place, let written):
            let end = place + written.count
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(place..<end, with: written)
        }
    }

    /// Some of the pending data, in sectors.
    private static func torn(_ file: File, _ random: inout SplitMix64) -> [UInt8] {
        let sector = 512
        var bytes = file.certain
        for change in file.pending {
            switch change {
            case .cut: if Bool.random(using: &random) { apply(change, to: &bytes) }
            case .write(let place, let written):
                switch Int.random(in: 0..<3, using: &random) {
                case 0: continue
                case 1: apply(change, to: &bytes)
                default:
                    var start = place
                    while start < place + written.count {
                        let end = min((start / sector + 1) * sector, place + written.count)
                        let from = written.startIndex + start - place
                        if Bool.random(using: &random) {
                            let part = written[from..<from + end - start]
                            apply(.write(start, part), to: &bytes)
                        }
                        start = end
                    }
                }
            }
        }
        return bytes
    }

    /// Writes a possible state after the power cut.
    ///
    /// - Parameter tearing: some of the data that was not synced is there; otherwise none of it.
    public func write(
        to target: String, tearing: Bool, _ random: inout SplitMix64
    ) throws {
        Folder.remove(target)
        try Folder.make(target)
        var names = certainNames
        if tearing {
            // A journal keeps the order of names.
            let count = Int.random(in: 0...pendingNames.count, using: &random)
            for change in pendingNames.prefix(count) { Self.apply(change, to: &names) }
        }
        for (path, id) in names.sorted(by: { $0.key < $1.key }) {
            let bytes = tearing ? Self.torn(files[id], &random) : files[id].certain
            try Folder.write(target + path.dropFirst(folder.utf8.count), bytes)
        }
    }
}
