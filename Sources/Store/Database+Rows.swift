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
            try putHead(.moveHead, form: form, revision: revision, context: context)
            guard changes == 1 else { throw noForm(form) }
        case .deleteForm(let form):
            let deletions: [Query] = [
                .deleteForm, .deleteHead, .deleteFields, .deleteOngoing, .deleteLog, .deleteOlder,
            ]
            for query in deletions { try run(query, form) }
        case .putField(let row):
            let statement = try statement(.putField)
            try statement.bind(1, row.form)
            try statement.bind(2, row.field)
            try statement.bind(3, row.state)
            try statement.run()
        case .removeField(let form, let field):
            let statement = try statement(.removeField)
            try statement.bind(1, form)
            try statement.bind(2, field)
            try statement.run()
        case .putOngoing(let row):
            let statement = try statement(.putOngoing)
            try statement.bind(1, row.form)
            try statement.bind(row.name)
            try statement.bind(4, row.state)
            try statement.run()
        case .removeOngoing(let form, let name):
            let statement = try statement(.removeOngoing)
            try statement.bind(1, form)
            try statement.bind(name)
            try statement.run()
        case .appendRevision(let row): try append([row])
        case .redactRevision(let form, let revision, let frame):
            try redact(revision, of: form, with: frame)
        case .pruneRevisions(let form, let through, let before, let kept):
            try prune(form, through: through, before: before, keeping: kept)
        case .putKey(let row, _): try put(row)
        case .pruneKeys(let before): try run(.pruneKeys, before)
        case .putClock(let clock):
            let statement = try statement(.putClock)
            try statement.bind(1, clock)
            try statement.run()
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
            let statement = try statement(.deleteKey)
            try statement.bind(1, Int64(key.uid))
            try statement.bind(2, key.key)
            try statement.run()
        }
        try put(image)
        for answer in image.answers { try apply(.putKey(answer)) }
    }

    func run(_ query: Query, _ values: Int64...) throws(StoreError) {
        let statement = try statement(query)
        for (index, value) in values.enumerated() { try statement.bind(Int32(index + 1), value) }
        try statement.run()
    }

    private func put(_ row: FormRow) throws(StoreError) {
        let statement = try statement(.putForm)
        try statement.bind(1, row.key)
        try statement.bind(2, row.name)
        try statement.bind(3, row.log)
        try statement.bind(4, Int64(row.owner))
        try statement.bind(5, count: row.version)
        try statement.bind(6, row.definition)
        try statement.bind(7, row.applied)
        try statement.run()
        try putHead(.putHead, form: row.key, revision: row.revision, context: row.context)
    }

    private func requireForm(_ form: FormKey) throws(StoreError) {
        let statement = try statement(.hasForm)
        defer { statement.reset() }
        try statement.bind(1, form)
        guard try statement.step() else { throw noForm(form) }
    }

    private func noForm(_ form: FormKey) -> StoreError {
        .failed(file: file, reason: "a revision of form \(form), which does not exist")
    }

    func putHead(
        _ query: Query, form: FormKey, revision: UInt64, context: [UInt8]
    ) throws(StoreError) {
        let statement = try statement(query)
        try statement.bind(1, form)
        try statement.bind(2, count: revision)
        try statement.bind(3, context)
        try statement.run()
    }

    private func put(_ row: KeyRow) throws(StoreError) {
        let statement = try statement(.putKey)
        try statement.bind(1, Int64(row.uid))
        try statement.bind(2, row.key)
        try statement.bind(3, row.at)
        try statement.bind(4, Int64(bitPattern: row.digest))
        try statement.bind(5, row.result)
        try statement.run()
    }

    func key(uid: UInt32, key: String) throws(StoreError) -> KeyRow? {
        let statement = try statement(.key)
        try statement.bind(1, Int64(uid))
        try statement.bind(2, key)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.keyRow
    }
}

extension Statement {
    /// All columns of a revision in `older`.
    func bind(_ row: RevisionRow) throws(StoreError) {
        try bind(1, row.form)
        try bind(2, count: row.revision)
        try bind(3, row.at)
        try bind(4, row.told)
        try bind(5, row.record)
        try bind(6, row.uid.map(Int64.init))
        try bind(7, row.undoes.map { Int64(clamping: $0) * (row.isPartialUndo ? -1 : 1) })
    }

    /// The name of a row of what a form has under way: its second and third column.
    func bind(_ name: OngoingName) throws(StoreError) {
        try bind(2, name.kind)
        try bind(3, name.id)
    }

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
