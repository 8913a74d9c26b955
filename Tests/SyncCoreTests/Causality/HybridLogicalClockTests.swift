// The clock that stamps writes.

import SyncCore
import Testing

@Suite("Causality: clock")
struct HybridLogicalClockTests {
    @Test("stamps ascend also if the wall clock stops or goes back")
    func ascends() {
        var clock = HybridLogicalClock()
        var last = clock.now(at: 1000)
        #expect(last == stamp(1000))
        for milliseconds: Int64 in [1000, 1000, 400, -5, 1001, 1001, 5000, .min, .max, .max, 0] {
            let next = clock.now(at: milliseconds)
            #expect(next > last, "at \(milliseconds)")
            last = next
        }
    }

    @Test("a stamp is greater than those observed")
    func observes() {
        var clock = HybridLogicalClock()
        let remote = HybridTimestamp(milliseconds: 1500, logical: 7)
        clock.observe(remote, at: 1000)
        #expect(clock.now(at: 1000) == HybridTimestamp(milliseconds: 1500, logical: 8))
        clock.observe(stamp(3), at: 1000)
        #expect(clock.now(at: 1000) > remote)
    }

    @Test("a remote clock pulls this one at most a second ahead of the wall clock")
    func bounded() {
        for remote in [
            stamp(2001), stamp(.max), HybridTimestamp(milliseconds: .max, logical: .max),
        ] {
            var clock = HybridLogicalClock()
            clock.observe(remote, at: 1000)
            #expect(clock.last == stamp(2000))
            #expect(clock.now(at: 1000).milliseconds == 2000)
            #expect(clock.now(at: 2001) == stamp(2001))
        }
        var end = HybridLogicalClock()
        end.observe(stamp(.max), at: .max)
        #expect(end.last == stamp(.max))
    }

    @Test("the logical part carries into the milliseconds, and time has an end without a trap")
    func carries() {
        let full = HybridTimestamp(milliseconds: 5, logical: .max)
        #expect(full.next == stamp(6))
        let last = HybridTimestamp(milliseconds: .max, logical: .max)
        #expect(last.next == last)
        var clock = HybridLogicalClock(after: last)
        #expect(clock.now(at: 0) == last)
    }

    @Test("siblings are ordered by stamp, then replica, then counter")
    func order() {
        let ranks = [
            SiblingRank(stamp: stamp(1), dot: dotC(9)),
            SiblingRank(stamp: HybridTimestamp(milliseconds: 1, logical: 1), dot: dotB(1)),
            SiblingRank(stamp: stamp(2), dot: dotA(1)),
            SiblingRank(stamp: stamp(2), dot: dotA(2)),
            SiblingRank(stamp: stamp(2), dot: dotB(1)),
            SiblingRank(stamp: stamp(2), dot: Dot(ReplicaID(id: 0xb, epoch: 2), 1)),
        ]
        #expect(ranks.shuffled().sorted() == ranks)
    }
}
