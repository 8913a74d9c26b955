// Classes, and models of an actor, as shared states.

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

@MainActor
private final class Model: SharedState {
    nonisolated static let formName = "desk"
    @Shared var scoops = 0
    private(set) var drawn: [Int] = []

    func follow(until last: Int) async {
        for await scoops in $scoops.values {
            drawn.append(scoops)
            if scoops == last { return }
        }
    }
}

/// A shared property is never replaced and safe from any thread, so it is unchecked.
private class Tasted: SharedState, @unchecked Sendable {
    class var formName: String { "desk" }
    @Shared var flavor: Flavor
}

/// As its superclass.
private final class Served: Tasted, @unchecked Sendable {
    @Shared("scoops") var count: Int
}

@Suite("Shared states that are classes")
struct ModelTests {
    @Test("a model of the main actor is followed, read and written on it")
    @MainActor func mainActor() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let first = try await daemon.client().open(desk)
        let model = Model()
        let session = try await daemon.client(as: .bob).follow(model)
        try await desk.$scoops.set(4)
        #expect(model.scoops == 4)
        try await model.$scoops.increment()
        #expect(desk.scoops == 5)
        let following = Task { await model.follow(until: 6) }
        try await desk.$scoops.set(6)
        await following.value
        #expect(model.drawn.last == 6)
        #expect(first.isOnline && session.isOnline)
    }

    @Test("a class shares its own properties and those of its superclass")
    func inheritance() async throws {
        let daemon = try InMemoryDaemon()
        let desk = Desk()
        let first = try await daemon.client().open(desk)
        let served = Served()
        let session = try await daemon.client(as: .bob).follow(served)
        try await served.$flavor.set(.vanilla)
        try await served.$count.set(3)
        #expect(desk.flavor == .vanilla && desk.scoops == 3)
        #expect(first.isOnline && session.isOnline)
    }
}
