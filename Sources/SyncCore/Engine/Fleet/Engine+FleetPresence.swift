// The people of other hosts in a shared form, and those of this host for the others.

extension Engine {
    /// Gives the machine the people of this host that came, moved or left in this iteration.
    func tellPresence(_ fleet: FleetLink) {
        for form in fleet.takePresenceNoted() {
            guard let link = form.link else { continue }
            link.isPresenceNoted = false
            for entry in form.presence.local(after: &link.presenceCursor) {
                fleet.machine.present(
                    form.name, entry.connection.number, entry.shared, isGone: entry.isGone,
                    at: now)
            }
        }
    }

    /// Shows people of other hosts. A focus or a draft that the form does not take is left out:
    /// their host may have another definition.
    func take(_ peers: [RemotePeer]) {
        let meter = workspace.patternMeter
        let left = meter.left
        meter.begin(configuration.limits.patternStepsMax)
        defer {
            meter.left = left
            meter.hasRunOut = false
        }
        for peer in peers {
            guard let form = form(named: peer.form), form.link != nil, form.isReadable else {
                continue
            }
            let definition = form.committed.definition
            let control = peer.presence?.focus.flatMap { definition.index(of: $0) }
            let draft = control.flatMap { admit(peer.presence?.draft, $0, form.committed) }
            let focus = control.map { definition.controls[$0].id }
            if form.presence.update(peer, focus: focus, draft: draft) { notifyPresence(of: form) }
        }
    }

    private func admit(_ text: [UInt8]?, _ control: Int, _ state: FormState) -> JSON? {
        guard let text, text.count <= configuration.limits.draftBytesMax,
            state.definition.controls[control].type != .secure,
            let draft = try? JSON(parsing: text)
        else { return nil }
        return try? state.definition.admit(draft, control: control, values: state.value)
    }

    /// Tells subscribers which other hosts share a form that somebody has open, which are away, and
    /// what they have under way.
    func noteHosts(of form: LiveForm) {
        guard let fleet, form.link != nil, !form.presence.entries.isEmpty else { return }
        let told = underWayElsewhere(form)
        let hosts = fleet.machine.hosts(sharing: form.name, at: now).map { host in
            told.first { $0.host == host.host }
                ?? HostUnderWay(
                    host.host,
                    awaySince: host.awaySince.map { Timestamp(milliseconds: $0) })
        }
        guard form.presence.update(hosts: hosts) else { return }
        notifyPresence(of: form)
    }

    /// The daemon stops: the other hosts hear of it.
    func leaveFleet() {
        fleet?.machine.leave(at: now)
        followFleet()
    }
}

extension PresenceBoard.Entry {
    /// What other hosts are told.
    fileprivate var shared: LinkPresence.Peer.Presence? {
        isGone
            ? nil
            : LinkPresence.Peer.Presence(
                user: user, client: client, tty: tty, focus: focus, draft: draft?.encoded)
    }
}
