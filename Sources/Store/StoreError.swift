/// What can go wrong with the store, each told to a person as thing, reason and next step.
///
/// A closed domain: whoever catches one can name every case. What a peer sends never ends here.

internal import SyncCore

/// Why the store cannot do what was asked.
public enum StoreError: Error, Sendable, Hashable {
    /// Another daemon has the store; `pid` where its lock file says who.
    case locked(file: String, pid: Int32?)
    /// The file does not hold together. `copy` names where it was preserved.
    case damaged(file: String, finding: String, copy: String?)
    /// The file belongs to another program.
    case foreign(file: String, finding: String)
    /// A newer pickersyncd wrote the file: which one, where it says so.
    case newer(file: String, found: Int, known: Int, writer: String?)
    /// Owner, permissions or kind of a file would let others read or replace what is stored.
    case unsafe(file: String, finding: String, remedy: String)
    /// No space, quota or permitted size is left.
    case full(file: String)
    /// The file or its file system cannot be written.
    case readOnly(file: String)
    /// Reading or writing failed: whether the last commit is durable is *unknown*.
    case inputOutput(file: String, reason: String)
    /// A commit failed before; nothing is committed until `Store.rebuild` has succeeded.
    case suspect(file: String)
    /// The store was closed, or a rebuild stopped half-way and must be tried again.
    case closed(file: String)
    /// Anything else: a batch that contradicts the stored rows, no memory.
    case failed(file: String, reason: String)

    /// The file that it is about.
    public var file: String {
        switch self {
        case .locked(let file, _), .damaged(let file, _, _), .foreign(let file, _),
            .newer(let file, _, _, _), .unsafe(let file, _, _), .full(let file),
            .readOnly(let file), .inputOutput(let file, _), .suspect(let file), .closed(let file),
            .failed(let file, _):
            file
        }
    }

    /// Whether a step of one form that failed so says nothing of the file: others may go on.
    var concernsOneForm: Bool {
        if case .failed = self { true } else { false }
    }

    /// Why, without the file's name.
    var reason: String {
        if case .failed(_, let reason) = self { reason } else { description }
    }

    /// What the daemon exits with when it cannot start for this reason (sysexits.h): 75 where
    /// another daemon already serves the store, else 73.
    public var exitStatus: Int32 {
        if case .locked = self { 75 } else { 73 }
    }
}

extension StoreError: CustomStringConvertible {
    /// One line: the thing, the reason, the next step.
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
