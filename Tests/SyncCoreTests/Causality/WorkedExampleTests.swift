// The six worked examples of the design, value by value.

import Simulation
import SyncCore
import Testing

@Suite("Causality: worked examples")
struct WorkedExampleTests {
    @Test("writes that have seen nothing stay side by side; a token drops what it covers")
    func siblings() throws {
        var copy = ExampleCopy(replicaA)
        try copy.set("v1", token: "")
        try copy.set("v2", token: "")
        #expect(copy.values == ["v1", "v2"])
        try copy.set("v3", token: "a.1:1")
        #expect(copy.values == ["v2", "v3"])
    }

    @Test("another store takes a token as far as it goes")
    func otherStore() throws {
        var start = ExampleCopy(replicaA)
        try start.set("v1", token: "")
        try start.set("v2", token: "a.1:1")
        #expect(start.values == ["v2"])

        var stale = ExampleCopy(replicaB)
        stale.form = start.form
        try stale.set("v4", token: "a.1:1")
        #expect(stale.values == ["v2", "v4"])

        var current = ExampleCopy(replicaB)
        current.form = start.form
        try current.set("v3", token: "a.1:2")
        #expect(current.values == ["v3"])
    }

    @Test("a context that has seen a value which its store lacks removes it, either way round")
    func removalWithoutTombstone() throws {
        var removed = CausalForm()
        removed.change(ExampleCopy.key, dot: dotA(1)) { _ in }
        #expect(removed.context.description == "a.1:1" && removed.fields.isEmpty)

        var both = ExampleCopy(replicaA)
        try both.set("v1", token: "")
        try both.set("v2", token: "")
        var joined = both
        joined.form.join(removed)
        #expect(joined.values == ["v2"])
        #expect(removed.joined(both.form) == joined.form)
    }

    @Test("two people who write in turn with their own last tokens never lose the other's value")
    func twoPeople() throws {
        var copy = ExampleCopy(replicaA)
        var mary = ""
        var peter = ""
        mary = try copy.set("v1", token: mary)
        #expect(copy.values == ["v1"])
        peter = try copy.set("v2", token: peter)
        #expect(copy.values == ["v1", "v2"])
        mary = try copy.set("v3", token: mary)
        #expect(copy.values == ["v2", "v3"])
        mary = try copy.set("v4", token: mary)
        #expect(copy.values == ["v2", "v4"])
        peter = try copy.set("v5", token: peter)
        #expect(copy.values == ["v4", "v5"])
        mary = try copy.set("v6", token: mary)
        #expect(copy.values == ["v5", "v6"])
        #expect(mary == "a.1:1+6", "dots that nothing holds are left out of the token")
    }

    @Test("a join is not skipped because one context covers the other")
    func coveredContext() {
        let key = CausalForm.Key("tags", .tags)
        var a = CausalForm()
        var b = CausalForm()
        func edit(_ form: inout CausalForm, _ replica: ReplicaID, add: [String], remove: [String]) {
            form.change(key, by: replica) { store, dot in
                var set = store.asTags
                set.edit(
                    add: add.map(AddWinsSet.Tag.string), remove: remove.map(AddWinsSet.Tag.string),
                    dot: dot, seen: .present)
                store = .tags(set)
            }
        }
        edit(&a, replicaA, add: ["bar"], remove: [])
        edit(&b, replicaB, add: ["baz"], remove: [])
        let c = a.joined(b)
        edit(&a, replicaA, add: [], remove: ["bar"])
        #expect(a.joined(c)[key].asTags.tags == [.string("baz")])
        #expect(c.joined(a) == a.joined(c))
    }

    @Test("the same without a dot for the removal: one context covers the other, and both matter")
    func coveredContextWithoutDot() {
        let key = CausalForm.Key("tags", .tags)
        var a = CausalForm()
        var b = CausalForm()
        for (tag, replica) in [("bar", replicaA), ("baz", replicaB)] {
            var form = CausalForm()
            form.change(key, by: replica) { store, dot in
                var set = AddWinsSet()
                set.edit(add: [.string(tag)], remove: [], dot: dot, seen: .present)
                store = .tags(set)
            }
            if replica == replicaA { a = form } else { b = form }
        }
        let c = a.joined(b)
        a.remove(key)
        #expect(a.context.isSubset(of: c.context))
        #expect(a.joined(c)[key].asTags.tags == [.string("baz")])
        #expect(c.joined(a) == a.joined(c))
    }

    @Test("increments add up past the end, a set drops those it saw, its epoch those it did not")
    func stepper() throws {
        let key = CausalForm.Key("count", .counter)
        let bounds = DecimalNumber(0)...DecimalNumber(10)
        func total(_ form: CausalForm) -> DecimalNumber? {
            form[key].asCounter.value(.ask, default: .zero)
        }
        func reading(_ form: CausalForm) -> DecimalNumber? {
            total(form).map { min(max($0, bounds.lowerBound), bounds.upperBound) }
        }
        func set(_ value: Int64, _ form: inout CausalForm, _ replica: ReplicaID) {
            form.change(key, by: replica) { store, dot in
                var counter = store.asCounter
                counter.set(
                    DecimalNumber(value), author: author(), dot: dot, stamp: stamp(value),
                    seen: .present, policy: .ask)
                store = .counter(counter)
            }
        }
        func press(_ step: Int64, _ form: inout CausalForm, _ replica: ReplicaID) throws {
            let sum = try #require(total(form))
            let now = try #require(reading(form)?.adding(DecimalNumber(step)))
            let bounded = min(max(now, bounds.lowerBound), bounds.upperBound)
            let difference = try #require(bounded.subtracting(sum))
            form.change(key, by: replica) { store, dot in
                var counter = store.asCounter
                let base = ConflictPolicy.ask.current(counter.bases)
                let isAdded = counter.increment(by: difference, base: base, dot: dot)
                #expect(isAdded)
                store = .counter(counter)
            }
        }
        var a = CausalForm()
        set(9, &a, replicaA)
        var b = a
        try press(1, &a, replicaA)
        try press(1, &b, replicaB)
        a.join(b)
        #expect(reading(a)?.integer == 10 && total(a)?.integer == 11)
        try press(-3, &a, replicaA)
        #expect(reading(a)?.integer == 7)

        b = a
        set(5, &a, replicaA)
        #expect(reading(a)?.integer == 5)
        try press(1, &b, replicaB)
        #expect(reading(b)?.integer == 8)
        #expect(reading(a.joined(b))?.integer == 5 && a.joined(b) == b.joined(a))
        #expect(a.joined(b)[key].asCounter.increments.isEmpty)
    }
}
