/// The lease of a field: `lease` in PROTOCOL.md.
public struct FieldLease: Hashable, Sendable, WireObject, WireReadable {
    /// The name that `resume` takes.
    public var id: String
    /// When it ends; `nil` while a connection holds it.
    public var until: Timestamp?
    /// Who set the value.
    public var by: WireAuthor
    /// The value after the end; `nil` is the default.
    public var then: JSON?
    /// The host that ends it; `nil` for the daemon's own.
    public var host: String?

    /// A lease with these members.
    public init(id: String, until: Timestamp?, by: WireAuthor, then: JSON?) {
        self.id = id
        self.until = until
        self.by = by
        self.then = then
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("id", id)
        if let until {
            writer.member("until", until)
        } else {
            writer.member("while", "connection")
        }
        writer.member("by", by)
        writer.object("then") { writer in
            if let then { writer.member("value", then) } else { writer.member("unset", true) }
        }
        writer.member("host", host)
    }

    /// Parses the object; ignores unknown members.
    public init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            id: try reader.string("id"), until: try reader.moment("until"),
            by: try reader.existing("by"), then: reader["then"]?["value"])
        host = reader["host"]?.stringValue
    }
}
