/// The rows of `StoreOperation`, to and from SQLite.

internal import SyncCore

extension Database {
    /// Applies operations of a batch, within a transaction. Revisions of one form that follow each
    /// other become one row.
    ///
    /// - Parameter states: what is left to the log.
    /// - Parameter failing: gets the operation that fails.
    func apply(
        _ operations: [StoreOperation], leaving states: LogStates? = nil,
        failing: (StoreOperation) -> Void = { _ in }
    ) throws(StoreError) {
        var states = states
        var revisions: [RevisionRow] = []
        for (index, operation) in operations.enumerated() {
            do throws(StoreError) {
                guard case .appendRevision(let row) = operation else {
                    if states != nil && LogStates.has(operation) {
                        if case .putHead(let form, _, _) = operation { try requireForm(form) }
                    } else {
                        try apply(operation)
                    }
                    continue
                }
                revisions.append(row)
                if index + 1 < operations.count,
                    case .appendRevision(let next) = operations[index + 1], next.form == row.form
                {
                    continue
                }
                try append(revisions[...], states?.take(row.form))
                revisions.removeAll(keepingCapacity: true)
            } catch {
                failing(operation)
                throw error
            }
        }
    }

    /// Applies one operation, within a transaction.
    func apply(_ operation: StoreOperation) throws(StoreError) {
        switch operation {
        case .putForm(let row): try put(row)
        case .putHead(let form, let revision, let context):
            try run(.moveHead, form, revision, context)
            guard changes == 1 else { throw noForm(form) }
        case .deleteForm(let form):
            let deletions: [Query] = [
                .deleteForm, .deleteHead, .deleteFields, .deleteOngoing, .deleteLog, .deleteOlder,
            ]
            for query in deletions { try run(query, form) }
        case .putField(let row): try run(.putField, row.form, row.field, row.state)
        case .removeField(let form, let field): try run(.removeField, form, field)
        case .putOngoing(let row):
            try run(.putOngoing, row.form, row.name.kind, row.name.id, row.state)
        case .removeOngoing(let form, let name):
            try run(.removeOngoing, form, name.kind, name.id)
        case .appendRevision(let row): try append([row])
        case .redactRevision(let form, let revision, let frame):
            try redact(revision, of: form, with: frame)
        case .pruneRevisions(let form, let through, let before, let kept):
            try prune(form, through: through, before: before, keeping: kept)
        case .putKey(let row, _):
            try run(
                .putKey, Int64(row.uid), row.key, row.at, Int64(bitPattern: row.digest),
                row.result)
        case .pruneKeys(let before): try run(.pruneKeys, before)
        case .putClock(let clock): try run(.putClock, clock)
        }
    }

    /// Writes the state of an image and its history, within a transaction.
    func put(_ image: StoreImage) throws(StoreError) {
        for form in image.forms { try apply(.putForm(form)) }
        for field in image.fields { try apply(.putField(field)) }
        for row in image.ongoing { try apply(.putOngoing(row)) }
        try apply(image.revisions.map(StoreOperation.appendRevision))
        if !image.clock.isEmpty { try apply(.putClock(image.clock)) }
    }

    /// Replaces the state in the file with an image, within a transaction. What the image does not
    /// contain is removed, except history and keys, which stay as far as they are not newer than
    /// the image.
    func overwrite(with image: StoreImage) throws(StoreError) {
        let known = Set(image.forms.map(\.key))
        var gone: [FormKey] = []
        let forms = try prepare("SELECT key FROM form")
        while try forms.step() {
            if !known.contains(forms.integer(0)) { gone.append(forms.integer(0)) }
        }
        for form in gone { try apply(.deleteForm(form)) }
        let own = image.firstRevisions
        for form in image.forms {
            try run(.deleteFields, form.key)
            try run(.deleteOngoing, form.key)
            // A failed batch may have some of the revisions that are published.
            let end = min(form.revision, (own[form.key] ?? .max) - 1)
            try replaceLog(of: form.key, (end + 1)...UInt64.max) { _ in nil }
        }
        for key in image.failedKeys {
            try run(.deleteKey, Int64(key.uid), key.key)
        }
        try put(image)
        for answer in image.answers { try apply(.putKey(answer)) }
    }

    private func put(_ row: FormRow) throws(StoreError) {
        try run(
            .putForm, row.key, row.name, row.log, Int64(row.owner), row.version, row.definition,
            row.applied)
        try run(.putHead, row.key, row.revision, row.context)
    }

    private func requireForm(_ form: FormKey) throws(StoreError) {
        let statement = try statement(.hasForm, form)
        defer { statement.reset() }
        guard try statement.step() else { throw noForm(form) }
    }

    /// Keeps a revision beyond the log.
    func putOlder(_ row: RevisionRow) throws(StoreError) {
        try run(
            .putOlder, row.form, row.revision, row.at, row.told, row.record,
            row.uid.map(Int64.init),
            row.undoes.map { Int64(clamping: $0) * (row.isPartialUndo ? -1 : 1) })
    }

    private func noForm(_ form: FormKey) -> StoreError {
        .failed(file: file, reason: "a revision of form \(form), which does not exist")
    }

    func key(uid: UInt32, key: String) throws(StoreError) -> KeyRow? {
        let statement = try statement(.key, Int64(uid), key)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.keyRow
    }
}

extension Statement {
    /// The current row as the answer under a key.
    var keyRow: KeyRow {
        KeyRow(
            uid: UInt32(truncatingIfNeeded: integer(0)), key: text(1), at: integer(2),
            digest: UInt64(bitPattern: integer(3)), result: blob(4))
    }

    /// The current row of `older`.
    var revisionRow: RevisionRow {
        let undoes = optionalInteger(6)
        return RevisionRow(
            form: integer(0), revision: count(1), at: integer(2), frame: blob(3), record: blob(4),
            uid: optionalInteger(5).map(UInt32.init(truncatingIfNeeded:)),
            undoes: undoes?.magnitude, isPartialUndo: undoes ?? 0 < 0)
    }

    /// The current row as a form with its head.
    var formRow: FormRow {
        FormRow(
            key: integer(0), name: text(1), log: text(2),
            owner: UInt32(truncatingIfNeeded: integer(3)), version: count(4), revision: count(5),
            definition: blob(6), applied: blob(7), context: blob(8))
    }
}

extension StoreImage {
    var firstRevisions: [FormKey: UInt64] {
        Dictionary(revisions.map { ($0.form, $0.revision) }, uniquingKeysWith: { old, _ in old })
    }
}
