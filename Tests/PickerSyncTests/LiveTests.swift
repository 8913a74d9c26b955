import Foundation
import PickerSync
import SyncCore
import Testing

@Suite("Shared values against a daemon", .serialized)
struct LiveTests {
    private let programs: Programs
    private var daemon: Daemon { programs.daemon }

    init() throws { programs = try Programs() }

    @Test("an enum goes in and an enum comes out, at two programs")
    func twoPrograms() async throws {
        let (_, mine, session) = try await programs.open(IceCream(), as: "one")
        let (_, theirs, _) = try await programs.open(IceCream(), as: "two")
        #expect(session.isOnline)
        #expect(mine.flavor == .chocolate)
        mine.flavor = .vanilla
        #expect(mine.flavor == .vanilla, "what was written shows at once")
        try await eventually("the other's flavor") { theirs.flavor == .vanilla }
        #expect(theirs.$flavor.state?.by?.client == "one")
        theirs.scoops = 5
        try await eventually("my scoops") { mine.scoops == 5 }
        #expect(!mine.$flavor.isPending)
    }

    @Test("relative edits of two programs add up")
    func increments() async throws {
        let (mine, theirs) = try await programs.share(IceCream(), IceCream())
        try await mine.$scoops.increment()
        try await theirs.$scoops.increment()
        try await eventually("2 + 1 + 1") { mine.scoops == 4 && theirs.scoops == 4 }
        try await mine.$cone.toggle()
        try await theirs.$flavor.next()
        try await eventually("cup and vanilla") { !theirs.cone && mine.flavor == .vanilla }
        try await mine.$flavor.reset()
        try await eventually("back to the default") { theirs.flavor == .chocolate }
    }

    @Test("a write carries what this program had read: picks that crossed are both kept")
    func causalContext() async throws {
        struct Asking: SharedForm {
            @Shared var flavor = Flavor.chocolate
            var body: some View {
                Form {
                    Picker("Flavor", selection: $flavor) {
                        ForEach(Flavor.self) { Text($0.rawValue) }
                    }
                    .onConflict(.ask)
                }
            }
        }
        let (_, mine, session) = try await programs.open(Asking(), as: "one")
        let (_, theirs, _) = try await programs.open(Asking(), as: "two")
        // Both look, then both pick; the second one has not seen the first one's pick.
        #expect(mine.flavor == .chocolate)
        #expect(theirs.flavor == .chocolate)
        try await theirs.$flavor.set(.vanilla)
        try await eventually("their revision arrived") { session.revision == 2 }
        try await mine.$flavor.set(.strawberry)
        let conflict = try #require(mine.$flavor.state?.conflict)
        #expect(conflict.map(\.value) == ["vanilla"])
        #expect(mine.flavor == .strawberry)
        // Now this program has seen both: its next pick settles it.
        try await mine.$flavor.set(.vanilla)
        #expect(mine.$flavor.state?.conflict.isEmpty == true)
        // One that never read a field writes over what is there.
        let (_, blind, _) = try await programs.open(Asking(), as: "three")
        try await mine.$flavor.set(.chocolate)
        try await blind.$flavor.set(.strawberry)
        #expect(blind.$flavor.state?.conflict.isEmpty == true)
    }

    @Test("a refused assignment shows again what the daemon has, and is told")
    func refusals() async throws {
        let (_, order, session) = try await programs.open(IceCream())
        var events = session.events.makeAsyncIterator()
        // Until the daemon has answered it shows what was written.
        daemon.signal(SIGSTOP)
        order.scoops = 99
        #expect(order.scoops == 99)
        daemon.signal(SIGCONT)
        guard case .refused(let fields, .refused(let error))? = await events.next() else {
            Issue.record("no refusal")
            return
        }
        #expect(fields == ["scoops"])
        #expect(error.kind == .invalidValue)
        #expect(order.scoops == 2)
        await #expect(throws: FormError.self) { try await order.$scoops.set(0) }
    }

