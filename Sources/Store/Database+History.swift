/// The revisions of forms: rows of `log`, and those in `older` that are kept beyond them.

internal import SyncCore

extension Database {
    // MARK: Appending

    /// Appends revisions of one form, ascending and newer than all that it has, with what is
    /// changed in place beside them.
    func append(_ rows: ArraySlice<RevisionRow>, _ state: [UInt8]? = nil) throws(StoreError) {
        guard let first = rows.first else { return }
        let end = try statement(.logEnd, first.form)
        var last = try end.step() ? end.count(0) : 0
        end.reset()
        for row in rows {
            guard row.revision > last else {
                throw .failed(
                    file: file, reason: "revision \(row.revision) of form \(row.form) is not new")
            }
            last = row.revision
        }
        try insert(rows, state)
    }

    /// Inserts revisions of one form, ascending, as rows of at most `LogRow.bytesMax` bytes.
    func insert(_ rows: ArraySlice<RevisionRow>, _ state: [UInt8]? = nil) throws(StoreError) {
        var rest = rows
        var state = state
        while !rest.isEmpty {
            var bytes = 0
            let fitting = rest.prefix { row in
                bytes += row.bytesEstimate
                return bytes <= LogRow.bytesMax
            }
            let part = fitting.isEmpty ? rest.prefix(1) : fitting
            try run(.appendLog, part, state)
            state = nil
            rest = rest.dropFirst(part.count)
        }
    }

    /// Runs a query with revisions as the columns of a row of the log, and one value more.
    private func run(
        _ query: Query, _ rows: ArraySlice<RevisionRow>, _ last: some StatementValue
    ) throws(StoreError) {
        guard let first = rows.first, let end = rows.last else { return }
        let (heads, content) = LogRow.columns(of: rows)
        let at = rows.reduce(.min) { max($0, $1.at) }
        try run(query, first.form, first.revision, end.revision, at, heads, content, last)
    }

    // MARK: Reading

    /// Revisions from a number on, ascending, of at most `bytesMax` bytes of notifications; at
    /// least one if there is any.
    func revisions(
        of form: FormKey, from: UInt64, rowsMax: Int, bytesMax: Int
    ) throws(StoreError) -> [RevisionRow] {
        var found = Found(rowsMax: rowsMax, bytesMax: bytesMax)
        var next: UInt64?
        try readLog(.logBetween, form, from, .max) { row, read throws(StoreError) in
            // A watcher must not miss a revision without a word.
            guard row.first == next ?? row.first else { throw damagedLog(form) }
            next = row.last + 1
            return try found.add(row.heads.lazy.filter { $0.revision >= from }, read)
        }
        return found.rows
    }

    /// Revisions before a number, descending: first those of the log, then those that are kept
    /// beyond it.
    func history(
        of form: FormKey, before: UInt64, rowsMax: Int, bytesMax: Int
    ) throws(StoreError) -> [RevisionRow] {
        var found = Found(rowsMax: rowsMax, bytesMax: bytesMax)
        try readLog(.logBefore, form, before) { row, read throws(StoreError) in
            try found.add(row.heads.reversed().lazy.filter { $0.revision < before }, read)
        }
        guard found.rows.isEmpty else { return found.rows }
        let older = try statement(.older, form, before)
        defer { older.reset() }
        while try older.step(), found.add(older.revisionRow) {}
        return found.rows
    }

    typealias ReadRevision = (LogRow.Head) throws(StoreError) -> RevisionRow

    /// Revisions up to a number of rows or bytes.
    private struct Found {
        let rowsMax: Int
        let bytesMax: Int
        private(set) var rows: [RevisionRow] = []
        private var bytes = 0

        init(rowsMax: Int, bytesMax: Int) {
            self.rowsMax = max(1, rowsMax)
            self.bytesMax = bytesMax
        }

        /// Adds a revision if it fits. Returns whether more is wanted.
        mutating func add(_ row: RevisionRow) -> Bool {
            guard hasPlace(row.frame.count) else { return false }
            rows.append(row)
            return rows.count < rowsMax
        }

        /// Reads and adds what fits. Returns whether more is wanted.
        mutating func add(
            _ heads: some Sequence<LogRow.Head>, _ read: ReadRevision
        ) throws(StoreError) -> Bool {
            for head in heads {
                guard hasPlace(head.frame.count) else { return false }
                rows.append(try read(head))
                if rows.count == rowsMax { return false }
            }
            return true
        }

        private mutating func hasPlace(_ count: Int) -> Bool {
            bytes += count
            return bytes <= bytesMax || rows.isEmpty
        }
    }

    /// Reads rows of the log until `body` returns false.
    ///
    /// - Parameter body: gets the row, and a function that reads a revision of it.
    func readLog(
        _ query: Query, _ form: FormKey, _ bound: UInt64, _ end: UInt64? = nil,
        body: (LogRow, ReadRevision) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let statement =
            if let end {
                try statement(query, form, bound, end)
            } else {
                try statement(query, form, bound)
            }
        defer { statement.reset() }
        while try statement.step() {
            guard let row = statement.logRow else { throw damagedLog(form) }
            let read: ReadRevision = { head throws(StoreError) in
                guard let revision = statement.revision(head, of: row, form) else {
                    throw self.damagedLog(form)
                }
                return revision
            }
            guard try body(row, read) else { return }
        }
    }

