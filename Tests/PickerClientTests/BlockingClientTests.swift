import SyncCore
import TestKit
import Testing

@testable import PickerClient

/// Calls of a blocking client to a daemon that answers as a test says.
@Suite("a blocking client")
struct BlockingClientTests {
    private static let greeting =
        #"{"protocol":1,"server":"s","replica":"3f9a.1","features":[],"#
        + #""you":{"connection":1,"uid":0,"gid":0,"pid":1,"user":"u"},"limits":{}}"#

    private let folder: TemporaryFolder
    private var socket: String { folder("sock") }

    init() throws { folder = try TemporaryFolder() }

    private func client() -> BlockingClient {
        var options = BlockingClient.Options(client: "test")
        options.socket = socket
        options.autostart = false
        return BlockingClient(options)
    }

    /// Messages that a client has no use for.
    static let useless = [
        #"{"jsonrpc":"2.0","method":"goodbye","params":{"reason":"restart"}}"#,
        #"{"jsonrpc":"2.0","method":"of.another.version","params":{}}"#,
        #"{"jsonrpc":"2.0","id":777,"error":{"code":-32001,"message":"","#
            + #""data":{"kind":"notFound","resend":true}}}"#,
        "[]",
    ]

    @Test("messages without a use may have 16 MiB before an answer", arguments: useless)
    func floods(message: String) throws {
        let text = message + String(repeating: " ", count: (1 << 16) - message.utf8.count)
        let daemon = try LyingDaemon(socket) { peer in
            guard let hello = peer.request() else { return }
            peer.answer(hello, Self.greeting)
            for count in [250, 250, 260] {
                guard let request = peer.request() else { return }
                for _ in 0..<count where !peer.send(text) { return }
                peer.answer(request, "{}")
            }
        }
        defer { daemon.stop() }
        let client = client()
        for _ in 0..<2 { _ = try client.call(.ping) }
        let failure = #expect(throws: ClientFailure.self) { try client.call(.ping) }
        guard case .violation(let reason)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("16777216 bytes of other messages"))
    }

    @Test("of requests that are sent together one is refused; the next call has its own answer")
    func together() throws {
        let daemon = try LyingDaemon(socket) { peer in
            guard let hello = peer.request() else { return }
            peer.answer(hello, Self.greeting)
            let requests = (0..<3).compactMap { _ in peer.request() }
            guard requests.count == 3 else { return }
            peer.answer(requests[1], #"{"place":1}"#)
            peer.send(
                #"{"jsonrpc":"2.0","id":\#(requests[0]["id"] ?? 0),"error":{"code":-32001,"#
                    + #""message":"no","data":{"kind":"notFound"}}}"#)
            guard let next = peer.request() else { return }
            peer.answer(requests[2], #"{"place":2}"#)
            peer.answer(next, #"{"place":3}"#)
        }
        defer { daemon.stop() }
        let client = client()
        let failure = #expect(throws: ClientFailure.self) {
            try client.call([.ping, .ping, .ping])
        }
        guard case .refused(let error)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.kind == .notFound)
        #expect(try client.call(.ping)["place"] == .integer(3))
    }

    @Test("answers come in the order of the requests, whichever is answered first")
    func order() throws {
        let daemon = try LyingDaemon(socket) { peer in
            guard let hello = peer.request() else { return }
            peer.answer(hello, Self.greeting)
            let requests = (0..<2).compactMap { _ in peer.request() }
            for place in requests.indices.reversed() {
                peer.answer(requests[place], #"{"place":\#(place)}"#)
            }
        }
        defer { daemon.stop() }
        let places = try client().call([.ping, .ping]).map { $0["place"] }
        #expect(places == [.integer(0), .integer(1)])
    }
}
