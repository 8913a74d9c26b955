// What the machine is told of the forms of this host: changes, wholes and digests.

extension Engine {
    /// Tells again what the log may not have of forms that are not shared any more.
    func tellFleetOfParting() {
        guard let fleet, let shared = configuration.link else { return }
        for whole in link.partingForms.wholes(for: shared.fleet) { part(with: whole, fleet) }
    }

    /// The last that others hear of a form that is not shared any more, or of the one before it.
    func part(with whole: WholeForm, _ fleet: FleetLink) {
        let bytes = environment.forFleet(.whole(whole)).encoded
        fleet.machine.part(with: (bytes, whole.context), of: whole.form, at: now)
    }

    /// Gives the machine what has become durable of a form.
    func tellFleet(of form: LiveForm) {
        guard let fleet, form.link != nil, form.isReadable, !follows(form) else { return }
        for change in takeChanges(of: form) {
            switch change {
            case .transaction(let transaction): fleet.machine.add(transaction, at: now)
            case .item(let item):
                switch environment.forFleet(item) {
                case .delta(let delta): fleet.machine.add(LinkTransaction(delta), at: now)
                case .whole(let whole):
                    if let why = fleet.wantedWholes[form.name] {
                        give(whole, why, to: fleet)
                    } else {
                        share(whole.form, whole.context, fleet)
                    }
                }
            }
        }
    }

    /// Others need the whole of a form, unless the log has one.
    private func share(_ form: String, _ context: CausalContext, _ fleet: FleetLink) {
        if fleet.machine.hasWhole(of: form, covering: context) {
            return noteTold(form, covering: context)
        }
        // The machine asks for it when it is its turn.
        fleet.machine.share(form, at: now)
    }

    /// The same of forms that were deleted.
    func tellFleetOfDeleted() {
        guard let fleet else { return }
        for deleted in link.deletedForms.takeUntold() {
            share(deleted.form, deleted.context, fleet)
        }
    }

    /// Gives the machine the whole of a form, at once or when it is durable.
    func giveWhole(_ name: String, _ why: WholeReason, to fleet: FleetLink) {
        fleet.wantedWholes[name] = nil
        guard sharedForm(name) != nil || link.deletedForms.told(name) != nil else {
            return fleet.machine.wholeMade(name, nil, at: now)
        }
        guard let whole = whole(of: name) else {
            fleet.wantedWholes[name] = why
            // Where edits never pause, there is no other moment at which the store has all of them.
            let hosts = sharedForm(name)?.link
            if let hosts, link.gathering.changes.contains(where: { $0.form.link === hosts }) {
                hosts.gatherWhole()
            }
            return
        }
        give(whole, why, to: fleet)
    }

    private func give(_ whole: WholeForm, _ why: WholeReason, to fleet: FleetLink) {
        fleet.wantedWholes[whole.form] = nil
        fleet.counters.wholes[why.rawValue, default: 0] += 1
        fleet.machine.wholeMade(
            whole.form, (environment.forFleet(.whole(whole)).encoded, whole.context), at: now)
    }

    /// The same of the wholes that were not durable when the machine asked for them.
    func giveWantedWholes(to fleet: FleetLink) {
        for (name, why) in fleet.wantedWholes.sorted(by: { $0.key < $1.key }) {
            giveWhole(name, why, to: fleet)
        }
    }

    /// Whether this host has more of a form than others were told, or will be told by what waits in
    /// the machine.
    func isUntold(_ form: LiveForm) -> Bool {
        if follows(form) { return hasEditsApart(form) }
        guard let link = form.link else { return false }
        // Once the form is durable, a whole that the next batch is to have says nothing new.
        return link.isWholeDue || link.wantsWhole && durable(form) == nil
    }

    /// Fields whose digests are computed for one beacon; the forms beyond are in the next one.
    private static var digestFieldsMax: Int { 20_000 }

    /// The digests of the shared forms, where they cover all that is known.
    func beaconDigests(_ fleet: FleetLink) -> [(form: String, digest: UInt64)] {
        var fields = 0
        var digests: [(form: String, digest: UInt64)] = []
        for form in forms where form.link != nil && form.isReadable {
            let context = form.committed.context
            var known = fleet.digests[form.name]
            if known?.context != context {
                guard fields == 0 || fields + form.committed.cells.count <= Self.digestFieldsMax
                else { continue }
                fields += form.committed.cells.count + 1
                known = digest(of: form.name).map { (context, $0) }
                fleet.digests[form.name] = known
            }
            if let known { digests.append((form.name, known.digest)) }
        }
        // A deleted form is named only to hosts that have it, or know something else of it.
        for name in fleet.machine.agreement.formsHeard(at: now.monotonicNanoseconds)
        where sharedForm(name) == nil && isShared(name) {
            guard let digest = digest(of: name) else { continue }
            if fleet.machine.agreement.differs(from: digest, of: name) {
                digests.append((name, digest))
            }
        }
        // A form that is not here is named to those that can send it.
        digests += fleet.awaitedForms.filter { sharedContext(of: $0) == nil }.map { ($0, 0) }
        if fleet.digests.count > digests.count {
            let names = Set(forms.map(\.name))
            fleet.digests = fleet.digests.filter { names.contains($0.key) }
        }
        return digests
    }
}
