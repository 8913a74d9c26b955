import Testing

@testable import SyncCore

/// The machine between the engine and its store, alone.
@Suite struct StoreLinkTests {
    private static let image = StoreImage()
    private static let second: UInt64 = 1_000_000_000

    private func link() -> StoreLink {
        StoreLink(keys: KeyIndex([], secret: KeyHash.Secret(first: 1, second: 2)))
    }

    private func retryAt(_ link: StoreLink) -> UInt64? {
        if case .broken(_, let retryAt) = link.state { retryAt } else { nil }
    }

    @Test("one batch at a time is with the store, and the next gathers meanwhile")
    func batches() {
        var link = link()
        #expect(!link.canSend, "an empty batch is not sent")
        link.gathering.chores.append(.pruneKeys(before: 1))
        #expect(link.canSend && link.newestPending == nil, "a chore is nobody's edit")
        let sent = link.send(clock: [7], at: 5)
        #expect(sent.number == 1 && sent.operations.count == 2)
        #expect(link.isCommitting && link.dueAt(period: 10) == 15)
        link.gathering.chores.append(.pruneKeys(before: 2))
        #expect(!link.canSend && link.gathering.number == 2)
        #expect(link.take(2) == nil, "that batch is not with the store")
        #expect(link.take(1)?.chores.count == 1)
        #expect(link.take(1) == nil)
        #expect(link.canSend)
    }

    @Test("an answer waits for the batch that it names, as long as that is not durable")
    func waiters() {
        var link = link()
        let waiter = OpenBatch.Waiter(
            connection: ConnectionID(1), form: nil, target: .nowhere, id: nil,
            response: SharedBytes([]))
        link.gathering.chores.append(.pruneKeys(before: 1))
        _ = link.send(clock: [], at: 0)
        #expect(link.newestPending == 1)
        let waits = (1...3).map { link.wait(for: $0, waiter) }
        #expect(waits == [true, true, false])
        #expect(link.gathering.waiters.count == 1)
        #expect(link.take(1)?.waiters.count == 1)
        #expect(link.wait(for: 1, waiter) == false)
    }

    @Test("an attempt that took long is followed by a long wait, up to a bound")
    func backOff() {
        for (took, wait) in [(0, 500), (200, 4_000), (60_000, 30_000)] as [(UInt64, UInt64)] {
            var link = link()
            link.rebuild(Self.image, at: Self.second)
            let end = Self.second + took * 1_000_000
            #expect(link.rebuildFailed("full", at: end) == true)
            #expect(retryAt(link) == end + wait * 1_000_000)
        }
    }

    @Test("a store that cannot be rebuilt takes no edits, and one reason is logged once")
    func broken() throws {
        var link = link()
        link.gathering.chores.append(.pruneKeys(before: 1))
        link.rebuild(Self.image, at: 0)
        #expect(!link.isHealthy && !link.canSend && !link.isCommitting && link.trouble != nil)
        #expect(link.rebuildFailed("full", at: 0) == true)
        #expect(link.trouble == "full")
        var time = try #require(retryAt(link))
        #expect(link.deadline <= time)
        #expect(link.retry(at: time - 1) == nil)
        #expect(link.retry(at: time) == Self.image)
        #expect(link.retry(at: time) == nil, "an attempt is in progress")
        #expect(link.rebuildFailed("full", at: time) == false, "this reason is in the log")
        time = try #require(retryAt(link))
        #expect(link.retry(at: time) != nil)
        #expect(link.rebuildFailed("gone", at: time) == true)
        time = try #require(retryAt(link))
        #expect(link.retry(at: time) != nil)
        link.rebuilt()
        #expect(link.isHealthy && link.canSend && link.trouble == nil)
    }

    @Test("expired data is searched for every ten minutes of either clock")
    func chores() {
        var link = link()
        let minutes = 60 * Self.second
        #expect(link.beginChores(at: 1, steady: 1_000) == true)
        #expect(link.beginChores(at: 9 * minutes, steady: 1_000) == false)
        #expect(link.beginChores(at: 10 * minutes + 1, steady: 1_000) == true)
        #expect(link.beginChores(at: 11 * minutes, steady: 600_999) == false)
        #expect(link.beginChores(at: 11 * minutes, steady: 601_000) == true)
        #expect(link.deadline == 21 * minutes)
    }

    @Test("each read has a number of its own, and is taken once")
    func fetches() {
        var link = link()
        let call = PendingCall(
            connection: Connection(
                ConnectionID(1), peer: Peer(pid: 1, uid: 7, gid: 7, user: "mallory"),
                account: Account(uid: 7), frameBytesMax: 1024), id: nil, target: .nowhere)
        let first = link.ask(.backup(call, offset: 0))
        let second = link.newFetch()
        #expect(first != second && link.fetches.count == 1)
        #expect(link.takeFetch(first)?.call?.connection === call.connection)
        #expect(link.takeFetch(first) == nil)
    }
}
