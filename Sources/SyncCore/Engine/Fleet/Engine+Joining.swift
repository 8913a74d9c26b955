// Joins what the log of the fleet brings: work of the bridge's connection, in parts.

extension Engine {
    /// Nanoseconds of joins at once. Edits of this host have their turns in between.
    private static var joinNanoseconds: UInt64 { 1_000_000 }
    /// Bytes of revisions that are joined in a batch, as long as users have not more in it. An edit
    /// of this host waits for the commit before its own, so there are few where somebody edits.
    private static var joinedBytesMax: (whereSomebodyEdits: Int, otherwise: Int) {
        (8 << 10, 128 << 10)
    }
    /// Units of an item: what an edit of a client costs.
    private static var unitsOfItem: Int { 4 }

    /// Takes a delivery of the machine.
    func take(_ delivery: LinkDelivery, _ fleet: FleetLink) {
        guard mayJoin(fleet) else {
            fleet.mustFallBack = true
            return
        }
        if delivery.items.isEmpty { return finish(delivery, fleet) }
        fleet.joining = FleetLink.Joining(delivery: delivery)
        fleet.bridge?.enqueueFirst([.joins])
    }

    /// Whether the store takes joins. If not, everything is read again later.
    func mayJoin(_ fleet: FleetLink) -> Bool {
        link.isHealthy && lifecycle == .serving && !fleet.mustFallBack
    }

    /// Does a part of the joins: the work of the bridge's connection.
    func performJoins(_ connection: Connection) {
        guard let fleet, fleet.bridge === connection, let joining = fleet.joining, mayJoin(fleet)
        else { return }
        if isBatchFull { return afterCommit(.joins, connection) }
        workspace.method = .linkMessage
        workspace.patternMeter.begin(.max)
        defer { workspace.patternMeter.end() }
        let began = stopwatch?()
        func isLong() -> Bool {
            guard let began, let stopwatch else { return false }
            return stopwatch() &- began > Self.joinNanoseconds
        }
        let items = joining.delivery.items
        while let place = fleet.joining?.next, place < items.count {
            if fleet.joining?.item == nil {
                scheduler.spend(
                    Self.unitsOfItem + items[place].bytes.count >> 7, connection.account)
                guard let item = decode(items[place], of: joining.delivery, fleet) else {
                    return followFleet()
                }
                fleet.joining?.item = item
            }
            guard matchPatterns(fleet, until: isLong) else {
                return connection.enqueueFirst([.joins])
            }
            fleet.joining?.next += 1
            let item = fleet.joining?.takeItem() ?? .dropped
            defer { workspace.patternMeter.known = [:] }
            if case .shared(let shared, _) = item {
                let before = link.gathering.bytes
                let goesOn = join(shared, items[place].bytes.count, of: joining.delivery, fleet)
                link.gathering.joinedBytes += max(0, link.gathering.bytes - before)
                guard goesOn else { return followFleet() }
            }
            if isLong() || isBatchFull { break }
        }
        guard fleet.joining?.next == items.count else {
            if isBatchFull { return afterCommit(.joins, connection) }
            scheduler.leaveTurn(connection.account)
            return connection.enqueueFirst([.joins])
        }
        fleet.joining = nil
        finish(joining.delivery, fleet)
        endWaiting(joining.delivery.form, fleet)
        followFleet()
    }

    /// Whether no more is joined until the batch is durable.
    private var isBatchFull: Bool {
        guard waitsForCommits else { return false }
        let all = link.gathering.bytes
        // Some of it may have been left out of the batch since.
        let joined = min(link.gathering.joinedBytes, all)
        if joined <= Self.joinedBytesMax.whereSomebodyEdits || joined <= all - joined {
            return false
        }
        let waits = !link.gathering.waiters.isEmpty || !(link.underWay?.waiters.isEmpty ?? true)
        return waits || scheduler.isEdited || joined > Self.joinedBytesMax.otherwise
    }

    /// Something of a form was joined. What waited for that is read again, if it can be taken now:
    /// if not, it would wait again, and the next whole would cause the same, without end.
    private func endWaiting(_ name: String, _ fleet: FleetLink) {
        guard fleet.machine.takesWholes(name) else { return }
        let form = form(named: name).flatMap { $0.isEditable ? $0 : nil }
        if form == nil, fleet.otherForms[name] != nil {
            // The form here was deleted, so the other one is the only one.
            return fleet.endWaiting(name, at: now)
        }
        let here = form?.working.shared?.lives
        let waiting = fleet.otherForms[name]?.lives ?? (here == nil ? fleet.earlyLives[name] : nil)
        guard let own = here ?? link.deletedForm(name)?.lives,
            waiting.map({ own.isSame(as: $0) }) ?? true
        else { return }
        fleet.endWaiting(name, at: now)
    }

