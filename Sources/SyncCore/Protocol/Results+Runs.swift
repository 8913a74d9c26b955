// The results of the methods of `button`: see Results.swift.

/// The result of `button.handle`.
public struct HandleResult: Hashable, Sendable {
    public var form: String
    /// The buttons whose presses the connection takes.
    public var fields: [String]
    /// Those of the tickets whose runs the connection holds again. The other runs have ended.
    public var tickets: [String]

    /// The buttons and runs of a handler.
    public init(form: String, fields: [String], tickets: [String]) {
        self.form = form
        self.fields = fields
        self.tickets = tickets
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("fields", fields)
        writer.member("tickets", tickets)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), fields: try reader.strings("fields"),
            tickets: try reader.strings("tickets"))
    }
}

/// The result of `button.finish`, `button.cancel` and `button.outcome`: a run with its button.
public struct RunResult: Hashable, Sendable {
    public var form: String
    public var field: String
    public var revision: Revision
    public var run: ButtonRun

    /// A run of a button.
    public init(form: String, field: String, revision: Revision, run: ButtonRun) {
        self.form = form
        self.field = field
        self.revision = revision
        self.run = run
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("field", field)
        writer.member("revision", revision)
        run.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            revision: try reader.integer("revision"),
            run: try ButtonRun(decoding: json, path: "result"))
    }
}
