// Which hosts agree, and when a whole is due.

import Testing

@testable import SyncCore

@Suite("Link: agreement and wholes")
struct AgreementTests {
    private func beacon(
        digest: UInt64, sequence: UInt64 = 5, unsent: UInt64 = 0, acknowledged: UInt64 = 0,
        stream: String = "A", run: UInt64 = 1, hasForm: Bool = true
    ) -> Beacon {
        Beacon(
            run: run, replica: ReplicaID(id: 1, epoch: 0), linkedMilliseconds: 0, stream: stream,
            sequence: sequence, acknowledged: acknowledged, clock: 0, version: "1",
            forms: hasForm ? [.init(name: "deploy", digest: digest, unsent: unsent)] : [])
    }

    @Test("equal digests agree; others disagree only if both have read and told the same")
    func verdicts() {
        let own = beacon(digest: 1)
        let form = own.forms[0]
        #expect(Agreement.compare(form, of: own, beacon(digest: 1, sequence: 3)) == .agrees)
        #expect(Agreement.compare(form, of: own, beacon(digest: 2)) == .disagrees)
        for behind in [
            beacon(digest: 2, sequence: 4), beacon(digest: 2, unsent: 1),
            beacon(digest: 2, acknowledged: 6), beacon(digest: 2, stream: "B"),
        ] {
            #expect(Agreement.compare(form, of: own, behind) == .behind)
            #expect(Agreement.compare(behind.forms[0], of: behind, own) == .behind)
        }
    }

