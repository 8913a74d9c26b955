/// Notifications that are being overwritten. Below `commit`, a redaction is answered before it is
/// in the store, and reads must not show the earlier text meanwhile: it is visible at once.
///
///     redact ──▶ pending ──committed──▶ (none)
///                  │  ▲
///                  └──┘ the batch failed and it is visible: in the next one
struct Redactions {
    /// What a redacted message says instead.
    static let text = "redacted"

    /// A notification of a form.
    struct Place: Hashable {
        let form: FormKey
        let revision: UInt64
    }

    private struct Pending {
        let frame: [UInt8]
        let isVisible: Bool
        var batch: UInt64
    }

    private var pending: [Place: Pending] = [:]

    /// A notification is overwritten by the batch with that number.
    mutating func add(_ place: Place, _ frame: [UInt8], isVisible: Bool, batch: UInt64) {
        // A second redaction of the same message changes nothing.
        if pending[place] != nil { return }
        pending[place] = Pending(frame: frame, isVisible: isVisible, batch: batch)
    }

    /// A batch is durable, and so are those before it. Returns what was not visible before.
    mutating func committed(_ number: UInt64) -> [Place] {
        if pending.isEmpty { return [] }
        let done = pending.filter { $0.value.batch <= number }
        for place in done.keys { pending[place] = nil }
        return done.filter { !$0.value.isVisible }.map(\.key)
    }

    /// All batches that were sent have failed. Returns the operations of what is visible again.
    mutating func failed(next number: UInt64) -> [StoreOperation] {
        pending = pending.filter { $0.value.isVisible }
        for place in pending.keys { pending[place]?.batch = number }
        return pending.sorted { ($0.key.form, $0.key.revision) < ($1.key.form, $1.key.revision) }
            .map {
                .redactRevision(
                    form: $0.key.form, revision: $0.key.revision, frame: $0.value.frame)
            }
    }

    func applied(to row: RevisionRow) -> RevisionRow {
        if pending.isEmpty { return row }
        guard let redaction = pending[Place(form: row.form, revision: row.revision)],
            redaction.isVisible
        else { return row }
        var row = row
        row.frame = redaction.frame
        return row
    }

    /// The rows of a read as they will be.
    func applied(to answer: StoreAnswer) -> StoreAnswer {
        guard !pending.isEmpty, case .revisions(let rows) = answer else { return answer }
        return .revisions(rows.map(applied))
    }
}
