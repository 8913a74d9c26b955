import Testing

@testable import SyncCore

/// The machine that shares the loop's time, alone: no engine, no clock.
@Suite struct SchedulerTests {
    private static let millisecond: UInt64 = 1_000_000

    private func connection(
        _ number: UInt64, _ account: Account, hasWork: Bool = false
    ) -> Connection {
        let peer = Peer(pid: 1, uid: account.uid, gid: 1, user: "u")
        let made = Connection(
            ConnectionID(number), peer: peer, account: account, frameBytesMax: 1024)
        if hasWork { account.enqueue(made) }
        return made
    }

    private func bridge(of scheduler: Scheduler, uid: UInt32 = 9) -> Connection {
        let bridge = connection(UInt64(uid), scheduler.join(uid))
        scheduler.moveToLink(bridge)
        return bridge
    }

    /// The users of one turn, in order; each does `work`.
    private func turn(
        _ scheduler: Scheduler, holdsEdits: Bool = false,
        _ work: (Account) -> Void = { _ in }
    ) -> [UInt32] {
        var users: [UInt32] = []
        scheduler.beginTurns(waitsForCommits: true)
        while let account = scheduler.nextTurn(holdsEdits: holdsEdits) {
            users.append(account.uid)
            work(account)
            scheduler.endTurn(of: account)
        }
        return users
    }

    private func schedule(_ scheduler: Scheduler) -> Schedule {
        scheduler.schedule(holdsEdits: false, deadline: 99)
    }

    @Test("two users at work within a short time are contended, and then no longer")
    func contention() {
        let scheduler = Scheduler()
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        scheduler.spend(1, alice)
        #expect(!schedule(scheduler).isContended)
        scheduler.spend(1, bob)
        #expect(schedule(scheduler).isContended)
        #expect(alice.unitsLeft <= 0, "the long turn of a lone user ends")
        #expect(turn(scheduler) == [1, 2])
        #expect(alice.unitsLeft == Account.contendedUnits)
        scheduler.now += 20 * Self.millisecond
        #expect(!schedule(scheduler).isContended && schedule(scheduler).deadline == 99)
    }

    @Test("units beyond a turn are paid off in the turns after it")
    func debt() {
        let scheduler = Scheduler()
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        scheduler.spend(1, bob)
        scheduler.spend(3 * Account.contendedUnits, alice)
        var turns = 0
        while alice.unitsLeft <= 0, turns < 10 {
            _ = turn(scheduler)
            turns += 1
        }
        #expect(turns == 3)
        while schedule(scheduler).wantsTurn, turns < 10 {
            _ = turn(scheduler)
            turns += 1
        }
        #expect(turns < 10, "who owes nothing takes no turns")
    }

    @Test("once a disk that hung works again, those whose edits it held go on")
    func hangingDisk() {
        let scheduler = Scheduler()
        scheduler.measuresTime = true
        let users = [scheduler.join(1), scheduler.join(2)]
        for user in users {
            scheduler.spend(1, user)
            for _ in 0..<4 { scheduler.countEdit(user) }
        }
        scheduler.commitBegan()
        scheduler.now += 700_000 * Self.millisecond
        _ = turn(scheduler)
        scheduler.commitEnded(took: 700_000 * Self.millisecond, waitsForCommits: true)
        let connections = users.map { connection(UInt64($0.uid), $0, hasWork: true) }
        var waited = 0
        while turn(scheduler).isEmpty, waited < 1_000_000 {
            scheduler.now += Self.millisecond
            waited += 1
        }
        #expect(waited <= 200, "both wait for \(waited) ms, and nobody works")
        #expect(connections.count == 2)
    }

