import Foundation

// A client of the wire that shares no code with the product: frames out, frames in.

/// JSON as Foundation has it.
public typealias Object = [String: Any]

/// One connection.
///
/// Unchecked, since one thread at a time uses it: a thread that connects it as another user ends
/// before the test continues.
public final class WireClient: @unchecked Sendable {
    private let stream: FrameStream
    private var nextID = 1
    /// Notifications that came while an answer was waited for.
    public private(set) var notifications: [Object] = []

    /// Connects.
    public init(_ path: String) throws { stream = try FrameStream(connecting: path) }

    // MARK: Bytes

    /// Sends bytes as they are; a peer that has gone is not an error here.
    public func send(raw bytes: [UInt8]) { stream.send(bytes) }

    /// Sends what the kernel takes at once.
    public func sendWhatFits(_ bytes: [UInt8]) { stream.send(bytes, waits: false) }

    /// The bytes of a frame.
    public static func frame(_ text: String) -> [UInt8] { FrameStream.frame(Data(text.utf8)) }

    /// Closes the side that writes.
    public func endSending() { stream.endSending() }

    /// The next message; `nil` at the end of the stream.
    public func message() throws -> Object? {
        guard let body = try stream.next() else { return nil }
        return try JSONSerialization.jsonObject(with: body) as? Object ?? [:]
    }

    // MARK: Messages

    /// Sends a request, or a notification without an id; does not wait.
    public func send(_ method: String, _ params: Object, id: Int? = nil) throws {
        var request: Object = ["jsonrpc": "2.0", "method": method, "params": params]
        request["id"] = id
        stream.send(FrameStream.frame(try JSONSerialization.data(withJSONObject: request)))
    }

    /// The answer to a request as it came.
    public func answer(_ method: String, _ params: Object = [:]) throws -> Object {
        let id = nextID
        nextID += 1
        try send(method, params, id: id)
        while let message = try message() {
            if message["id"] as? Int == id { return message }
            notifications.append(message)
        }
        throw GaveUp("the connection ended before the answer to \(method)")
    }

    /// The result of a request; an error fails the test.
    @discardableResult
    public func call(_ method: String, _ params: Object = [:]) throws -> Object {
        let answer = try answer(method, params)
        guard let result = answer["result"] as? Object else {
            throw GaveUp("\(method) was refused: \(answer)")
        }
        return result
    }

    /// The next notification of a method, others left aside; `nil` at the end of the stream.
    public func notification(_ method: String) throws -> Object? {
        while !notifications.isEmpty {
            let first = notifications.removeFirst()
            if first["method"] as? String == method { return first["params"] as? Object }
        }
        while let message = try message() {
            if message["method"] as? String == method { return message["params"] as? Object }
        }
        return nil
    }
}
