// The changes of a shared form that the log of the fleet may not have, as rows of the store.
//
//     seal ──▶ a row in the commit of the edits ──the log has it──▶ removed with a later commit
//
// A start sends the changes in the rows, if these and what the log has are all writes of this
// replica. Otherwise it sends the whole form, which others get as one revision.
//
// Invariants:
// - The mark and the rows only ever say too little: what they do not cover is sent in a whole, and
//   what the log has already is skipped by others.
// - Rows are bounded: beyond that a whole is sent after a start.
// - No row has a secret, as one that was set again or reset must not stay in the store.

/// What the store has of the changes of one form that must be sent: see the head of this file.
struct SharedOutbox {
    private struct Row {
        let name: OngoingName
        /// The newest write in it.
        let newest: Dot
        let bytes: Int
    }

    private static let rowKind = "unsent"
    private static let toldName = OngoingName(kind: "link", id: "told")
    private static let rowsMax = 1_024
    private static let bytesMax = 4 << 20

    /// Empty: nobody is told.
    private let fleet: String
    /// Oldest first.
    private var rows: [Row] = []
    private var bytes = 0
    /// The newest write of this replica that the log has with all before it.
    private var told: Dot?
    private var isToldWritten = true

    /// Nothing is in the store.
    init(fleet: String) { self.fleet = fleet }

    /// Whether a row is one of an outbox.
    static func has(_ row: OngoingRow) -> Bool {
        row.name.kind == rowKind || row.name == toldName
    }

    /// What the store has, and the changes that must be sent; `nil` if the whole form must be.
    ///
    /// - Parameter newest: the newest write of the replica in the form.
    init?(
        _ stored: [OngoingRow], fleet: String, newest: Dot, changes: inout [OutgoingChange]
    ) {
        self.init(fleet: fleet)
        guard !fleet.isEmpty,
            let mark = stored.first(where: { $0.name == Self.toldName }),
            let (markFleet, dot) = Self.mark(mark.state), markFleet == fleet,
            dot.replica == newest.replica
        else { return nil }
        told = dot
        var counter = dot.counter
        for row in stored.sorted(by: { $0.name < $1.name }) where row.name.kind == Self.rowKind {
            guard let deltas = Self.deltas(row.state) else { return nil }
            for delta in deltas where delta.replica == dot.replica {
                guard delta.counters.upperBound > counter else { continue }
                guard delta.counters.lowerBound <= counter + 1 else { return nil }
                counter = delta.counters.upperBound
                changes.append(OutgoingChange(delta))
            }
            note(row, Dot(dot.replica, counter))
        }
        guard counter >= newest.counter else { return nil }
    }

    private mutating func note(_ row: OngoingRow, _ newest: Dot) {
        rows.append(Row(name: row.name, newest: newest, bytes: row.state.count))
        bytes += row.state.count
    }

    /// The log has this write and all of its replica before it.
    mutating func told(_ dot: Dot) {
        if let told, told.replica == dot.replica, told.counter >= dot.counter { return }
        told = dot
        isToldWritten = false
    }

    /// Whether the log has this write, for all that is known.
    func hasTold(_ dot: Dot) -> Bool {
        guard dot.counter > 0 else { return true }
        return told.map { $0.replica == dot.replica && $0.counter >= dot.counter } ?? false
    }

    /// Returns what a batch writes of what the log has taken.
    mutating func settle(_ form: FormKey) -> [StoreOperation] {
        guard let told, !isToldWritten, !fleet.isEmpty else { return [] }
        isToldWritten = true
        let gone = rows.prefix {
            $0.newest.replica != told.replica || $0.newest.counter <= told.counter
        }
        return remove(gone.count, of: form) + [.putOngoing(mark(told, of: form))]
    }

