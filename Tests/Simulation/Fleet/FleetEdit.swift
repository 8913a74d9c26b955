// What clients ask of the daemons of a fleet, and what these tell each other.

import EngineTestKit
import SyncCore

/// A change or the whole form of one daemon, sent to others.
struct FleetMessage {
    let item: SharedItem
    let knowledge: CausalKnowledge
    let from: Int
}

/// An edit that a client makes.
final class FleetEdit {
    let number: Int
    let request: Request
    let owner: Owner
    let fields: Set<FleetField>
    /// What the client had seen; `nil`: the present state.
    let seen: EventSet?
    /// The daemon that it was sent to. If it was not answered, it is sent again only to this
    /// daemon.
    var place: Int?
    var isRefused = false

    init(
        _ number: Int, _ request: Request, owner: Owner, fields: Set<FleetField>, seen: EventSet?
    ) {
        self.number = number
        self.request = request
        self.owner = owner
        self.fields = fields
        self.seen = seen
    }

    var hasKey: Bool { request.idempotencyKey != nil }
}

/// The edits of all clients by their numbers, which are in the names of their clients.
final class FleetEdits {
    private var edits: [FleetEdit] = []

    /// The number of the next one.
    var next: Int { edits.count }

    func append(_ edit: FleetEdit) { edits.append(edit) }

    subscript(client: String?) -> FleetEdit? {
        guard let number = client?.split(separator: "#").last.flatMap({ Int($0) }),
            edits.indices.contains(number)
        else { return nil }
        return edits[number]
    }
}
