/// The id of a request: the JSON text of a string, a number or null, echoed as it was written.
public struct RequestID: Hashable, Sendable {
    /// The JSON text, such as `7` or `"a"`.
    public let rawText: String

    /// The id that is given where a request's own could not be found out (JSON-RPC 2.0, section 5).
    public static let null = RequestID(rawText: "null")

    /// A number as an id.
    public init(_ number: Int64) {
        rawText = String(number)
    }

    init(rawText: String) {
        self.rawText = rawText
    }

    /// The id of a message, as it is written; `nil` where this is neither string nor number nor
    /// null.
    init?(_ node: JSONNode) {
        switch node.kind {
        case .string, .number, .null:
            rawText = String(
                decoding: UnsafeBufferPointer(
                    start: node.rawBytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    count: node.rawBytes.count), as: UTF8.self)
        case .bool, .array, .object:
            return nil
        }
    }

    /// Byte by byte: two ids that are canonically equivalent are two ids.
    public static func == (left: RequestID, right: RequestID) -> Bool {
        left.rawText.isSameBytes(as: right.rawText)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = rawText
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The number, where the id is a whole one: what our own clients send.
    public var number: Int64? { Int64(rawText) }
}

/// One call of a peer: what it asks for, or why that cannot be understood.
public struct Call: Hashable, Sendable {
    /// Where the answer goes; `nil` for a notification, which is never answered, not even with an
    /// error.
    public var id: RequestID?
    /// The request, or the error to answer.
    public var content: Content

    /// What a call comes to.
    public enum Content: Hashable, Sendable {
        case success(Request)
        /// Apart, as it is twice as large as any request, and every call would be copied as such.
        indirect case failure(WireError)
    }

    /// A call.
    public init(id: RequestID?, content: Content) {
        self.id = id
        self.content = content
    }
}

/// What a frame from a client holds.
public enum IncomingFrame: Hashable, Sendable {
    /// One call, answered with one response.
    case single(Call)
    /// A batch, answered with one array of the responses to those that are no notifications, in
    /// any order; with nothing where all are (JSON-RPC 2.0, section 6). Never empty.
    case batch([Call])
    /// Nothing that could be called: one response with id null.
    indirect case refused(WireError)
}

/// Decodes frames from clients by JSON-RPC 2.0 to the letter; reuses its tape from frame to frame.
///
/// It never throws: what cannot be understood is an answer too.
public struct MessageDecoder: Sendable {
    /// How large the parts of a request may be.
    public var bounds: RequestBounds
    private var tape = JSONTape()

    /// A decoder with bounds.
    public init(bounds: RequestBounds = RequestBounds()) {
        self.bounds = bounds
    }

    /// Decodes the text of one frame.
    public mutating func decode(_ text: UnsafeRawBufferPointer) -> IncomingFrame {
        do {
            try tape.scan(text)
        } catch {
            return .refused(WireError(.parse, "the frame is not JSON: \(error)"))
        }
        let reader = CallReader(bounds: bounds)
        return tape.withRoot(of: text) { root in
            root.kind == .array ? reader.batch(root) : .single(reader.call(root))
        }
    }

    /// Decodes the text of one frame.
    public mutating func decode(_ text: [UInt8]) -> IncomingFrame {
        text.withUnsafeBytes { decode($0) }
    }
}

/// Reads calls off a tape. Apart from the decoder, which would be copied while its tape is read.
private struct CallReader {
    let bounds: RequestBounds

    func batch(_ root: JSONNode) -> IncomingFrame {
        guard root.count > 0 else {
            return .refused(WireError(.invalidRequest, "the batch is empty"))
        }
        guard root.count <= bounds.requestBatchMax else {
            return .refused(
                .limit(
                    "requestBatchMax", max: Int64(bounds.requestBatchMax),
                    "the batch has more than \(bounds.requestBatchMax) requests"))
        }
        return .batch(root.elements.map(call))
    }

    /// One element. The members are looked up in one pass; those that JSON-RPC does not know are
    /// passed over, since it does not forbid them.
    func call(_ node: JSONNode) -> Call {
        guard node.kind == .object else {
            return invalid("a request is an object, not \(node.kindInWords)", id: .null)
        }
        var (version, idNode, method, params): (JSONNode?, JSONNode?, JSONNode?, JSONNode?)
        for (name, value) in node.members {
            if name.matches("jsonrpc") {
                version = value
            } else if name.matches("id") {
                idNode = value
            } else if name.matches("method") {
                method = value
            } else if name.matches("params") {
                params = value
            }
        }
        var id: RequestID?
        if let idNode {
            guard idNode.rawBytes.count <= bounds.idBytesMax, let found = RequestID(idNode) else {
                return invalid(
                    "id should be a string, a number or null of at most \(bounds.idBytesMax) bytes",
                    id: .null)
            }
            id = found
        }
        // What is no request is no notification either: it is answered even without an id.
        guard let version, version.matches("2.0") else {
            return invalid("jsonrpc should be exactly \"2.0\"", id: id ?? .null)
        }
        guard let method, method.kind == .string else {
            return invalid("method should be a string", id: id ?? .null)
        }
        if let params, params.kind != .object, params.kind != .array {
            return invalid("params should be an object", id: id ?? .null)
        }
        return Call(id: id, content: request(method, params))
    }

    private func invalid(_ message: String, id: RequestID) -> Call {
        Call(id: id, content: .failure(WireError(.invalidRequest, message)))
    }

    private func request(_ name: JSONNode, _ params: JSONNode?) -> Call.Content {
        guard let method = Method(name) else {
            let text = String((name.string ?? "").prefix(64))
            var error = WireError(.methodNotFound, "no method \(text.escapedForDisplay())")
            error.similar = Similar.names(to: text, among: Method.allCases.map(\.rawValue))
            if let nearest = error.similar.first { error.message += "; did you mean \(nearest)?" }
            return .failure(error)
        }
        do {
            return .success(try Request.decode(method, params, bounds))
        } catch {
            return .failure(error.wireError)
        }
    }
}
