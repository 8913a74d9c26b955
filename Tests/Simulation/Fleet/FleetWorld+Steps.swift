// The steps of a run.

import EngineTestKit
import SyncCore

extension FleetWorld {
    func perform(_ verb: FleetStep.Verb, at daemon: FleetDaemon) throws {
        switch verb {
        case .edit, .undo: try edit(isUndo: verb == .undo, daemon)
        case .comeBack: try comeBack(clients[random.below(clients.count)], to: daemon)
        case .leave:
            let client = clients[random.below(clients.count)]
            if let daemon = client.daemon { try leave(client, daemon) }
        case .send: try publish(daemon, whole: random.chance(20))
        case .take: try take(at: daemon)
        case .split:
            for place in side.indices { side[place] = random.chance(50) }
            tell("the network splits: \(side.map { $0 ? "right" : "left" })")
        case .backUp:
            tell("\(daemon.name) is backed up")
            daemon.backUp()
        case .restore: try restore(daemon)
        case .kill, .restart:
            let (isKilled, writesBatch) = (verb == .kill, random.chance(50))
            tell("\(daemon.name) is \(isKilled ? "killed" : "restarted")")
            try end(daemon, isKilled: isKilled, writesBatch: writesBatch)
            try daemon.start()
            try settle(daemon)
        case .jumpClock:
            daemon.host.wallOffset = random.pick([-7_200_000, -5, 0, 60_000, 3_600_000])
            tell("the clock of \(daemon.name) is off by \(daemon.host.wallOffset) ms")
        case .hold:
            tell("the disk of \(daemon.name) is slow")
            daemon.host.holdsCommits = true
        case .commit:
            tell("\(daemon.name) commits")
            daemon.host.holdsCommits = random.chance(50)
            daemon.host.commit()
            try settle(daemon)
        case .failCommit: try failCommit(daemon)
        case .mend:
            tell("the disk of \(daemon.name) is mended")
            daemon.mend()
            try settle(daemon)
        case .wait:
            tell("time passes at \(daemon.name)")
            daemon.host.pass(milliseconds: Int64(random.pick([1, 150, 700, 11_000])))
            try settle(daemon)
        }
    }

    // MARK: - Edits

    /// An edit by any client, or at `daemon` by one of its clients.
    private func edit(isUndo: Bool, _ daemon: FleetDaemon, isThere: Bool = false) throws {
        guard oracle.count < Self.editsMax else { return }
        let all = isThere ? clients.filter { $0.daemon === daemon } : clients
        if all.isEmpty { return }
        let client = random.pick(all)
        if client.daemon == nil, random.chance(70) { try comeBack(client, to: daemon) }
        let edit = isUndo ? undo(client) : set(client)
        edits.append(edit)
        if client.daemon == nil {
            tell("\(client.name), edit \(edit.number) offline: \(edit.request.line)")
            client.queue.append(edit)
        } else {
            try send(edit, of: client)
        }
    }

    private var key: String? { random.chance(75) ? "key\(edits.next)" : nil }

    private func undo(_ client: FleetClient) -> FleetEdit {
        let field = random.pick(FleetField.undoable)
        let params = StateUndo(
            form: "fleet", field: field.id, scope: random.chance(20) ? .anyone : .mine,
            idempotencyKey: key)
        return FleetEdit(
            edits.next, random.chance(70) ? .stateUndo(params) : .stateRedo(params),
            owner: client.owner, fields: [field], seen: nil)
    }

    private func set(_ client: FleetClient) -> FleetEdit {
        var changes: [Change] = []
        var fields: Set<FleetField> = []
        for _ in 0..<random.pick([1, 1, 1, 2, 3]) {
            let change = random.fleetChange(edits.next)
            let targets = FleetControl.targets(change.field)
            // If one transaction writes two secrets, the store keeps one timestamp. If it edits a
            // set of tags twice, undo takes two steps.
            if fields.contains(where: { ($0 == .secret || $0 == .tags) && targets.contains($0) }) {
                continue
            }
            changes.append(change)
            fields.formUnion(targets)
        }
        let sight: FleetSight? =
            switch random.below(10) {
            case 0..<3: nil
            case 3..<7: client.shown
            case 7..<9: client.answered
            default: FleetSight()
            }
        let isForeign = sight?.place != nil && sight?.place != client.daemon?.place
        let isLost = isForeign && plan.fault == .foreignToken
        return FleetEdit(
            edits.next,
            .stateSet(
                StateSet(
                    form: "fleet", changes: changes, context: isLost ? nil : sight?.token,
                    idempotencyKey: key)),
            owner: client.owner, fields: fields, seen: sight?.seen)
    }

    // MARK: - Daemons

    /// Messages arrive late, early or several times; some are lost instead.
    private func take(at daemon: FleetDaemon) throws {
        var heard: [FleetMessage] = []
        for _ in 0..<1 + random.below(3) where !messages.isEmpty {
            let slot = random.below(messages.count)
            let message = messages[slot]
            if random.chance(25) { messages.remove(at: slot) }
            if message.from != daemon.place, side[message.from] == side[daemon.place] {
                heard.append(message)
            }
        }
        if heard.isEmpty { return }
        try take(heard, at: daemon)
    }

    private func restore(_ daemon: FleetDaemon) throws {
        let epoch = daemon.host.replica.epoch
        let isKilled = random.chance(50)
        guard daemon.hasBackup else { return }
        tell("\(daemon.name) is restored from its backup")
        try end(daemon, isKilled: isKilled, writesBatch: false)
        try daemon.restore()
        losses[daemon.place] = epoch
        try settle(daemon)
    }

    private func failCommit(_ daemon: FleetDaemon) throws {
        daemon.host.holdsCommits = true
        if daemon.host.batchUnderWay == nil {
            try edit(isUndo: false, daemon, isThere: true)
        }
        daemon.host.holdsCommits = random.chance(30)
        guard daemon.host.batchUnderWay != nil else { return }
        let isWritten = random.chance(40)
        daemon.host.rebuildWorks = random.chance(70)
        tell("a commit of \(daemon.name) fails, \(isWritten ? "written" : "not written")")
        daemon.host.failCommit(isWritten: isWritten)
        daemon.pendingFields = []
        try settle(daemon)
    }
}