    @Test("changes come in order, each revision once, with who made them and what was there")
    func changes() async throws {
        let (_, order, session) = try await programs.open(IceCream())
        var changes = session.changes.makeAsyncIterator()
        try daemon.pickerctl("set", "flavor=vanilla")
        try daemon.pickerctl("set", "scoops=3")
        let first = try #require(await changes.next())
        #expect(first.revision == 2)
        #expect(first[order.$flavor] == .vanilla)
        #expect(first[order.$scoops] == nil)
        #expect(first.fields.first { $0.field == "flavor" }?.was == "chocolate")
        #expect(first.fields.first?.state.by?.client?.hasPrefix("pickerctl") == true)
        let second = try #require(await changes.next())
        #expect(second.revision == 3)
        #expect(second.contains(order.$scoops))
    }

    @Test("values of one property: the present one first, then each that differs")
    func values() async throws {
        let (_, order, _) = try await programs.open(IceCream())
        var flavors = order.$flavor.values.makeAsyncIterator()
        #expect(await flavors.next() == .chocolate)
        try daemon.pickerctl("set", "scoops=3")
        try daemon.pickerctl("set", "flavor=strawberry")
        #expect(await flavors.next() == .strawberry)
        let reading = Task { await flavors.next() }
        reading.cancel()
        #expect(await reading.value == nil, "a cancelled reader gets nothing more")
    }

