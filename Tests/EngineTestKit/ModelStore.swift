public import SyncCore

/// A store in memory with the behavior of the real one: batches are applied as a whole or not at
/// all, except forms that fail, which are left out; a crash loses nothing that was committed.
public struct ModelStore {
    public private(set) var forms: [FormKey: FormRow] = [:]
    public private(set) var fields: [FormKey: [String: FieldRow]] = [:]
    public private(set) var ongoing: [FormKey: [OngoingName: OngoingRow]] = [:]
    public private(set) var revisions: [FormKey: [UInt64: RevisionRow]] = [:]
    /// The revisions of each uid that are kept beyond the newest.
    public private(set) var older: [FormKey: [UInt64: RevisionRow]] = [:]
    public private(set) var keys: [String: KeyRow] = [:]
    /// What this store calls a copy of itself.
    private static let copy = Array("a copy of the store".utf8)
    public private(set) var clock: [UInt8] = []
    /// Names of forms whose operations are rejected, except their deletion.
    public var refusedForms: Set<String> = []
    /// The number of committed batches.
    public private(set) var batches = 0

    /// An empty store.
    public init() {}

    /// Applies a batch except for the forms that fail, which are returned.
    @discardableResult
    public mutating func commit(_ batch: Batch) -> [FormFailure] {
        batches += 1
        let failures = failures(in: batch)
        let failed = Set(failures.map(\.form))
        for operation in batch.operations where !(operation.form.map(failed.contains) ?? false) {
            apply(operation)
        }
        return failures
    }

    /// The forms that fail: rejected ones, and those that do not exist.
    private func failures(in batch: Batch) -> [FormFailure] {
        var names = forms.mapValues(\.name)
        var failures: [FormFailure] = []
        func fail(_ form: FormKey, _ reason: String) {
            if failures.contains(where: { $0.form == form }) { return }
            failures.append(FormFailure(form: form, reason: reason))
        }
        for operation in batch.operations {
            guard let form = operation.form else { continue }
            switch operation {
            case .putForm(let row): names[form] = row.name
            case .putHead where names[form] == nil:
                fail(form, "a revision of form \(form), which is not there")
            case .deleteForm: names[form] = nil
            default: break
            }
            if let name = names[form], refusedForms.contains(name) { fail(form, "as told") }
        }
        return failures
    }

    private mutating func apply(_ operation: StoreOperation) {
        switch operation {
        case .putForm(let row): forms[row.key] = row
        case .putHead(let form, let revision, let context):
            forms[form]?.revision = revision
            forms[form]?.context = context
        case .deleteForm(let key):
            forms[key] = nil
            fields[key] = nil
            ongoing[key] = nil
            revisions[key] = nil
            older[key] = nil
        case .putField(let row): fields[row.form, default: [:]][row.field] = row
        case .removeField(let form, let field): fields[form]?[field] = nil
        case .putOngoing(let row): ongoing[row.form, default: [:]][row.name] = row
        case .removeOngoing(let form, let name): ongoing[form]?[name] = nil
        case .appendRevision(let row): revisions[row.form, default: [:]][row.revision] = row
        case .redactRevision(let form, let revision, let frame):
            revisions[form]?[revision]?.frame = frame
            older[form]?[revision]?.frame = frame
        case .pruneRevisions(let form, let through, let before, let kept):
            keep(kept, of: form, through: through)
            revisions[form] = revisions[form]?.filter { $0.key > through && $0.value.at >= before }
            older[form] = older[form]?.filter { $0.value.at >= before }
        case .putKey(let row, _): keys["\(row.uid)/\(row.key)"] = row
        case .pruneKeys(let before): keys = keys.filter { $0.value.at >= before }
        case .putClock(let bytes): clock = bytes
        }
    }

    private mutating func keep(_ kept: KeptHistory, of form: FormKey, through: UInt64) {
        let pruned = (revisions[form] ?? [:]).values.filter { $0.revision <= through }
        let takenBack = Set(pruned.compactMap(\.undoes))
        var rows = Array((older[form] ?? [:]).values)
        rows += pruned.filter { row in row.uid.map { !kept.busy.contains($0) } ?? false }
        rows = rows.filter { !takenBack.contains($0.revision) }
        var bytesOf: [UInt32: Int] = [:]
        var bytes = 0
        older[form] = [:]
        for (place, row) in Self.dealt(rows) {
            let size = row.frame.count + row.record.count
            bytesOf[row.uid ?? 0, default: 0] += size
            guard place < kept.revisionsPerUser, bytesOf[row.uid ?? 0] ?? 0 <= kept.bytesPerUser
            else { continue }
            bytes += size
            if bytes <= kept.bytes { older[form]?[row.revision] = row }
        }
    }

    /// The newest of each uid, then the second newest of each, and so on, with their ranks.
    private static func dealt(_ rows: [RevisionRow]) -> [(place: Int, row: RevisionRow)] {
        var places: [UInt32?: Int] = [:]
        return rows.sorted { $0.revision > $1.revision }
            .map { row in
                defer { places[row.uid, default: 0] += 1 }
                return (places[row.uid, default: 0], row)
            }
            .sorted { ($0.0, $1.1.revision) < ($1.0, $0.1.revision) }
    }

