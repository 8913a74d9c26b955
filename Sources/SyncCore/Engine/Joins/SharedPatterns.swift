/// Which forms were shared with which fleet when the log was last read, in a row of the store that
/// belongs to no form.
struct SharedPatterns: Hashable {
    private static let name = OngoingName(kind: "link", id: "shared")

    let fleet: String
    /// The globs of the names.
    let forms: [String]

    init(_ link: LinkConfiguration) {
        fleet = link.fleet
        forms = link.forms.map(\.text)
    }

    /// What the rows that belong to no form say; `nil` if none does.
    init?(in rows: [OngoingRow]) throws(CausalityDecodeError) {
        guard let row = rows.first(where: { $0.name == Self.name }) else { return nil }
        var reader = try CausalityReader(versioned: row.state)
        fleet = try reader.string()
        var forms: [String] = []
        for _ in 0..<(try reader.unsigned()) { forms.append(try reader.string()) }
        self.forms = forms
        try reader.expectEnd()
    }

    var row: OngoingRow {
        OngoingRow(
            form: 0, name: Self.name,
            state: CausalityWriter.versioned { writer in
                writer.string(fleet)
                writer.count(forms.count)
                for form in forms { writer.string(form) }
            })
    }
}