    func damagedLog(_ form: FormKey) -> StoreError {
        .damaged(file: file, finding: "a row of the log of form \(form) is damaged", copy: nil)
    }

    // MARK: Changing

    /// Replaces revisions of the log, or removes those for which `change` returns `nil`.
    func replaceLog(
        of form: FormKey, _ range: ClosedRange<UInt64>,
        by change: (RevisionRow) -> RevisionRow?
    ) throws(StoreError) {
        var changed: [(number: Int64, rows: [RevisionRow])] = []
        try readLog(.logBetween, form, range.lowerBound, range.upperBound) {
            row, read throws(StoreError) in
            guard row.heads.contains(where: { range.contains($0.revision) }) else { return true }
            var rows: [RevisionRow] = []
            for head in row.heads { rows.append(try read(head)) }
            changed.append(
                (row.number, rows.compactMap { range.contains($0.revision) ? change($0) : $0 }))
            return true
        }
        for (number, rows) in changed {
            if rows.isEmpty {
                try run(.deleteLogRow, number)
            } else {
                try run(.replaceLog, rows[...], number)
            }
        }
    }

    /// Replaces the notification of a revision, wherever it is.
    func redact(
        _ revision: UInt64, of form: FormKey, with frame: [UInt8]
    ) throws(StoreError) {
        // With FAST, pages that are freed keep their content (sqlite.org/pragma.html).
        try execute("PRAGMA secure_delete = ON")
        try replaceLog(of: form, revision...revision) { row in
            var row = row
            row.frame = frame
            return row
        }
        try run(.redactOlder, form, revision, frame)
        try execute("PRAGMA secure_delete = FAST")
    }

    /// Removes the oldest revisions, except those that are moved to `older`.
    func prune(
        _ form: FormKey, through: UInt64, before: Int64, keeping kept: KeptHistory
    ) throws(StoreError) {
        try keep(kept, of: form, through: through)
        try dropLog(of: form, through: through)
        // Only up to the first revision that is recent enough, so that there is no gap after the
        // clock went back.
        let recent = try statement(.logSince, form, before)
        var end = UInt64.max
        if try recent.step() {
            let row = recent.logRow
            recent.reset()
            guard let first = row?.heads.first(where: { $0.at >= before }) else {
                throw damagedLog(form)
            }
            end = first.revision - 1
        }
        try dropLog(of: form, through: end)
        try run(.pruneOlderBefore, form, before)
    }

    private func dropLog(of form: FormKey, through: UInt64) throws(StoreError) {
        try run(.deleteLogThrough, form, through)
        // The row in which the bound is.
        try replaceLog(of: form, 0...through) { _ in nil }
    }

    /// Moves revisions that are about to be pruned but must be kept to their table.
    private func keep(
        _ kept: KeptHistory, of form: FormKey, through: UInt64
    ) throws(StoreError) {
        let leaving = try logHeads(of: form, through: through).map(\.head)
        let undone = Set(leaving.compactMap(\.undoes))
        for revision in undone { try run(.deleteOlderRevision, form, revision) }
        var places: [UInt32: Int] = [:]
        var chosen: Set<UInt64> = []
        for head in leaving.reversed() {
            guard let uid = head.uid, !kept.busy.contains(uid), !undone.contains(head.revision)
            else { continue }
            places[uid, default: 0] += 1
            if places[uid, default: 0] <= kept.revisionsPerUser { chosen.insert(head.revision) }
        }
        if let first = chosen.min(), let last = chosen.max() {
            try readLog(.logBetween, form, first, last) { row, read throws(StoreError) in
                for head in row.heads where chosen.contains(head.revision) {
                    try putOlder(try read(head))
                }
                return true
            }
        }
        try run(
            .pruneOlder, form, Int64(kept.revisionsPerUser), Int64(kept.bytesPerUser),
            Int64(kept.bytes))
    }
}

extension Statement {
    /// The current row of the log; `nil` if it is damaged.
    var logRow: LogRow? {
        LogRow(
            number: integer(0), first: count(1), last: count(2), heads: blob(3),
            contentBytes: Int(integer(4)))
    }

    /// A revision of the current row of the log; `nil` if its content is damaged.
    func revision(_ head: LogRow.Head, of row: LogRow, _ form: FormKey) -> RevisionRow? {
        guard let first = row.heads.first else { return nil }
        let (frame, record) = unsafe withBlob(5) { content in
            unsafe (
                head.frame.bytes(in: content, from: first.frame),
                head.record.bytes(in: content, from: first.record)
            )
        }
        guard let frame, let record else { return nil }
        return RevisionRow(
            form: form, revision: head.revision, at: head.at, frame: frame, record: record,
            uid: head.uid, undoes: head.undoes, isPartialUndo: head.isPartialUndo)
    }
}
