// The fields of the trial form, and edits to them: what laws and simulations are run on.

package import SyncCore

/// A field of the trial form: a store of each kind, registers under each policy that keeps edits.
package enum TrialField: Int, CaseIterable, Sendable {
    case ask, latest, toggle, wheels, tags, count, button, secret

    /// What the field's store is known by.
    package var key: CausalForm.Key { Self.keys[rawValue] }

    private static let keys = allCases.map { CausalForm.Key("\($0)", $0.kind) }

    /// Which store it has.
    package var kind: FieldStore.Kind {
        switch self {
        case .ask, .latest, .toggle: .register
        case .wheels: .components
        case .tags: .tags
        case .count: .counter
        case .button: .presses
        case .secret: .sealed
        }
    }

    /// What becomes of concurrent writes.
    package var policy: ConflictPolicy {
        switch self {
        case .ask, .wheels: .ask
        case .toggle: .falseWins
        case .latest, .tags, .count, .button, .secret: .latest
        }
    }
}

/// An edit in small: what is done depends on the field's kind.
package struct TrialEdit: Sendable {
    let field: TrialField
    /// Which of the kind's edits, from 0 to 3.
    let variant: Int
    /// Tells the written value from all others.
    let number: Int

    /// The edit `variant`, from 0 to 3, of `field`.
    package init(field: TrialField, variant: Int, number: Int) {
        self.field = field
        self.variant = variant
        self.number = number
    }

    /// Components that a `wheels` edit turns.
    var components: [String] { [["month"], ["year"], ["month", "year"], ["day"]][variant] }
    /// Tags that a set edit adds.
    var added: [String] { [["bar"], [], ["baz"], ["bar", "baz"]][variant] }
    /// Tags that a set edit removes.
    var removed: [String] { [[], ["bar"], ["bar"], ["qux"]][variant] }
    /// Whether a counter edit sets (and does not increment).
    var isSet: Bool { variant == 0 }
    /// What a counter edit adds.
    var amount: Int { variant }
    /// The written value of a register.
    var value: JSON { field == .toggle ? .bool(number % 2 == 0) : .integer(number) }

    private static let author = Author(
        user: "mary", uid: 1000, client: "pickerctl/1.0", connection: 7,
        replica: ReplicaID(id: 0xa, epoch: 1))

    /// Does the edit to `form` with the fresh `dot`, and gives the delta.
    package func apply(
        to form: inout CausalForm, dot: Dot, stamp: HybridTimestamp, seen: Seen,
        losingIncrements: Bool = false
    ) -> CausalForm {
        form.change(field.key, dot: dot) { store in
            switch store {
            case .register(var register):
                register.write(
                    Written(value: value, author: Self.author), dot: dot, stamp: stamp, seen: seen,
                    policy: field.policy)
                store = .register(register)
            case .components(var map):
                for component in components {
                    map.write(
                        Written(value: value, author: Self.author), component: component, dot: dot,
                        stamp: stamp, seen: seen,
                        policy: field.policy)
                }
                store = .components(map)
            case .tags(var set):
                set.edit(
                    add: added.map(AddWinsSet.Tag.string),
                    remove: removed.map(AddWinsSet.Tag.string), dot: dot, seen: seen)
                store = .tags(set)
            case .counter(let counter):
                store = .counter(edited(counter, dot, stamp, seen, losingIncrements))
            case .presses(var counter):
                counter.press(dot: dot)
                store = .presses(counter)
            case .sealed(var register):
                register.write([UInt8(number & 0xff)], dot: dot, stamp: stamp)
                store = .sealed(register)
            }
        }
    }

    private func edited(
        _ counter: EpochCounter, _ dot: Dot, _ stamp: HybridTimestamp, _ seen: Seen,
        _ losingIncrements: Bool
    ) -> EpochCounter {
        var counter = counter
        let base = field.policy.standing(counter.bases)
        if isSet {
            counter.set(
                DecimalNumber(Int64(number)), author: Self.author, dot: dot, stamp: stamp,
                seen: seen, policy: field.policy)
        } else if losingIncrements {
            // The fault: the replica's running sum starts again.
            let others = counter.increments.filter { $0.dot.replica != dot.replica }
            let own = EpochCounter.Increments(
                dot: dot, epoch: base?.dot, sum: DecimalNumber(Int64(amount)))
            counter = EpochCounter(bases: counter.bases, increments: others + [own]) ?? counter
        } else {
            _ = counter.increment(by: DecimalNumber(Int64(amount)), base: base, dot: dot)
        }
        return counter
    }
}
