// The link in the engine: what the bridge says goes to the machine, and what the machine wants is
// done. Engine+FleetTelling.swift says what this host has, and Engine+Joining.swift joins what
// arrives.

extension Engine {
    /// Connects the engine to its fleet, if the configuration names one.
    func joinFleet() {
        partWithFormerForms()
        guard let shared = configuration.link, let keys = environment.fleetKeys else { return }
        var options = LinkMachine.Configuration(
            fleet: shared.fleet, host: shared.host, run: environment.random(),
            replica: replica, version: configuration.serverName)
        options.limits = configuration.limits
        options.isFollower = shared.mode == .follow
        if !shared.streams.isEmpty { options.sites = shared.streams }
        options.counters = ownCounters
        readNewlyShared()
        let machine = LinkMachine(
            options, keys: keys, cursor: storedCursor, random: environment.random, at: now)
        let fleet = FleetLink(machine, at: now)
        for (name, milliseconds) in link.deletedForms.inLog {
            guard let context = sharedContext(of: name) else { continue }
            fleet.machine.sawWhole(of: name, covering: context, at: milliseconds)
        }
        self.fleet = fleet
        noteAllUnderWay(fleet)
        tellFleetOfParting()
    }

    /// The newest write of this replica in each form.
    private var ownCounters: [String: UInt64] {
        var counters: [String: UInt64] = [:]
        for form in forms {
            counters[form.name] = form.working.context.highestCounter(of: replica)
        }
        for (name, deleted) in link.deletedForms.durable where counters[name] == nil {
            counters[name] = deleted.context.highestCounter(of: replica)
        }
        return counters
    }

    /// How far the store has the log of the fleet.
    private var storedCursor: LinkCursor? {
        link.cursor.flatMap { $0.isEmpty ? nil : try? LinkCursor(decoding: $0) }
    }

    /// The log is read again from its beginning if forms are shared that were not, because what
    /// others did to them was skipped.
    func readNewlyShared() {
        guard let shared = configuration.link.map(SharedPatterns.init), shared != link.shared
        else { return }
        let isMore =
            shared.fleet != link.shared?.fleet
            || shared.forms.contains { !(link.shared?.forms.contains($0) ?? false) }
        link.shared = shared
        link.gathering.chores.append(.putOngoing(shared.row))
        if isMore { readLogAgain() }
    }

    /// The log is read again from its beginning, also if the daemon is killed meanwhile.
    func readLogAgain() {
        var cursor = storedCursor
        // What was read may not be in the store yet.
        guard cursor != nil || fleet != nil else { return }
        for place in cursor?.streams.indices ?? 0..<0 {
            cursor?.streams[place].place = .start
            cursor?.streams[place].held = []
        }
        link.rewind(to: cursor?.encoded ?? [])
        if let fleet { fallBack(fleet) }
    }

    // MARK: - Methods

    /// The bridge's user may say what the server says, and nothing else, if it is nobody else's.
    func requireOwnMethods(_ request: Request, _ call: PendingCall) throws(WireError) {
        if let asked = call.hostCall { return try requireTimely(asked) }
        let uid = call.connection.peer.uid
        guard isBridgeAlone(uid) else { return }
        switch request {
        case .hello, .ping, .linkAttach, .linkUp, .linkDown, .linkMessage: return
        default:
            throw WireError(
                .forbidden,
                "\(call.connection.peer.user) is the user of the bridge, which may call link.* "
                    + "alone")
        }
    }

    /// Whether a user is the bridge's, and neither root nor the daemon's.
    func isBridgeAlone(_ uid: UInt32) -> Bool {
        guard let bridge = configuration.link?.bridgeUID, bridge == uid else { return false }
        return uid != 0 && uid != configuration.daemonUID
    }

    /// The link, for the connection of its bridge.
    private func fleet(ofBridge call: PendingCall) throws(WireError) -> FleetLink {
        let fleet = try fleet(of: call)
        guard fleet.bridge === call.connection else {
            throw WireError(.invalidParams, "call link.attach first; there is one bridge")
        }
        return fleet
    }

    private func fleet(of call: PendingCall) throws(WireError) -> FleetLink {
        guard let fleet, let shared = configuration.link else { throw .noLink }
        let uid = call.connection.peer.uid
        guard uid == shared.bridgeUID || uid == 0 else {
            throw WireError(
                .forbidden, "only the user of the bridge (uid \(shared.bridgeUID)) may call link.*")
        }
        return fleet
    }

    func linkAttach(_ call: PendingCall) throws(WireError) {
        let fleet = try fleet(of: call)
        if let former = fleet.bridge, former !== call.connection {
            // Two bridges that took the place of each other would never end.
            guard former.farewell != nil else {
                throw WireError(
                    .conflict,
                    "this daemon has a bridge, process \(former.peer.pid); stop one of the two")
            }
            detach(former)
        }
        fleet.bridge = call.connection
        fleet.down = ("the bridge has no server yet", now.wallMilliseconds)
        fleet.machine.attached(at: now)
        if let shared = configuration.link {
            let result = LinkAttached(
                fleet: shared.fleet, host: shared.host, streams: shared.streams)
            answer(call) { result.encode(into: &$0) }
        }
        for form in forms { tellFleet(of: form) }
        tellFleetOfDeleted()
        followFleet()
    }