    private func journal(of form: FormKey, rowsMax: Int) -> [RevisionRow] {
        let rows = Array((revisions[form] ?? [:]).values) + Array((older[form] ?? [:]).values)
        var takenBack: Set<UInt64> = []
        for new in rows where !new.isPartialUndo {
            var old = rows.first { $0.revision == new.undoes && $0.uid != new.uid }
            while let next = old, takenBack.insert(next.revision).inserted, !next.isPartialUndo {
                old = rows.first { $0.revision == next.undoes }
            }
        }
        let newest = Self.dealt(rows.filter { !takenBack.contains($0.revision) })
            .prefix(rowsMax).map(\.row)
        let revisions = Set(newest.map(\.revision))
        let parts = rows.filter { row in
            row.isPartialUndo && !revisions.contains(row.revision)
                && row.undoes.map(revisions.contains) ?? false
        }
        return parts.sorted { $0.revision > $1.revision }
            + newest.map { row in
                RevisionRow(
                    form: row.form, revision: row.revision, at: 0, frame: [], record: row.record)
            }
    }

    /// Replaces everything except the history, as `Effect.rebuild` requires.
    public mutating func rebuild(_ image: StoreImage) {
        forms = Dictionary(uniqueKeysWithValues: image.forms.map { ($0.key, $0) })
        fields = [:]
        for row in image.fields { fields[row.form, default: [:]][row.field] = row }
        ongoing = [:]
        for row in image.ongoing { ongoing[row.form, default: [:]][row.name] = row }
        for (form, rows) in revisions {
            let head = forms[form]?.revision ?? 0
            revisions[form] = rows.filter { $0.key <= head }
        }
        for key in image.failedKeys { keys["\(key.uid)/\(key.key)"] = nil }
        for row in image.answers { keys["\(row.uid)/\(row.key)"] = row }
        for row in image.revisions { revisions[row.form, default: [:]][row.revision] = row }
        clock = image.clock
    }

    /// The initial state of an engine.
    public func image(revisionsPerForm: Int = 500) -> StoreImage {
        StoreImage(
            forms: forms.values.sorted { $0.key < $1.key },
            fields: fields.sorted { $0.key < $1.key }.flatMap { _, rows in
                rows.values.sorted { $0.field < $1.field }
            },
            ongoing: ongoing.sorted { $0.key < $1.key }.flatMap { _, rows in
                rows.values.sorted { $0.name < $1.name }
            },
            revisions: revisions.sorted { $0.key < $1.key }.flatMap { _, rows in
                rows.values.sorted { $0.revision < $1.revision }.suffix(revisionsPerForm)
            },
            keys: keys.values.sorted { ($0.uid, $0.key) < ($1.uid, $1.key) }.map {
                KeyDigest(uid: $0.uid, key: $0.key, at: $0.at)
            }, clock: clock)
    }

    /// The first rows, at least one if there is any.
    private static func first(
        of rows: [RevisionRow], rowsMax: Int, bytesMax: Int,
        size: (RevisionRow) -> Int = { $0.frame.count }
    ) -> [RevisionRow] {
        var bytes = 0
        let whole = rows.prefix(rowsMax).prefix { row in
            bytes += size(row)
            return bytes <= bytesMax
        }
        return Array(whole.isEmpty ? rows.prefix(1) : whole)
    }

    /// Answers a query.
    public func answer(_ query: StoreQuery) -> StoreAnswer {
        switch query {
        case .revisions(let form, let from, let rowsMax, let bytesMax):
            let rows = (revisions[form] ?? [:]).filter { $0.key >= from }
                .sorted { $0.key < $1.key }.map(\.value)
            return .revisions(Self.first(of: rows, rowsMax: rowsMax, bytesMax: bytesMax))
        case .history(let form, let before, let rowsMax, let bytesMax):
            for table in [revisions, older] {
                let rows = (table[form] ?? [:]).filter { $0.key < before }
                    .sorted { $0.key > $1.key }.map(\.value)
                guard rows.isEmpty else {
                    return .revisions(Self.first(of: rows, rowsMax: rowsMax, bytesMax: bytesMax))
                }
            }
            return .revisions([])
        case .journal(let form, let rowsMax, let bytesMax):
            return .revisions(
                Self.first(
                    of: journal(of: form, rowsMax: rowsMax), rowsMax: .max, bytesMax: bytesMax
                ) { $0.record.count })
        case .key(let uid, let key): return .key(keys["\(uid)/\(key)"])
        case .backup: return .backup(1, bytes: Int64(Self.copy.count))
        case .backupPiece(1, let offset, let bytesMax):
            return .backupPiece(Array(Self.copy.dropFirst(Int(offset)).prefix(bytesMax)))
        case .backupPiece, .backupEnd: return .backupPiece(nil)
        }
    }
}
