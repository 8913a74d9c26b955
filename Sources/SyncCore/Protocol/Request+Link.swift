// The params of the methods of the link (PROTOCOL.md, The link): what a bridge tells its daemon.

/// Params of `link.up`: the bridge has a server.
public struct LinkUp: Hashable, Sendable {
    /// The server's name or address, for people.
    public var server: String
    /// The server's version.
    public var version: String
    /// The most bytes of headers and body in one message.
    public var maxPayload: Int64
    /// Microseconds of a round trip to the server.
    public var rttUs: Int64

    /// A server that is there.
    public init(server: String, version: String, maxPayload: Int64, rttUs: Int64) {
        self.server = server
        self.version = version
        self.maxPayload = maxPayload
        self.rttUs = rttUs
    }
}

/// Params of `link.down`: the bridge has no server.
public struct LinkDown: Hashable, Sendable {
    /// Why: one line for people.
    public var reason: String

    /// No server, for this reason.
    public init(reason: String) { self.reason = reason }
}

/// Params of `form.link`: what becomes of two forms of one name, this host's and the fleet's.
public struct FormLinking: Hashable, Sendable {
    /// Which values and definition stay.
    public enum How: String, Hashable, Sendable, CaseIterable {
        /// Those of both, as if they had always been one form.
        case merge
        /// The fleet's.
        case theirs
        /// This host's.
        case ours
    }

    /// The form.
    public var form: String
    /// `nil` if there is only one: it is shared, if it was not.
    public var how: How?

    /// A decision.
    public init(form: String, how: How? = nil) {
        self.form = form
        self.how = how
    }
}

extension FormLinking {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        how = try reader.optionalChoice("how", as: How.self)
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("how", how?.rawValue)
    }
}

/// The result of `link.attach`.
public struct LinkAttached: Hashable, Sendable {
    /// The fleet.
    public var fleet: String
    /// The name of the daemon's host in it.
    public var host: String
    /// The JetStream domains of all sites, the host's first; empty: the fleet has one stream.
    public var streams: [String] = []
}

extension LinkAttached: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("fleet", fleet)
        writer.member("host", host)
        writer.member("streams", streams.isEmpty ? nil : streams)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            fleet: try reader.string("fleet"), host: try reader.string("host"),
            streams: reader["streams"] == nil ? [] : try reader.strings("streams"))
    }
}

/// A message of NATS between a bridge and its daemon: params of `link.message`, and what `link.do`
/// publishes.
public struct LinkTransfer: Hashable, Sendable {
    /// The subject.
    public var subject: String
    /// Where an answer goes; `nil`: nobody answers.
    public var reply: String?
    /// The headers, each as `Name: value`.
    public var headers: [String]
    /// The body.
    public var data: [UInt8]

    /// A message of these parts.
    public init(subject: String, reply: String? = nil, headers: [String] = [], data: [UInt8]) {
        self.subject = subject
        self.reply = reply
        self.headers = headers
        self.data = data
    }

    /// The headers, split; a line without a colon is a name without a value.
    public var headerPairs: [(name: String, value: String)] {
        headers.map { line in
            let bytes = line.utf8
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            var value = bytes[colon...].dropFirst()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            return (String(Substring(bytes[..<colon])), String(Substring(value)))
        }
    }

    /// The most headers and the longest subject, reply or header in bytes.
    static let headersMax = 64
    static let lineBytesMax = 1024
    /// The longest body in bytes. No host of a fleet sends a longer one.
    static let dataBytesMax = LinkMessage.payloadMax

    /// The message as far as a daemon takes it. A user of the server can put a message into the log
    /// that is longer than a request. What is cut is refused as a message then, and the log is read
    /// on behind it.
    package var cutToLimits: LinkTransfer {
        func cut(_ line: String) -> String { line.cut(toBytes: Self.lineBytesMax) }
        return LinkTransfer(
            subject: cut(subject), reply: reply.map(cut),
            headers: headers.prefix(Self.headersMax).map(cut),
            data: data.count > Self.dataBytesMax ? [] : data)
    }

    package var bytes: Int {
        subject.utf8.count + (reply?.utf8.count ?? 0) + data.count
            + headers.reduce(0) { $0 + $1.utf8.count }
    }
}

extension LinkUp {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        server = try reader.optionalLabel("server", bytesMax: bounds.greetingBytesMax) ?? ""
        version = try reader.optionalLabel("version", bytesMax: bounds.greetingBytesMax) ?? ""
        maxPayload = try reader.integer("maxPayload", in: 0 ... .max)
        rttUs = try reader.integer("rttUs", in: 0 ... .max)
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("server", server)
        writer.member("version", version)
        writer.member("maxPayload", maxPayload)
        writer.member("rttUs", rttUs)
    }
}

extension LinkDown {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        let bytesMax = LinkTransfer.lineBytesMax
        guard let reason = try reader.optionalLabel("reason", bytesMax: bytesMax) else {
            throw ParamsFault("reason", .shape("is missing", expected: "a string"))
        }
        self.reason = reason
    }

    func encodeMembers(into writer: inout JSONWriter) { writer.member("reason", reason) }
}

extension LinkTransfer {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        let bytesMax = Self.lineBytesMax
        subject = try reader.string("subject", bytesMax: bytesMax)
        reply = try reader.optionalString("reply", bytesMax: bytesMax)
        var lines = RequestBounds()
        lines.nameBytesMax = bytesMax
        headers =
            try reader.optionalNames(
                "headers", countMax: Self.headersMax, limit: "headers", lines) ?? []
        let text = try reader.string("data", bytesMax: .max)
        guard let data = Base64.decode(text) else { throw .expected("base64", at: "data") }
        self.data = data
    }

    /// Writes the members, without the braces of the object.
    public func encodeMembers(into writer: inout JSONWriter) {
        writer.member("subject", subject)
        writer.member("reply", reply)
        if !headers.isEmpty { writer.member("headers", headers) }
        writer.member("data", Base64.encode(data))
    }
}

/// What a daemon asks of its bridge: the params of the notification `link.do`.
public enum LinkOrder: Hashable, Sendable, WireObject {
    /// Subscribe to these subjects, in place of those before.
    case subscribe([String])
    /// Publish a message.
    case publish(LinkTransfer)
    /// Connect to the server again; the reason is one line for people.
    case close(reason: String)

    package func encodeMembers(into writer: inout JSONWriter) {
        switch self {
        case .subscribe(let subjects):
            writer.member("do", "subscribe")
            writer.member("subjects", subjects)
        case .publish(let message):
            writer.member("do", "publish")
            message.encodeMembers(into: &writer)
        case .close(let reason):
            writer.member("do", "close")
            writer.member("reason", reason)
        }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        switch try reader.string("do") {
        case "subscribe": self = .subscribe(try reader.strings("subjects"))
        case "publish":
            guard let data = Base64.decode(try reader.string("data")) else {
                throw reader.mistyped("data", "base64")
            }
            self = .publish(
                LinkTransfer(
                    subject: try reader.string("subject"), reply: reader["reply"]?.stringValue,
                    headers: try reader.strings("headers"), data: data))
        case "close": self = .close(reason: try reader.string("reason"))
        default: throw reader.mistyped("do", "subscribe, publish or close")
        }
    }
}
