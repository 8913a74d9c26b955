/// What batches change in place, as long as only the log has it.
///
/// An edit changes a head, a field and the clock. Each is a page of its own, so a commit would
/// write several times what the edit is. Instead, the row of the log that a commit inserts has
/// these changes too, and they are folded into their tables later: by `Store.maintain`, at a clean
/// stop, and in the transaction of any batch that changes more than this.
///
///     commit ──▶ in the log ──fold──▶ in the tables
///
/// Invariants: rows up to the number in the head of no form are folded. Whatever a batch does not
/// leave to the log is done after a fold, so operations take effect in the order of their commits.
/// Only revisions that are folded leave the log without one.
/// A secret is never left to the log.

internal import SyncCore

/// The changes of one batch to one form.
struct LogState {
    var head: Head?
    var fields: [FieldRow] = []
    var clock: [UInt8]?

    struct Head {
        let revision: UInt64
        let context: [UInt8]
    }

    /// The column `state`.
    var encoded: [UInt8] {
        var writer = CausalityWriter()
        writer.optional(head) {
            $0.unsigned($1.revision)
            $0.blob($1.context)
        }
        writer.optional(clock) { $0.blob($1) }
        writer.count(fields.count)
        var first: [UInt8]?
        for row in fields {
            writer.string(row.field)
            let state = row.state
            let packed = first.flatMap { LogDelta.packed(state, from: $0) }
            writer.optional(packed) { writer, _ in writer.count(state.count) }
            writer.blob(packed ?? state)
            first = first ?? state
        }
        return writer.bytes
    }

    init() {}

    /// Reads the column `state`; `nil` if it is damaged.
    init?(_ bytes: [UInt8], of form: FormKey) {
        var reader = CausalityReader(bytes)
        do throws(CausalityDecodeError) {
            head = try reader.optional { reader throws(CausalityDecodeError) in
                Head(revision: try reader.unsigned(), context: try reader.blob())
            }
            clock = try reader.optional { reader throws(CausalityDecodeError) in
                try reader.blob()
            }
            for _ in 0..<(try reader.unsigned32()) {
                let name = try reader.string()
                let count = try reader.optional { reader throws(CausalityDecodeError) in
                    Int(try reader.unsigned32())
                }
                var state = try reader.blob()
                if let count {
                    guard let first = fields.first?.state,
                        let unpacked = LogDelta.unpacked(state, from: first, count: count)
                    else { return nil }
                    state = unpacked
                }
                fields.append(FieldRow(form: form, field: name, state: state))
            }
            try reader.expectEnd()
        } catch { return nil }
    }
}

/// The changes of a batch that its rows of the log can have.
struct LogStates {
    private var forms: [FormKey: LogState] = [:]

    /// The changes of a batch; `nil` if it also does what only the tables can have, or if there is
    /// no row for a change.
    init?(of operations: [StoreOperation]) {
        var appended: [FormKey] = []
        var clock: [UInt8]?
        for operation in operations {
            switch operation {
            case .putHead(let form, let revision, let context):
                forms[form, default: LogState()].head = LogState.Head(
                    revision: revision, context: context)
            case .putField(let row):
                if row.isSealed { return nil }
                forms[row.form, default: LogState()].fields.append(row)
            case .appendRevision(let row):
                if appended.last != row.form { appended.append(row.form) }
            case .putClock(let bytes): clock = bytes
            // See `prunesUnfolded`.
            case .pruneRevisions: break
            case .putKey, .pruneKeys, .putOngoing, .removeOngoing: break
            case .putForm, .deleteForm, .removeField, .redactRevision: return nil
            }
        }
        guard let first = appended.first, Set(appended).isSuperset(of: forms.keys) else {
            return nil
        }
        if let clock { forms[first, default: LogState()].clock = clock }
    }

    static func has(_ operation: StoreOperation) -> Bool {
        switch operation {
        case .putHead, .putField, .putClock: true
        default: false
        }
    }

    /// The changes of a form, for its first row.
    mutating func take(_ form: FormKey) -> [UInt8]? { forms.removeValue(forKey: form)?.encoded }
}

/// The newest change of everything that is not folded.
struct Unfolded {
    private struct Name: Hashable {
        let form: FormKey
        /// Names are compared by bytes.
        let field: [UInt8]
    }

    private(set) var heads: [FormKey: LogState.Head] = [:]
    private(set) var clock: [UInt8]?
    private var fields: [Name: FieldRow] = [:]

    var fieldRows: some Sequence<FieldRow> { fields.values }

    /// Adds the changes of a batch before those that it has.
    mutating func add(_ state: LogState, of form: FormKey) {
        if heads[form] == nil { heads[form] = state.head }
        if clock == nil { clock = state.clock }
        for row in state.fields.reversed() {
            let name = Name(form: form, field: Array(row.field.utf8))
            if fields[name] == nil { fields[name] = row }
        }
    }
}

extension Database {
    func unfolded() throws(StoreError) -> Unfolded {
        var unfolded = Unfolded()
        let rows = try statement(.unfolded)
        defer { rows.reset() }
        while try rows.step() {
            let form = rows.integer(0)
            guard let state = LogState(rows.blob(1), of: form) else { throw damagedLog(form) }
            unfolded.add(state, of: form)
        }
        return unfolded
    }

    /// Folds everything into the tables, within a transaction. `markFolded` must end it.
    func fold() throws(StoreError) {
        let unfolded = try unfolded()
        for (form, head) in unfolded.heads.sorted(by: { $0.key < $1.key }) {
            try run(.moveHead, form, head.revision, head.context)
            guard changes == 1 else { throw damagedLog(form) }
        }
        for row in unfolded.fieldRows { try apply(.putField(row)) }
        if let clock = unfolded.clock { try apply(.putClock(clock)) }
    }

    /// All rows of the log are folded.
    func markFolded() throws(StoreError) { try run(.markFolded) }

    /// Whether a batch removes revisions whose changes only the log has. Otherwise a fold would
    /// only make its commit longer.
    func prunesUnfolded(_ steps: [StoreOperation]) throws(StoreError) -> Bool {
        for case .pruneRevisions(let form, let through, let before, _) in steps {
            func stays(_ revision: UInt64, _ at: Int64) -> Bool {
                revision > through && at >= before
            }
            for case .appendRevision(let row) in steps
            where row.form == form && !stays(row.revision, row.at) {
                return true
            }
            let oldest = try statement(.oldestUnfolded, form)
            defer { oldest.reset() }
            guard try oldest.step() else { continue }
            guard let row = oldest.logRow else { throw damagedLog(form) }
            if !row.heads.allSatisfy({ stays($0.revision, $0.at) }) { return true }
        }
        return false
    }

    /// The number of edits that are not folded.
    func countUnfolded() throws(StoreError) -> Int {
        let statement = try statement(.countUnfolded)
        defer { statement.reset() }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }
}
