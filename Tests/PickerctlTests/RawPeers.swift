import Foundation
import SyncCore
import Testing

/// A client of the wire that is not ours: one socket, frames in and out.
final class RawClient {
    private let descriptor: Int32
    private var lastID = 0
    /// Notifications that came while an answer was awaited.
    private(set) var notifications: [JSON] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = RawAddress(path).value
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { [descriptor] in
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
    }

    deinit { close(descriptor) }

    /// Sends a request and does not wait.
    func send(_ method: String, _ params: String) {
        lastID += 1
        Frames.write(
            #"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(params)}"#,
            to: descriptor)
    }

    /// Sends a request; its result.
    func call(_ method: String, _ params: String) throws -> JSON {
        send(method, params)
        while let text = Frames.read(from: descriptor) {
            let json = try JSON(parsing: text)
            if json["id"]?.integerValue == Int64(lastID) {
                return try #require(json["result"], "\(text)")
            }
            notifications.append(json)
        }
        throw CancellationError()
    }
}

/// A daemon that answers as it is told, one connection after the other.
final class FakeDaemon: @unchecked Sendable {
    // Only the thread that accepts uses the descriptor after `init`, and `stop` shuts it down.
    private let descriptor: Int32

    /// Listens on `path`; `answer` gives the frame for a request, `nil` closes the connection.
    init(_ path: String, _ answer: @escaping @Sendable (JSON) -> String?) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        unlink(path)
        var address = RawAddress(path).value
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { [descriptor] in
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && listen(descriptor, 8) == 0)
        let listening = descriptor
        Thread.detachNewThread {
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { return }
                while let text = Frames.read(from: connection) {
                    guard let request = try? JSON(parsing: text), let reply = answer(request)
                    else { break }
                    Frames.write(reply, to: connection)
                }
                close(connection)
            }
        }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// An error frame for a request.
    static func refusal(_ request: JSON, _ code: Int, _ kind: String, _ message: String) -> String {
        let id = request["id"]?.encodedText ?? "null"
        return #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"kind":"\#(kind)"}}}"#
    }
}

/// A path as unix(7) wants it.
private struct RawAddress {
    var value = sockaddr_un()

    init(_ path: String) {
        value.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &value.sun_path) { $0.copyBytes(from: path.utf8) }
    }
}

/// Length and JSON.
private enum Frames {
    static func write(_ text: String, to descriptor: Int32) {
        let length = UInt32(text.utf8.count).bigEndian
        let bytes = withUnsafeBytes(of: length) { Array($0) } + Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    static func read(from descriptor: Int32) -> String? {
        guard let head = bytes(4, from: descriptor) else { return nil }
        let length = head.reduce(0) { $0 << 8 | Int($1) }
        return bytes(length, from: descriptor).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func bytes(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        while all.count < count {
            var buffer = [UInt8](repeating: 0, count: count - all.count)
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got > 0 else { return nil }
            all += buffer[..<got]
        }
        return all
    }
}