    /// Reads an item; `nil` if its form must wait.
    private func decode(
        _ item: LinkItem, of delivery: LinkDelivery, _ fleet: FleetLink
    ) -> FleetLink.Joining.Item? {
        let shared: SharedItem
        do throws(CausalityDecodeError) {
            switch item.kind {
            case .transaction: shared = .delta(try FormDelta(decoding: item.bytes))
            case .whole: shared = .whole(try WholeForm(decoding: item.bytes))
            case .leaving, .test, .underWay, .verb, .verbAnswer: return .dropped
            case .retired, .beacon, .presence:
                hold(delivery, "it has an item that this daemon cannot read; upgrade it", fleet)
                return nil
            }
        } catch {
            if case .unsupportedVersion = error {
                hold(
                    delivery, "\(delivery.host) sends what this daemon cannot read; upgrade it",
                    fleet)
                return nil
            }
            report(.dropped(subject: delivery.form, .malformed(error)), fleet)
            return .dropped
        }
        guard shared.form.isSameBytes(as: delivery.form) else {
            report(.dropped(subject: delivery.form, .notAuthentic), fleet)
            return .dropped
        }
        // The definition that says so may be behind it.
        if registry.noteSecrets(shared.hasSecret) { environment.keepMemoryClean() }
        return .shared(environment.forStore(shared), patternChecks(of: shared))
    }

    /// Joins an item. Returns whether the delivery goes on.
    private func join(
        _ shared: SharedItem, _ bytes: Int, of delivery: LinkDelivery, _ fleet: FleetLink
    ) -> Bool {
        if needsWhole(shared) {
            // The form needs its whole first, which may not have this edit.
            if !fleet.machine.takesWholes(shared.form) {
                fleet.earlyLives[shared.form] = shared.lives
            }
            if fleet.machine.holdUntilWhole(delivery, at: now) {
                fleet.joining = nil
                return false
            }
            fleet.counters.known += 1
            return true
        }
        switch join(shared) {
        case .joined: fleet.counters.joined += 1
        case .known: fleet.counters.known += 1
        case .refused:
            fleet.counters.refused["notShared", default: 0] += 1
            // Of what is not here no whole is ever due.
            return true
        case .held(let why):
            let own = form(named: shared.form)?.working.shared?.lives
            let isOther = own.map { !$0.isSame(as: shared.lives) } ?? false
            if isOther { fleet.met(shared, bytes: bytes) }
            hold(delivery, why, fleet, takesWholes: isOther)
            return false
        case .notNow:
            if link.isHealthy {
                let report = form(named: shared.form)?.failureReport
                let place = report.map { "report \($0) in the daemon's log" } ?? "the daemon's log"
                hold(
                    delivery,
                    "the store refused it (\(place)); it is read once the daemon was restarted",
                    fleet)
            } else {
                fleet.mustFallBack = true
            }
            return false
        }
        if case .whole(let whole) = shared {
            fleet.machine.sawWhole(
                of: delivery.form, covering: whole.context, at: delivery.milliseconds)
        }
        return true
    }

    private func hold(
        _ delivery: LinkDelivery, _ why: String, _ fleet: FleetLink, takesWholes: Bool = false
    ) {
        fleet.joining = nil
        if fleet.waits(delivery.form, because: why) {
            log(
                .warning, "form \(delivery.form) waits for \(delivery.host)'s edits: \(why)",
                [.form(delivery.form)])
        }
        fleet.machine.hold(delivery, takesWholes: takesWholes, at: now)
    }

    /// Everything of a delivery is joined: the cursor may move. For a message without an effect the
    /// cursor alone is not worth a commit, so it waits for an edit, but not for long.
    private func finish(_ delivery: LinkDelivery, _ fleet: FleetLink) {
        // A test of the link is told when its message is durable.
        if delivery.items.isEmpty, !fleet.machine.probes(delivery.order),
            let cursor = delivery.cursor
        {
            fleet.wait(cursor, delivery.order, at: now.monotonicNanoseconds)
            return keepIdleCursor(fleet)
        }
        if let cursor = delivery.cursor { link.gathering.cursor = cursor.encoded }
        if !link.gathering.isEmpty {
            fleet.gathered(delivery.order, in: link.gathering.number)
        } else if let underWay = link.underWay {
            fleet.gathered(delivery.order, in: underWay.number)
        } else {
            fleet.machine.saved(through: delivery.order, at: now)
        }
    }

