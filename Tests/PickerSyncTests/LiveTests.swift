import Foundation
import PickerSync
import SyncCore
import Synchronization
import Testing

/// What listeners were told, in order.
private final class Heard: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ word: String) { words.withLock { $0.append(word) } }
    var all: [String] { words.withLock { $0 } }
}

@Suite("Shared values against a daemon", .serialized)
struct LiveTests {
    @Test("an enum goes in and an enum comes out, at two programs")
    func twoPrograms() async throws {
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options("one")), FormClient(daemon.options("two")))
        defer {
            one.close()
            two.close()
        }
        let (mine, theirs) = (IceCream(), IceCream())
        let session = try await one.open(mine)
        _ = try await two.open(theirs)
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
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options()), FormClient(daemon.options()))
        defer {
            one.close()
            two.close()
        }
        let (mine, theirs) = (IceCream(), IceCream())
        _ = try await one.open(mine)
        _ = try await two.open(theirs)
        mine.$scoops.increment()
        theirs.$scoops.increment()
        try await eventually("2 + 1 + 1") { mine.scoops == 4 && theirs.scoops == 4 }
        mine.$cone.toggle()
        theirs.$flavor.next()
        try await eventually("cup and vanilla") { !theirs.cone && mine.flavor == .vanilla }
        mine.$flavor.reset()
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
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options("one")), FormClient(daemon.options("two")))
        defer {
            one.close()
            two.close()
        }
        let (mine, theirs) = (Asking(), Asking())
        let session = try await one.open(mine)
        _ = try await two.open(theirs)
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
        let blind = Asking()
        let three = FormClient(daemon.options("three"))
        defer { three.close() }
        _ = try await three.open(blind)
        try await mine.$flavor.set(.chocolate)
        try await blind.$flavor.set(.strawberry)
        #expect(blind.$flavor.state?.conflict.isEmpty == true)
    }

    @Test("a refused assignment shows again what the daemon has, and is told")
    func refusals() async throws {
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        let session = try await client.open(order)
        var events = session.events.makeAsyncIterator()
        order.scoops = 99
        #expect(order.scoops == 99)
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        let session = try await client.open(order)
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        _ = try await client.open(order)
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        let session = try await client.open(order)
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
    }

    @Test("a transaction that requires what was seen is refused over what was not")
    func requireCurrent() async throws {
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        let session = try await client.open(order)
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let order = IceCream()
        let session = try await client.open(order)
        var events = session.events.makeAsyncIterator()
        daemon.stop()
        guard case .disconnected? = await events.next() else {
            Issue.record("not told that the daemon is gone")
            return
        }
        #expect(!session.isOnline)
        order.flavor = .vanilla
        order.flavor = .strawberry
        order.$scoops.increment()
        order.$scoops.increment()
        #expect(order.flavor == .strawberry, "the form takes edits")
        try daemon.start()
        try await eventually("the queue is sent") { order.scoops == 4 && session.isOnline }
        await client.flush()
        #expect(try daemon.pickerctl("get", "flavor") == "strawberry\n")
        let kinds = try await client.history(of: session).entries.map(\.kind)
        #expect(kinds.count == 3, "the apply, one pick, one increment: \(kinds)")
    }

    @Test("onChange tells old and new whoever changed it; a button's action runs once a press")
    func listeners() async throws {
        struct Listening: SharedForm {
            @Shared var flavor = Flavor.chocolate
            @Shared var presses: Presses
            let heard: Heard
            var body: some View {
                Form {
                    Picker("Flavor", selection: $flavor) {
                        ForEach(Flavor.self) { Text($0.rawValue) }
                    }
                    .onChange(of: $flavor, initial: true) { [heard] old, new in
                        heard.add("\(old)>\(new)")
                    }
                    Button("Order", presses: $presses) { [heard] in heard.add("pressed") }
                    Button("Cancel", role: .cancel) { [heard] in heard.add("cancelled") }
                }
            }
        }
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let heard = Heard()
        let form = Listening(heard: heard)
        _ = try await client.open(form)
        try daemon.pickerctl("set", "flavor=vanilla")
        form.flavor = .strawberry
        form.$presses.press()
        form.$presses.press()
        try daemon.pickerctl("press", "cancel")
        try await eventually("the last one") { heard.all.contains("cancelled") }
        #expect(
            heard.all == [
                "chocolate>chocolate", "chocolate>vanilla", "vanilla>strawberry", "pressed",
                "pressed", "cancelled",
            ])
        #expect(form.presses.count == 2)
    }

    @Test("onEditingChanged tells whether anybody has the slider in their hand")
    func editing() async throws {
        struct Sliding: SharedForm {
            @Shared var speed = 50.0
            let heard: Heard
            var body: some View {
                Form {
                    Slider("Speed", value: $speed, in: 0...100, step: 5) { [heard] isEditing in
                        heard.add("\(isEditing)")
                    }
                }
            }
        }
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options("one")), FormClient(daemon.options("two")))
        defer {
            one.close()
            two.close()
        }
        let heard = Heard()
        let mine = try await one.open(Sliding(heard: heard))
        let theirs = Sliding(heard: Heard())
        let session = try await two.open(theirs)
        two.showFocus(on: theirs.$speed, draft: 75)
        try await eventually("somebody has it") { heard.all == ["true"] }
        #expect(mine.peers.contains { $0.draft == 75 && $0.client == "two" })
        two.clearFocus(in: session)
        try await eventually("nobody has it") { heard.all == ["true", "false"] }
    }

    @Test("wheels: one that is turned leaves the others to whoever turns them")
    func wheels() async throws {
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options()), FormClient(daemon.options()))
        defer {
            one.close()
            two.close()
        }
        let (mine, theirs) = (Income(), Income())
        _ = try await one.open(mine)
        _ = try await two.open(theirs)
        #expect(mine.source == IncomeOrigin(name: .salary, tax: .fixed))
        #expect(theirs.source == IncomeOrigin(name: .salary, tax: .fixed))
        mine.source.name = .capitalGains
        try await eventually("the source") { theirs.source.name == .capitalGains }
        theirs.$source.turn(\.tax, to: .variable)
        try await eventually("both") {
            mine.source == IncomeOrigin(name: .capitalGains, tax: .variable)
        }
    }

    @Test("sets: two programs add to one at once, and both additions stay")
    func multiple() async throws {
        struct Days: SharedForm {
            @Shared var days: Set<String> = ["mon"]
            @Shared var reaction: Reaction?
            var body: some View {
                Form {
                    Picker("Days", selection: $days) {
                        ForEach(["mon", "tue", "wed"], id: \.self) { Text($0) }
                    }
                    Picker("Reaction", selection: $reaction) {
                        ForEach(Reaction.allCases) { Text("\($0)") }
                    }
                }
            }
        }
        let daemon = try Daemon()
        let (one, two) = (FormClient(daemon.options()), FormClient(daemon.options()))
        defer {
            one.close()
            two.close()
        }
        let (mine, theirs) = (Days(), Days())
        _ = try await one.open(mine)
        _ = try await two.open(theirs)
        mine.$days.insert("tue")
        theirs.$days.insert("wed")
        try await eventually("three days") { mine.days == ["mon", "tue", "wed"] }
        mine.$days.remove("mon")
        try await eventually("two days") { theirs.days == ["tue", "wed"] }
        #expect(mine.reaction == nil)
        mine.reaction = .heart
        try await eventually("a heart") { theirs.reaction == .heart }
        theirs.reaction = nil
        try await eventually("none") { mine.reaction == nil }
    }

    @Test("a secret is written, told as set, and revealed to its owner")
    func secrets() async throws {
        struct Login: SharedForm {
            @Shared var password: Secret
            var body: some View { Form { SecureField("Password", text: $password) } }
        }
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let login = Login()
        _ = try await client.open(login)
        #expect(!login.password.isSet)
        try await login.$password.set("hunter2")
        #expect(login.password.isSet)
        #expect(login.password.fieldValue == .null)
        #expect(try await client.reveal(login.$password) == "hunter2")
    }

    @Test("who opens a form by `ifMissing` follows what is there; by `always` it is declared anew")
    func applying() async throws {
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let first = IceCream()
        _ = try await client.open(first, applying: .ifMissing)
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
        let other = FormClient(daemon.options())
        defer { other.close() }
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        _ = try await client.open(IceCream())
        for values in [Wrong(), Missing()] as [any SharedState] {
            let other = FormClient(daemon.options())
            let error = await #expect(throws: FormError.self) { try await other.follow(values) }
            guard case .mismatch(form: "ice-cream", _, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            other.close()
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
        let daemon = try Daemon(starting: false)
        let client = FormClient(daemon.options())
        defer { client.close() }
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
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        let order = try await client.open(IceCream())
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
        let daemon = try Daemon()
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
}
