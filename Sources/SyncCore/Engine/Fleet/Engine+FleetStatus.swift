// The link in `server.status`.

extension Engine {
    /// The member `link` of `server.status`; `nil` without a link. Forms that the peer may not read
    /// are left out.
    func fleetStatus(for peer: Peer) -> JSON? {
        guard let fleet, let shared = configuration.link else { return nil }
        let machine = fleet.machine.summary(at: now.monotonicNanoseconds)
        var status = JSONObject([
            ("fleet", .string(shared.fleet)), ("host", .string(shared.host)),
            ("state", .string(machine.phase.rawValue)),
            ("mode", .string(shared.mode.rawValue)),
            ("up", .bool(machine.phase == .live)),
        ])
        if let server = fleet.server {
            status["server"] = .string(server.server.escapedForDisplay())
            if !server.version.isEmpty {
                status["serverVersion"] = .string(server.version.escapedForDisplay())
            }
            status["rttUs"] = .integer(server.rttUs)
        } else {
            status["down"] = .object(
                JSONObject([
                    ("reason", .string(fleet.down.reason.escapedForDisplay())),
                    ("since", .string(Timestamp(milliseconds: fleet.down.since).description)),
                ]))
        }
        if let reason = machine.refusal { status["refused"] = .string(reason) }
        if !shared.streams.isEmpty {
            status["streams"] = .array(machine.streams.map { .object($0) })
        }
        var unsent = JSONObject([
            ("transactions", .integer(machine.unsent.transactions)),
            ("bytes", .integer(machine.unsent.bytes)),
        ])
        unsent["why"] = fleet.machine.unpublished.map { .string($0) }
        status["unsent"] = .object(unsent)
        let behind = fleet.machine.behind
        status["behind"] = .object(
            JSONObject([
                ("messages", .integer(Int64(clamping: behind.messages))),
                ("ms", .integer(behind.milliseconds)),
            ]))
        status["hosts"] = .array(machine.hosts.map { .object($0) })
        // A form that is not here is none that waits: its whole is to come.
        let held = Set(
            fleet.machine.heldForms.filter {
                fleet.heldBecause[$0] != nil || form(named: $0) != nil
            })
        status["heldForms"] = .integer(held.count)
        status["forms"] = .array(
            forms.filter { $0.link != nil && $0.isReadable && mayRead($0, peer) }.map { form in
                let agreement = fleet.machine.agreement(
                    on: form.name, at: now.monotonicNanoseconds)
                var row = JSONObject([
                    ("form", .string(form.name)), ("agrees", .integer(agreement.agreeing)),
                    ("hosts", .integer(agreement.of)),
                    (
                        "unsent",
                        .integer(Int64(clamping: fleet.machine.unsent(of: form.name)))
                    ),
                ])
                let others = fleet.machine.disagreeing(
                    on: form.name, at: now.monotonicNanoseconds)
                if !others.isEmpty { row["disagrees"] = .array(others.map { .string($0) }) }
                let why =
                    held.contains(form.name)
                    ? fleet.whyHeld(form.name) : whyApart(form, agreement)
                row["held"] = why.map { .string($0) }
                let met = form.committed.otherDefinitions
                if !met.isEmpty {
                    row["otherDefinitions"] = .array(
                        met.compactMap { other in
                            try? JSON(parsing: JSONWriter.bytes { other.encode(into: &$0) })
                        })
                }
                return .object(row)
            }
                + (operates(peer) ? held.filter { form(named: $0) == nil }.sorted() : []).map {
                    // It has not come here yet, and has no rule on who may read it.
                    .object(
                        JSONObject([
                            ("form", .string($0)), ("agrees", 0), ("hosts", 0), ("unsent", 0),
                            ("held", .string(fleet.whyHeld($0))),
                        ]))
                })
        if let dropped = fleet.droppedReport(at: now.monotonicNanoseconds) {
            status["dropped"] = .object(dropped)
        }
        if let probe = fleet.machine.probe { status["test"] = .object(probe.report) }
        let counters = fleet.counters
        var counts = JSONObject(
            [
                ("published", counters.published), ("joined", counters.joined),
                ("known", counters.known), ("forks", counters.forks),
                ("disagreements", counters.disagreements),
            ].map { ($0.0, .integer(Int64(clamping: $0.1))) })
        for (name, reasons) in [
            ("refused", counters.refused), ("wholes", counters.wholes),
            ("readsAnew", counters.readsAnew),
        ] {
            counts[name] = .object(
                JSONObject(
                    reasons.sorted { $0.key < $1.key }.map {
                        ($0.key, .integer(Int64(clamping: $0.value)))
                    }))
        }
        status["counters"] = .object(counts)
        return .object(status)
    }

