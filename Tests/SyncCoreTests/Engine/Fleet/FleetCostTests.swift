import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// What a peer can make a host do.
@Suite("Cost of a fleet")
struct FleetCostTests {
    @Test("a whole is sent when somebody asks, and not more often than every ten seconds")
    func repair() throws {
        let world = try LinkedFleet(seed: 1)
        world.apply(#"{"id":"note","type":"text"}"#)
        #expect(try world.settle() == nil)
        let host = world.hosts[0]
        let fleet = try #require(host.engine.engine.fleet)
        let before = fleet.counters.wholes["asked", default: 0]
        for _ in 0..<90 {
            host.engine.call(host.root, .linkRepair(form: "shared"))
            try world.rest()
            world.pass(milliseconds: 100)
        }
        #expect(fleet.counters.wholes["asked", default: 0] == before + 1)
        for _ in 0..<20 {
            world.pass(milliseconds: 100)
            try world.rest()
        }
        #expect(
            fleet.counters.wholes["asked", default: 0] == before + 2,
            "the last request is not forgotten")
    }

    @Test("patterns of what is joined are matched in several turns, and not once more in the join")
    func patterns() throws {
        var limits = Limits()
        limits.patternStepsMax = 1_000
        let world = try LinkedFleet(
            seed: 2, limits: limits,
            compile: { _ in
                .success(
                    PatternMatcher(compiledBytes: 1) { text in
                        PatternMatcher.Outcome(isMatch: true, steps: text.isEmpty ? 1 : 300)
                    })
            })
        let (one, two) = (world.hosts[0], world.hosts[1])
        world.apply(
            (0..<40).map { #"{"id":"t\#($0)","type":"text","pattern":"x"}"# }
                .joined(separator: ","))
        for index in 0..<40 { one.set(Change(field: "t\(index)", .value(.string("v\(index)")))) }
        let engine = two.engine.engine
        let whole = SharedItem.whole(try #require(one.engine.engine.whole(of: "shared")))
        #expect(engine.patternChecks(of: whole).count == 40, "also before the form is here")
        #expect(try world.settle() == nil)
        #expect(two.value("t39") == "v39")

        let fleet = try #require(engine.fleet)
        fleet.joining = FleetLink.Joining(
            delivery: LinkDelivery(
                order: 1, form: "shared", host: "h0", milliseconds: 0, items: [], before: .start),
            item: .shared(whole, engine.patternChecks(of: whole)))
        let meter = engine.workspace.patternMeter
        var turns = 0
        repeat {
            turns += 1
            meter.used = 0
            let isDone = engine.matchPatterns(fleet) { false }
            #expect(meter.used <= limits.patternStepsMax + 300)
            if isDone { break }
        } while turns < 1_000
        #expect((10...40).contains(turns))
        meter.used = 0
        for check in engine.patternChecks(of: whole) { _ = check.matcher.matches(check.text) }
        #expect(meter.used == 0)
    }

    @Test("an edit waits for few joins, however many come while the store commits")
    func joinsBehindCommit() throws {
        let world = try LinkedFleet.behind(by: 400, seed: 4)
        let away = world.hosts[0]
        away.set(Change(field: "note", .value("before")))
        away.engine.holdsCommits = true
        away.set(Change(field: "note", .value("first")))
        away.comeUp()
        var most = 0
        for _ in 0..<40 {
            world.pass(milliseconds: 500)
            for _ in 0..<200 where try !world.carry() { break }
            most = max(
                most,
                away.engine.engine.link.gathering.changes.reduce(0) { $0 + $1.revisions.count })
        }
        #expect((1..<200).contains(most), "\(most) revisions wait with an edit for the next commit")
        away.engine.holdsCommits = false
        away.engine.commit()
        #expect(try world.settle() == nil)
        #expect(world.hosts.allSatisfy { $0.value("count") == 400 && $0.value("note") == "first" })
    }

    @Test(
        "what is joined at once is little where somebody edits, and much where nobody does",
        arguments: [true, false])
    func batchesOfJoins(somebodyEdits: Bool) throws {
        let world = try LinkedFleet.behind(by: 400, seed: 5)
        let away = world.hosts[0]
        var most = 0
        away.engine.onCommit = { batch in
            let revisions = batch.operations.filter { operation in
                if case .appendRevision = operation { true } else { false }
            }
            most = max(most, revisions.count)
        }
        away.comeUp()
        for turn in 0..<40 {
            if somebodyEdits { away.set(Change(field: "note", .value(.string("\(turn)")))) }
            world.pass(milliseconds: 500)
            for _ in 0..<200 where try !world.carry() { break }
        }
        #expect(away.value("count") == 400)
        #expect(somebodyEdits ? most < 30 : most > 100, "\(most) revisions in a batch")
    }

    @Test("below commit, a form whose edits never pause is told")
    func editsWithoutPause() throws {
        let world = try LinkedFleet(seed: 6, durability: .memory)
        world.apply(#"{"id":"count","type":"stepper","min":0,"max":100000}"#)
        #expect(try world.settle() == nil)
        let (host, other) = (world.hosts[0], world.hosts[1])
        host.engine.holdsCommits = true
        // While one edit is being written, the next one comes.
        world.increment(host)
        host.engine.call(host.root, .linkRepair(form: "shared"))
        for _ in 0..<40 {
            world.increment(host)
            world.pass(milliseconds: 500)
            host.engine.commit()
            host.engine.settle()
            _ = try world.carry()
        }
        let told = other.value("count")?.numberValue ?? .zero
        #expect(told > DecimalNumber(30), "\(told)")
        host.engine.holdsCommits = false
        host.engine.commit()
        #expect(try world.settle() == nil)
    }

    @Test("a host whose disk is full says what it has, and keeps no words of others")
    func fullDisk() throws {
        let world = try LinkedFleet(seed: 7)
        world.apply(#"{"id":"count","type":"stepper","min":0,"max":100000}"#)
        #expect(try world.settle() == nil)
        let (full, other) = (world.hosts[0], world.hosts[1])
        full.engine.storeFails = true
        world.increment(full)
        for _ in 0..<5 { world.increment(other) }
        let fleet = try #require(full.engine.engine.fleet)
        let said = try world.spend(seconds: 60) { $0.subject == "ps.ops.h0.b" }
        #expect(said.count >= 5)
        let waits = fleet.machine.hasActions
        #expect(!waits)
        full.engine.storeFails = false
        #expect(try world.settle() == nil)
        #expect(full.value("count") == 5)
    }

    @Test("a replica without a counter left refuses a definition instead of keeping it to itself")
    func exhausted() throws {
        let world = try LinkedFleet(seed: 3)
        world.apply(#"{"id":"note","type":"text"}"#)
        #expect(try world.settle() == nil)
        let host = world.hosts[0]
        let form = try #require(host.engine.engine.form(named: "shared"))
        let replica = host.engine.engine.replica
        let last = CausalContext(VersionVector([.init(replica, .max)]))
        form.working.context.formUnion(last)
        let answers = host.engine.ask(
            host.root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"shared","fields":[{"id":"other","type":"text"}]}}}"#)
        #expect(answers.joined().contains("counter is used up"), "\(answers)")
        #expect(form.working.definition.index(of: "other") == nil)
    }
}
