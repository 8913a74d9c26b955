import Foundation
import Testing

// A client by hand: frames out, frames in, nothing of ours in between.

/// JSON as Foundation has it.
typealias Object = [String: Any]

/// One connection.
///
/// Used by one thread at a time, also by one that connected it as another user and has ended.
final class WireClient: @unchecked Sendable {
    private let descriptor: Int32
    private var buffer = Data()
    private var nextID = 1
    /// Notifications that came while an answer was waited for.
    private(set) var notifications: [Object] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(path)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // `deinit` closes it: it runs for an object that is whole, even where `init` throws.
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    static func address(_ path: String) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (index, byte) in path.utf8.prefix(107).enumerated() { field[index] = byte }
        }
        return address
    }

    deinit { close(descriptor) }

    // MARK: Bytes

    /// Sends bytes as they are; a peer that has gone is no error here.
    func send(raw bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(
                    descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Sends what the kernel takes at once.
    func sendWhatFits(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes {
            Foundation.send(
                descriptor, $0.baseAddress!, bytes.count,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    static func frame(_ text: String) -> [UInt8] {
        let body = Array(text.utf8)
        return withUnsafeBytes(of: UInt32(body.count).bigEndian, Array.init) + body
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next message; `nil` at the end of the stream.
    func message() throws -> Object? {
        while true {
            if buffer.count >= 4 {
                let length = Int(buffer.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
                if buffer.count >= 4 + length {
                    let body = buffer.dropFirst(4).prefix(length)
                    let object = try JSONSerialization.jsonObject(with: body) as? Object
                    buffer = Data(buffer.dropFirst(4 + length))
                    return object ?? [:]
                }
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
            guard count > 0 else { throw GaveUp(description: "nothing came for 30 seconds") }
            buffer.append(contentsOf: chunk.prefix(count))
        }
    }

    // MARK: Messages

    func send(_ method: String, _ params: Object, id: Int? = nil) throws {
        var request: Object = ["jsonrpc": "2.0", "method": method, "params": params]
        request["id"] = id
        let body = try JSONSerialization.data(withJSONObject: request)
        send(raw: withUnsafeBytes(of: UInt32(body.count).bigEndian, Array.init) + Array(body))
    }

    /// The answer to a request as it came.
    func answer(_ method: String, _ params: Object = [:]) throws -> Object {
        let id = nextID
        nextID += 1
        try send(method, params, id: id)
        while let message = try message() {
            if message["id"] as? Int == id { return message }
            notifications.append(message)
        }
        throw GaveUp(description: "the connection ended before the answer to \(method)")
    }

    /// The result of a request; an error fails the test.
    @discardableResult
    func call(_ method: String, _ params: Object = [:]) throws -> Object {
        let answer = try answer(method, params)
        guard let result = answer["result"] as? Object else {
            throw GaveUp(description: "\(method) was refused: \(answer)")
        }
        return result
    }

    /// The next notification of a method, others left aside; `nil` at the end of the stream.
    func notification(_ method: String) throws -> Object? {
        while !notifications.isEmpty {
            let first = notifications.removeFirst()
            if first["method"] as? String == method { return first["params"] as? Object }
        }
        while let message = try message() {
            if message["method"] as? String == method { return message["params"] as? Object }
        }
        return nil
    }

    // MARK: The form of these tests

    static var form: Object {
        [
            "form": "ice-cream", "title": "Ice cream",
            "sections": [
                [
                    "title": "Order",
                    "fields": [
                        [
                            "id": "flavor", "type": "picker", "label": "Flavor",
                            "options": ["chocolate", "vanilla", "strawberry"],
                            "default": "chocolate",
                        ] as Object,
                        [
                            "id": "scoops", "type": "stepper", "label": "Scoops", "min": 0,
                            "max": 1_000_000, "default": 0,
                        ] as Object,
                    ],
                ] as Object
            ],
        ]
    }

    func apply() throws { try call("form.apply", ["definition": Self.form]) }

    @discardableResult
    func set(_ field: String, _ value: Any, more: Object = [:]) throws -> Object {
        let change: Object = ["field": field, "value": value]
        let params: Object = ["form": "ice-cream", "changes": [change]]
        return try call("state.set", params.merging(more) { $1 })
    }

    @discardableResult
    func increment(_ field: String) throws -> Object {
        let change: Object = ["field": field, "increment": 1]
        return try call("state.set", ["form": "ice-cream", "changes": [change]])
    }

    func value(_ field: String) throws -> Any? {
        let state = try call("state.get", ["form": "ice-cream"])
        return ((state["fields"] as? Object)?[field] as? Object)?["value"]
    }

    @discardableResult
    func subscribe(since: Object? = nil) throws -> Object {
        var params: Object = ["form": "ice-cream"]
        params["since"] = since
        return try call("state.subscribe", params)
    }

    /// The next change: its revision, and the fields with their values as text.
    func change() throws -> (revision: Int, changes: [String]) {
        guard let params = try notification("state.changed") else {
            throw GaveUp(description: "the connection ended before a change")
        }
        let changes = (params["changes"] as? [Object] ?? []).map { change in
            "\(change["field"] ?? "?")=\(change["value"] ?? "?")"
        }
        return (params["revision"] as? Int ?? -1, changes)
    }
}
