// Messages from the daemon to a client: responses and notifications of JSON-RPC 2.0, written
// directly as bytes.

/// Writers of the messages that a daemon sends.
public enum Answer {
    /// Writes a response with a result that `result` writes.
    @inline(__always)
    public static func encode(
        _ id: RequestID, into writer: inout JSONWriter, result: (inout JSONWriter) -> Void
    ) {
        begin(id, &writer)
        writer.key("result")
        result(&writer)
        writer.endObject()
    }

    /// Writes an error response.
    public static func encode(
        _ id: RequestID, _ error: WireError, into writer: inout JSONWriter
    ) {
        begin(id, &writer)
        writer.key("error")
        error.encode(into: &writer)
        writer.endObject()
    }

    /// Writes a notification with params that `params` writes.
    @inline(__always)
    public static func encodeNotification(
        _ method: StaticString, into writer: inout JSONWriter, params: (inout JSONWriter) -> Void
    ) {
        writer.beginObject(text: #"{"jsonrpc":"2.0","method":"#)
        writer.string(static: method)
        writer.key("params")
        params(&writer)
        writer.endObject()
    }

    /// An error response as a frame, with its length.
    public static func frame(_ id: RequestID, _ error: WireError) -> [UInt8] {
        Frame.encode { encode(id, error, into: &$0) }
    }

    /// A notification as a frame, with its length.
    public static func frame(_ notification: ServerNotification) -> [UInt8] {
        frame(notification.method) { notification.encodeParams(into: &$0) }
    }

    /// A notification as a frame, with its length, and with params that `params` writes.
    @inline(__always)
    static func frame(
        _ method: StaticString, params: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        Frame.encode { encodeNotification(method, into: &$0, params: params) }
    }

    private static func begin(_ id: RequestID, _ writer: inout JSONWriter) {
        writer.beginObject(text: #"{"jsonrpc":"2.0","id":"#)
        writer.raw(id.rawText)
    }
}

/// A message from the daemon, as a client reads it.
public enum ServerMessage: Hashable, Sendable {
    /// The result of a request. The sender of the request decodes it further.
    case result(id: RequestID, JSON)
    case failure(id: RequestID, WireError)
    case notification(ServerNotification)
    /// An unknown notification, to be ignored.
    case unknownNotification(method: String)
}

/// Decodes frames from a daemon. It reuses its tape.
public struct ServerMessageDecoder: Sendable {
    /// Values and names of one frame at most: the largest form that a daemon can be configured for
    /// has seven million. Without a bound, 64 MiB of `0,` take gigabytes.
    public static let entriesMax = 1 << 23

    private var tape = JSONTape()

    /// A decoder.
    public init() {}

    /// Decodes the text of one frame: one message, or those of a batch.
    public mutating func decode(
        _ text: UnsafeRawBufferPointer
    ) throws(DecodeError) -> [ServerMessage] {
        do {
            try tape.scan(text, entriesMax: Self.entriesMax)
        } catch {
            throw .json(error)
        }
        if let offset = tape.tooManyMarks {
            throw .json(JSONError(offset: offset, reason: .tooManyMarks))
        }
        return try tape.withRoot(of: text) { root throws(DecodeError) in
            guard root.kind == .array else { return [try Self.message(root)] }
            var messages: [ServerMessage] = []
            for element in root.elements { messages.append(try Self.message(element)) }
            return messages
        }
    }

    /// Decodes the text of one frame.
    public mutating func decode(_ text: [UInt8]) throws(DecodeError) -> [ServerMessage] {
        try text.withUnsafeBufferPointer { buffer throws(DecodeError) in
            try decode(UnsafeRawBufferPointer(buffer))
        }
    }

    private static func message(_ node: JSONNode) throws(DecodeError) -> ServerMessage {
        guard let version = node["jsonrpc"], version.matches("2.0") else {
            throw .shape(path: "jsonrpc", expected: "\"2.0\"")
        }
        if let method = node["method"], method.kind == .string {
            guard node["id"] == nil else {
                throw .shape(path: "id", expected: "left out: a daemon sends no requests")
            }
            // Nearly all notifications are of this method, so they become no tree first.
            if let params = node["params"], method.matches("state.changed") {
                return .notification(.stateChanged(try StateChanged(value: params)))
            }
            let name = method.string ?? ""
            let params = try node["params"]?.tree() ?? .null
            return try ServerNotification(method: name, params: params)
                .map { .notification($0) } ?? .unknownNotification(method: name)
        }
        guard let id = node["id"].flatMap({ RequestID($0) }) else {
            throw .shape(path: "id", expected: "a string, a number or null")
        }
        switch (node["result"], node["error"]) {
        case (let result?, nil): return .result(id: id, try result.tree())
        case (nil, let error?): return .failure(id: id, try WireError(decoding: try error.tree()))
        default: throw .shape(path: "result", expected: "present, or error, but not both")
        }
    }
}
