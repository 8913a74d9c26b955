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

@Suite("Controls of two programs against a daemon", .serialized)
struct LiveControlTests {
    private let programs: Programs
    private var daemon: Daemon { programs.daemon }

    init() throws { programs = try Programs() }

    @Test("onChange gets old and new of every change; a button's action runs once for each press")
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
        let heard = Heard()
        let (_, form, _) = try await programs.open(Listening(heard: heard))
        try daemon.pickerctl("set", "flavor=vanilla")
        form.flavor = .strawberry
        try await form.$presses.press()
        try await form.$presses.press()
        try daemon.pickerctl("press", "cancel")
        try await eventually("the last one") { heard.all.contains("cancelled") }
        #expect(
            heard.all == [
                "chocolate>chocolate", "chocolate>vanilla", "vanilla>strawberry", "pressed",
                "pressed", "cancelled",
            ])
        #expect(form.presses.count == 2)
    }

    @Test("a stepper's actions run once for each step of any user, up and down")
    func stepping() async throws {
        struct Stepping: SharedForm {
            @Shared var flavor = Flavor.chocolate
            let heard: Heard
            var body: some View {
                Form {
                    Picker("Flavor", selection: $flavor) {
                        ForEach(Flavor.self) { Text($0.rawValue) }
                    }
                    Stepper {
                        Text("Turn: \($flavor)")
                    } onIncrement: { [heard, $flavor] in
                        heard.add("up")
                        $flavor.next(wraps: true)
                    } onDecrement: { [heard] in
                        heard.add("down")
                    }
                    Stepper(
                        "Only up", onIncrement: { [heard] in heard.add("on") }, onDecrement: nil)
                }
            }
        }
        let daemon = try Daemon()
        let client = FormClient(daemon.options())
        defer { client.close() }
        let heard = Heard()
        let form = Stepping(heard: heard)
        _ = try await client.open(form)
        try daemon.pickerctl("set", "turn+=1")
        try daemon.pickerctl("set", "turn+=3")
        try daemon.pickerctl("set", "turn-=1")
        try daemon.pickerctl("set", "onlyUp+=1")
        try await eventually("the last one") { heard.all.contains("on") }
        #expect(heard.all == ["up", "up", "up", "up", "down", "on"])
        try await eventually("four steps from the first of three") { form.flavor == .vanilla }
        // Typed, it is not a million steps.
        try daemon.pickerctl("set", "turn=1000000")
        try daemon.pickerctl("set", "onlyUp+=1")
        try await eventually("the last one") { heard.all.filter { $0 == "on" }.count == 2 }
        #expect(heard.all.filter { $0 == "up" }.count == 104)
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
        let heard = Heard()
        let (_, _, mine) = try await programs.open(Sliding(heard: heard), as: "one")
        let (two, theirs, session) = try await programs.open(Sliding(heard: Heard()), as: "two")
        two.showFocus(on: theirs.$speed, draft: 75)
        try await eventually("somebody has it") { heard.all == ["true"] }
        #expect(mine.peers.contains { $0.draft == 75 && $0.client == "two" })
        two.clearFocus(in: session)
        try await eventually("nobody has it") { heard.all == ["true", "false"] }
    }

    @Test("wheels: turning one does not change the others")
    func wheels() async throws {
        let (mine, theirs) = try await programs.share(Income(), Income())
        #expect(mine.source == IncomeOrigin(name: .salary, tax: .fixed))
        #expect(theirs.source == IncomeOrigin(name: .salary, tax: .fixed))
        mine.source.name = .capitalGains
        try await eventually("the source") { theirs.source.name == .capitalGains }
        try await theirs.$source.turn(\.tax, to: .variable)
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
        let (mine, theirs) = try await programs.share(Days(), Days())
        try await mine.$days.insert("tue")
        try await theirs.$days.insert("wed")
        try await eventually("three days") { mine.days == ["mon", "tue", "wed"] }
        try await mine.$days.remove("mon")
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
        let (client, login, _) = try await programs.open(Login())
        #expect(!login.password.isSet)
        try await login.$password.set("hunter2")
        #expect(login.password.isSet)
        #expect(login.password.fieldValue == .null)
        #expect(try await client.reveal(login.$password) == "hunter2")
    }
}
