/// Whose approval a change of a guarded field needs: a member of `data.approval`.
public struct NeededApproval: Hashable, Sendable {
    public var field: String
    /// Who may agree, as in the form: `group:oncall`.
    public var from: [String]
    /// How many of them must agree.
    public var count: Int64
    /// How long a proposal waits for them, in seconds.
    public var within: Int64

    func encodeMember(into writer: inout JSONWriter) {
        writer.key(named: field)
        writer.beginObject()
        writer.member("from", from)
        writer.member("count", count)
        writer.member("within", within)
        writer.endObject()
    }
}

extension [NeededApproval] {
    /// Reads `data.approval` for a client; ignores what it does not know.
    init(decoding json: JSON?, max: Int) {
        self = (json?.objectValue?.members ?? []).prefix(max).compactMap { field, needed in
            guard let count = needed["count"]?.integerValue else { return nil }
            return NeededApproval(
                field: field, from: needed["from"]?.arrayValue?.compactMap(\.stringValue) ?? [],
                count: count, within: needed["within"]?.integerValue ?? 0)
        }
    }
}
