import EngineTestKit
import Testing

@testable import SyncCore

/// Below `durability = commit`, unwritten edits in memory are limited.
@Suite("What waits for the disk is bounded")
struct WriteBehindTests {
    private static let formNames = ["a", "b", "c", "d"]

    private func host(_ durability: Durability) throws -> EngineHost {
        var limits = Limits()
        limits.unwrittenBytesMax = 65_536
        limits.intervalMilliseconds = 60_000
        let host = try EngineHost(durability: durability, limits: limits)
        let root = host.connect(uid: 0, user: "root")
        for name in Self.formNames {
            let fields = #"[{"id":"t","type":"text","maxLength":4000}]"#
            host.ask(
                root,
                Self.request("form.apply", #""definition":{"form":"\#(name)","fields":\#(fields)}"#)
            )
        }
        host.pass(milliseconds: 60_000)
        return host
    }

    private static func request(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)}}"#
    }

    private static func set(_ number: Int) -> String {
        let value = String(repeating: "x", count: 1000) + "\(number)"
        let form = formNames[number % formNames.count]
        return request(
            "state.set", #""form":"\#(form)","changes":[{"field":"t","value":"\#(value)"}]"#)
    }

    /// Bytes of the revisions in memory that are in no file.
    private func unwritten(_ host: EngineHost) -> Int {
        let link = host.engine.link
        return (link.gathering.changes + (link.underWay?.changes ?? []))
            .flatMap(\.revisions).reduce(0) { $0 + $1.bytesEstimate }
    }

    @Test(
        "much is written before its time, though its answers wait for nothing",
        arguments: [Durability.interval, .memory])
    func early(durability: Durability) throws {
        let host = try host(durability)
        let root = host.connect(uid: 0, user: "root")
        var most = 0
        for number in 0..<400 {
            #expect(host.ask(root, Self.set(number)).joined().contains(#""revision""#))
            most = max(most, unwritten(host))
        }
        #expect(most > 32_768 && most < 80_000, "\(most) bytes")
        let written = host.store.revisions.values.reduce(0) { $0 + $1.count }
        #expect(written > 300, "\(written) revisions")
    }

    @Test(
        "a slow disk delays answers, and so the clients that wait for them",
        arguments: [false, true])
    func behind(fails: Bool) throws {
        let host = try host(.memory)
        let root = host.connect(uid: 0, user: "root")
        host.holdsCommits = true
        var answered = 0
        while answered < 400, host.ask(root, Self.set(answered)).joined().contains("revision") {
            answered += 1
        }
        #expect(answered > 30 && answered < 120, "\(answered) edits")
        #expect(unwritten(host) < 3 * 65_536)
        let before = host.received[root]?.count ?? 0
        if fails { host.failCommit() } else { host.commit() }
        host.holdsCommits = false
        host.settle()
        let last = host.received[root]?.dropFirst(before).joined() ?? ""
        #expect(last.contains("revision"), "what waited is answered: it stands")
        #expect(host.ask(root, Self.set(answered + 1)).joined().contains(#""revision""#))
    }
}
