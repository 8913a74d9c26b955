// The laws of join for every store: exhaustively for short runs, at random for long ones.

import Simulation
import SyncCore
import Testing

/// A few copies of a form that edit and join, with all their states and deltas.
private struct LawRun {
    var copies: [CausalForm]
    let replicas = [replicaA, replicaB, replicaC]
    var states: [CausalForm] = []
    var deltas: [CausalForm] = []
    private var number = 0

    init(copies count: Int) {
        copies = Array(repeating: CausalForm(), count: count)
    }

    mutating func edit(_ field: TrialField, variant: Int, at index: Int, seesAll: Bool) {
        number += 1
        guard let dot = copies[index].context.nextDot(for: replicas[index]) else { return }
        let delta = TrialEdit(field: field, variant: variant, number: number).apply(
            to: &copies[index], dot: dot, stamp: stamp(Int64(number)),
            seen: seesAll ? .present : .context(CausalContext()))
        deltas.append(delta)
        states.append(copies[index])
    }

    mutating func join(_ index: Int, from other: Int) {
        copies[index].join(copies[other])
        states.append(copies[index])
    }

    /// The law that two of these states violate; `nil` if there is none.
    static func brokenByPairs(_ states: [CausalForm]) -> String? {
        for x in states {
            if x.joined(x) != x { return "idempotent" }
            for y in states {
                let xy = x.joined(y)
                if xy != y.joined(x) { return "commutative" }
                if xy.joined(x) != xy || xy.joined(y) != xy { return "monotone" }
                if !x.context.isSubset(of: xy.context) { return "monotone in contexts" }
            }
        }
        return nil
    }

    /// Whether the three states join to the same either way.
    static func isAssociative(_ x: CausalForm, _ y: CausalForm, _ z: CausalForm) -> Bool {
        x.joined(y).joined(z) == x.joined(y.joined(z))
    }
}

@Suite("Causality: laws of join")
struct StoreLawTests {
    @Test(
        "join is commutative, associative, idempotent and monotone after every run of four steps",
        arguments: TrialField.allCases)
    func exhaustive(field: TrialField) {
        // Steps: 4 edits (two copies, two kinds of edit) and 2 joins. The first is an edit of the
        // first copy: a join of nothing does nothing, and the copies differ only in their names.
        for code in 0..<(6 * 6 * 6 * 6) where [0, 2].contains(code % 6) {
            var run = LawRun(copies: 2)
            var rest = code
            for _ in 0..<4 {
                let step = rest % 6
                rest /= 6
                switch step {
                case 4: run.join(0, from: 1)
                case 5: run.join(1, from: 0)
                default:
                    run.edit(field, variant: step / 2, at: step % 2, seesAll: step / 2 == 0)
                }
            }
            let states = distinct(run.states)
            let broken = LawRun.brokenByPairs(states) ?? brokenByTriples(states)
            #expect(broken == nil, "\(field.key.id), run \(code)")
            if broken != nil { return }
        }
    }

    @Test("the laws hold for states and deltas of long random runs of three copies")
    func random() {
        for seed in CausalityRandom.seeds(40) {
            var random = CausalityRandom(seed: seed)
            let run = randomRun(&random, steps: 40)
            let all = run.states + run.deltas
            let some = (0..<6).map { _ in all[random.below(all.count)] }
            #expect(LawRun.brokenByPairs(some) == nil, "seed \(seed)")
            for _ in 0..<60 {
                let three = (0..<3).map { _ in all[random.below(all.count)] }
                let holds = LawRun.isAssociative(three[0], three[1], three[2])
                #expect(holds, "seed \(seed)")
            }
        }
    }

    @Test("deltas in any order, any number of times, equal whole-state joins")
    func deltas() {
        for seed in CausalityRandom.seeds(60) {
            var random = CausalityRandom(seed: seed)
            let run = randomRun(&random, steps: 40)
            let whole = run.copies.reduce(CausalForm()) { $0.joined($1) }

            var shuffled = run.deltas.shuffled(using: &random)
            shuffled += shuffled.prefix(10)
            let fromDeltas = shuffled.reduce(CausalForm()) { $0.joined($1) }
            #expect(fromDeltas == whole, "seed \(seed)")

            // Some are lost; a later whole copy repairs that.
            let some = run.deltas.filter { _ in random.chance(60) }.shuffled(using: &random)
            let repaired = some.reduce(CausalForm()) { $0.joined($1) }.joined(whole)
            #expect(repaired == whole, "seed \(seed)")

            // Deltas that were grouped before they were sent are deltas still.
            let middle = run.deltas.count / 2
            let first = run.deltas.prefix(middle).reduce(CausalForm()) { $0.joined($1) }
            let second = run.deltas.dropFirst(middle).reduce(CausalForm()) { $0.joined($1) }
            #expect(second.joined(first) == whole, "seed \(seed)")
        }
    }

