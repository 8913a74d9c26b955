import Foundation
import SyncCore
import TestKit

/// A daemon that answers each request as it is told.
struct FakeDaemon {
    private let daemon: LyingDaemon

    /// Listens on `path`; `answer` gives the frame for a request, `nil` closes the connection.
    init(_ path: String, _ answer: @escaping @Sendable (JSON) -> String?) throws {
        daemon = try LyingDaemon(path) { peer in
            while let request = peer.request(),
                let text = try? JSONSerialization.data(withJSONObject: request),
                let json = try? JSON(parsing: Array(text)), let reply = answer(json)
            {
                peer.send(reply)
            }
        }
    }

    func stop() { daemon.stop() }

    /// An error frame for a request.
    static func refusal(_ request: JSON, _ code: Int, _ kind: String, _ message: String) -> String {
        let id = request["id"]?.encodedText ?? "null"
        return #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(code),"message":"\#(message)","#
            + #""data":{"kind":"\#(kind)"}}}"#
    }
}
