import EngineTestKit
import Testing

@testable import SyncCore

/// Connections that end while their next request waits for a commit, in numbers that one user can
/// reach.
@Suite struct LeavingWhileWaitingTests {
    private let host: EngineHost

    init() throws {
        host = try EngineHost()
        let owner = host.connect(uid: 0, user: "root")
        host.ask(
            owner,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"f","access":{"write":["anyone"]},"fields":[{"id":"a","type":"toggle"}]}}}"#
        )
        host.holdsCommits = true
    }

    /// An edit, and a read that waits until it is durable.
    private func edit(_ client: ConnectionID) {
        host.send(
            client,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":"#
                + #"{"form":"f","changes":[{"field":"a","toggle":true}]}}"#)
        host.send(client, #"{"jsonrpc":"2.0","id":2,"method":"state.get","params":{"form":"f"}}"#)
        host.settle()
    }

    @Test("nobody is searched for: the commit forgets those who have left, and serves the others")
    func leave() throws {
        let clients = (0..<40).map { _ in host.connect(uid: 1_000, user: "mallory") }
        // From now on this user alone is at work, whose turns are long.
        host.ask(clients[0], #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        _ = host.take(clients[0])
        host.pass(milliseconds: 1_000)
        for client in clients { edit(client) }
        #expect(host.engine.link.awaitingCommit.count == 40)
        for client in clients.dropFirst(10) { host.disconnect(client) }
        // Each departure leaves the list as it is, so it costs the same however many wait.
        #expect(host.engine.link.awaitingCommit.count == 40)
        host.holdsCommits = false
        while host.batchUnderWay != nil {
            host.commit()
            host.settle()
        }
        #expect(host.engine.link.awaitingCommit.isEmpty)
        for client in clients.prefix(10) { #expect(host.take(client).count == 2) }
        for client in clients.dropFirst(10) { #expect(host.take(client).isEmpty) }
    }

    @Test("those who have left are forgotten as well if the commit fails")
    func failure() throws {
        let clients = (0..<4).map { _ in host.connect(uid: 1_000, user: "mallory") }
        for client in clients { edit(client) }
        host.disconnect(clients[0])
        host.failCommit()
        host.settle()
        #expect(host.engine.link.awaitingCommit.isEmpty)
    }
}
