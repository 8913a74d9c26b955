import EngineTestKit
import Testing

@testable import SyncCore

extension JoinTests {
    private static let guarded =
        #"{"id":"environment","type":"picker","options":["staging","production"],"default":"staging"},"#
        + #"{"id":"traffic","type":"slider","max":100,"approval":{"from":["user:erin"],"#
        + #""when":{"environment":"production","traffic":{"atLeast":20}}},"breakGlass":["user:dave"]}"#

    private func history(_ host: EngineHost, _ root: ConnectionID) throws -> [HistoryPage.Entry] {
        var decoder = ServerMessageDecoder()
        let texts = host.call(root, .stateHistory(StateHistory(form: "shared")))
        let text = try #require(texts.last)
        guard case .result(_, let json)? = try decoder.decode(Array(text.utf8)).first else {
            Issue.record("\(text)")
            return []
        }
        return try HistoryPage(decoding: json).entries
    }

    @Test("edits that together meet a guard are joined, marked and logged on both hosts")
    func guarded() throws {
        let fleet = try Fleet(Self.guarded)
        fleet.set("traffic", .integer(80), 0)
        fleet.set("environment", .string("production"), 1)
        try fleet.exchange()
        #expect(fleet.agree())
        for place in 0..<2 {
            let host = fleet.hosts[place]
            let entries = try history(host, fleet.roots[place])
            #expect(entries.map(\.isUnapproved) == [true] + entries.dropFirst().map { _ in false })
            let warnings = host.log.filter { $0.message.contains("without the approval") }
            #expect(warnings.count == 1, "\(warnings)")
            #expect(warnings.allSatisfy { $0.message.contains("edit of h\(1 - place) ") })
        }
        // The mark is in the store.
        #expect(try fleet.hosts[0].restart())
        let root = fleet.hosts[0].connect(uid: 0, user: "root")
        #expect(try history(fleet.hosts[0], root).first?.isUnapproved == true)
    }

    @Test("what was allowed, approved or done by a broken glass where it was made has no mark")
    func judged() throws {
        let fleet = try Fleet(Self.guarded)
        fleet.set("traffic", .integer(10), 0)
        fleet.set("environment", .string("production"), 0)
        let dave = fleet.hosts[0].connect(uid: 1_001, user: "dave")
        let answer = fleet.hosts[0].ask(
            dave,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"shared","#
                + #""changes":[{"field":"traffic","value":90}],"breakGlass":true,"message":"now"}}"#
        )
        #expect("\(answer)".contains("revision"), "\(answer)")
        try fleet.exchange()
        let entries = try history(fleet.hosts[1], fleet.roots[1])
        #expect(entries.allSatisfy { !$0.isUnapproved } && entries.contains { $0.isBreakGlass })
        #expect(!fleet.hosts[1].log.contains { $0.message.contains("without the approval") })
    }
}