    /// A batch is sealed. Returns what it writes.
    ///
    /// - Parameter items: what others are told once it is durable.
    mutating func seal(_ items: [OutgoingChange], of form: FormKey) -> [StoreOperation] {
        guard !fleet.isEmpty else { return [] }
        var steps = settle(form)
        var changes: [LinkTransaction] = []
        for item in items {
            // What a row cannot have is a gap, until the log has it.
            guard case .transaction(let change) = item else { return steps }
            changes.append(change)
        }
        guard let last = changes.last else { return steps }
        if rows.count >= Self.rowsMax || bytes > Self.bytesMax {
            steps += remove(rows.count, of: form)
        }
        let newest = Dot(last.replica, last.counters.upperBound)
        let row = OngoingRow(
            form: form,
            name: OngoingName(
                kind: Self.rowKind, id: "\(newest.replica)/\(newest.counter.hexDigits)"),
            state: CausalityWriter.versioned { writer in
                writer.count(changes.count)
                for change in changes { writer.blob(change.bytes) }
            })
        note(row, newest)
        return steps + [.putOngoing(row)]
    }

    /// Nothing stays in the store. Returns what a batch removes.
    mutating func removeRows(of form: FormKey) -> [StoreOperation] { remove(rows.count, of: form) }

    private mutating func remove(_ count: Int, of form: FormKey) -> [StoreOperation] {
        let gone = rows.prefix(count)
        defer { rows.removeFirst(count) }
        bytes -= gone.reduce(0) { $0 + $1.bytes }
        return gone.map { .removeOngoing(form: form, name: $0.name) }
    }

    // MARK: Bytes

    private func mark(_ dot: Dot, of form: FormKey) -> OngoingRow {
        OngoingRow(
            form: form, name: Self.toldName,
            state: CausalityWriter.versioned { writer in
                writer.string(fleet)
                dot.write(to: &writer)
            })
    }

    private static func mark(_ bytes: [UInt8]) -> (fleet: String, dot: Dot)? {
        do throws(CausalityDecodeError) {
            var reader = try CausalityReader(versioned: bytes)
            let fleet = try reader.string()
            // A replica that has written nothing has told everything.
            let dot = Dot(try ReplicaID(from: &reader), try reader.unsigned())
            try reader.expectEnd()
            return (fleet, dot)
        } catch { return nil }
    }

    private static func deltas(_ bytes: [UInt8]) -> [FormDelta]? {
        do throws(CausalityDecodeError) {
            var reader = try CausalityReader(versioned: bytes)
            var deltas: [FormDelta] = []
            for _ in 0..<(try reader.unsigned()) {
                deltas.append(try FormDelta(decoding: try reader.blob()))
            }
            try reader.expectEnd()
            return deltas
        } catch { return nil }
    }
}

extension Engine {
    /// Takes what the store has of the changes of a form that must be sent.
    func restoreOutbox(of form: LiveForm, _ rows: [OngoingRow]) {
        if rows.isEmpty { return }
        var changes: [OutgoingChange] = []
        let newest = Dot(replica, form.working.context.highestCounter(of: replica))
        if let link = form.link,
            let outbox = SharedOutbox(
                rows, fleet: configuration.link?.fleet ?? "", newest: newest, changes: &changes)
        {
            link.resume(outbox, changes)
        } else {
            link.gathering.chores += rows.map {
                .removeOngoing(form: $0.form, name: $0.name)
            }
        }
    }

    /// The log of the fleet has a whole of a form, or of one that was deleted.
    func noteTold(_ name: String, covering context: CausalContext) {
        guard let form = sharedForm(name), let shared = form.link else {
            guard let fleet = configuration.link?.fleet,
                link.underWay?.deletedForms[name] == nil
            else { return }
            link.gathering.chores += link.deletedForms.noteInLog(
                name, of: fleet, covering: context, at: now.wallMilliseconds)
            return
        }
        shared.outbox.told(Dot(replica, context.highestCounter(of: replica)))
        link.gathering.chores += shared.outbox.settle(form.key)
    }
}
