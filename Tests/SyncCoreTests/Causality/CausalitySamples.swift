// Short names for tests of causality.

import Simulation
import SyncCore

/// The replicas of the worked examples.
let replicaA = ReplicaID(id: 0xa, epoch: 1)
let replicaB = ReplicaID(id: 0xb, epoch: 1)
let replicaC = ReplicaID(id: 0xc, epoch: 1)

func dotA(_ counter: UInt64) -> Dot { Dot(replicaA, counter) }
func dotB(_ counter: UInt64) -> Dot { Dot(replicaB, counter) }
func dotC(_ counter: UInt64) -> Dot { Dot(replicaC, counter) }

/// A stamp at these milliseconds.
func stamp(_ milliseconds: Int64) -> HybridTimestamp { HybridTimestamp(milliseconds: milliseconds) }

/// An author at `replica`.
func author(_ replica: ReplicaID = replicaA, _ user: String = "mary") -> Author {
    Author(user: user, uid: 1000, client: "pickerctl/1.0", connection: 7, replica: replica)
}

func written(_ value: JSON?) -> Written { Written(value: value, author: author()) }

extension FieldStore {
    /// The register; the test knows that it is one.
    var asRegister: MultiValueRegister<Written> {
        if case .register(let store) = self { store } else { MultiValueRegister() }
    }
    /// The components; the test knows that it has them.
    var asComponents: ComponentMap {
        if case .components(let store) = self { store } else { ComponentMap() }
    }
    /// The set; the test knows that it is one.
    var asTags: AddWinsSet { if case .tags(let store) = self { store } else { AddWinsSet() } }
    /// The counter; the test knows that it is one.
    var asCounter: EpochCounter {
        if case .counter(let store) = self { store } else { EpochCounter() }
    }
    /// The presses; the test knows that it has them.
    var asPresses: PressCounter {
        if case .presses(let store) = self { store } else { PressCounter() }
    }
    /// The secret; the test knows that it is one.
    var asSealed: SealedRegister {
        if case .sealed(let store) = self { store } else { SealedRegister() }
    }
}

/// One daemon's copy of a form with one register, for the worked examples.
struct ExampleCopy {
    var form = CausalForm()
    let replica: ReplicaID
    var policy = ConflictPolicy.ask
    private var time: Int64 = 0

    init(_ replica: ReplicaID) {
        self.replica = replica
    }

    static let key = CausalForm.Key("field", .register)

    /// Sets the register with a token, and returns the token in the answer.
    @discardableResult
    mutating func set(_ value: JSON, token: String?) throws -> String {
        time += 1
        let now = time
        let context = try token.map { try ContextToken.parse($0).clipped(to: form.context) }
        let dot = form.change(Self.key, by: replica) { [policy] store, dot in
            var register = store.asRegister
            register.write(
                Written(value: value, author: author()), dot: dot, stamp: stamp(now),
                seen: context.map(Seen.context) ?? .present, policy: policy)
            store = .register(register)
        }
        var answer = context ?? form.context
        if let dot { answer.insert(dot) }
        let held = form[Self.key].dots
        return ContextToken.render(answer.prunedLoose { held.contains($0) })
    }

    /// The siblings' values in order of dots.
    var values: [JSON?] { form[Self.key].asRegister.siblings.map(\.payload.value) }
}
