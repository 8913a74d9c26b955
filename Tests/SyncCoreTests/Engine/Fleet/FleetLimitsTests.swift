import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// What small limits of a host do to its link.
@Suite("Limits in a fleet")
struct FleetLimitsTests {
    private func limits(_ name: String, _ value: Int) throws -> Limits {
        var limits = Limits()
        let description = try #require(Limits.all.first { $0.name == name })
        limits[keyPath: description.path] = value
        return limits
    }

    @Test(
        "a limit on what a client sends or holds does not end the bridge",
        arguments: [("maxFrame", 16 << 10), ("heldBytesPerUserMax", 64 << 10)])
    func largeMessages(limit: (name: String, bytes: Int)) throws {
        let world = try LinkedFleet(seed: 1, limits: limits(limit.name, limit.bytes))
        for host in world.hosts { host.payloadMax = 1 << 20 }
        world.apply(#"{"id":"note","type":"text","maxLength":100}"#)
        #expect(try world.settle() == nil)
        let (host, other) = (world.hosts[0], world.hosts[1])
        world.cut(host)
        for number in 1_000...1_600 {
            let text = String(repeating: "\(number)", count: 25)
            host.set(Change(field: "note", .value(.string(text))))
        }
        #expect(try world.settle(seconds: 60) == nil)
        #expect(world.stream.log.contains { $0.message.payload.count > 50_000 })
        #expect(try other.value("note") == #require(host.value("note")))
        for host in world.hosts { #expect(host.engine.closed.isEmpty) }
    }

    @Test("half a message of the bridge is within the limit on incomplete frames")
    func halfMessage() throws {
        let world = try LinkedFleet(seed: 2, limits: limits("unfinishedBytesPerUserMax", 4_096))
        #expect(try world.settle() == nil)
        let host = world.hosts[0]
        let bridge = try #require(host.bridge)
        let message = LinkTransfer(
            subject: "ps.ops.h7.d.shared", reply: nil, headers: [],
            data: Array(repeating: 0, count: LinkMessage.payloadMax))
        let frame = Request.linkMessage(message).frame(id: nil)
        host.engine.sendBytes(bridge, Array(frame.dropLast(1_000)))
        host.engine.settle()
        host.engine.sendBytes(bridge, Array(frame.suffix(1_000)))
        host.engine.settle()
        #expect(host.engine.closed.isEmpty)
        #expect(host.phase == .live)
    }

    // MARK: A frame that definition and values do not fit in

    /// A definition that takes most of a frame. The note is half a frame.
    private func definition(_ name: String) -> String {
        let label = String(repeating: "l", count: 150)
        let options = (0..<68).map { #"{"tag":"\#(name)\#($0)","label":"\#(label)"}"# }
        return #"{"id":"note","type":"text","maxLength":480},"#
            + #"{"id":"\#(name)","type":"picker","options":[\#(options.joined(separator: ","))]}"#
    }

    private let note = JSON.string(String(repeating: "👨‍👩‍👧‍👦", count: 480))

    /// Host 0 has a form whose definition and values take more than a frame; the others were away.
    private func setNote(_ world: LinkedFleet, _ name: String) throws {
        let host = world.hosts[0]
        world.apply(definition(name))
        host.set(Change(field: "note", .value(note)))
        #expect(host.value("note") == note && host.value(name) != nil)
        let form = try #require(host.engine.engine.form(named: "shared")).committed
        let max = host.engine.configuration.limits.maxFrame
        #expect(form.definition.text.count + note.encoded.count > max)
    }

    @Test("a form whose definition and values are larger than a frame is made on other hosts")
    func largeCreation() throws {
        let world = try LinkedFleet(seed: 3, limits: limits("maxFrame", 21 << 10))
        world.hosts[0].comeUp()
        try setNote(world, "one")
        #expect(try world.settle(seconds: 60) == nil)
        #expect(world.hosts[1].value("note") == note)
    }

    @Test(
        "a joined definition that does not fit in a frame with its values begins a new log",
        arguments: [Durability.commit, .memory])
    func largeDefinition(durability: Durability) throws {
        let world = try LinkedFleet(
            seed: 4, durability: durability, limits: limits("maxFrame", 21 << 10))
        world.apply(#"{"id":"count","type":"stepper","min":0,"max":9}"#)
        #expect(try world.settle() == nil)
        let (host, other) = (world.hosts[0], world.hosts[1])
        let form = try #require(other.engine.engine.form(named: "shared"))
        let reader = other.engine.connect(uid: 0, user: "root")
        other.engine.call(reader, .stateSubscribe(StateSubscribe(form: "shared")))
        let since = StateSubscribe.Since(
            log: form.log, revision: Revision(clamping: form.committed.revision))
        world.cut(other)
        try setNote(world, "two")
        try world.rest()
        // What was acknowledged is lost, so the whole comes.
        world.stream.delete()
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle(seconds: 60) == nil)
        #expect(other.value("note") == note)
        #expect(form.log != since.log)
        let frames = other.engine.take(reader)
        #expect(frames.last?.contains("goodbye") == true)
        #expect(!frames.contains { $0.contains("form.changed") })
        #expect(other.engine.closed.contains(reader))

        // The next one has everything, in one log, also after a kill.
        let again = other.engine.connect(uid: 0, user: "root")
        let answer = other.engine.call(
            again, .stateSubscribe(StateSubscribe(form: "shared", since: since)))
        #expect(answer.joined().contains(#""resumed":false"#))
        other.set(Change(field: "note", .value("short")))
        #expect(other.engine.take(again).last?.contains("short") == true)
        let log = form.log
        world.pass(milliseconds: 20_000)
        world.sites.disconnected(1)
        try other.killDaemon()
        #expect(other.engine.engine.form(named: "shared")?.log == log)
        #expect(try world.settle() == nil)
        #expect(host.value("note") == "short")
    }

    @Test("a form that was more than formsMax is made once it is not", arguments: [true, false])
    func formsMax(isDeleted: Bool) throws {
        let world = try LinkedFleet(seed: 5, limits: limits("formsMax", 1))
        let (host, full) = (world.hosts[0], world.hosts[1])
        full.engine.ask(
            full.root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"own","fields":[{"id":"a","type":"text"}]}}}"#)
        for host in world.hosts { host.comeUp() }
        world.apply(LinkedFleet.countAndNote)
        world.increment(host)
        try world.spend(seconds: 2)
        let status = full.engine.call(full.root, .serverStatus).joined()
        #expect(status.contains("there are 1 forms already; delete one first"))
        #expect(full.engine.engine.form(named: "shared") == nil)
        if isDeleted {
            full.engine.call(full.root, .formDelete(FormDelete(form: "own")))
        } else {
            full.engine.configuration.limits.formsMax = 2
            full.engine.run(.configure(full.engine.configuration))
            full.engine.settle()
        }
        try world.spend(seconds: 2)
        #expect(full.value("count") == 1)
        #expect(full.engine.engine.fleet?.machine.heldForms == [])
    }
}
