// Which value is current, who is told, and when siblings are removed.

import SyncCore
import Testing

@Suite("Causality: policies")
struct ConflictPolicyTests {
    typealias Register = MultiValueRegister<Written>

    /// A register after these writes in one store, each by an author who had seen `seen`.
    private func register(
        _ policy: ConflictPolicy, _ writes: [(value: JSON?, seen: [UInt64])]
    ) -> (register: Register, last: SiblingFate<Register.Sibling>) {
        var register = Register()
        var last = SiblingFate<Register.Sibling>()
        for (index, write) in writes.enumerated() {
            last = register.write(
                written(write.value), dot: dotA(UInt64(index + 1)), stamp: stamp(Int64(index)),
                seen: .context(CausalContext(dots: write.seen.map(dotA))), policy: policy)
        }
        return (register, last)
    }

    private func values(_ siblings: [Register.Sibling]) -> [JSON?] { siblings.map(\.payload.value) }

    @Test("latest: the newest wins, the loser is in its notification, the next write drops it")
    func latest() {
        let policy = ConflictPolicy.latest
        let two = register(policy, [("v1", []), ("v2", [])])
        #expect(policy.current(two.register.siblings)?.payload.value == "v2")
        #expect(values(two.last.concurrent) == ["v1"])
        #expect(values(policy.others(two.register.siblings)) == ["v1"])
        #expect(policy.listed(two.register.siblings).isEmpty)

        let three = register(policy, [("v1", []), ("v2", []), ("v3", [])])
        #expect(values(three.register.siblings) == ["v2", "v3"])
        #expect(values(three.last.collapsed) == ["v1"])
        #expect(values(three.last.concurrent) == ["v2"])

        let seeing = register(policy, [("v1", []), ("v2", []), ("v3", [2])])
        #expect(values(seeing.register.siblings) == ["v3"])
        #expect(values(seeing.last.covered) == ["v2"])
    }

    @Test("latest: a client that always says it has seen nothing leaves two siblings, no more")
    func latestIsBounded() {
        let many = register(.latest, (0..<100).map { (.integer($0), []) })
        #expect(values(many.register.siblings) == [98, 99])
    }

    @Test("ask: the newest is shown, the others are listed until a writer has seen them")
    func ask() {
        let policy = ConflictPolicy.ask
        let three = register(policy, [("v1", []), ("v2", []), ("v3", [])]).register
        #expect(policy.current(three.siblings)?.payload.value == "v3")
        #expect(values(policy.listed(three.siblings)) == ["v2", "v1"])
        let chosen = register(policy, [("v1", []), ("v2", []), ("v3", []), ("v1", [1, 2, 3])])
        #expect(values(chosen.register.siblings) == ["v1"])
        #expect(policy.listed(chosen.register.siblings).isEmpty)
        #expect(values(chosen.last.covered) == ["v1", "v2", "v3"])
    }

    @Test("ask: sixteen siblings are kept, then the oldest collapse")
    func askIsBounded() {
        let full = register(.ask, (0..<16).map { (.integer($0), []) })
        #expect(full.register.siblings.count == 16 && full.last.collapsed.isEmpty)
        let over = register(.ask, (0..<20).map { (.integer($0), []) })
        #expect(values(over.register.siblings) == (4..<20).map { JSON.integer($0) })
        #expect(values(over.last.collapsed) == [3])
    }

    @Test("first: the smallest timestamp is current, and a store knows a stale writer")
    func first() {
        let policy = ConflictPolicy.first
        let two = register(policy, [("v1", []), ("v2", [])]).register
        #expect(policy.current(two.siblings)?.payload.value == "v1")
        let one = register(policy, [("v1", [])]).register
        #expect(!one.isCurrent(for: .context(CausalContext())))
        #expect(one.isCurrent(for: .context(CausalContext(dots: [dotA(1)]))))
        #expect(one.isCurrent(for: .present), "an edit without a token")
        #expect(Register().isCurrent(for: .context(CausalContext())))
    }

    @Test("a toggle's policy prefers its state, in any order of the siblings")
    func toggles() {
        for values: [JSON] in [
            [true, false], [false, true], [true, false, true], [false, false],
        ] {
            let register = register(.ask, values.map { ($0, []) }).register
            let yes = ConflictPolicy.trueWins.current(register.siblings)?.payload.value
            let no = ConflictPolicy.falseWins.current(register.siblings)?.payload.value
            #expect(yes == .bool(values.contains(true)))
            #expect(no == .bool(!values.contains(false)))
        }
        let stop = register(.trueWins, [(true, []), (false, []), (false, [])])
        #expect(values(stop.register.siblings) == [true, false])
        #expect(values(stop.last.collapsed) == [false])
        let released = register(.trueWins, [(true, []), (false, []), (false, [1])]).register
        #expect(values(released.siblings) == [false])
    }

    @Test("a reset is a write: it wins and loses like any other")
    func reset() {
        let later = register(.latest, [("v1", []), (nil, [])]).register
        let standing = ConflictPolicy.latest.current(later.siblings)
        #expect(standing?.dot == dotA(2) && standing?.payload.value == nil)
        let earlier = register(.latest, [(nil, []), ("v1", [])]).register
        #expect(ConflictPolicy.latest.current(earlier.siblings)?.payload.value == "v1")
    }

    @Test("an edit without a token leaves no sibling, under any policy")
    func present() {
        for policy in ConflictPolicy.allCases {
            var register = register(.ask, [(true, []), (false, [])]).register
            let fate = register.write(
                written(true), dot: dotA(3), stamp: stamp(3), seen: .present, policy: policy)
            #expect(values(register.siblings) == [true] && fate.covered.count == 2)
        }
    }

    @Test("a writer is current who has seen every dot of the field")
    func current() {
        let store = FieldStore.register(register(.ask, [("v1", []), ("v2", [])]).register)
        #expect(store.isCurrent(for: .present))
        #expect(store.isCurrent(for: .context(CausalContext(dots: [dotA(1), dotA(2)]))))
        #expect(!store.isCurrent(for: .context(CausalContext(dots: [dotA(2)]))))
        #expect(FieldStore(.tags).isCurrent(for: .context(CausalContext())))
    }
}
