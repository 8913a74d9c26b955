import PickerSync
import PickerSyncTesting
import SyncCore
import Testing

/// The values of a form that guards its traffic.
private struct Deploy: SharedState {
    static let formName = "deploy"
    @Shared var traffic = 0
    @Shared var note = ""
}

@Suite("Changes that others must approve")
struct ProposalTests {
    private let daemon: InMemoryDaemon
    private let mine = Deploy()
    private let theirs = Deploy()
    private let session: FormSession
    private let other: FormSession

    init() async throws {
        daemon = try InMemoryDaemon()
        let client = daemon.client()
        let definition = try JSON(
            parsing: #"""
                {"form":"deploy","fields":[
                  {"id":"traffic","type":"slider","max":100,"breakGlass":["user:bob"],
                   "approval":{"from":["user:bob"],"when":{"traffic":{"atLeast":20}}}},
                  {"id":"note","type":"text"}]}
                """#)
        _ = try await client.ask(.formApply(FormApply(definition: definition)))
        session = try await client.follow(mine)
        other = try await daemon.client(as: .bob).follow(theirs)
    }

    private func propose(_ value: Int) async throws -> FormProposal {
        try #require(try await session.propose("INC-231") { mine.traffic = value })
    }

    @Test("a guarded edit is refused; proposed and approved, it is made")
    func approve() async throws {
        let error = await #expect(throws: FormError.self) { try await mine.$traffic.set(50) }
        guard case .refused(let refusal)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.kind == .approvalNeeded && refusal.approval.map(\.field) == ["traffic"])
        let proposal = try await propose(50)
        #expect(proposal.state == .waits && proposal.needs == 1)
        #expect(mine.traffic == 0, "a proposal changes nothing")
        #expect(session.proposals == [proposal] && other.proposals == [proposal])
        let approved = try await other.approve(proposal.id, message: "looks good")
        #expect(approved.state == .applied && approved.ended?.revision == session.revision)
        #expect(mine.traffic == 50 && theirs.traffic == 50)
        #expect(session.proposals.isEmpty && other.proposals.isEmpty)
        let newest = try await session.history().entries.first
        #expect(newest?.by?.user != "bob" && newest?.approvedBy.map(\.user) == ["bob"])
    }

    @Test("what nobody guards is set at once, and an edit that throws proposes nothing")
    func unguarded() async throws {
        #expect(try await session.propose { mine.note = "hello" } == nil)
        #expect(theirs.note == "hello")
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await session.propose {
                mine.traffic = 80
                throw Stop()
            }
        }
        #expect(session.proposals.isEmpty && mine.traffic == 0)
    }

    @Test("refused, withdrawn and stale proposals are told, and listed when they have ended")
    func ends() async throws {
        var events = session.events.makeAsyncIterator()
        let first = try await propose(50)
        try await other.refuse(first.id, message: "not now")
        let second = try await propose(60)
        await #expect(throws: FormError.self) { try await session.approve(second.id) }
        try await session.withdraw(second.id)
        let third = try await propose(70)
        try await other.breakGlass("INC-232") { theirs.traffic = 30 }
        #expect(mine.traffic == 30)
        await #expect(throws: FormError.self) { try await other.approve(third.id) }
        var told: [ProposalState] = []
        while told.count < 6, let event = await events.next() {
            if case .proposal(let proposal) = event { told.append(proposal.state) }
        }
        #expect(told == [.waits, .refused, .waits, .withdrawn, .waits, .stale])
        let ended = try await session.endedProposals()
        #expect(ended.map(\.id) == [third.id, second.id, first.id])
        #expect(ended.first?.ended?.why == "bob set traffic to 30")
        #expect(ended.last?.ended?.message == "not now")
    }

    @Test("a transaction says why, and when its values end")
    func terms() async throws {
        try await session.transaction("load test", ends: .after(.milliseconds(3_599_500))) {
            mine.note = "busy"
        }
        let entry = try #require(try await session.history().entries.first)
        #expect(entry.message == "load test" && theirs.note == "busy")
        try await session.changeEnd(of: "note", .move(.after(.seconds(60))), message: "shorter")
        #expect(try await session.history().entries.first?.message == "shorter")
        try await session.changeEnd(of: "note", .end)
        #expect(mine.note.isEmpty && theirs.note.isEmpty)
        await #expect(throws: FormError.self) {
            try await session.changeEnd(of: "note", .keep)
        }
        let proposal = try #require(
            try await session.propose("INC-231", ends: .after(.seconds(7_200))) {
                mine.traffic = 50
            })
        guard case .values(_, lease: .seconds(7_200)?) = proposal.content else {
            Issue.record("\(proposal)")
            return
        }
        try await other.approve(proposal.id)
        try await session.changeEnd(of: "traffic", .end)
        #expect(mine.traffic == 0)
    }

    @Test("a program that comes back knows what waits")
    func reconnect() async throws {
        daemon.goOffline(.bob)
        let proposal = try await propose(50)
        #expect(other.proposals.isEmpty)
        daemon.comeBack(.bob)
        #expect(other.proposals == [proposal])
        try await other.approve(proposal.id)
        #expect(mine.traffic == 50)
    }
}