    @Test("a disagreement is reported at once, then once a minute until it ends")
    func reports() {
        var agreement = Agreement()
        let own = beacon(digest: 1)
        let finding = [Agreement.Finding.disagreement(form: "deploy", host: "b")]
        #expect(agreement.heard(beacon(digest: 2), from: "b", own: own, at: 0) == finding)
        #expect(agreement.heard(beacon(digest: 2), from: "b", own: own, at: 59).isEmpty)
        #expect(
            agreement.heard(beacon(digest: 2), from: "b", own: own, at: 60_000_000_000) == finding)
        #expect(agreement.heard(beacon(digest: 1), from: "b", own: own, at: 61).isEmpty)
        #expect(agreement.count(of: own.forms[0], own: own, at: 61) == (1, 1))
        #expect(agreement.heard(beacon(digest: 2), from: "b", own: own, at: 62) == finding)
        #expect(agreement.count(of: own.forms[0], own: own, at: 62) == (0, 1))
        #expect(agreement.count(of: own.forms[0], own: own, at: 30_000_000_063) == (0, 0))
    }

    /// A beacon of a host at the hub; each other place is a site, how far, and whether it is reached.
    private func sited(
        digest: UInt64, at site: String = "hub", hub: UInt64 = 5, berlin: UInt64 = 7,
        reaches: Bool = true
    ) -> Beacon {
        func place(_ name: String, _ sequence: UInt64) -> Beacon.Place {
            Beacon.Place(site: name, stream: "made \(name)", sequence: sequence, isReached: reaches)
        }
        let isHub = site == "hub"
        return Beacon(
            run: 1, replica: ReplicaID(id: 1, epoch: 0), linkedMilliseconds: 0,
            stream: "made \(site)", sequence: isHub ? hub : berlin, acknowledged: 0, clock: 0,
            version: "1", forms: [.init(name: "deploy", digest: digest, unsent: 0)], site: site,
            others: [isHub ? place("berlin", berlin) : place("hub", hub)])
    }

    @Test("of several streams all must be read alike; what only one reaches separates")
    func sites() {
        func verdict(_ own: Beacon, _ other: Beacon) -> Agreement.Verdict {
            let both = [
                Agreement.compare(own.forms[0], of: own, other),
                Agreement.compare(other.forms[0], of: other, own),
            ]
            #expect(both[0] == both[1])
            return both[0]
        }
        let own = sited(digest: 1)
        #expect(verdict(own, sited(digest: 1, berlin: 3)) == .agrees)
        #expect(verdict(own, sited(digest: 2)) == .disagrees)
        #expect(verdict(own, sited(digest: 2, at: "berlin")) == .disagrees)
        #expect(verdict(own, sited(digest: 2, berlin: 6)) == .behind)
        #expect(verdict(own, sited(digest: 2, berlin: 6, reaches: false)) == .separated)
        #expect(verdict(own, sited(digest: 2, hub: 4, berlin: 6, reaches: false)) == .behind)
        // Equal places say enough, reached or not.
        #expect(verdict(own, sited(digest: 2, reaches: false)) == .disagrees)
        // No whole of this host would come there.
        let apart = sited(digest: 2, at: "berlin", hub: 4, reaches: false)
        #expect(Agreement.compare(own.forms[0], of: own, apart) == .behind)
        #expect(verdict(sited(digest: 1, reaches: false), own) == .agrees)
        #expect(verdict(own, beacon(digest: 2)) == .behind)
    }

    @Test("a separation is told only once it has lasted for a minute, and then once a minute")
    func separation() {
        var agreement = Agreement()
        let own = sited(digest: 1)
        let away = sited(digest: 2, berlin: 6, reaches: false)
        let minute = Agreement.disputePeriod
        func hear(_ beacon: Beacon, at time: UInt64) -> [Agreement.Finding] {
            agreement.heard(beacon, from: "b", own: own, at: time)
        }
        #expect(hear(away, at: 1).isEmpty)
        #expect(hear(away, at: minute).isEmpty)
        #expect(hear(away, at: minute + 1) == [.separation(form: "deploy")])
        #expect(hear(away, at: minute + 2).isEmpty)
        #expect(hear(sited(digest: 1), at: minute + 3).isEmpty)
        #expect(hear(away, at: 2 * minute + 2).isEmpty)
        #expect(hear(away, at: 3 * minute + 2) == [.separation(form: "deploy")])
    }

    @Test("a host that has read the same and has not the form is sent a whole once in its run")
    func lacking() {
        var agreement = Agreement()
        let own = beacon(digest: 1)
        let other = beacon(digest: 0, hasForm: false)
        let minute = Agreement.disputePeriod
        func hear(_ beacon: Beacon, at time: UInt64) -> [Agreement.Finding] {
            agreement.heard(beacon, from: "b", own: own, at: time)
        }
        #expect(hear(other, at: 1).isEmpty)
        #expect(hear(other, at: minute + 1) == [.wanted(form: "deploy")])
        // It may not want the form, however often it is behind in between.
        #expect(hear(beacon(digest: 0, sequence: 4, hasForm: false), at: minute + 2).isEmpty)
        #expect(hear(other, at: 3 * minute).isEmpty)
        #expect(hear(other, at: 5 * minute).isEmpty)
        let again = beacon(digest: 0, run: 2, hasForm: false)
        #expect(hear(again, at: 6 * minute).isEmpty)
        #expect(hear(again, at: 7 * minute) == [.wanted(form: "deploy")])
    }

    @Test("at most 64 hosts are kept")
    func bounded() {
        var agreement = Agreement()
        for index in 0..<100 {
            _ = agreement.heard(
                beacon(digest: 1), from: "host\(index)", own: beacon(digest: 1), at: 0)
        }
        #expect(agreement.hosts.count == 64)
        #expect(agreement.host(named: "host99") == nil)
        // Of those that are away the one of which nothing was heard for the longest time goes.
        let later = Agreement.awayAfter
        for name in ["host1", "a"] {
            _ = agreement.heard(
                beacon(digest: 1), from: name, own: beacon(digest: 1), at: later)
        }
        #expect(agreement.hosts.count == 64)
        #expect(agreement.hosts.map(\.name) == agreement.hosts.map(\.name).sorted())
        #expect(agreement.host(named: "a") != nil && agreement.host(named: "host1") != nil)
        agreement.findAway(at: later + Agreement.forgottenAfter - 1)
        #expect(agreement.hosts.map(\.name) == ["a", "host1"])
    }

    private let known = CausalContext(dots: [Dot(ReplicaID(id: 1, epoch: 0), 1)])

    @Test("a whole is due where the log has none, after a wait, unless another host wrote one")
    func wholes() {
        var keeper = WholeKeeper()
        keeper.look(
            at: [("deploy", known), ("team", known)], ageMax: 8_000_000, wall: 0, random: { 3 },
            now: 0)
        #expect(keeper.deadline == 3)
        keeper.saw("team", covering: known, at: 0)
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 2).map(\.form) == [])
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 3).map(\.form) == ["deploy"])
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 9).map(\.form) == [])
    }

    @Test("a whole is due when the newest is too old, or lacks what was known long enough ago")
    func rule() {
        var keeper = WholeKeeper()
        let ageMax: Int64 = 8_000_000
        func look(_ wall: Int64, _ context: CausalContext) -> [String] {
            keeper.look(
                at: [("deploy", context)], ageMax: ageMax, wall: wall, random: { 0 }, now: 0)
            return keeper.due(ageMax: ageMax, wall: wall, now: 0).map(\.form)
        }
        keeper.saw("deploy", covering: CausalContext(), at: 0)
        #expect(look(0, known) == [])
        #expect(look(999_999, known) == [])
        #expect(look(1_000_000, known) == ["deploy"])
        keeper.saw("deploy", covering: known, at: 1_000_000)
        #expect(look(4_999_999, known) == [])
        #expect(look(5_000_000, known) == ["deploy"])
    }

    @Test("wholes of forms that are not here are forgotten, but not what is due of them")
    func forgotten() {
        var keeper = WholeKeeper()
        for form in ["deploy", "gone", "asked"] { keeper.saw(form, covering: known, at: 0) }
        keeper.demand("asked", .asked, random: { 3 }, now: 0)
        keeper.look(
            at: [("deploy", known)], ageMax: 8_000_000, wall: 0, random: { 0 }, now: 0)
        let kept = ["deploy", "gone", "asked"].filter { keeper.has($0, covering: known) }
        #expect(kept == ["deploy", "asked"])
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 3).map(\.form) == ["asked"])
    }

    @Test("a whole on disagreement is written whatever the log has")
    func demanded() {
        var keeper = WholeKeeper()
        keeper.saw("deploy", covering: known, at: 0)
        keeper.demand("deploy", .disagreement, random: { 0 }, now: 5)
        let due = keeper.due(ageMax: 8_000_000, wall: 0, now: 5)
        #expect(due.map(\.form) == ["deploy"] && due.map(\.why) == [.disagreement])
    }

    @Test("another host's whole ends a demand that it can meet, and no other")
    func met() {
        var keeper = WholeKeeper()
        keeper.saw("deploy", covering: known, at: 0)
        keeper.demand("deploy", .asked, covering: known, random: { 2 }, now: 0)
        keeper.saw("deploy", covering: CausalContext(), at: 0)
        #expect(keeper.deadline == 2)
        keeper.saw("deploy", covering: known, at: 0)
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 2).isEmpty)
        keeper.demand("deploy", .disagreement, random: { 9 }, now: 2)
        keeper.demand("deploy", .asked, covering: known, random: { 1 }, now: 2)
        keeper.saw("deploy", covering: known, at: 0)
        #expect(keeper.due(ageMax: 8_000_000, wall: 0, now: 3).map(\.why) == [.disagreement])
    }
}
