/// Errors of the store. The message has the file, the reason and the next step.
///
/// A closed set, so that callers can handle every case. Input from peers never causes one.

internal import SyncCore

/// Why the store cannot do what was requested.
public enum StoreError: Error, Sendable, Hashable {
    /// Another daemon uses the store; `pid` if its lock file contains one.
    case locked(file: String, pid: Int32?)
    /// The file is not consistent. `copy` is the path of the preserved copy.
    case damaged(file: String, finding: String, copy: String?)
    /// The file belongs to another program.
    case foreign(file: String, finding: String)
    /// A newer pickersyncd wrote the file; `writer` is its version, if known.
    case newer(file: String, found: Int, known: Int, writer: String?)
    /// The owner, permissions or type of a file would let others read or replace stored data.
    case unsafe(file: String, finding: String, remedy: String)
    /// The disk, a quota or a permitted size is full.
    case full(file: String)
    /// The file or its file system cannot be written.
    case readOnly(file: String)
    /// A read or write failed. It is *unknown* whether the last commit is durable.
    case inputOutput(file: String, reason: String)
    /// An earlier commit failed. Nothing is committed until `Store.rebuild` has succeeded.
    case suspect(file: String)
    /// The store was closed, or a rebuild was interrupted and must be repeated.
    case closed(file: String)
    /// Anything else: a batch that contradicts the stored rows, or no memory.
    case failed(file: String, reason: String)

    /// The file of the error.
    public var file: String {
        switch self {
        case .locked(let file, _), .damaged(let file, _, _), .foreign(let file, _),
            .newer(let file, _, _, _), .unsafe(let file, _, _), .full(let file),
            .readOnly(let file), .inputOutput(let file, _), .suspect(let file), .closed(let file),
            .failed(let file, _):
            file
        }
    }

    /// Whether the error concerns only one form of a batch, so that the others can be committed.
    var concernsOneForm: Bool {
        if case .failed = self { true } else { false }
    }

    /// The reason, without the file.
    var reason: String {
        if case .failed(_, let reason) = self { reason } else { description }
    }

    /// The daemon's exit status if it cannot start for this reason (sysexits.h): 75 if another
    /// daemon uses the store, otherwise 73.
    public var exitStatus: Int32 {
        if case .locked = self { 75 } else { 73 }
    }
}

extension StoreError: CustomStringConvertible {
    /// One line: the file, the reason, the next step.
    public var description: String {
        switch self {
        case .locked(let file, let pid):
            let holder = pid.map { "pickersyncd with pid \($0)" } ?? "another pickersyncd"
            return "\(file): \(holder) is using this store; stop it, "
                + "or choose another --state-directory"
        case .damaged(let file, let finding, let copy):
            let kept = copy.map { " (preserved as \($0))" } ?? ""
            return "\(file): the store is damaged: \(finding)\(kept); restore a backup, "
                + "or start with an empty --state-directory"
        case .foreign(let file, let finding):
            return "\(file): not a PickerSync store: \(finding); move it away, "
                + "or choose another --state-directory"
        case .newer(let file, let found, let known, let writer):
            return "\(file): written by \(writer ?? "a newer pickersyncd") (schema \(found); this "
                + "is pickersyncd \(Version.current), which knows \(known)); install that version "
                + "again, or restore an older backup with --restore"
        case .unsafe(let file, let finding, let remedy):
            return "\(file): \(finding); \(remedy)"
        case .full(let file):
            return "\(file): no space is left for the store; free some, or raise the quota"
        case .readOnly(let file):
            return "\(file): the store cannot be written; mount its file system read-write and "
                + "let the daemon own the directory"
        case .inputOutput(let file, let reason):
            return "\(file): \(reason); look at the disk and the kernel's log"
        case .suspect(let file):
            return "\(file): a commit failed before; the store is being rebuilt"
        case .closed(let file):
            return "\(file): the store is not open; it will be rebuilt"
        case .failed(let file, let reason):
            return "\(file): \(reason); please report this"
        }
    }
}
