// Forms without a daemon: the engine inside the test.

import PickerSync
import PickerSyncTesting
import Synchronization
import Testing

private struct Desk: SharedForm {
    @Shared var flavor = Flavor.chocolate
    @Shared var scoops = 0
    @Shared var orders: Presses
    var body: some View {
        Form {
            Picker("Flavor", selection: $flavor) { ForEach(Flavor.self) { Text($0.rawValue) } }
                .onConflict(.ask)
            Stepper("Scoops", value: $scoops, in: 0...1_000)
            Button("Order", presses: $orders) {}
        }
    }
}

@Suite("A daemon in memory")
struct InMemoryTests {
    @Test("several users share a form, and what one wrote is there at once")
    func users() async throws {
        let daemon = try InMemoryDaemon()
        let (mine, theirs) = (Desk(), Desk())
        let session = try await daemon.client().open(mine)
        let other = try await daemon.client(as: .bob).follow(theirs)
        mine.flavor = .vanilla
        #expect(theirs.flavor == .vanilla)
        try await theirs.$scoops.increment()
        #expect(mine.scoops == 1)
        #expect(try await session.history().entries.first?.by?.user == "bob")
        #expect(try await session.undo() == [])
        #expect(theirs.flavor == .chocolate && theirs.scoops == 1)
        #expect(other.isOnline)
    }

    @Test("who was offline comes back with what they wrote, and crossed picks are a conflict")
    func offline() async throws {
        let daemon = try InMemoryDaemon()
        let (mine, theirs) = (Desk(), Desk())
        let session = try await daemon.client().open(mine)
        let other = try await daemon.client(as: .bob).follow(theirs)
        #expect(mine.flavor == .chocolate && theirs.flavor == .chocolate)
        daemon.goOffline(.bob)
        #expect(!other.isOnline && session.isOnline)
        theirs.flavor = .strawberry
        mine.flavor = .vanilla
        daemon.comeBack(.bob)
        #expect(session.conflicts.map(\.field) == ["flavor"])
        #expect(mine.flavor != .chocolate, "who has seen both picks may settle them")
        try await mine.$flavor.set(.chocolate)
        #expect(session.conflicts.isEmpty && theirs.flavor == .chocolate)
    }

    @Test("a call ends when the test lets its time pass")
    func time() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let client = daemon.client(answerSeconds: 10)
        let session = try await client.open(desk)
        daemon.goOffline()
        let call = Task { try await desk.$flavor.set(.vanilla) }
        while !desk.$flavor.isPending { await Task.yield() }
        daemon.advance(by: .seconds(9))
        #expect(desk.$flavor.isPending)
        daemon.advance(by: .seconds(1))
        guard case .failure(let error as FormError) = await call.result,
            case .timedOut(.notSent) = error
        else {
            Issue.record("it did not end")
            return
        }
        daemon.comeBack()
        #expect(session.isOnline && desk.flavor == .chocolate)
    }

    @Test("a daemon that is killed and started again has what it answered")
    func restart() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let session = try await daemon.client().open(desk)
        try await desk.$scoops.set(7)
        daemon.kill()
        #expect(!session.isOnline)
        desk.flavor = .vanilla
        try daemon.restart()
        #expect(session.isOnline && desk.flavor == .vanilla && desk.scoops == 7)
    }

    @Test("a client that has nothing to send ends at once, also while no daemon is there")
    func idleShutdown() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let client = daemon.client(answerSeconds: 10)
        let session = try await client.open(desk)
        try await desk.$scoops.set(7)
        daemon.kill()
        // The clock does not move: a call that waited for the daemon would never end.
        try await client.flush()
        try await client.shutdown(flushingFor: .seconds(5))
        #expect(!session.isOnline && desk.scoops == 7)
    }

    @Test("200 of 200 presses are told, in order and with who made them, whatever is in between")
    func presses() async throws {
        let daemon = try InMemoryDaemon()
        let (desk, theirs) = (Desk(), Desk())
        let session = try await daemon.client().open(desk)
        let other = try await daemon.client(as: .bob).follow(theirs)
        var presses = desk.$orders.presses.makeAsyncIterator()
        for number in 1...200 {
            if number == 50 { daemon.goOffline(.alice) }
            if number == 100 { daemon.comeBack(.alice) }
            try await theirs.$orders.press()
        }
        for number in 1...200 {
            let press = await presses.next()
            #expect(press?.number == Int64(number) && press?.by?.user == "bob")
            #expect(press?.at != nil)
        }
        #expect(session.isOnline && other.isOnline)
    }

    @Test("a reader that stopped gets the presses that did not fit in its mailbox")
    func pressesBehind() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let session = try await daemon.client().open(desk)
        var presses = desk.$orders.presses.makeAsyncIterator()
        for _ in 1...1_500 { try await session.transaction { desk.$orders.press() } }
        var told: [Int64] = []
        for _ in 1...1_500 { if let press = await presses.next() { told.append(press.number) } }
        #expect(told == Array(1...1_500))
    }

    @Test("presses whose history cannot be asked for at once are told with who made them later")
    func pressesAway() async throws {
        let daemon = try InMemoryDaemon()
        let (desk, theirs) = (Desk(), Desk())
        let lines = Mutex<[String]>([])
        let client = daemon.client(answerSeconds: 1) { _, line, _ in
            lines.withLock { $0.append(line) }
        }
        let session = try await client.open(desk)
        let other = try await daemon.client(as: .bob).follow(theirs)
        let presses = desk.$orders.presses
        daemon.goOffline(.alice)
        for _ in 1...3 { try await theirs.$orders.press() }
        daemon.comeBack(.alice)
        #expect(desk.orders.count == 3)
        daemon.goOffline(.alice)
        let told = Mutex<[Press]>([])
        let reader = Task {
            for await press in presses {
                let count = told.withLock { told in
                    told.append(press)
                    return told.count
                }
                if count == 3 { return }
            }
        }
        let again = "the history is asked for again"
        while told.withLock(\.isEmpty), !lines.withLock({ $0.contains(again) }) {
            daemon.advance(by: .seconds(1))
            await Task.yield()
        }
        daemon.comeBack(.alice)
        await reader.value
        #expect(told.withLock { $0.map(\.by?.user) } == ["bob", "bob", "bob"])
        #expect(session.isOnline && other.isOnline)
    }

    @Test("200 concurrent increments of two users are 200")
    func increments() async throws {
        let daemon = try InMemoryDaemon()
        let (mine, theirs) = (Desk(), Desk())
        let first = try await daemon.client().open(mine)
        let second = try await daemon.client(as: .bob).follow(theirs)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let desk = number % 2 == 0 ? mine : theirs
                group.addTask { try await desk.$scoops.increment() }
            }
            try await group.waitForAll()
        }
        #expect(mine.scoops == 200 && theirs.scoops == 200)
        #expect(first.isOnline && second.isOnline)
    }
}
