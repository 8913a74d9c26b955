// Edits that were made for another store than the one whose daemon answers now.

import PickerSync
import PickerSyncTesting
import Testing

private struct Desk: SharedForm {
    @Shared var flavor = Flavor.chocolate
    @Shared var scoops = 0
    var body: some View {
        Form {
            Picker("Flavor", selection: $flavor) { ForEach(Flavor.self) { Text($0.rawValue) } }
            Stepper("Scoops", value: $scoops, in: 0...1_000)
        }
    }
}

/// A desk that was open in the first store, with edits made while no daemon was there.
private struct Away {
    let daemon: InMemoryDaemon
    let client: FormClient
    let session: FormSession
    let desk = Desk()
    private var events: FormEvents.Iterator

    init() async throws {
        daemon = try InMemoryDaemon()
        client = daemon.client(answerSeconds: 10)
        session = try await client.open(desk)
        events = session.events.makeAsyncIterator()
        try await desk.$scoops.set(2)
        daemon.kill()
        write()
    }

    private func write() {
        desk.flavor = .vanilla
        desk.$scoops.increment()
    }

    /// The edits that the event names.
    mutating func kept() async -> [KeptEdit]? {
        while let event = await events.next() {
            if case .replicaChanged(let kept) = event { return kept }
        }
        return nil
    }
}

@Suite("Edits for another daemon")
struct KeptEditTests {
    @Test("no edit reaches another store; its own store gets it once when it answers again")
    func keep() async throws {
        var away = try await Away()
        try away.daemon.restart(store: 2)
        #expect(await away.kept()?.map(\.fields) == [["flavor"], ["scoops"]])
        #expect(away.session.keptEdits.map(\.fields) == [["flavor"], ["scoops"]])
        #expect(!away.session.isOnline && away.desk.flavor == .vanilla)
        await #expect(throws: FormError.self) { try await away.client.flush() }
        away.daemon.kill()
        try away.daemon.restart()
        #expect(away.session.keptEdits.isEmpty && away.session.isOnline)
        try await away.client.flush()
        #expect(away.desk.flavor == .vanilla && away.desk.scoops == 3)
        #expect(!away.desk.$flavor.isPending)
        let history = try await away.session.history(of: "scoops")
        #expect(history.entries.count == 3, "applied, set, stepped once: \(history.entries)")
    }

    @Test("a program may apply kept edits to a store that has the form, over what is there")
    func apply() async throws {
        var away = try await Away()
        try away.daemon.restart(store: 2)
        let theirs = Desk()
        let other = try await away.daemon.client(as: .bob).open(theirs)
        theirs.scoops = 7
        #expect(await away.kept()?.count == 2)
        #expect(throws: FormError.self) { try away.session.applyKeptEdits() }
        #expect(away.session.keptEdits.count == 2, "they stay where the form is not")
        // The next connection finds the form.
        away.daemon.goOffline(.alice)
        away.daemon.comeBack(.alice)
        #expect(away.session.isOnline && theirs.flavor == .chocolate)
        try away.session.applyKeptEdits()
        try await away.client.flush()
        #expect(theirs.flavor == .vanilla && theirs.scoops == 8)
        #expect(away.desk.flavor == .vanilla && away.desk.scoops == 8)
        #expect(away.session.keptEdits.isEmpty && other.isOnline)
    }

    @Test("a program may discard kept edits; the properties show what the daemon has")
    func discard() async throws {
        var away = try await Away()
        try away.daemon.restart(store: 2)
        #expect(await away.kept()?.count == 2)
        away.session.discardKeptEdits()
        #expect(away.session.keptEdits.isEmpty && away.desk.flavor == .chocolate)
        try await away.client.flush()
        away.daemon.kill()
        try away.daemon.restart()
        #expect(away.session.isOnline && away.desk.flavor == .chocolate)
        #expect(away.desk.scoops == 2)
    }

    @Test("an edit that is awaited ends and says that it is kept, also while the form is away")
    func awaited() async throws {
        var away = try await Away()
        let desk = away.desk
        let call = Task { try await desk.$scoops.set(9) }
        while !desk.$scoops.isPending { await Task.yield() }
        try away.daemon.restart(store: 2)
        #expect(await away.kept()?.isEmpty == false)
        guard case .failure(let error as FormError) = await call.result,
            case .otherReplica(.pending) = error
        else {
            Issue.record("it did not say so")
            return
        }
        await #expect(throws: FormError.self) { try await desk.$flavor.set(.strawberry) }
        away.daemon.kill()
        try away.daemon.restart()
        try await away.client.flush()
        #expect(desk.scoops == 9 && desk.flavor == .strawberry)
    }

    @Test("a transaction that must be current, and a question, are not kept")
    func notKept() async throws {
        var away = try await Away()
        let (session, desk) = (away.session, away.desk)
        try away.daemon.restart(store: 2)
        #expect(await away.kept()?.count == 2)
        await #expect(throws: FormError.self) {
            try await session.transaction(requireCurrent: true) { desk.flavor = .strawberry }
        }
        #expect(session.keptEdits.count == 2)
        await #expect(throws: FormError.self) { try await session.history() }
    }

    @Test("a client that is closed forgets what it kept, and says so to who waits")
    func closed() async throws {
        var away = try await Away()
        try away.daemon.restart(store: 2)
        #expect(await away.kept()?.count == 2)
        away.client.close()
        #expect(away.session.keptEdits.isEmpty)
        #expect(throws: FormError.self) { try away.session.applyKeptEdits() }
    }
}
