// The guarantees of each store beyond the laws.

import Simulation
import SyncCore
import Testing

@Suite("Causality: stores")
struct DotStoreTests {
    @Test("I turn the month while you turn the year, and both stay")
    func wheels() {
        var a = ComponentMap()
        var b = ComponentMap()
        a.write(
            written(11), component: "month", dot: dotA(1), stamp: stamp(1), seen: .present,
            policy: .latest)
        b.write(
            written(2026), component: "year", dot: dotB(1), stamp: stamp(1), seen: .present,
            policy: .latest)
        a.join(
            b,
            contexts: JoinContexts(
                own: CausalContext(dots: [dotA(1)]), other: CausalContext(dots: [dotB(1)])))
        #expect(a.components.map(\.id) == ["month", "year"])
        #expect(
            a.components.map { $0.register.siblings.map(\.payload.value) } == [[11], [2026]])
    }

    @Test("components and tags are told apart by bytes")
    func bytes() {
        var map = ComponentMap()
        for (counter, id) in ["e\u{301}", "\u{e9}"].enumerated() {
            map.write(
                written(1), component: id, dot: dotA(UInt64(counter + 1)), stamp: stamp(1),
                seen: .present, policy: .latest)
        }
        #expect(map.components.count == 2)
        #expect(AddWinsSet.Tag.string("e\u{301}") != .string("\u{e9}"))
        #expect(author(replicaA, "e\u{301}") != author(replicaA, "\u{e9}"))
        #expect(CausalForm.Key("e\u{301}", .tags) != CausalForm.Key("\u{e9}", .tags))
    }

    @Test("a removal takes only the additions that it had seen")
    func addWins() {
        var set = AddWinsSet()
        set.edit(add: [.string("x")], remove: [], dot: dotA(1), seen: .context(CausalContext()))
        set.edit(add: [.string("x")], remove: [], dot: dotA(2), seen: .context(CausalContext()))
        set.edit(
            add: [], remove: [.string("x")], dot: dotA(3),
            seen: .context(CausalContext(dots: [dotA(1)])))
        #expect(set.contains(.string("x")))
        set.edit(add: [], remove: [.string("x")], dot: dotA(4), seen: .present)
        #expect(!set.contains(.string("x")) && !set.isEmpty, "emptied, and set by somebody")
        set.reset(seen: .present)
        #expect(set.isEmpty)
    }

    @Test("assigning a set keeps additions that the writer had not seen")
    func assign() {
        var set = AddWinsSet()
        set.edit(add: [.integer(1)], remove: [], dot: dotA(1), seen: .present)
        set.edit(add: [.integer(2)], remove: [], dot: dotA(2), seen: .present)
        set.assign(
            [.integer(3), .integer(3)], dot: dotA(3),
            seen: .context(CausalContext(dots: [dotA(1)])))
        #expect(set.tags == [.integer(2), .integer(3)])
        set.assign(
            [.string("b"), .boolean(true), .integer(9), .string("a")], dot: dotA(4), seen: .present)
        #expect(set.tags == [.boolean(true), .integer(9), .string("a"), .string("b")])
        #expect(set.dots == [dotA(4)])
    }

    @Test("a tag is a boolean, a whole number or a string")
    func tags() {
        for json: JSON in [true, false, 7, -7, "x"] {
            #expect(AddWinsSet.Tag(json)?.json == json)
        }
        for json: JSON in [.null, [1], ["a": 1]] { #expect(AddWinsSet.Tag(json) == nil) }
        #expect(
            DecimalNumber(significand: 5, exponent: -1).flatMap { AddWinsSet.Tag(.number($0)) }
                == nil)
    }

    @Test("increments of one replica are one entry, and a sum beyond the bounds is refused whole")
    func increments() throws {
        var counter = EpochCounter()
        for counterOfDot in UInt64(1)...50 {
            let isAdded = counter.increment(
                by: DecimalNumber(2), base: nil, dot: dotA(counterOfDot))
            #expect(isAdded)
        }
        #expect(counter.dots == [dotA(50)])
        #expect(counter.value(of: nil, default: DecimalNumber(1))?.integer == 101)
        let before = counter
        let isAdded = counter.increment(by: DecimalNumber(.max), base: nil, dot: dotA(51))
        #expect(!isAdded && counter == before)
        let fraction = try #require(DecimalNumber(significand: 1, exponent: -1))
        let isFractionAdded = counter.increment(by: fraction, base: nil, dot: dotA(52))
        #expect(isFractionAdded)
        #expect(counter.value(.latest, default: .zero)?.description == "100.1")
    }

    @Test("sums of several replicas beyond the bounds read as no number, and cancel where they can")
    func farSums() {
        func counter(_ sums: [Int64]) -> EpochCounter? {
            EpochCounter(
                bases: [],
                increments: sums.enumerated().map {
                    .init(
                        dot: Dot(ReplicaID(id: UInt64($0.offset), epoch: 1), 1), epoch: nil,
                        sum: DecimalNumber($0.element)
                    )
                })
        }
        #expect(counter([.max, .max])?.value(of: nil, default: .zero) == nil)
        #expect(counter([.max, .max, -.max, -.max])?.value(of: nil, default: .zero) == .zero)
        #expect(counter([-.max, 5, .max])?.value(of: nil, default: .zero)?.integer == 5)
    }

    @Test("a reset of a number is an epoch: what others pressed unseen is dropped with the old one")
    func counterReset() {
        var a = CausalForm()
        let key = TrialField.count.key
        func edit(
            _ form: inout CausalForm, _ replica: ReplicaID,
            _ body: (inout EpochCounter, Dot) -> Void
        ) {
            form.change(key, by: replica) { store, dot in
                var counter = store.asCounter
                body(&counter, dot)
                store = .counter(counter)
            }
        }
        edit(&a, replicaA) { counter, dot in
            counter.set(
                DecimalNumber(5), author: author(), dot: dot, stamp: stamp(1), seen: .present,
                policy: .latest)
        }
        var b = a
        edit(&b, replicaB) { counter, dot in
            _ = counter.increment(by: DecimalNumber(1), base: counter.bases.first, dot: dot)
        }
        edit(&a, replicaA) { counter, dot in
            counter.set(
                nil, author: author(), dot: dot, stamp: stamp(2), seen: .present, policy: .latest)
        }
        let joined = a.joined(b)[key].asCounter
        #expect(joined.value(.latest, default: DecimalNumber(3))?.integer == 3)
        #expect(joined.bases.map(\.value) == [nil] && joined.increments.isEmpty)
    }

    @Test("presses of all replicas count, and stop at the end of the number range")
    func presses() {
        var counter = PressCounter()
        counter.press(dot: dotA(1))
        counter.press(dot: dotA(2))
        counter.press(dot: dotB(1))
        #expect(counter.presses == 3 && counter.dots == [dotA(2), dotB(1)])
        var full = PressCounter(sorted: [
            .init(dot: dotA(1), presses: .max), .init(dot: dotB(1), presses: 4),
        ])
        full?.press(dot: dotA(2))
        #expect(full?.presses == .max)
    }

    @Test("a secret leaves no other behind, and a newer one outranks it whatever its clock said")
    func secrets() {
        var register = SealedRegister()
        register.write([1], dot: dotA(1), stamp: stamp(5_000_000))
        let old = register
        register.write([2], dot: dotA(2), stamp: stamp(10))
        #expect(register.secret?.bytes == [2] && register.dots == [dotA(2)])
        let contexts = JoinContexts(own: CausalContext(), other: CausalContext())
        #expect(old.joined(register, contexts: contexts) == register)
        register.write(nil, dot: dotA(3), stamp: stamp(11))
        #expect(!register.isSet && !register.isEmpty)
        #expect(register.joined(old, contexts: contexts).isSet == false)
    }

    @Test("what a form keeps is flat in the number of clients and edits")
    func metadata() {
        var form = CausalForm()
        var sizes: [Int] = []
        for edit in 1...4000 {
            let field = TrialField.allCases[edit % TrialField.allCases.count]
            guard let dot = form.context.nextDot(for: replicaA) else { return }
            // Each edit is by another client, which has seen nothing, everything, or an old state.
            let old = CausalContext(dots: (1...3).map { dotA(UInt64(max(1, edit - $0))) })
            let seen = [Seen.present, .context(CausalContext()), .context(old)][edit % 3]
            _ = TrialEdit(field: field, variant: edit / 8 % 4, number: edit).apply(
                to: &form, dot: dot, stamp: stamp(Int64(edit)), seen: seen)
            if edit == 1000 || edit == 4000 { sizes.append(form.encoded.count) }
        }
        #expect(form.context.vector.entries.count == 1 && form.context.loose.isEmpty)
        #expect(form.token == "a.1:4000")
        #expect(sizes[1] <= sizes[0] * 11 / 10, "\(sizes)")
    }
}