    @Test(
        "who has used its time waits until it has credit again, and the shell knows when",
        arguments: [false, true])
    func credit(isLink: Bool) throws {
        let scheduler = Scheduler()
        scheduler.measuresTime = true
        let bob = scheduler.join(2)
        let alice = isLink ? bridge(of: scheduler).account : scheduler.join(1)
        _ = connection(7, alice, hasWork: true)
        scheduler.spend(1, bob)
        scheduler.spend(1, alice)
        scheduler.worked(UInt64(Account.creditMax) + 2 * Self.millisecond, for: alice)
        #expect(scheduler.mustWait(alice) && !scheduler.mustWait(bob))
        #expect(turn(scheduler) == [2])
        let wait = try #require(schedule(scheduler).turnNanoseconds)
        #expect(wait / Int64(Self.millisecond) == (isLink ? 16 : 4))
        #expect(!schedule(scheduler).wantsIteration)
        scheduler.now += UInt64(wait)
        scheduler.spend(1, bob)
        let users = turn(scheduler)
        #expect(users.sorted() == [alice.uid, bob.uid].sorted())
    }

    @Test("the link makes nobody contended, and has short turns while a user is active")
    func link() {
        let scheduler = Scheduler()
        scheduler.now = Self.millisecond
        let (alice, link) = (scheduler.join(1), bridge(of: scheduler).account)
        func units() -> [Int] {
            for account in [alice, link] { scheduler.spend(1, account) }
            var units: [Int] = []
            _ = turn(scheduler) { units.append($0.unitsLeft) }
            return units
        }
        #expect(units() == [Account.loneUnits, Account.linkUnits])
        #expect(!schedule(scheduler).isContended && scheduler.usersConnected == 1)
        scheduler.requestEnded(link, took: nil, at: 4 * Self.millisecond)
        #expect(link.unitsLeft == 0, "a user who comes waits no longer than 2 ms")
        scheduler.spend(1, scheduler.join(2))
        #expect(units().allSatisfy { $0 <= Account.contendedUnits })
        scheduler.now += 20 * Self.millisecond
        scheduler.spend(1, link)
        var left = 0
        _ = turn(scheduler) { if $0 === link { left = $0.unitsLeft } }
        #expect(left == Account.loneUnits)
    }

    @Test("a bridge that comes back has the account of the one before it, with its debts")
    func returningBridge() {
        let scheduler = Scheduler()
        let former = bridge(of: scheduler)
        #expect(scheduler.accounts.isEmpty && scheduler.usersConnected == 0)
        scheduler.spend(Account.loneUnits + 40, former.account)
        scheduler.leave(former.account)
        let next = bridge(of: scheduler, uid: 8)
        #expect(next.account === former.account && next.account.unitsLeft < 0)
        #expect(next.account.connections == 1)
        let alice = scheduler.join(1)
        scheduler.requestEnded(next.account, took: 10 * Self.millisecond, at: 0)
        scheduler.measuresTime = true
        #expect(scheduler.mustWait(next.account) && !scheduler.mustWait(alice))
    }

    @Test("a bridge that comes back after one that spent all of its turn has turns")
    func spentBridge() {
        let scheduler = Scheduler()
        let former = bridge(of: scheduler)
        scheduler.leaveTurn(former.account)
        scheduler.leave(former.account)
        _ = turn(scheduler)
        let next = bridge(of: scheduler, uid: 8)
        #expect(scheduler.mayBegin(next.account) || schedule(scheduler).wantsTurn)
    }

    @Test("what a bridge holds is charged to the link")
    func heldByBridge() {
        let scheduler = Scheduler()
        let alice = scheduler.join(1)
        _ = scheduler.join(1)
        let bridge = connection(7, alice)
        _ = bridge.decoder.feed([0, 0, 0, 9, 1, 2])
        alice.unfinishedBytes = bridge.decoder.gatheredBytes + 5
        (bridge.heldBytes, alice.heldBytes) = (30, 33)
        scheduler.moveToLink(bridge)
        #expect(alice.connections == 1 && alice.unfinishedBytes == 5 && alice.heldBytes == 3)
        let link = bridge.account
        #expect(link.isLink && link.unfinishedBytes == 2 && link.heldBytes == 30)
    }

    @Test("a request that blocked the loop is followed by a rest, while another user is there")
    func rest() {
        let scheduler = Scheduler()
        scheduler.measuresTime = true
        let (alice, _) = (scheduler.join(1), scheduler.join(2))
        scheduler.requestEnded(alice, took: 5 * Self.millisecond, at: 0)
        #expect(!scheduler.mustWait(alice), "this long is free")
        scheduler.requestEnded(alice, took: 10 * Self.millisecond, at: 0)
        #expect(alice.restsUntil == 10 * Self.millisecond + 50 * Self.millisecond)
        #expect(scheduler.mustWait(alice))
        scheduler.now = alice.restsUntil
        #expect(!scheduler.mustWait(alice))
    }