    /// Puts the cursor that waits into the batch, if it is time.
    func keepIdleCursor(_ fleet: FleetLink) {
        guard mayJoin(fleet),
            let (cursor, order) = fleet.takeIdle(
                at: now.monotonicNanoseconds, isBatchOpen: !link.gathering.isEmpty)
        else { return }
        link.gathering.cursor = cursor.encoded
        fleet.gathered(order, in: link.gathering.number)
    }

    // MARK: - Reports

    /// Counts and logs what the machine reports.
    func report(_ report: LinkReport, _ fleet: FleetLink) {
        func say(_ priority: LogEntry.Priority, _ kind: String, _ text: String) {
            if fleet.admitsReport(kind, at: now.monotonicNanoseconds) { log(priority, text) }
        }
        switch report {
        case .dropped(let subject, let refusal):
            fleet.drop(subject, refusal, at: now.monotonicNanoseconds)
            say(
                .warning, "dropped",
                "a message of the fleet on \(subject.escapedForDisplay()) is not taken: \(refusal)")
        case .incomplete(let subject):
            fleet.counters.refused["incomplete", default: 0] += 1
            say(
                .notice, "incomplete",
                "not all parts of a message on \(subject) came; its host sends another")
        case .readsAgain(let reason, let site):
            fleet.counters.readsAnew[reason.rawValue, default: 0] += 1
            let log = site.isEmpty ? "the log of the fleet" : "the log of \(site)"
            self.log(.notice, "\(log) is read from its beginning: \(reason.sentence)")
        case .unread(let site, let reason):
            log(.warning, "the log of \(site) is not read: \(reason); all others are read on")
        case .misdirected(let site, let domain):
            say(
                .error, "misdirected",
                "the stream of \(domain.escapedForDisplay()) takes what this host publishes: the "
                    + "bridge must use the server of \(site), and its leaf node must not pass "
                    + "on what streams keep; see pickersync-link --print-nats-config")
        case .reached(let site): log(.notice, "the log of \(site) is read again")
        case .leftOut(let messages, let site):
            let log = site.isEmpty ? "the log of the fleet" : "the log of \(site)"
            self.log(
                .error,
                "the server cannot read \(messages) messages of \(log), as its files are damaged; "
                    + "what a host lacks, another one sends")
        case .held(let form, let refusal):
            if fleet.waits(form, because: "\(refusal)") {
                log(.warning, "form \(form) waits: \(refusal)", [.form(form)])
            }
        case .refused(let reason):
            log(.error, "the link is not used: \(reason)")
        case .disagreement(let form, let host):
            fleet.counters.disagreements += 1
            log(
                .error,
                "\(host) and this host have read the same of form \(form) and have not the "
                    + "same; both send the whole form", [.form(form)])
        case .fork(let replica):
            fleet.counters.forks += 1
            log(
                .error,
                "two machines write as replica \(replica): one is a copy of the other; "
                    + "start one of them with --new-replica")
        case .otherLife: leaveReplica()
        case .unpublished(let reason):
            say(
                .warning, "unpublished",
                "the server does not take what this host publishes: \(reason); edits wait here")
        case .overflowed(let form):
            say(
                .warning, "overflowed",
                "more edits of form \(form) wait than are kept; the whole "
                    + "form is sent instead")
        case .wholeTooLarge(let form):
            say(
                .error, "too large",
                "form \(form) is larger than a message of the fleet may be; "
                    + "hosts that miss edits cannot get them")
        case .beaconTooLarge(let forms):
            say(
                .error, "beacon",
                "a message of the server cannot say what this host has of \(forms) forms, so "
                    + "other hosts take it for one that is away; raise max_payload of the server, "
                    + "up to \(LinkMessage.payloadMax) bytes, or share fewer forms")
        case .unsealed(let form):
            say(.error, "unsealed", "the fleet key does not seal; form \(form) is not sent")
        }
    }
}

extension ReadAgainReason {
    /// The reason, for people.
    fileprivate var sentence: String {
        switch self {
        case .neverRead: "this store has never read it"
        case .otherStream: "the stream was made again"
        case .endsEarlier: "the log ends before the place that was read last"
        case .otherMessage: "another message is at the place that was read last"
        case .expired: "the message at the place that was read last is not kept any more"
        }
    }
}
