import Testing

@testable import SyncCore

/// What waits to be published.
@Suite("Outbox of a link")
struct LinkSenderTests {
    @Test("a whole that waits is made again when something happens that only a whole tells")
    func wholeMadeAgain() {
        var sender = LinkSender(Limits())
        sender.demandWhole("a", .shared)
        #expect(sender.takeWanted().map(\.form) == ["a"])
        sender.give(whole: ([1], CausalContext()), of: "a")
        sender.demandWhole("a", .shared)
        #expect(sender.takeWanted().map(\.form) == ["a"])
    }

    @Test("transactions are published as those of the replica that made them")
    func formerReplica() {
        var sender = LinkSender(Limits())
        let (old, new) = (ReplicaID(id: 1, epoch: 1), ReplicaID(id: 1, epoch: 2))
        for (replica, counter) in [(old, 7), (old, 8), (new, 1)] as [(ReplicaID, UInt64)] {
            _ = sender.add(
                LinkTransaction(
                    form: "a", replica: replica, counters: counter...counter, bytes: [1]))
        }
        var sealed: [LinkSender.Writes?] = []
        _ = sender.pump(at: 1) { _, _, writes in
            sealed.append(writes)
            return []
        }
        #expect(sealed.map { $0?.replica } == [old, new])
        #expect(sealed.map { $0?.counters } == [7...8, 1...1])
    }
}