    @Test("a transaction is one revision, all of it or none")
    func transactions() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        var changes = session.changes.makeAsyncIterator()
        try await client.transaction(session) {
            order.flavor = .vanilla
            order.scoops = 4
            order.$cone.toggle()
        }
        let change = try #require(await changes.next())
        #expect(change.revision == 2)
        #expect(change[order.$flavor] == .vanilla && change[order.$scoops] == 4)
        await #expect(throws: FormError.self) {
            try await client.transaction(session) {
                order.flavor = .strawberry
                order.scoops = 99
            }
        }
        #expect(order.flavor == .vanilla && order.scoops == 4)
        #expect(session.revision == 2)
        try await client.undo(session)
        #expect(order.flavor == .chocolate && order.scoops == 2 && order.cone)
        let history = try await client.history(of: session)
        #expect(history.entries.map(\.kind) == ["undo", "set", "apply"])
        let why = try await client.explain("scoops", of: session)
        #expect(why.change?.kind == "undo" && why.change?.undoes == 2)
        #expect(why.permission?.mayEdit == true && why.state?.value == 2)
        let before = try await client.explain("scoops", of: session, at: 2)
        #expect(before.state?.value == 4 && before.permission == nil)
        await #expect(throws: FormError.self) { try await client.explain("nope", of: session) }
    }

    @Test("a transaction that requires what was seen is refused over what was not")
    func requireCurrent() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        #expect(order.flavor == .chocolate)
        try daemon.pickerctl("set", "flavor=vanilla")
        try await eventually("the other's revision") { session.revision == 2 }
        let error = await #expect(throws: FormError.self) {
            try await client.transaction(session, requireCurrent: true) {
                order.flavor = .strawberry
            }
        }
        guard case .refused(let refusal)? = error, refusal.kind == .conflict else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(order.flavor == .vanilla)
        // A field that was never read was seen as it was when the form was opened.
        try daemon.pickerctl("set", "topping=cookies")
        try await eventually("the other's topping") { session.revision == 3 }
        await #expect(throws: FormError.self) {
            try await client.transaction(session, requireCurrent: true) {
                order.topping = .blueberries
            }
        }
        try await client.transaction(session, requireCurrent: true) { order.scoops = 4 }
        #expect(order.scoops == 4)
    }

    @Test("what is written while the daemon is away is sent when it is back, increments as one")
    func offline() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        var events = session.events.makeAsyncIterator()
        try daemon.stop()
        guard case .disconnected? = await events.next() else {
            Issue.record("not told that the daemon is gone")
            return
        }
        #expect(!session.isOnline)
        order.flavor = .vanilla
        order.flavor = .strawberry
        for _ in 0..<2 { written { order.$scoops.increment() } }
        #expect(order.flavor == .strawberry, "the form takes edits")
        try daemon.start()
        try await eventually("the queue is sent") { order.scoops == 4 && session.isOnline }
        try await client.flush()
        #expect(try daemon.pickerctl("get", "flavor") == "strawberry\n")
        let kinds = try await client.history(of: session).entries.map(\.kind)
        #expect(kinds.count == 3, "the apply, one pick, one increment: \(kinds)")
    }

    @Test("who opens a form by `ifMissing` follows what is there; by `always` it is declared again")
    func applying() async throws {
        let first = IceCream()
        _ = try await programs.client().open(first, applying: .ifMissing)
        let definition = try daemon.pickerctl("form", "show", "ice-cream")
        struct Other: SharedForm {
            static let formName = "ice-cream"
            @Shared var flavor = Flavor.chocolate
            var body: some View {
                Form("Other") {
                    Picker("F", selection: $flavor) { ForEach(Flavor.self) { Text($0.rawValue) } }
                }
            }
        }
        let other = programs.client()
        let values = Other()
        let session = try await other.open(values, applying: .ifMissing)
        #expect(try daemon.pickerctl("form", "show", "ice-cream") == definition)
        values.flavor = .vanilla
        try await eventually("the first one sees it") { first.flavor == .vanilla }
        session.close()
        values.flavor = .strawberry
        _ = try await other.open(Other())
        #expect(try daemon.pickerctl("form", "show", "ice-cream").contains("Other"))
    }

    @Test("a property that the form has not, or of another type, is told before anything is bound")
    func mismatches() async throws {
        struct Wrong: SharedState {
            static let formName = "ice-cream"
            @Shared var flavor: Int
        }
        struct Missing: SharedState {
            static let formName = "ice-cream"
            @Shared var colour: String
        }
        let (client, _, _) = try await programs.open(IceCream())
        for values in [Wrong(), Missing()] as [any SharedState] {
            let other = programs.client()
            let error = await #expect(throws: FormError.self) { try await other.follow(values) }
            guard case .mismatch(form: "ice-cream", _, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        struct Nowhere: SharedState { @Shared var x: Int }
        let error = await #expect(throws: FormError.self) { try await client.follow(Nowhere()) }
        guard case .refused(let refusal)? = error, refusal.kind == .notFound else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("without a daemon opening says so, and the next attempt finds one that came")
    func unreachable() async throws {
        try daemon.stop()
        let client = programs.client()
        let order = IceCream()
        let error = await #expect(throws: FormError.self) { try await client.open(order) }
        guard case .unreachable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try daemon.start()
        _ = try await client.open(order)
        #expect(order.flavor == .chocolate)
    }

    @Test("a form that is deleted ends its changes, and a client that is closed ends all of them")
    func ends() async throws {
        let (client, _, order) = try await programs.open(IceCream())
        let income = try await client.open(Income())
        try daemon.pickerctl("form", "delete", "-y", "ice-cream")
        var count = 0
        for await _ in order.changes { count += 1 }
        #expect(count == 0)
        client.close()
        for await _ in income.changes { count += 1 }
        #expect(count == 0)
        await #expect(throws: FormError.self) { try await client.open(Income()) }
    }

    @Test("the face for scripts writes when it is told to, and waits for what others write")
    func blocking() throws {
        let client = BlockingFormClient(daemon.options("script"))
        let order = IceCream()
        let session = try client.open(order)
        let changes = client.changes(of: session)
        order.flavor = .vanilla
        order.$scoops.increment()
        try client.flush()
        #expect(order.flavor == .vanilla && order.scoops == 3)
        #expect(try changes.next(seconds: 30)?.revision == 2)
        #expect(try changes.next(seconds: 30)?.revision == 3)
        try daemon.pickerctl("set", "flavor=strawberry")
        #expect(try client.wait(seconds: 30) { order.flavor == .strawberry })
        #expect(try !client.wait(seconds: 0.01) { order.flavor == .vanilla })
        order.scoops = 99
        #expect(throws: FormError.self) { try client.flush() }
        try client.flush()
        try client.transaction(session) {
            order.flavor = .chocolate
            order.scoops = 1
        }
        #expect(try client.undo(session) == [])
        #expect(order.flavor == .strawberry && order.scoops == 3)
        client.close()
        #expect(throws: FormError.self) { try client.flush() }
    }

    @Test("a client that is let go takes its forms along")
    func letGo() throws {
        let order = IceCream()
        weak var session: FormSession?
        do {
            let client = BlockingFormClient(daemon.options("script"))
            session = try client.open(order)
            order.flavor = .vanilla
            try client.flush()
        }
        // The properties hold the session while they are there; it holds nothing that holds it.
        #expect(order.flavor == .vanilla && session?.isOnline != true)
    }
}
