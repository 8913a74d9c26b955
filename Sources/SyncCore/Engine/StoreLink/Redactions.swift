/// Notifications that are being overwritten. Below `commit`, a redaction is answered before it is
/// in the store, and reads must not show the earlier text meanwhile.
///
///     redact ──▶ pending ──committed──▶ (none)
///                  │  ▲
///                  └──┘ the batch failed: in the next one
struct Redactions {
    private struct Place: Hashable {
        let form: FormKey
        let revision: UInt64
    }

    private var pending: [Place: (frame: [UInt8], batch: UInt64)] = [:]

    /// A notification is overwritten by the batch with that number.
    mutating func add(
        _ revision: UInt64, of form: FormKey, _ frame: [UInt8], batch: UInt64
    ) {
        pending[Place(form: form, revision: revision)] = (frame, batch)
    }

    /// A batch is durable, and so are those before it.
    mutating func committed(_ number: UInt64) {
        if pending.isEmpty { return }
        pending = pending.filter { $0.value.batch > number }
    }

    /// All batches that were sent have failed. Returns the operations again.
    mutating func failed(next number: UInt64) -> [StoreOperation] {
        for place in pending.keys { pending[place]?.batch = number }
        return pending.sorted { ($0.key.form, $0.key.revision) < ($1.key.form, $1.key.revision) }
            .map {
                .redactRevision(
                    form: $0.key.form, revision: $0.key.revision, frame: $0.value.frame)
            }
    }

    /// A row as it will be.
    func applied(to row: RevisionRow) -> RevisionRow {
        if pending.isEmpty { return row }
        guard let frame = pending[Place(form: row.form, revision: row.revision)]?.frame else {
            return row
        }
        var row = row
        row.frame = frame
        return row
    }

    /// The rows of a read as they will be.
    func applied(to answer: StoreAnswer) -> StoreAnswer {
        guard !pending.isEmpty, case .revisions(let rows) = answer else { return answer }
        return .revisions(rows.map(applied))
    }
}
