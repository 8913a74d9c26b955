// Contexts against plain sets of dots, exhaustively where small.

import SyncCore
import Testing

@Suite("Causality: contexts")
struct CausalContextTests {
    static let universe = [dotA(1), dotA(2), dotA(3), dotB(1), dotB(2), dotB(3)]

    /// All sets of the six dots, each with its context.
    static let all: [(dots: Set<Dot>, context: CausalContext)] = (0..<64).map { bits in
        let dots = universe.indices.filter { bits & (1 << $0) != 0 }.map { universe[$0] }
        return (Set(dots), CausalContext(dots: dots))
    }

    @Test("a context is the set of its dots, whatever the order in which they came")
    func isSetOfDots() {
        for (dots, context) in Self.all {
            for dot in Self.universe { #expect(context.contains(dot) == dots.contains(dot)) }
            #expect(CausalContext(dots: Array(dots).sorted(by: >)) == context)
            #expect(!context.contains(dotC(1)) && !context.contains(dotA(0)))
            #expect(context.isEmpty == dots.isEmpty)
        }
    }

    @Test("union, clipping and inclusion are those of sets, and results are folded")
    func algebra() {
        for (left, leftContext) in Self.all {
            for (right, rightContext) in Self.all {
                let union = CausalContext(dots: left.union(right))
                let both = CausalContext(dots: left.intersection(right))
                #expect(leftContext.union(rightContext) == union)
                #expect(leftContext.clipped(to: rightContext) == both)
                #expect(leftContext.isSubset(of: rightContext) == left.isSubset(of: right))
            }
        }
    }

    @Test("loose dots fold as soon as they touch")
    func folding() {
        var context = CausalContext(dots: [dotA(2), dotA(3), dotA(5)])
        #expect(context.vector.isEmpty && context.loose.count == 3)
        context.insert(dotA(1))
        #expect(context.vector[replicaA] == 3 && context.loose == [dotA(5)])
        context.formUnion(CausalContext(VersionVector([.init(replicaA, 4)])))
        #expect(context.vector[replicaA] == 5 && context.loose.isEmpty)
    }

    @Test("the next dot lies above everything seen of the replica, and there is a last one")
    func nextDot() {
        for (dots, context) in Self.all {
            let highest = dots.filter { $0.replica == replicaA }.map(\.counter).max() ?? 0
            #expect(context.highestCounter(of: replicaA) == highest)
            #expect(context.nextDot(for: replicaA) == dotA(highest + 1))
            #expect(context.nextDot(for: replicaC) == dotC(1))
        }
        let full = CausalContext(VersionVector([.init(replicaA, .max)]))
        #expect(full.nextDot(for: replicaA) == nil)
        #expect(CausalContext(dots: [dotA(.max)]).nextDot(for: replicaA) == nil)
        var edge = CausalContext(VersionVector([.init(replicaA, .max - 1)]), loose: [dotA(.max)])
        #expect(edge.loose.isEmpty)
        edge.insert(dotA(.max))
        #expect(edge.vector[replicaA] == .max)
    }

    @Test("pruning leaves out the loose dots that no store holds, and nothing else")
    func pruning() {
        let context = CausalContext(dots: [dotA(1), dotA(3), dotA(5), dotB(2)])
        let pruned = context.prunedLoose { $0 == dotA(5) }
        #expect(pruned == CausalContext(dots: [dotA(1), dotA(5)]))
    }

    @Test("a vector keeps the greater counter of a replica and no zeros")
    func vector() {
        let vector = VersionVector([
            .init(replicaB, 4), .init(replicaA, 2), .init(replicaB, 3), .init(replicaC, 0),
        ])
        #expect(Array(vector.entries) == [.init(replicaA, 2), .init(replicaB, 4)])
        #expect(vector[replicaC] == 0 && !vector.contains(dotA(0)) && vector.contains(dotB(4)))
    }

    @Test("a replica is written as in tokens, and read back from that alone")
    func replicaText() {
        let replica = ReplicaID(id: 0x3f9a, epoch: 1)
        #expect(replica.description == "3f9a.1" && ReplicaID("3f9a.1") == replica)
        for bad in ["", "3f9a", "3F9A.1", "03f9a.1", "3f9a.01", "3f9a.1 ", "3f9a.", ".1", "g.1"] {
            #expect(ReplicaID(bad) == nil, "\(bad)")
        }
        #expect(ReplicaID("1000000000000.1") == nil, "49 bits")
        #expect(ReplicaID("ffffffffffff.4294967295")?.nextEpoch == nil)
        #expect(ReplicaID("1.4294967296") == nil)
        #expect(replica.nextEpoch == ReplicaID(id: 0x3f9a, epoch: 2))
    }
}