    @Test("a delta that takes a shared dot from one key leaves it under the other")
    func sharedDot() {
        var form = CausalForm()
        let add = TrialEdit(field: .tags, variant: 3, number: 1)
        _ = add.apply(to: &form, dot: dotA(1), stamp: stamp(1), seen: .present)
        var copy = form
        let remove = TrialEdit(field: .tags, variant: 1, number: 2)
        let delta = remove.apply(to: &form, dot: dotA(2), stamp: stamp(2), seen: .present)
        copy.join(delta)
        #expect(copy == form)
        #expect(copy[TrialField.tags.key].asTags.tags == [.string("baz")])
    }

    @Test("increments that arrive before the set that they add to wait for it")
    func earlyIncrement() {
        var form = CausalForm()
        let set = TrialEdit(field: .count, variant: 0, number: 5)
        let setting = set.apply(to: &form, dot: dotA(1), stamp: stamp(1), seen: .present)
        let press = TrialEdit(field: .count, variant: 2, number: 6)
        let pressing = press.apply(to: &form, dot: dotA(2), stamp: stamp(2), seen: .present)
        let late = CausalForm().joined(pressing)
        #expect(late[TrialField.count.key].asCounter.value(.latest, default: .zero) == .zero)
        let both = late.joined(setting)
        #expect(both == form)
        #expect(both[TrialField.count.key].asCounter.value(.latest, default: .zero)?.integer == 7)
    }

    @Test("a running sum that overtook its predecessors is not counted beside them")
    func overtaken() {
        for field in [TrialField.button, .count] {
            var form = CausalForm()
            let deltas = (1...3).map { counter in
                TrialEdit(field: field, variant: 1, number: counter).apply(
                    to: &form, dot: dotA(UInt64(counter)), stamp: stamp(Int64(counter)),
                    seen: .present)
            }
            let gap = deltas[2].joined(deltas[0])
            let counter = gap[field.key].asCounter
            #expect(field == .count || gap[field.key].asPresses.presses == 3)
            #expect(field == .button || counter.value(.latest, default: .zero)?.integer == 3)
            #expect(gap.joined(deltas[1]) == form)
        }
    }

    @Test("two stores of one field, of different kinds, join side by side")
    func changedType() {
        var a = CausalForm()
        var b = CausalForm()
        a.change(.init("field", .register), dot: dotA(1)) { store in
            var register = MultiValueRegister<Written>()
            register.write(
                written(1), dot: dotA(1), stamp: stamp(1), seen: .present, policy: .latest)
            store = .register(register)
        }
        b.change(.init("field", .presses), dot: dotB(1)) { store in
            var counter = PressCounter()
            counter.press(dot: dotB(1))
            store = .presses(counter)
        }
        #expect(a.joined(b) == b.joined(a) && a.joined(b).fields.count == 2)
    }

    private func brokenByTriples(_ states: [CausalForm]) -> String? {
        for (i, x) in states.enumerated() {
            for (j, y) in states.enumerated().dropFirst(i + 1) {
                for z in states.dropFirst(j + 1) {
                    // With commutativity, these two are all ways to group three.
                    if !LawRun.isAssociative(x, y, z) || !LawRun.isAssociative(y, x, z) {
                        return "associative"
                    }
                }
            }
        }
        return nil
    }

    private func distinct(_ states: [CausalForm]) -> [CausalForm] {
        states.reduce(into: []) { kept, state in
            if !kept.contains(state) { kept.append(state) }
        }
    }

    private func randomRun(_ random: inout CausalityRandom, steps: Int) -> LawRun {
        var run = LawRun(copies: 3)
        for _ in 0..<steps {
            let index = random.below(3)
            if random.chance(25) {
                run.join(index, from: (index + 1 + random.below(2)) % 3)
            } else {
                let field = TrialField.allCases[random.below(TrialField.allCases.count)]
                run.edit(
                    field, variant: random.below(4), at: index, seesAll: random.chance(60))
            }
        }
        return run
    }
}
