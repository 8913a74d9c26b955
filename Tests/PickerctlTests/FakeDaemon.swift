import Foundation
import SyncCore
import TestKit
import Testing

/// A daemon that answers as it is told, one connection after the other.
final class FakeDaemon: @unchecked Sendable {
    // Only the thread that accepts uses the descriptor after `init`, and `stop` shuts it down.
    private let socket: ListeningSocket

    /// Listens on `path`; `answer` gives the frame for a request, `nil` closes the connection.
    init(_ path: String, _ answer: @escaping @Sendable (JSON) -> String?) throws {
        unlink(path)
        socket = try ListeningSocket(path)
        let listening = socket.descriptor
        Thread.detachNewThread {
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { return }
                let stream = FrameStream(owning: connection)
                while let body = try? stream.next() {
                    guard let request = try? JSON(parsing: String(decoding: body, as: UTF8.self)),
                        let reply = answer(request)
                    else { break }
                    stream.send(FrameStream.frame(Data(reply.utf8)))
                }
            }
        }
    }

    func stop() {
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
        socket.closeSocket()
    }

    /// An error frame for a request.
    static func refusal(_ request: JSON, _ code: Int, _ kind: String, _ message: String) -> String {
        let id = request["id"]?.encodedText ?? "null"
        return #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"kind":"\#(kind)"}}}"#
    }
}
