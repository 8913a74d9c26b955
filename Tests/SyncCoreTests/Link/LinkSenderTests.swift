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
        func pump() {
            _ = sender.pump(at: 1) { _, _, writes in
                sealed.append(writes)
                return []
            }
        }
        pump()
        _ = sender.acknowledged("1.0", sequence: 1, at: 1)
        pump()
        #expect(sealed.map { $0?.replica } == [old, new])
        #expect(sealed.map { $0?.counters } == [7...8, 1...1])
    }

    @Test("edits gather while others of their form are on their way, up to a full bundle")
    func gathering() {
        var limits = Limits()
        limits.linkBundleBytesMax = 100
        var sender = LinkSender(limits)
        var sealed: [(form: String, counters: ClosedRange<UInt64>?)] = []
        let replica = ReplicaID(id: 1, epoch: 1)
        let message = LinkSubject(fleet: "f", host: "h", .bundles(form: "a")).map {
            LinkMessage(
                subject: $0,
                headers: LinkHeaders(replica: replica, counters: nil, run: 1, number: 1, key: 1),
                body: [])
        }
        func add(_ form: String, _ counter: UInt64, bytes: Int = 10) {
            _ = sender.add(
                LinkTransaction(
                    form: form, replica: replica, counters: counter...counter,
                    bytes: Array(repeating: 1, count: bytes)))
            _ = sender.pump(at: 1) { form, _, writes in
                sealed.append((form, writes?.counters))
                return message.map { [$0] }
            }
        }
        for counter in 1...3 { add("a", UInt64(counter)) }
        #expect(sealed.map(\.counters) == [1...1])
        add("b", 1)
        #expect(sealed.map(\.form) == ["a", "b"], "another form does not wait")
        add("a", 4, bytes: 80)
        #expect(sealed.map(\.counters) == [1...1, 1...1, 2...4], "a full bundle does not wait")
        add("a", 5)
        _ = sender.acknowledged("1.0", sequence: 1, at: 1)
        add("a", 6)
        #expect(sealed.count == 3, "one is still on its way")
        for id in ["2.0", "3.0"] { _ = sender.acknowledged(id, sequence: 2, at: 1) }
        add("a", 7)
        #expect(sealed.last?.counters == 5...7)
        #expect(sender.unsent.transactions == 3 && sender.unsent.bytes == 30)
    }
}