    @Test("after a long request nobody begins another in the same iteration")
    func usedUp() {
        let scheduler = Scheduler()
        scheduler.now = Self.millisecond
        let users = [scheduler.join(1), scheduler.join(2), scheduler.join(3)]
        for user in users {
            scheduler.spend(1, user)
            _ = connection(UInt64(user.uid), user, hasWork: true)
        }
        let first = turn(scheduler) { user in
            scheduler.requestEnded(user, took: nil, at: 12 * Self.millisecond)
        }
        #expect(first == [1])
        #expect(turn(scheduler) == [], "the iteration is used up")
        #expect(!scheduler.mayBegin(users[1]))
        #expect(schedule(scheduler).wantsTurn && schedule(scheduler).wantsIteration)
        scheduler.now = 12 * Self.millisecond
        var mayBegin: [Bool] = []
        #expect(turn(scheduler) { mayBegin.append(scheduler.mayBegin($0)) } == [2, 3, 1])
        #expect(mayBegin == [true, true, true])
    }

    @Test("after 5 ms of any work requests wait for the next iteration")
    func longWork() {
        let scheduler = Scheduler()
        scheduler.now = Self.millisecond
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        scheduler.iterationLasts(until: 6 * Self.millisecond)
        #expect(scheduler.mayBegin(alice) && scheduler.mayBegin(bob))
        scheduler.iterationLasts(until: 6 * Self.millisecond + 1)
        #expect(!scheduler.mayBegin(alice) && !scheduler.mayBegin(bob))
        scheduler.now = 7 * Self.millisecond
        #expect(scheduler.schedule(holdsEdits: false, deadline: .max).wantsTurn)
    }

    @Test("an account lives as long as it has connections or owes something")
    func life() {
        let scheduler = Scheduler()
        let alice = scheduler.join(1)
        #expect(scheduler.join(1) === alice && scheduler.usersConnected == 1)
        scheduler.spend(Account.loneUnits + 40, alice)
        scheduler.leave(alice)
        scheduler.leave(alice)
        #expect(scheduler.usersConnected == 0 && scheduler.accounts[1] === alice)
        var turns = 0
        while schedule(scheduler).wantsTurn, turns < 10 {
            _ = turn(scheduler)
            turns += 1
        }
        #expect(turns == 3 && scheduler.accounts.isEmpty)
    }

    @Test("reads of the store wait for each other, and are dropped when nobody wants them")
    func fetches() {
        let scheduler = Scheduler()
        let alice = scheduler.join(1)
        let query = StoreQuery.key(uid: 1, key: "k")
        let started = (1...4).map { scheduler.start(FetchID($0), query, for: alice) != nil }
        #expect(started == [true, true, false, false])
        #expect(scheduler.nextFetch(of: alice) { _ in true } == nil)
        #expect(scheduler.fetchEnded(FetchID(1)) === alice)
        #expect(scheduler.fetchEnded(FetchID(1)) == nil)
        let next = scheduler.nextFetch(of: alice) { $0 != FetchID(3) }
        #expect(next?.id == FetchID(4) && alice.fetchesUnderWay == 2)
        #expect(scheduler.fetchEnded(FetchID(3)) == nil)
    }

    @Test("an account with its part of a batch is held back until the commit")
    func batchPart() {
        let scheduler = Scheduler()
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        _ = connection(7, alice, hasWork: true)
        scheduler.spend(1, bob)
        scheduler.spend(1, alice)
        for _ in 0..<scheduler.batchEditsMax { scheduler.countEdit(alice) }
        _ = turn(scheduler, holdsEdits: true)
        #expect(alice.unitsLeft <= 0)
        #expect(!scheduler.schedule(holdsEdits: true, deadline: 0).wantsIteration)
        scheduler.commitBegan()
        #expect(alice.gatheredEdits == 0)
        _ = turn(scheduler, holdsEdits: true)
        #expect(alice.unitsLeft > 0)
    }