    func linkUp(_ params: LinkUp, _ call: PendingCall) throws(WireError) {
        let fleet = try fleet(ofBridge: call)
        fleet.server = params
        fleet.machine.up(
            LinkServer(
                name: params.server, version: params.version,
                payloadMax: Int(clamping: params.maxPayload)), at: now)
        answer(call) { EmptyResult().encode(into: &$0) }
        log(.notice, "the link has the server \(params.server) (\(params.version))")
        followFleet()
    }

    func linkDown(_ params: LinkDown, _ call: PendingCall) throws(WireError) {
        let fleet = try fleet(ofBridge: call)
        if fleet.server != nil || fleet.down.reason != params.reason {
            log(.warning, "the link has no server: \(params.reason); forms go on here")
            fleet.down = (
                params.reason, fleet.server == nil ? fleet.down.since : now.wallMilliseconds
            )
        }
        fleet.server = nil
        fleet.machine.down(at: now)
        answer(call) { EmptyResult().encode(into: &$0) }
        followFleet()
    }

    func linkMessage(_ params: LinkTransfer, _ call: PendingCall) throws(WireError) {
        let fleet = try fleet(ofBridge: call)
        scheduler.spend(params.data.count >> 8, call.connection.account)
        fleet.machine.received(
            params.arrival,
            contexts: { [self] in
                sharedForm($0)?.working.context ?? link.deletedForm($0)?.context
            }, at: now)
        answer(call) { EmptyResult().encode(into: &$0) }
        followFleet()
    }

    func linkRepair(_ name: String, _ call: PendingCall) throws(WireError) {
        guard let fleet else { throw .noLink }
        let form = try readableForm(name, call.peer)
        try require(.admin, form, form.committed, nil, call.connection.peer)
        guard form.link != nil else { throw .notShared(form) }
        try requireOwnEdits(of: form)
        scheduler.spend(form.working.cells.count >> 2, call.connection.account)
        fleet.machine.repair(name, at: now)
        let isUp = fleet.machine.phase == .live
        answer(call) { writer in
            writer.beginObject()
            writer.member("up", isUp)
            writer.endObject()
        }
        followFleetAlone()
    }

    /// `link.test`: `server.status` says how it goes.
    func linkTest(_ call: PendingCall) throws(WireError) {
        guard let fleet else { throw .noLink }
        let peer = call.connection.peer
        guard operates(peer) else {
            throw WireError(
                .forbidden,
                "\(peer.user.escapedForDisplay()) may not test the link; root, the daemon's user "
                    + "and the members of its --group may")
        }
        guard configuration.link?.mode != .follow else {
            throw WireError(
                .invalidParams, "this host follows, and so it has no message to test the link with")
        }
        guard fleet.machine.phase == .live else {
            throw WireError(
                .unavailable,
                "the link is not up, so there is nothing to time; pickerctl link status says why")
        }
        fleet.machine.test(at: now)
        answer(call) { EmptyResult().encode(into: &$0) }
        followFleetAlone()
    }

    // MARK: - Events

    /// A connection ends: if it was the bridge's, what is not durable is read again later.
    func detach(_ connection: Connection) {
        guard let fleet, fleet.bridge === connection else { return }
        fleet.bridge = nil
        fleet.server = nil
        fleet.down = ("no bridge is connected", now.wallMilliseconds)
        fleet.machine.detached(at: now)
        fallBack(fleet)
    }

    private func fallBack(_ fleet: FleetLink) {
        fleet.mustFallBack = false
        fleet.dropTaken()
        workspace.patternMeter.known = [:]
        fleet.machine.fellBack(to: storedCursor, counters: ownCounters, at: now)
    }

    /// A batch is durable, except for forms whose changes are lost if `isJoinLost`.
    func fleetCommitted(_ batch: OpenBatch, isJoinLost: Bool) {
        guard let fleet else { return }
        if let saved = fleet.takeSaved(through: batch.number), !isJoinLost {
            fleet.machine.saved(through: saved, at: now)
        }
        if isJoinLost { fallBack(fleet) }
        for changes in batch.changes {
            if let whole = changes.shared?.parting { part(with: whole, fleet) }
            // A join of what removes a write changes a form, and not what it covers.
            fleet.digests[changes.form.name] = nil
            noteUnderWay(changes, fleet)
            tellFleet(of: changes.form)
        }
        tellFleetOfDeleted()
        giveWantedWholes(to: fleet)
        makeWaiting(fleet)
        followFleetAlone()
    }

    /// Makes the forms of other hosts that were too many, if they are not any more.
    func makeWaiting(_ fleet: FleetLink) {
        guard !fleet.beyondFormsMax.isEmpty, forms.count < configuration.limits.formsMax else {
            return
        }
        for form in fleet.beyondFormsMax.sorted() { fleet.endWaiting(form, at: now) }
    }

