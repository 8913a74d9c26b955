// What a daemon has applied from form files of its own to forms that hosts share. Two hosts with
// two versions of a file would otherwise undo each other's at each start.

/// The digest of the definition that was applied last from a file, by form: each in a row of the
/// store that belongs to no form.
struct FormFileMarks {
    private static let rowKind = "file"

    /// As they are in the store.
    private var digests: [String: UInt64] = [:]
    /// Those of batches that are not durable.
    private var gathered: [String: (digest: UInt64, batch: UInt64)] = [:]

    /// Nothing was applied.
    init() {}

    /// What the store has, in rows that belong to no form.
    init(_ rows: [OngoingRow]) throws(CausalityDecodeError) {
        for row in rows where row.name.kind == Self.rowKind {
            var reader = try CausalityReader(versioned: row.state)
            digests[row.name.id] = try reader.unsigned()
        }
    }

    /// All rows.
    var rows: [OngoingRow] { digests.sorted { $0.key < $1.key }.map { Self.row($0, $1) } }

    /// Whether this was applied last.
    func has(_ definition: JSON, of form: String) -> Bool {
        (gathered[form]?.digest ?? digests[form]) == Self.digest(definition)
    }

    /// A definition is applied. Returns what its batch writes.
    mutating func note(
        _ definition: JSON, of form: String, in batch: UInt64
    ) -> StoreOperation {
        let digest = Self.digest(definition)
        gathered[form] = (digest, batch)
        return .putOngoing(Self.row(form, digest))
    }

    /// A batch is durable.
    mutating func committed(_ batch: UInt64) {
        for (form, mark) in gathered where mark.batch <= batch {
            digests[form] = mark.digest
            gathered[form] = nil
        }
    }

    /// The batches of a form that are not durable are lost.
    mutating func rollBack(_ form: String) { gathered[form] = nil }

    private static func digest(_ definition: JSON) -> UInt64 { KeyHash.unkeyed(definition.encoded) }

    private static func row(_ form: String, _ digest: UInt64) -> OngoingRow {
        OngoingRow(
            form: 0, name: OngoingName(kind: rowKind, id: form),
            state: CausalityWriter.versioned { $0.unsigned(digest) })
    }
}