    @Test("output is handed out once, and in turns while several users are active")
    func output() {
        let scheduler = Scheduler()
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        let many = (1...10).map { connection($0, alice) }
        for connection in many { scheduler.markReady(connection) }
        scheduler.markReady(many[0])
        scheduler.spend(1, alice)
        scheduler.spend(1, bob)
        let first = scheduler.takeReady(atMost: .max)
        #expect(first.count == Account.contendedWrites)
        #expect(scheduler.takeReady(atMost: .max).isEmpty, "its writes of this turn are used")
        _ = turn(scheduler)
        let rest = scheduler.takeReady(atMost: .max)
        #expect((first + rest).map(\.id) == many.map(\.id))
        #expect(scheduler.readyAccounts.isEmpty)
    }

    @Test("few connections are handed out with those that asked last, many in their order")
    func answersAfterSubscribers() {
        let scheduler = Scheduler()
        let alice = scheduler.join(1)
        func handedOut(_ count: Int) -> [UInt64] {
            let connections = (1...UInt64(count)).map { connection($0, alice) }
            let slot = connections[0].answers.reserve()
            connections[0].answers.fill(slot, with: [0, 0, 0, 0])
            for connection in connections { scheduler.markReady(connection) }
            return scheduler.takeReady(atMost: .max).map(\.id.number)
        }
        #expect(handedOut(3) == [2, 3, 1])
        let many = Scheduler.toldFirstMax + 1
        #expect(handedOut(many) == (1...UInt64(many)).map { $0 })
    }

    /// A form with this many subscribers of an account.
    private func form(_ subscribers: Int, of account: Account) throws -> LiveForm {
        let json = try JSON(
            parsing: Array(#"{"form":"f","fields":[{"id":"a","type":"text"}]}"#.utf8))
        let definition = try FormDefinition.parse(
            json, limits: FormLimits(),
            compile: { _ in .success(PatternMatcher { _ in true }) })
        let form = LiveForm(
            key: 1, name: "f", owner: 1, log: "l",
            state: FormState(definition, applied: json), existence: .there)
        for number in 0..<subscribers {
            form.add(
                Subscription(
                    connection: connection(UInt64(number), account), form: form,
                    position: .live(next: 1), globs: nil, presence: false, answer: .unowed))
        }
        return form
    }

    @Test("a change visits each subscriber once, in parts, and a new change all of them again")
    func telling() throws {
        let scheduler = Scheduler()
        let alice = scheduler.join(1)
        let form = try form(5, of: alice)
        var visited: [UInt64] = []
        func tell(_ most: Int) -> Int {
            scheduler.tell(atMost: most) { visited.append($0.connection.id.number) }
        }
        #expect(tell(9) == 0)
        scheduler.noteNews(of: form)
        scheduler.noteNews(of: form)
        #expect(tell(3) == 3 && schedule(scheduler).wantsIteration)
        scheduler.noteNews(of: form)
        #expect(tell(9) == 5 && !schedule(scheduler).wantsIteration)
        #expect(visited == [0, 1, 2, 3, 4, 0, 1, 2])
        #expect(tell(9) == 0)
        form.removeSubscriptions()
    }

    @Test("while several users are active, subscribers are marked in the turns of their user")
    func tellingWhileContended() throws {
        let scheduler = Scheduler()
        let (alice, bob) = (scheduler.join(1), scheduler.join(2))
        let form = try form(Account.contendedWrites + 1, of: alice)
        scheduler.noteNews(of: form)
        #expect(scheduler.tell(atMost: 2) { _ in } == 2)
        scheduler.spend(1, alice)
        scheduler.spend(1, bob)
        #expect(scheduler.tell(atMost: 9) { _ in } == 0)
        #expect(alice.audiences.count == 1 && schedule(scheduler).wantsIteration)
        scheduler.markAudiences(of: alice)
        #expect(alice.ready.count == Account.contendedWrites - 1 && alice.audiences.isEmpty)
        form.removeSubscriptions()
        scheduler.releaseConnections()
    }
}
