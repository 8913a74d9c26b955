// The results of the methods of `button`: see Results.swift.

/// The result of `button.handle`.
public struct HandleResult: Hashable, Sendable {
    public var form: String
    /// The buttons whose presses the connection takes.
    public var fields: [String]
    /// Those of the tickets whose runs the connection holds again. The other runs have ended.
    public var tickets: [String]
}

extension HandleResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("fields", fields)
        writer.member("tickets", tickets)
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
}

extension RunResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("revision", revision)
        run.encodeMembers(into: &writer)
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
