/// The rows of an undo journal, from the log and from `older`.

internal import SyncCore

extension Database {
    /// A revision that is kept, and the row of the log that has it; `nil`: it is in `older`.
    struct Kept {
        let head: LogRow.Head
        let number: Int64?
    }

    func logHeads(
        of form: FormKey, through: UInt64 = .max
    ) throws(StoreError) -> [Kept] {
        let statement = try statement(.logHeads, form, through)
        defer { statement.reset() }
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
        let older = try statement(.olderHeads, form)
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
                try readLog(.logBetween, form, first, first) { row, read throws(StoreError) in
                    for head in row.heads where wanted.contains(head.revision) {
                        records[head.revision] = try read(head).record
                    }
                    return true
                }
            } else {
                for revision in wanted {
                    let statement = try statement(.olderRecord, form, revision)
                    if try statement.step() { records[revision] = statement.blob(0) }
                    statement.reset()
                }
            }
        }
        return records
    }
}

extension Statement {
    /// The current row of `older` without its content.
    fileprivate var olderHead: LogRow.Head {
        let undoes = optionalInteger(2)
        return LogRow.Head(
            revision: count(0), uid: optionalInteger(1).map(UInt32.init(truncatingIfNeeded:)),
            undoes: undoes?.magnitude, isPartialUndo: undoes ?? 0 < 0,
            record: LogRow.Piece(count: max(0, Int(integer(3)))))
    }
}
