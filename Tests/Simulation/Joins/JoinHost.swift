// A host of `JoinWorld`, and the items that hosts tell each other as the causal core reads them.

import EngineTestKit
package import SyncCore

/// One host of the fleet.
final class JoinHost {
    let place: Int
    let host: EngineHost
    var shadow = CausalForm()
    /// A client that watches the form, and the revision that it has.
    var watcher: ConnectionID
    var watched: Int64 = 0
    var isWatching = false
    /// What it publishes next is a whole with a change: it has deleted the form, or made it again.
    var tellsNews = false

    init(_ place: Int, seed: UInt64) throws {
        self.place = place
        host = try EngineHost(
            seed: seed &+ UInt64(place), replica: ReplicaID(id: UInt64(0xa0 + place), epoch: 1),
            link: LinkConfiguration(host: "h\(place)", forms: [Glob("shared")]))
        host.wallOffset = [0, 0, 5_000, -5_000, 3_600_000][place % 5]
        watcher = host.connect(uid: 0, user: "root")
    }

    /// The form as it is in the store.
    var row: FormRow? { host.store.forms.values.first { $0.name == "shared" } }

    /// The definition in force.
    var definition: FormDefinition? {
        row.flatMap { row in
            try? FormDefinition.parse(
                JSON(parsing: row.definition), limits: .accepted,
                compile: { _ in .success(PatternMatcher { _ in true }) })
        }
    }

    /// The values that clients read.
    func snapshot() throws -> StateSnapshot {
        var decoder = ServerMessageDecoder()
        for text in host.call(watcher, .stateGet(StateGet(form: "shared", fields: nil))) {
            guard case .result(_, let json)? = try decoder.decode(Array(text.utf8)).first
            else { continue }
            return try StateSnapshot(decoding: json)
        }
        throw Violation("h\(place) has no form")
    }

    /// The daemon reads its form file, as it does at each start.
    func readFile() throws {
        let definition = try JSON(parsing: Array(JoinForms.all[0].utf8))
        host.run(.apply(definition: definition, file: "shared.json"))
        host.settle()
    }

    /// The store loses what stays of a deleted form.
    func forgetDeletion() { forget("deleted") }

    /// The store loses which file was applied last.
    func forgetFile() { forget("file") }

    private func forget(_ kind: String) {
        host.edit { store in
            let name = OngoingName(kind: kind, id: "shared")
            store.commit(
                Batch(number: 0, operations: [.removeOngoing(form: 0, name: name)]))
        }
    }

    /// The stores of the engine.
    var stores: CausalForm? {
        guard let whole = host.engine.whole(of: "shared") else { return nil }
        return SharedItem.whole(whole).causalForm
    }
}

extension SharedItem {
    /// The item in the causal core alone.
    var causalForm: CausalForm? {
        CausalForm(context: context, sorted: fields.filter { !$0.store.isEmpty })
    }

    /// The item after its bytes have travelled.
    package var travelled: SharedItem {
        get throws {
            switch self {
            case .delta(let delta): .delta(try FormDelta(decoding: delta.encoded))
            case .whole(let whole): .whole(try WholeForm(decoding: whole.encoded))
            }
        }
    }
}
