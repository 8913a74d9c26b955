import TestKit
import Testing

@testable import SyncCore

/// Sets of many tags: one pass in order gives what a look-up of each tag gives.
@Suite("Causality: sets of many tags")
struct ManyTagsTests {
    private static let replica = ReplicaID(id: 7, epoch: 1)

    private func dot(_ counter: UInt64) -> Dot { Dot(Self.replica, counter) }

    private func random(_ random: inout SplitMix64, of all: Int) -> [AddWinsSet.Tag] {
        (0..<all).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
            .map { $0.isMultiple(of: 3) ? .integer(Int64($0)) : .string("t\($0)") }
    }

    @Test("a silent write takes the place of the additions of its tags, in order, and of no others")
    func renewing() {
        var numbers = SplitMix64(seed: 22)
        for round in 0..<200 {
            var set = AddWinsSet()
            set.assign(random(&numbers, of: 30), dot: dot(1), seen: .present)
            set.edit(
                add: random(&numbers, of: 30), remove: [], dot: dot(2),
                seen: .context(CausalContext()))
            let tags = random(&numbers, of: 30)
            let before = set
            var told: [AddWinsSet.Entry] = []
            set.renew(sorted: tags.sortedDistinct(), dot: dot(3)) { told.append($0) }
            #expect(told == before.entries.filter { tags.contains($0.tag) }, "round \(round)")
            #expect(
                set.entries
                    == before.entries.map {
                        tags.contains($0.tag) ? AddWinsSet.Entry(tag: $0.tag, dots: [dot(3)]) : $0
                    })
        }
    }

    @Test("the additions of a tag are the same wherever the search begins")
    func additions() {
        var numbers = SplitMix64(seed: 23)
        var set = AddWinsSet()
        set.assign(random(&numbers, of: 60), dot: dot(1), seen: .present)
        for tag in random(&numbers, of: 60) + random(&numbers, of: 60).sortedDistinct() {
            let expected = set.contains(tag) ? [dot(1)] : []
            for start in [0, 5, set.entries.count - 1, set.entries.count, 99] {
                var place = start
                #expect(set.additions(of: tag, near: &place) == expected, "\(tag) from \(start)")
            }
        }
    }

    @Test("a set has the tags of a list in any order")
    func holdsOnly() {
        var set = AddWinsSet()
        set.assign([.string("b"), .string("a"), .string("\u{e9}")], dot: dot(1), seen: .present)
        #expect(set.holdsOnly(["a", "\u{e9}", "b"]) && set.holdsOnly(["b", "a", "\u{e9}"]))
        #expect(!set.holdsOnly(["b", "a", "e\u{301}"]), "strings are told apart by bytes")
        #expect(!set.holdsOnly(["a", "b"]) && !set.holdsOnly(["a", "b", "c"]))
        var numbers = AddWinsSet()
        numbers.assign([.integer(2), .integer(1)], dot: dot(1), seen: .present)
        #expect(numbers.holdsOnly([1, 2]) && numbers.holdsOnly([2, 1]))
        #expect(!numbers.holdsOnly([1, 3]) && !numbers.holdsOnly([1]))
    }
}
