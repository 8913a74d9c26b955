import EngineTestKit
import SeededRandom
import Testing

@testable import SyncCore

// What a store, a secret, options and undo are to hosts that share a form.

extension JoinTests {
    @Test("authors without a host are stored as before, and those of a shared form with it")
    func authorHost() throws {
        let replica = ReplicaID(id: 0xa, epoch: 1)
        let plain = Written(
            value: 1, author: Author(user: "a", uid: 1, connection: 2, replica: replica))
        let shared = Written(
            value: 1,
            author: Author(user: "a", uid: 1, connection: 2, replica: replica, host: "web1"))
        #expect(plain.encoded.first == 1 && shared.encoded.first == 2)
        #expect(try Written(decoding: plain.encoded) == plain)
        #expect(try Written(decoding: shared.encoded) == shared && shared != plain)
        #expect(throws: CausalityDecodeError.self) {
            try Written(decoding: [1] + shared.encoded.dropFirst())
        }
        let fleet = try Fleet(Self.note)
        fleet.set("note", .string("a"), 0)
        for _ in 0..<2 {
            #expect(try fleet.field("note", 0).by?.host == "h0")
            try fleet.hosts[0].crash()
        }
        let history = fleet.hosts[0].call(
            fleet.hosts[0].connect(uid: 0), .stateHistory(StateHistory(form: "shared")))
        #expect(history.contains { $0.contains(#""host":"h0""#) }, "\(history)")
    }

    @Test("a secret is revealed on another host, also under another id, and a removed one is gone")
    func secrets() throws {
        let fleet = try Fleet(#"{"id":"key","type":"secure"},"# + Self.note)
        fleet.set("key", .string("hush"), 0)
        try fleet.exchange()
        fleet.apply(#"{"id":"token","type":"secure","was":"key"},"# + Self.note, 1)
        try fleet.exchange()
        for place in 0..<2 {
            let told = fleet.hosts[place].call(
                fleet.roots[place], .stateReveal(StateReveal(form: "shared", field: "token")))
            #expect(told.contains { $0.contains("hush") }, "\(told)")
        }
        fleet.apply(Self.note, 0)
        try fleet.exchange()
        fleet.apply(#"{"id":"key","type":"secure"},"# + Self.note, 1)
        try fleet.exchange()
        for place in 0..<2 { #expect(try fleet.field("key", place).isSecretSet == false) }
        #expect(fleet.agree())
    }

    @Test("a write of a removed secret leaves the definition that removed it, in any order")
    func order() throws {
        let key = #"{"id":"key","type":"secure"}"#
        let fleet = try Fleet(key + "," + Self.note, hosts: 3)
        fleet.set("key", .string("hush"), 0)
        try fleet.exchange()
        fleet.apply(Self.note, 0)
        fleet.hosts[1].pass(milliseconds: 1_000)
        fleet.apply(key + "," + Self.note + "," + Self.target, 1)
        let theirs = try fleet.hosts[1].engine.takeShared()
        fleet.hosts[0].join(theirs)
        fleet.hosts[0].settle()
        fleet.set("key", .string("other"), 0)
        for item in try [theirs, fleet.hosts[0].engine.takeShared().reversed()].joined() {
            for place in 1..<3 {
                fleet.hosts[place].join([item])
                fleet.hosts[place].settle()
            }
        }
        #expect(fleet.agree())
    }

    @Test("undo is of one's own host, and anyone's takes back what came from another")
    func undo() throws {
        let fleet = try Fleet(Self.note)
        fleet.set("note", .string("a"), 0)
        try fleet.exchange()
        let mine = fleet.hosts[1].call(
            fleet.roots[1], .stateUndo(StateUndo(form: "shared", field: nil, scope: .mine)))
        #expect(mine.contains { $0.contains("nothing to undo") }, "\(mine)")
        fleet.hosts[1].call(
            fleet.roots[1], .stateUndo(StateUndo(form: "shared", field: nil, scope: .anyone)))
        try fleet.exchange()
        for place in 0..<2 { #expect(try fleet.field("note", place).isSet == false) }
        #expect(fleet.agree())
    }

    @Test("options that a program sets are the same on all hosts")
    func options() throws {
        let fleet = try Fleet(#"{"id":"pick","type":"picker","options":["a","b"]}"#)
        fleet.hosts[1].call(
            fleet.roots[1],
            .formSetOptions(
                FormSetOptions(form: "shared", field: "pick", options: [.string("c")])))
        try fleet.exchange()
        for place in 0..<2 {
            let options = try fleet.form(place).definition.json["fields"]?.arrayValue?[0]["options"]
            #expect(options == .array([.string("c")]))
        }
        #expect(fleet.agree())
        #expect(
            try fleet.form(0).definition.json == fleet.form(1).definition.json)
    }

    @Test("an item with a byte changed is refused or another item, at every byte")
    func mutated() throws {
        let fleet = try Fleet(Self.note + "," + Self.traffic)
        fleet.set("note", .string("a"), 0)
        guard case .delta(let delta)? = try fleet.hosts[0].engine.takeShared().first,
            let whole = fleet.hosts[0].engine.whole(of: "shared")
        else {
            Issue.record("no change to tell")
            return
        }
        for bytes in [delta.encoded, whole.encoded] {
            for place in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[place] ^= 1 << UInt8(bit)
                    var items: [SharedItem] = []
                    if let delta = try? FormDelta(decoding: changed) { items.append(.delta(delta)) }
                    if let whole = try? WholeForm(decoding: changed) { items.append(.whole(whole)) }
                    // Whatever it says now, it does not stop the daemon.
                    if place % 7 == 0 { _ = fleet.hosts[1].join(items) }
                }
                #expect(throws: CausalityDecodeError.self) {
                    try FormDelta(decoding: Array(bytes[..<place]))
                }
            }
        }
        fleet.hosts[1].settle()
    }
}
