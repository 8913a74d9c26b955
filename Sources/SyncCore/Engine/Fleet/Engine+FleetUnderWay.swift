// What this host's forms have under way, for the others, and what the others have for readers.

extension Engine {
    // MARK: - This host

    /// A batch is durable: other hosts hear of leases, runs and proposals in it.
    func noteUnderWay(_ changes: OpenBatch.FormChanges, _ fleet: FleetLink) {
        let form = changes.form
        // A write may have ended a lease of another host.
        if fleet.underWay.hasOthers(on: form.name) { noteHosts(of: form) }
        guard !changes.isDeleted, form.link != nil, !follows(form) else {
            return fleet.underWay.forget(form)
        }
        var leased = fleet.underWay.leased(of: form) ?? []
        switch changes.end {
        case .cells(let cells, _, _, _, _):
            for (index, cell) in cells {
                if cell.content.leases != nil {
                    leased.insert(index)
                } else if !leased.isEmpty {
                    leased.remove(index)
                }
            }
        case .whole(let state): leased = state.leased
        case nil: break
        }
        note(form, leased, fleet)
    }

    private func note(_ form: LiveForm, _ leased: Set<Int>, _ fleet: FleetLink) {
        fleet.underWay.note(
            form, leased: leased,
            hasMore: form.proposals != nil || !form.committed.busyButtons.isEmpty
                || !form.committed.outcomesForOthers.isEmpty,
            at: now.monotonicNanoseconds)
    }

    /// The same of all forms: after a start, or when the store was written again.
    func noteAllUnderWay(_ fleet: FleetLink) {
        fleet.underWay.forgetOwn()
        for form in forms where form.link != nil && form.isReadable && !follows(form) {
            note(form, form.committed.leased, fleet)
        }
    }

    /// Tells the other hosts what is due, and drops what they do not tell any more.
    func tellUnderWay(_ fleet: FleetLink) {
        if fleet.machine.isLinked {
            let max = min(UnderWayBoard.wordBytesMax, fleet.machine.wordBytesMax - 32)
            let words = fleet.underWay.takeDue(at: now.monotonicNanoseconds) { form, leased in
                let all = underWay(of: form, leased, bytesMax: max)
                return all.isEmpty ? [] : JSONWriter.bytes { all.encode(into: &$0) }
            }
            for (form, word) in words {
                _ = fleet.machine.say(.underWay, word.encoded, of: form.name, at: now)
            }
        }
        let changed = fleet.underWay.expire(at: now.monotonicNanoseconds) {
            fleet.machine.awaySince($0, at: now) == nil
        }
        for name in changed { if let form = form(named: name) { noteHosts(of: form) } }
    }

    /// What this host has under way in a form.
    package func underWayHere(_ form: LiveForm) -> HostUnderWay {
        underWay(of: form, form.committed.leased, bytesMax: .max)
    }

    /// The same in at most this many bytes of JSON text. What has no space is left out.
    private func underWay(
        of form: LiveForm, _ leased: Set<Int>, bytesMax: Int
    ) -> HostUnderWay {
        var all = HostUnderWay(configuration.link?.host ?? "")
        guard form.isReadable, form.link != nil else { return all }
        let state = form.committed
        var left = bytesMax - JSONWriter.bytes { all.encode(into: &$0) }.count - 64
        /// The first of these for which there is space.
        func fitting<Part: WireObject>(_ parts: some Sequence<Part>) -> [Part] {
            var fitting: [Part] = []
            for part in parts {
                left -= JSONWriter.bytes { part.encode(into: &$0) }.count + 1
                if left < 0 { break }
                fitting.append(part)
            }
            return fitting
        }
        let controls = state.definition.controls
        all.leases = fitting(
            leased.sorted().lazy.compactMap { index in
                guard index < state.cells.count, let top = state.cells[index].content.leases?.top,
                    let lease = state.field(index).lease
                else { return nil }
                return HostUnderWay.Lease(
                    field: controls[index].id, write: top.dot.description, lease: lease)
            })
        let buttons = state.busyButtons
        all.runs = fitting(
            (buttons.flatMap { button in button.board.running.map { (button.id, $0) } }
                + buttons.flatMap { button in button.board.waiting.map { (button.id, $0) } }
                + state.outcomesForOthers)
                .lazy.map { HostUnderWay.Run(field: $0.0, run: $0.1.wire) })
        all.proposals = fitting(form.waitingProposals(of: state).lazy.map(\.wire))
        return all
    }

    // MARK: - Others

    /// A host said something of what a form has under way.
    func hear(_ word: LinkWord, _ fleet: FleetLink) {
        switch word.item.kind {
        case .underWay:
            guard let form = form(named: word.form), form.link != nil, form.isReadable,
                let said = try? UnderWayWord(decoding: word.item.bytes),
                fleet.underWay.heard(
                    said, on: word.form, of: word.host, run: word.run,
                    at: now.monotonicNanoseconds)
            else { return }
            noteHosts(of: form)
        case .verb: hearVerb(word, fleet)
        case .verbAnswer: hearAnswer(word, fleet)
        default: break
        }
    }

    /// What the other hosts have under way in a form, with those that are away. A lease whose write
    /// was replaced here has ended.
    package func underWayElsewhere(_ form: LiveForm) -> [HostUnderWay] {
        guard let fleet, form.link != nil else { return [] }
        let state = form.committed
        return fleet.underWay.others(on: form.name).compactMap { told in
            guard fleet.machine.agreement.host(named: told.host) != nil else { return nil }
            var told = told
            told.leases.removeAll { lease in
                guard let index = state.definition.index(of: lease.field),
                    let dot = Dot(lease.write)
                else { return true }
                return !state.cells[index].content.holds(dot)
            }
            told.awaySince = fleet.machine.awaySince(told.host, at: now)
                .map { Timestamp(milliseconds: $0) }
            return told
        }
    }

    /// The proposals that wait on other hosts.
    func proposalsElsewhere(_ form: LiveForm) -> [FormProposal] {
        underWayElsewhere(form).flatMap { told in
            told.proposals.map { proposal in
                var proposal = proposal
                proposal.awaySince = told.awaySince
                return proposal
            }
        }
    }

    /// A press that another host has; `nil` if none shows it.
    func runElsewhere(_ press: String, _ form: LiveForm) -> RunResult? {
        let runs = underWayElsewhere(form).flatMap(\.runs)
        guard let found = runs.first(where: { $0.run.press.isSameBytes(as: press) }) else {
            return nil
        }
        return RunResult(
            form: form.name, field: found.field,
            revision: Revision(clamping: form.committed.revision), run: found.run)
    }

    /// The leases of a control, or of those that it shows, that other hosts have.
    func leasesElsewhere(_ control: Int, _ form: LiveForm) -> [FieldLease] {
        let told = underWayElsewhere(form)
        if told.isEmpty { return [] }
        let definition = form.committed.definition
        let ids = definition.targets[control].map { definition.controls[$0].id }
        return told.flatMap(\.leases).filter { lease in
            ids.contains { $0.isSameBytes(as: lease.field) }
        }.map(\.lease)
    }
}

extension FormState {
    /// The last outcomes of buttons with `handledAt`: those who pressed are on other hosts.
    fileprivate var outcomesForOthers: [(field: String, run: Run)] {
        definition.runButtons.compactMap { index in
            let control = definition.controls[index]
            guard control.runs?.handledAt != nil else { return nil }
            return board(index).last.map { (control.id, $0) }
        }
    }

    /// The controls with leases.
    fileprivate var leased: Set<Int> {
        Set(cells.indices.filter { cells[$0].content.leases != nil })
    }
}
