import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// A form file of one host's daemon, and a form that hosts share.
@Suite("Form files in a fleet")
struct FleetFileTests {
    private let older = #"{"form":"shared","fields":[{"id":"note","type":"text"}]}"#
    private let newer =
        #"{"form":"shared","fields":[{"id":"note","type":"text"},{"id":"more","type":"text"}]}"#

    /// What a start or SIGHUP does with `--form`.
    private func apply(_ text: String, on host: FleetHost) throws {
        host.engine.run(.apply(definition: try JSON(parsing: text), file: "shared.json"))
        host.engine.settle()
    }

    private func restart(_ host: FleetHost, _ world: LinkedFleet, with text: String) throws {
        world.sites.disconnected(host.index)
        try host.killDaemon()
        try apply(text, on: host)
        #expect(try world.settle() == nil)
    }

    @Test("an older file does not undo at each start what another host has applied since")
    func restarts() throws {
        let world = try LinkedFleet(seed: 61)
        let (one, two) = (world.hosts[0], world.hosts[1])
        try apply(older, on: one)
        #expect(try world.settle() == nil)
        try apply(newer, on: two)
        #expect(try world.settle() == nil)
        for _ in 0..<2 { try restart(one, world, with: older) }
        #expect(one.value("more") == "" && two.value("more") == "")
        // Another file is applied, and the older one is another one then.
        let newest = newer.replacing("more", with: "most")
        try restart(one, world, with: newest)
        #expect(two.value("most") == "" && two.value("more") == nil)
        try restart(one, world, with: older)
        #expect(two.value("most") == nil && two.value("note") == "")
    }

    @Test("how a form looks goes to other hosts, and stays over a restart and an edit")
    func looks() throws {
        let world = try LinkedFleet(seed: 65)
        let text = older.replacing(#""fields""#, with: #""labelAlignment":"trailing","fields""#)
        try apply(text, on: world.hosts[0])
        #expect(try world.settle() == nil)
        let other = world.hosts[1]
        other.set(Change(field: "note", .value("over there")))
        world.sites.disconnected(other.index)
        try other.killDaemon()
        #expect(try world.settle() == nil)
        for host in world.hosts {
            let form = try #require(host.engine.engine.form(named: "shared")).committed.definition
            #expect(form.labelAlignment == .trailing && host.value("note") == "over there")
            #expect(form.json["labelAlignment"] == "trailing")
        }
    }

    @Test("a form that another host has deleted is not made again by a start")
    func deleted() throws {
        let world = try LinkedFleet(seed: 62)
        try apply(older, on: world.hosts[0])
        #expect(try world.settle() == nil)
        world.hosts[1].delete()
        #expect(try world.settle() == nil)
        try restart(world.hosts[0], world, with: older)
        for host in world.hosts { #expect(host.engine.engine.form(named: "shared") == nil) }
    }

    @Test("a file whose commit failed is applied by the next start")
    func failed() throws {
        let world = try LinkedFleet(seed: 63)
        let host = world.hosts[0]
        try apply(older, on: host)
        #expect(try world.settle() == nil)
        host.engine.storeFails = true
        try apply(newer, on: host)
        host.engine.storeFails = false
        host.engine.pass(milliseconds: 1_000)
        #expect(host.value("more") == nil)
        try restart(host, world, with: newer)
        #expect(world.hosts[1].value("more") == "")
    }

    @Test("a form that is not shared has what the file says at each start")
    func apart() throws {
        let world = try LinkedFleet(
            hosts: 1, seed: 64, configure: { _, link in link.forms = [Glob("other")] })
        let host = world.hosts[0]
        try apply(older, on: host)
        try apply(newer, on: host)
        try host.killDaemon()
        try apply(older, on: host)
        #expect(host.value("more") == nil && host.value("note") == "")
    }

    @Test("a file that is nested as deep as files may be is shared, and read again at a start")
    func deepest() throws {
        let world = try LinkedFleet(seed: 66)
        let (one, two) = (world.hosts[0], world.hosts[1])
        let condition = (0..<14).reduce(#"{"note":"x"}"#) { inner, level in
            #"{"\#(level % 2 == 0 ? "any" : "all")":[\#(inner)]}"#
        }
        let text =
            #"{"form":"shared","fields":[{"id":"note","type":"text"},"#
            + #"{"id":"more","type":"text","enabledWhen":\#(condition)}]}"#
        try apply(text, on: one)
        #expect(try world.settle() == nil)
        #expect(try two.value("more") == #require(one.value("more")))
        try restart(one, world, with: text)
        try restart(two, world, with: text)
        #expect(one.value("more") == "" && two.value("more") == "")
    }
}
