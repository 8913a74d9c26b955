/// The id of a request: the JSON text of a string, a number or null, repeated unchanged in the
/// response.
public struct RequestID: Hashable, Sendable {
    /// The JSON text, for example `7` or `"a"`.
    public let rawText: String

    /// The id of a response if the request's id is unknown (JSON-RPC 2.0, section 5).
    public static let null = RequestID(rawText: "null")

    /// A number as an id.
    public init(_ number: Int64) {
        rawText = String(number)
    }

    init(rawText: String) {
        self.rawText = rawText
    }

    /// The id of a message; `nil` if it is not a string, a number or null.
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

    /// Compared byte by byte: canonically equivalent ids are different.
    public static func == (left: RequestID, right: RequestID) -> Bool {
        left.rawText.isSameBytes(as: right.rawText)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = rawText
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The number, if the id is an integer, as our own clients send.
    public var number: Int64? { Int64(rawText) }
}

/// One call of a peer: the request, or why it is invalid.
public struct Call: Hashable, Sendable {
    /// The id for the response; `nil` for a notification, which is never answered, not even with an
    /// error.
    public var id: RequestID?
    /// The request, or the error for the response.
    public var content: Content

    /// The content of a call.
    public enum Content: Hashable, Sendable {
        case success(Request)
        /// Indirect, because it is twice as large as any request, and every call would be that
        /// large.
        indirect case failure(WireError)
    }

    /// A call.
    public init(id: RequestID?, content: Content) {
        self.id = id
        self.content = content
    }
}

/// The content of a frame from a client.
public enum IncomingFrame: Hashable, Sendable {
    /// One call with one response.
    case single(Call)
    /// A batch. Its response is an array of the responses to calls that are not notifications, in
    /// any order; there is none if all are notifications (JSON-RPC 2.0, section 6). Never empty.
    case batch([Call])
    /// Not a call: the response is an error with id null.
    indirect case refused(WireError)
}

/// Decodes frames from clients strictly by JSON-RPC 2.0. It reuses its tape.
///
/// It never throws, because an invalid frame is answered too.
public struct MessageDecoder: Sendable {
    /// Limits for the parts of a request.
    public var bounds: RequestBounds
    private var tape = JSONTape()

    /// A decoder with these limits.
    public init(bounds: RequestBounds = RequestBounds()) {
        self.bounds = bounds
    }

    /// Decodes the text of one frame.
    public mutating func decode(_ text: UnsafeRawBufferPointer) -> IncomingFrame {
        do {
            try tape.scan(text, entriesMax: bounds.valuesMax)
        } catch {
            if error.reason == .tooMany {
                return .refused(
                    .limit(
                        "requestValuesMax", max: bounds.valuesMax,
                        "the frame has more than \(bounds.valuesMax) values and names "
                            + "(requestValuesMax); send less at once"))
            }
            return .refused(WireError(.parse, "the frame is not JSON: \(error)"))
        }
        let marks = tape.tooManyMarks.map { JSONError(offset: $0, reason: .tooManyMarks) }
        let reader = CallReader(bounds: bounds, fault: marks)
        return tape.withRoot(of: text) { root in
            root.kind == .array ? reader.batch(root) : .single(reader.call(root))
        }
    }

    /// Decodes the text of one frame.
    public mutating func decode(_ text: [UInt8]) -> IncomingFrame {
        text.withUnsafeBytes { decode($0) }
    }
}

/// Reads calls from a tape. Separate from the decoder, which would otherwise be copied while its
/// tape is read.
private struct CallReader {
    let bounds: RequestBounds
    /// Why no call of the frame is carried out.
    let fault: JSONError?

    func batch(_ root: JSONNode) -> IncomingFrame {
        guard root.count > 0 else {
            return .refused(WireError(.invalidRequest, "the batch is empty"))
        }
        guard root.count <= bounds.requestBatchMax else {
            return .refused(
                .limit(
                    "requestBatchMax", max: bounds.requestBatchMax,
                    "the batch has more than \(bounds.requestBatchMax) requests"))
        }
        return .batch(root.elements.map(call))
    }

    /// One element. The members are looked up in one pass. Members that JSON-RPC does not define
    /// are ignored, because it does not forbid them.
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
        // An invalid request is not a notification: it is answered even without an id.
        guard let version, version.matches("2.0") else {
            return invalid("jsonrpc should be exactly \"2.0\"", id: id ?? .null)
        }
        guard let method, method.kind == .string else {
            return invalid("method should be a string", id: id ?? .null)
        }
        if let params, params.kind != .object, params.kind != .array {
            return invalid("params should be an object", id: id ?? .null)
        }
        if let fault {
            return Call(id: id, content: .failure(WireError(.invalidValue, "\(fault)")))
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
