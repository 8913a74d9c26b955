/// What the engine wants done: by the shell, in order, and by itself at the end of the iteration.
///
///     append, log ──▶ for the shell ──the event ends: `drain`──▶ performed
///     cutOff ──▶ due ──the iteration ends: `takeCutOffs`──▶ a goodbye or a close
///
/// A connection is never closed where it is found to be too far behind, because that is in the
/// middle of work for others.
struct Effects {
    /// Who must be cut off at the end of the iteration.
    enum CutOff {
        /// A connection that is too far behind.
        case slow(Connection)
        /// An account that held more memory than its limit.
        case greedy(Account)

        /// The object that is cut off.
        fileprivate var target: AnyObject {
            switch self {
            case .slow(let connection): connection
            case .greedy(let account): account
            }
        }
    }

    private var pending: [Effect] = []
    private(set) var cutOffs: [CutOff] = []
    /// The targets of `cutOffs`.
    private var targets: Set<ObjectIdentifier> = []

    mutating func append(_ effect: Effect) { pending.append(effect) }

    mutating func log(_ entry: LogEntry) { pending.append(.log(entry)) }

    mutating func drain(into shell: inout [Effect]) {
        if pending.isEmpty { return }
        if shell.isEmpty {
            swap(&pending, &shell)
        } else {
            shell += pending
            pending.removeAll(keepingCapacity: true)
        }
    }

    /// Somebody must be cut off at the end of the iteration.
    mutating func cutOff(_ cutOff: CutOff) {
        if targets.insert(ObjectIdentifier(cutOff.target)).inserted { cutOffs.append(cutOff) }
    }

    mutating func takeCutOffs() -> [CutOff] {
        if cutOffs.isEmpty { return [] }
        defer { (cutOffs, targets) = ([], []) }
        return cutOffs
    }
}