    /// A batch failed. Until the store is healthy again nothing is joined.
    func fleetFailed() {
        guard let fleet else { return }
        fleet.mustFallBack = true
        // Beacons and words of others go on meanwhile.
        fleet.dropTaken()
        workspace.patternMeter.known = [:]
    }

    /// The store was written again.
    func fleetRebuilt() {
        guard let fleet else { return }
        fleet.machine.renew(replica)
        fleet.refusedForms = []
        fallBack(fleet)
        noteAllUnderWay(fleet)
        tellFleetOfParting()
        for form in forms { tellFleet(of: form) }
        giveWantedWholes(to: fleet)
        followFleetAlone()
    }

    /// When the engine must be called for the link (monotonic nanoseconds).
    var fleetDeadline: UInt64 {
        guard let fleet, lifecycle == .serving else { return .max }
        return min(
            fleet.machine.deadline ?? .max, mayJoin(fleet) ? fleet.idleDeadline : .max,
            fleet.underWay.deadline(isLinked: fleet.machine.isLinked), fleet.verbs.deadline)
    }

    /// The last step of an iteration: what the link must do at this time.
    func endFleetIteration() {
        guard let fleet, lifecycle == .serving else { return }
        if let bridge = fleet.bridge { payByLink(bridge) }
        keepIdleCursor(fleet)
        tellPresence(fleet)
        tellUnderWay(fleet)
        keepVerbs(fleet)
        if fleet.joining == nil, fleet.machine.hasActions { followFleetAlone() }
        guard (fleet.machine.deadline ?? .max) <= now.monotonicNanoseconds else { return }
        fleet.machine.knows(
            (sharedForms + link.deletedForms.names.filter(isShared)).compactMap { name in
                sharedContext(of: name).map { (name, $0) }
            })
        fleet.machine.keepPresence { sharedForm($0) != nil }
        fleet.machine.deadlinePassed(at: now)
        followFleetAlone()
    }

    /// The bridge's work is not that of its user. Subscribers are counted by account, so a bridge
    /// that watches a form remains its user's; and what waits in its user's queues comes first.
    /// Between the frames, because the decoder is in use within one.
    private func payByLink(_ bridge: Connection) {
        guard !bridge.account.isLink, bridge.subscriptions.isEmpty, bridge.progress == .idle,
            !bridge.isAwaitingTurn
        else { return }
        scheduler.moveToLink(bridge)
    }

    // MARK: - Actions

    /// Does what the machine wants, as far as the bridge takes it.
    func followFleet() {
        guard let fleet else { return }
        answerPresses(fleet)
        while fleet.joining == nil, !isBridgeFull(fleet), let action = fleet.machine.takeAction() {
            switch action {
            case .subscribe(let subjects): tell(fleet, .subscribe(subjects))
            case .publish(let publication):
                if publication.subject.hasPrefix("ps.") { fleet.counters.published += 1 }
                tell(fleet, .publish(LinkTransfer(publication)))
            case .close(let reason):
                log(.warning, "the link connects again: \(reason)")
                tell(fleet, .close(reason: reason))
            case .take(let delivery): take(delivery, fleet)
            case .makeWhole(let form, let why): giveWhole(form, why, to: fleet)
            case .wholeTaken(let form, let context):
                link.gathering.chores += link.partingForms.told(form, covering: context)
                noteTold(form, covering: context)
            case .transactionsTaken(let form, let newest):
                // A later batch of the form writes it: a change may be sent twice.
                sharedForm(form)?.link?.outbox.told(newest)
            case .makeBeacon:
                // Nothing else may happen that would tell them.
                let untold = forms.filter(isUntold)
                for form in untold { tellFleet(of: form) }
                fleet.machine.beaconMade(
                    beaconDigests(fleet), awaited: fleet.awaitedForms,
                    untold: untold.map(\.name), at: now)
            case .present(let peers): take(peers)
            case .hear(let word): hear(word, fleet)
            case .hostsChanged:
                fleet.underWay.hostsChanged(
                    at: now.monotonicNanoseconds,
                    isHeard: { fleet.machine.awaySince($0, at: now) == nil })
                for form in forms { noteHosts(of: form) }
            case .report(let report): self.report(report, fleet)
            }
        }
        if let bridge = fleet.bridge { chargeHeld(bridge) }
    }

    /// The same outside of the work of the bridge's connection, which then works on.
    func followFleetAlone() {
        followFleet()
        if let bridge = fleet?.bridge, bridge.hasWork { resume(bridge) }
    }

    private func isBridgeFull(_ fleet: FleetLink) -> Bool {
        (fleet.bridge?.owedBytes ?? 0) > configuration.limits.answerBytesMax
    }

    private func tell(_ fleet: FleetLink, _ order: LinkOrder) {
        guard let bridge = fleet.bridge else { return }
        notify(bridge.id, Answer.frame(.linkDo(order)))
    }
}

extension WireError {
    static let noLink = WireError(
        .invalidParams, "this daemon is not linked to others; see link: in pickersyncd.yaml",
        path: "link")
}
