import Testing

@testable import SyncCore

@Suite("the people on other hosts")
struct PresenceRosterTests {
    private func word(_ number: UInt64, _ connections: UInt64...) -> LinkPresence {
        LinkPresence(
            number: number,
            peers: connections.map {
                LinkPresence.Peer(connection: $0, LinkPresence.Peer.Presence(user: "ann"))
            })
    }

    @Test("people of a host's new start are gone when nothing more is heard of them")
    func newStart() {
        var roster = PresenceRoster()
        let first = roster.heard(word(1, 7), on: "oven", of: "attic", 1, at: 0)
        #expect(first.map { $0.presence?.user } == ["ann"])
        let second = roster.heard(word(1, 8), on: "oven", of: "attic", 2, at: 1)
        #expect(second.map { $0.presence?.user } == [nil, "ann"])
        #expect(roster.expired(at: PresenceRoster.goneAfter).isEmpty)
        let gone = roster.expired(at: PresenceRoster.goneAfter + 1)
        #expect(gone.map(\.connection) == second.suffix(1).map(\.connection))
        #expect(roster.deadline == .max)
    }
}
