/// The revisions of forms: rows of `log`, and those in `older` that are kept beyond them.

internal import SyncCore

extension Database {
    // MARK: Appending

    /// Appends revisions of one form, ascending and newer than all that it has.
    func append(_ rows: ArraySlice<RevisionRow>) throws(StoreError) {
        guard let first = rows.first else { return }
        let end = try statement(.logEnd)
        try end.bind(1, first.form)
        var last = try end.step() ? end.count(0) : 0
        end.reset()
        for row in rows {
            guard row.revision > last else {
                throw .failed(
                    file: file, reason: "revision \(row.revision) of form \(row.form) is not new")
            }
            last = row.revision
        }
        try insert(rows)
    }

    /// Inserts revisions of one form, ascending, as rows of at most `LogRow.bytesMax` bytes.
    func insert(_ rows: ArraySlice<RevisionRow>) throws(StoreError) {
        var rest = rows
        while !rest.isEmpty {
            var bytes = 0
            let fitting = rest.prefix { row in
                bytes += row.bytesEstimate
                return bytes <= LogRow.bytesMax
            }
            let part = fitting.isEmpty ? rest.prefix(1) : fitting
            let statement = try statement(.appendLog)
            try statement.bind(part)
            try statement.run()
            rest = rest.dropFirst(part.count)
        }
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
            return found.add(row.heads.lazy.filter { $0.revision >= from }, read)
        }
        return found.rows
    }

    /// Revisions before a number, descending: first those of the log, then those that are kept
    /// beyond it.
    func history(
        of form: FormKey, before: UInt64, rowsMax: Int, bytesMax: Int
    ) throws(StoreError) -> [RevisionRow] {
        var found = Found(rowsMax: rowsMax, bytesMax: bytesMax)
        try readLog(.logBefore, form, before) { row, read in
            found.add(row.heads.reversed().lazy.filter { $0.revision < before }, read)
        }
        guard found.rows.isEmpty else { return found.rows }
        let older = try statement(.older)
        defer { older.reset() }
        try older.bind(1, form)
        try older.bind(2, count: before)
        while try older.step(), found.add(older.revisionRow) {}
        return found.rows
    }

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
            _ heads: some Sequence<LogRow.Head>, _ read: (LogRow.Head) -> RevisionRow
        ) -> Bool {
            for head in heads {
                guard hasPlace(head.frame.count) else { return false }
                rows.append(read(head))
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
    private func readLog(
        _ query: Query, _ form: FormKey, _ bounds: UInt64...,
        body: (LogRow, (LogRow.Head) -> RevisionRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let statement = try statement(query)
        defer { statement.reset() }
        try statement.bind(1, form)
        for (index, bound) in bounds.enumerated() {
            try statement.bind(Int32(index + 2), count: bound)
        }
        while try statement.step() {
            guard let row = statement.logRow else { throw damagedLog(form) }
            guard try body(row, { statement.revision($0, of: form) }) else { return }
        }
    }

    private func damagedLog(_ form: FormKey) -> StoreError {
        .damaged(file: file, finding: "a row of the log of form \(form) is damaged", copy: nil)
    }

    // MARK: Changing

    /// Replaces revisions of the log, or removes those for which `change` returns `nil`.
    func replaceLog(
        of form: FormKey, _ range: ClosedRange<UInt64>,
        by change: (RevisionRow) -> RevisionRow?
    ) throws(StoreError) {
        var changed: [(number: Int64, rows: [RevisionRow])] = []
        try readLog(.logBetween, form, range.lowerBound, range.upperBound) { row, read in
            guard row.heads.contains(where: { range.contains($0.revision) }) else { return true }
            let rows = row.heads.map(read)
            changed.append(
                (row.number, rows.compactMap { range.contains($0.revision) ? change($0) : $0 }))
            return true
        }
        for (number, rows) in changed {
            if rows.isEmpty {
                try run(.deleteLogRow, number)
            } else {
                let statement = try statement(.replaceLog)
                try statement.bind(rows[...])
                try statement.bind(7, number)
                try statement.run()
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
        let statement = try statement(.redactOlder)
        try statement.bind(1, form)
        try statement.bind(2, count: revision)
        try statement.bind(3, frame)
        try statement.run()
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
        let recent = try statement(.logSince)
        try recent.bind(1, form)
        try recent.bind(2, before)
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
        try run(.deleteLogThrough, form, Int64(clamping: through))
        // The row in which the bound is.
        try replaceLog(of: form, 0...through) { _ in nil }
    }

    /// Moves revisions that are about to be pruned but must be kept to their table.
    private func keep(
        _ kept: KeptHistory, of form: FormKey, through: UInt64
    ) throws(StoreError) {
        let leaving = try logHeads(of: form, through: through).map(\.head)
        let undone = Set(leaving.compactMap(\.undoes))
        for revision in undone { try run(.deleteOlderRevision, form, Int64(clamping: revision)) }
        var places: [UInt32: Int] = [:]
        var chosen: Set<UInt64> = []
        for head in leaving.reversed() {
            guard let uid = head.uid, uid != kept.busy, !undone.contains(head.revision)
            else { continue }
            places[uid, default: 0] += 1
            if places[uid, default: 0] <= kept.revisionsPerUser { chosen.insert(head.revision) }
        }
        if let first = chosen.min(), let last = chosen.max() {
            try readLog(.logBetween, form, first, last) { row, read throws(StoreError) in
                for head in row.heads where chosen.contains(head.revision) {
                    let statement = try statement(.putOlder)
                    try statement.bind(read(head))
                    try statement.run()
                }
                return true
            }
        }
        try run(
            .pruneOlder, form, Int64(kept.revisionsPerUser), Int64(kept.bytesPerUser),
            Int64(kept.bytes))
    }

    // MARK: The undo journal

    /// A revision that is kept, and the row of the log that has it; `nil`: it is in `older`.
    private struct Kept {
        let head: LogRow.Head
        let number: Int64?
    }

    private func logHeads(
        of form: FormKey, through: UInt64 = .max
    ) throws(StoreError) -> [Kept] {
        let statement = try statement(.logHeads)
        defer { statement.reset() }
        try statement.bind(1, form)
        try statement.bind(2, count: through)
        var kept: [Kept] = []
        while try statement.step() {
            guard let row = statement.logRow else { throw damagedLog(form) }
            for head in row.heads where head.revision <= through {
                kept.append(Kept(head: head, number: row.number))
            }
        }
        return kept
    }

    /// The rows of an undo journal (`StoreQuery.journal`).
    func journal(
        of form: FormKey, rowsMax: Int, bytesMax: Int
    ) throws(StoreError) -> [RevisionRow] {
        var kept: [UInt64: Kept] = [:]
        for one in try logHeads(of: form) { kept[one.head.revision] = one }
        let older = try statement(.olderHeads)
        try older.bind(1, form)
        while try older.step() {
            let head = older.olderHead
            kept[head.revision] = Kept(head: head, number: nil)
        }
        let chosen = Self.journal(kept.values.map(\.head), rowsMax: rowsMax)
        var bytes = 0
        let fitting = chosen.prefix { row in
            bytes += kept[row.revision]?.head.record.count ?? 0
            return bytes <= bytesMax || row.revision == chosen.first?.revision
        }
        let records = try records(of: form, fitting.compactMap { kept[$0.revision] })
        return fitting.map { head in
            RevisionRow(
                form: form, revision: head.revision, at: 0, frame: [],
                record: records[head.revision] ?? [], undoes: head.undoes,
                isPartialUndo: head.isPartialUndo)
        }
    }

    /// What a journal consists of, in its order. Only revisions that undid a part of another one
    /// have `undoes`.
    private static func journal(_ kept: [LogRow.Head], rowsMax: Int) -> [LogRow.Head] {
        let kept = kept.sorted { $0.revision > $1.revision }
        var undoing: [UInt64: UInt64] = [:]
        var uids: [UInt64: UInt32?] = [:]
        for head in kept {
            uids[head.revision] = .some(head.uid)
            if !head.isPartialUndo, let other = head.undoes { undoing[head.revision] = other }
        }
        var undone: Set<UInt64> = []
        for head in kept {
            guard var other = undoing[head.revision], let uid = uids[other], uid != head.uid
            else { continue }
            // What that revision had undone itself is left out too.
            while uids[other] != nil, undone.insert(other).inserted, let next = undoing[other] {
                other = next
            }
        }
        var places: [UInt32?: Int] = [:]
        var ranked: [(place: Int, head: LogRow.Head)] = []
        for head in kept where !undone.contains(head.revision) {
            places[head.uid, default: 0] += 1
            ranked.append((places[head.uid, default: 0], head))
        }
        ranked.sort { ($0.place, $1.head.revision) < ($1.place, $0.head.revision) }
        let newest = ranked.prefix(max(1, rowsMax)).map { one in
            var head = one.head
            head.undoes = nil
            head.isPartialUndo = false
            return head
        }
        let known = Set(newest.map(\.revision))
        return kept.filter { head in
            head.isPartialUndo && !known.contains(head.revision)
                && head.undoes.map(known.contains) == true
        } + newest
    }

    private func records(
        of form: FormKey, _ kept: [Kept]
    ) throws(StoreError) -> [UInt64: [UInt8]] {
        var records: [UInt64: [UInt8]] = [:]
        for (number, group) in Dictionary(grouping: kept, by: \.number) {
            let wanted = Set(group.map(\.head.revision))
            if number != nil {
                guard let first = wanted.min() else { continue }
                try readLog(.logBetween, form, first, first) { row, read in
                    for head in row.heads where wanted.contains(head.revision) {
                        records[head.revision] = read(head).record
                    }
                    return true
                }
            } else {
                for revision in wanted {
                    let statement = try statement(.olderRecord)
                    try statement.bind(1, form)
                    try statement.bind(2, count: revision)
                    if try statement.step() { records[revision] = statement.blob(0) }
                    statement.reset()
                }
            }
        }
        return records
    }
}

extension Statement {
    /// Revisions as the columns of a row of the log.
    fileprivate func bind(_ rows: ArraySlice<RevisionRow>) throws(StoreError) {
        guard let first = rows.first, let last = rows.last else { return }
        let (heads, content) = LogRow.columns(of: rows)
        try bind(1, first.form)
        try bind(2, count: first.revision)
        try bind(3, count: last.revision)
        try bind(4, rows.reduce(.min) { max($0, $1.at) })
        try bind(5, heads)
        try bind(6, content)
    }

    /// The current row of the log; `nil` if it is damaged.
    var logRow: LogRow? {
        LogRow(
            number: integer(0), first: count(1), last: count(2), heads: blob(3),
            contentBytes: Int(integer(4)))
    }

    /// A revision of the current row of the log.
    func revision(_ head: LogRow.Head, of form: FormKey) -> RevisionRow {
        RevisionRow(
            form: form, revision: head.revision, at: head.at, frame: blob(5, head.frame),
            record: blob(5, head.record), uid: head.uid, undoes: head.undoes,
            isPartialUndo: head.isPartialUndo)
    }

    /// The current row of `older` without its content.
    fileprivate var olderHead: LogRow.Head {
        let undoes = optionalInteger(2)
        return LogRow.Head(
            revision: count(0), uid: optionalInteger(1).map(UInt32.init(truncatingIfNeeded:)),
            undoes: undoes?.magnitude, isPartialUndo: undoes ?? 0 < 0,
            record: 0..<max(0, Int(integer(3))))
    }
}