    /// The state of a form for `form.get`; `nil` if it is not shared.
    func sharedState(of form: LiveForm) -> SharedFormState? {
        guard let fleet, form.link != nil, let shared = configuration.link else { return nil }
        func state(_ state: SharedFormState.State, _ why: String?) -> SharedFormState {
            SharedFormState(
                fleet: shared.fleet, state: state, why: why,
                otherDefinitions: form.committed.otherDefinitions)
        }
        if fleet.machine.heldForms.contains(form.name) {
            return state(.held, fleet.whyHeld(form.name))
        }
        switch fleet.machine.phase {
        case .detached, .down: return state(.cutOff, fleet.down.reason.escapedForDisplay())
        case .refused: return state(.cutOff, fleet.machine.refusalReason)
        case .inspecting, .creating, .verifying, .readingAgain, .reading:
            return state(.behind, "the log is read")
        case .live: break
        }
        let unsent = fleet.machine.unsent(of: form.name)
        if unsent > 0 { return state(.behind, "\(unsent) edits wait to be sent") }
        let agreement = fleet.machine.agreement(on: form.name, at: now.monotonicNanoseconds)
        if let why = whyApart(form, agreement) { return state(.held, why) }
        return agreement.agreeing == agreement.of
            ? state(.agrees, nil)
            : state(.behind, "agrees with \(agreement.agreeing) of \(agreement.of) hosts")
    }
}

extension LinkProbe {
    /// What people are told of it: `us` has the microseconds of each part that has ended.
    fileprivate var report: JSONObject {
        var report = JSONObject([("running", .bool(awaited != nil))])
        if let failedAt { report["failedAt"] = .string(failedAt.rawValue) }
        report["us"] = .object(
            JSONObject(
                Part.allCases.compactMap { part in
                    took[part].map { (part.rawValue, .integer(Int64(clamping: $0 / 1_000))) }
                }))
        return report
    }
}

extension LinkMachine {
    /// What people are told of a link.
    struct Summary {
        var phase: LinkPhase
        var refusal: String?
        var unsent: (transactions: Int, bytes: Int)
        var hosts: [JSONObject]
        /// One for each site, this host's first.
        var streams: [JSONObject]
    }

    func summary(at now: UInt64) -> Summary {
        let refusal = phase == .refused ? refusalReason : nil
        return Summary(
            phase: phase, refusal: refusal, unsent: unsent,
            hosts: agreement.hosts.map { host in
                var row = JSONObject([
                    ("host", .string(host.name)),
                    ("isHeard", .bool(agreement.isHeard(host, at: now))),
                    (
                        "heardMs",
                        .integer(
                            Int64(clamping: (now > host.heard ? now - host.heard : 0) / 1_000_000))
                    ),
                    ("agrees", .bool(agrees(with: host))),
                    ("clockMs", .integer(host.clockMilliseconds)),
                    ("server", .string(host.beacon.version.escapedForDisplay())),
                ])
                if !host.beacon.site.isEmpty { row["site"] = .string(host.beacon.site) }
                return row
            },
            streams: readers.map { reader in
                var row = JSONObject([
                    ("site", .string(reader.site)), ("state", .string(reader.phase.rawValue)),
                    ("isReached", .bool(reader.isReached)),
                ])
                row["why"] = reader.refusal.map { .string($0) }
                row["since"] = reader.awaySince.map {
                    .string(Timestamp(milliseconds: $0).description)
                }
                return row
            })
    }

    /// Whether a host had the same of all forms that it and this one share, when both last said
    /// what they have.
    private func agrees(with host: Agreement.Host) -> Bool {
        guard let ownBeacon else { return false }
        return ownBeacon.forms.allSatisfy { form in
            host.beacon.form(named: form.name).map { $0.digest == form.digest } ?? true
        }
    }

    /// The hosts that had read the same of a form as this one and had not the same.
    func disagreeing(on form: String, at now: UInt64) -> [String] {
        guard let ownBeacon, let own = ownBeacon.form(named: form) else { return [] }
        return agreement.hosts.filter { host in
            agreement.isHeard(host, at: now)
                && Agreement.compare(own, of: ownBeacon, host.beacon) == .disagrees
        }.map(\.name)
    }

    /// With how many hosts this one agreed on a form when it last said what it has, of how many
    /// that share it and are heard.
    func agreement(on form: String, at now: UInt64) -> (agreeing: Int, of: Int) {
        guard let ownBeacon, let own = ownBeacon.form(named: form) else { return (0, 0) }
        return agreement.count(of: own, own: ownBeacon, at: now)
    }
}
