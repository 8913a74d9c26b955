// The fields of the trial form, and edits of them, for laws and simulations.

package import SyncCore

/// A field of the trial form: one for each kind of store, and registers for each policy that keeps
/// edits.
package enum TrialField: Int, CaseIterable, Sendable {
    case ask, latest, toggle, wheels, tags, count, button, secret

    /// The key of the field's store.
    package var key: CausalForm.Key { Self.keys[rawValue] }

    private static let keys = allCases.map { CausalForm.Key("\($0)", $0.kind) }

    /// The kind of its store.
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

    /// Its policy for concurrent writes.
    package var policy: ConflictPolicy {
        switch self {
        case .ask, .wheels: .ask
        case .toggle: .falseWins
        case .latest, .tags, .count, .button, .secret: .latest
        }
    }
}

/// A small description of an edit: its meaning depends on the field's kind.
package struct TrialEdit: Sendable {
    let field: TrialField
    /// The variant of the edit, 0 to 3.
    let variant: Int
    /// Distinguishes the written value from all others.
    let number: Int

    /// The edit `variant`, from 0 to 3, of `field`.
    package init(field: TrialField, variant: Int, number: Int) {
        self.field = field
        self.variant = variant
        self.number = number
    }

    /// Components of an edit of wheels.
    var components: [String] { [["month"], ["year"], ["month", "year"], ["day"]][variant] }
    /// Tags that an edit of a set adds.
    var added: [String] { [["bar"], [], ["baz"], ["bar", "baz"]][variant] }
    /// Tags that an edit of a set removes.
    var removed: [String] { [[], ["bar"], ["bar"], ["qux"]][variant] }
    /// Whether an edit of a counter is a set (not an increment).
    var isSet: Bool { variant == 0 }
    /// The amount of an increment.
    var amount: Int { variant }
    /// The value for a register.
    var value: JSON { field == .toggle ? .bool(number % 2 == 0) : .integer(number) }

    private static let author = Author(
        user: "mary", uid: 1000, client: "pickerctl/1.0", connection: 7,
        replica: ReplicaID(id: 0xa, epoch: 1))

    /// Applies the edit to `form` with the new `dot`; returns the delta.
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
        let base = field.policy.current(counter.bases)
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
