/// An error in the protocol: `{"code", "message", "data": {"kind", …}}` (PROTOCOL.md, Errors).
///
/// Only the members for its kind are set. An empty list is not written.
public struct WireError: Error, Hashable, Sendable {
    /// The kind of error, for programs.
    public var kind: ErrorKind
    /// One line for people: what, why, what to do next.
    public var message: String
    /// `data.form`: the form.
    public var form: String?
    /// `data.field`: the field.
    public var field: String?
    /// `data.path`: the member of the params, for example `changes[0].value`.
    public var path: String?
    /// `data.expected`: what would be correct, in words.
    public var expected: String?
    /// `data.fields`: the current values, for a conflict.
    public var fields: [NamedField] = []
    /// `data.similar`: existing names that are similar, nearest first.
    public var similar: [String] = []
    /// `data.limit`: the name of the limit.
    public var limit: String?
    /// `data.max`: the value of the limit.
    public var max: Int64?
    /// `data.report`: the number of an internal error in the daemon's log.
    public var report: Int64?
    /// `data.ended`: what has ended, how, and by whom.
    public var ended: JSON?
    /// `data.needs`: the member that the request needs, for example `message`.
    public var needs: String?
    /// `data.problems`: each error in a definition.
    public var problems: [WireProblem] = []
    /// `data.approval`: who must agree, by guarded field. `data.fields` has the ids of these.
    public var approval: [NeededApproval] = []
    /// `data.press`: the press that waits or runs, for `busy`.
    public var press: String?
    /// `data.resend`: the request was valid but not executed, because the connection is about to be
    /// closed. The client should send it again on the next connection.
    public var resend = false

    /// An error of this kind with a line for people.
    public init(
        _ kind: ErrorKind, _ message: String, form: String? = nil, field: String? = nil,
        path: String? = nil, expected: String? = nil, needs: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.form = form
        self.field = field
        self.path = path
        self.expected = expected
        self.needs = needs
    }

    /// The connection is closed before the request was started; `data.resend`.
    public static func notStarted(_ message: String) -> WireError {
        var error = WireError(.unavailable, message)
        error.resend = true
        return error
    }

    /// A `limit` error with the name and value of the limit.
    public static func limit(
        _ name: String, max: some BinaryInteger, _ message: String, _ kind: ErrorKind = .limit,
        form: String? = nil, field: String? = nil, path: String? = nil
    ) -> WireError {
        var error = WireError(kind, message, form: form, field: field, path: path)
        error.limit = name
        error.max = Int64(max)
        return error
    }

    /// A request about something that is over, with how it ended and by whom.
    static func over(
        _ what: String, _ how: String?, by user: String?, at time: Timestamp?, _ message: String,
        form: String, field: String? = nil, _ more: (name: String, value: JSON?)...
    ) -> WireError {
        var error = WireError(.conflict, message, form: form, field: field)
        var ended = JSONObject([("what", .string(what))])
        ended["how"] = how.map { .string($0) }
        ended["by"] = user.map { .string($0) }
        ended["at"] = time.map { .string($0.description) }
        for (name, value) in more { ended[name] = value }
        error.ended = .object(ended)
        return error
    }
}

/// One error in a definition.
public struct WireProblem: Hashable, Sendable {
    /// The path, for example `sections[1].fields[0].options[2].tag`.
    public var path: String
    /// The error and what was expected, in one line.
    public var message: String

    /// A problem at a path.
    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }
}

extension WireError: CustomStringConvertible {
    /// The line for a person; it may be printed on a terminal.
    public var description: String { message.escapedForDisplay() }
}

// MARK: - Text

extension WireError {
    /// Writes the error object, the value of a response's `error`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("code")
        writer.integer(kind.code)
        writer.key("message")
        writer.string(message)
        writer.key("data")
        writer.beginObject()
        writer.key("kind")
        writer.string(kind.rawValue)
        writer.member("form", form)
        writer.member("field", field)
        writer.member("path", path)
        writer.member("expected", expected)
        if !fields.isEmpty { writer.member("fields", fields) }
        if !approval.isEmpty {
            writer.member("fields", approval.map(\.field))
            writer.object("approval") { writer in
                for needed in approval { needed.encodeMember(into: &writer) }
            }
        }
        if !similar.isEmpty { writer.member("similar", similar) }
        writer.member("limit", limit)
        writer.member("max", max)
        writer.member("report", report)
        writer.member("needs", needs)
        writer.member("ended", ended)
        if !problems.isEmpty {
            writer.array("problems", problems) { writer, problem in
                writer.beginObject()
                writer.member("path", problem.path)
                writer.member("message", problem.message)
                writer.endObject()
            }
        }
        writer.member("press", press)
        if resend { writer.member("resend", true) }
        writer.endObject()
        writer.endObject()
    }

    /// The most bytes of each text and the most items of each list that a client keeps of an error,
    /// because the process that answers may be hostile.
    private static let (textBytesMax, itemsMax) = (4 << 10, FormParser.issuesMax)

    /// Reads an error object for a client. Missing and unknown members are ignored, and texts that
    /// are longer than those of any daemon are cut.
    public init(decoding json: JSON) throws(DecodeError) {
        func text(_ json: JSON?) -> String? { json?.stringValue?.cut(toBytes: Self.textBytesMax) }
        let reader = try WireReader(json, "error")
        let code = try reader.integer("code")
        let data = reader["data"] ?? .null
        let named = data["kind"]?.stringValue.flatMap(ErrorKind.init(rawValue:))
        self.init(
            named ?? ErrorKind(code: Int(truncatingIfNeeded: code)),
            try reader.string("message").cut(toBytes: Self.textBytesMax),
            form: text(data["form"]), field: text(data["field"]), path: text(data["path"]),
            expected: text(data["expected"]))
        approval = [NeededApproval](decoding: data["approval"], max: Self.itemsMax)
        if approval.isEmpty, let fields = data["fields"] {
            self.fields = try [NamedField](decoding: fields)
        }
        similar = (data["similar"]?.arrayValue ?? []).prefix(Self.itemsMax).compactMap(text)
        limit = text(data["limit"])
        max = data["max"]?.integerValue
        report = data["report"]?.integerValue
        needs = text(data["needs"])
        press = text(data["press"])
        ended = data["ended"]
        resend = data["resend"]?.boolValue ?? false
        problems = (data["problems"]?.arrayValue ?? []).prefix(Self.itemsMax).compactMap {
            guard let message = text($0["message"]) else { return nil }
            return WireProblem(path: text($0["path"]) ?? "", message: message)
        }
    }
}
