// Presses of buttons with `handledAt`: the host that it names makes the press, as a verb of the one
// where somebody pressed. The answer waits until the press is here, so that its author can ask for
// its outcome at once.

extension Engine {
    /// The other host that has the presses of a control; `nil`: this one.
    func hostHandling(_ control: Int, of form: LiveForm) -> String? {
        let definition = form.working.definition
        guard let own = form.link?.host, let root = definition.targets[control].first,
            let host = definition.controls[root].runs?.handledAt
        else { return nil }
        return host.isSameBytes(as: own) ? nil : host
    }

    /// Refuses a button whose presses another host has.
    func requireHandledHere(_ button: Int, of form: LiveForm) throws(WireError) {
        guard let host = hostHandling(button, of: form) else { return }
        let id = form.working.definition.controls[button].id
        throw WireError(
            .invalidParams,
            "the presses of \(id) are handled at \(host), as its handledAt says; run its handler "
                + "there", form: form.name, field: id, path: "fields")
    }

    /// Passes presses on, if another host has them; returns whether it does.
    func passOn(
        _ params: StateSet, _ form: LiveForm, _ call: PendingCall
    ) throws(WireError) -> Bool {
        let definition = form.working.definition
        var host: String?
        for change in params.changes {
            guard let control = definition.index(of: change.field) else { return false }
            let other = change.action.isPress ? hostHandling(control, of: form) : nil
            // The form here may have another definition, or not be shared.
            if call.hostCall != nil, !isHandledForAll(control, of: form) {
                throw notHandledHere(change.field, form)
            }
            if let other { host = other }
        }
        guard let host else { return false }
        for change in params.changes {
            guard let control = definition.index(of: change.field) else { return false }
            guard change.action.isPress, hostHandling(control, of: form) == host,
                params.lease == nil
            else {
                throw WireError(
                    .invalidParams,
                    "presses that are handled at \(host) cannot be in one request with other "
                        + "changes; send them apart", form: form.name, field: change.field,
                    path: "changes")
            }
            try requireEdit(change.action, form, form.working, control, call.peer)
            try requireMessage(params.message, definition, control, form)
        }
        if params.guarded == .proposed { try requireKnownLogin(call.peer, form) }
        var request = params
        request.idempotencyKey = call.verbKey(of: configuration.link?.host)
        try passOn(.stateSet(request), .press, to: host, form, call, id: call.verbID)
        return true
    }

    /// Whether this host has the presses of a control of all hosts.
    private func isHandledForAll(_ control: Int, of form: LiveForm) -> Bool {
        form.link != nil && hostHandling(control, of: form) == nil
            && form.working.definition.handledAt(control) != nil
    }

    private func notHandledHere(_ field: String, _ form: LiveForm) -> WireError {
        WireError(
            .unavailable,
            "\(configuration.link?.host ?? "") does not handle the presses of "
                + "\(field.escapedForDisplay()) as it knows the form; nothing was done",
            form: form.name, field: field)
    }

    /// Passes the question for an outcome on to the host that made the press; returns whether
    /// another host did.
    func passOn(
        _ params: ButtonOutcome, _ press: Dot, _ form: LiveForm, _ call: PendingCall
    ) throws(WireError) -> Bool {
        guard let fleet, form.link != nil, call.hostCall == nil,
            let host = fleet.machine.agreement.hosts.first(where: {
                $0.beacon.replica == press.replica
            })
        else { return false }
        try passOn(.buttonOutcome(params), .run, to: host.name, form, call)
        return true
    }

    // MARK: - The answer

    /// Keeps the answer to presses until they are here; returns whether they are not yet.
    func holdAnswer(_ verb: VerbDesk.Passed, _ response: [UInt8], _ fleet: FleetLink) -> Bool {
        guard case .press = verb.kind, let result = try? JSON(parsing: response)["result"],
            let set = try? SetResult(decoding: result)
        else { return false }
        let presses = set.fields.compactMap { $0.state.press.flatMap(Dot.init) }
        guard !verb.form.hasAll(presses) else { return false }
        fleet.verbs.hold(verb, until: presses, response)
        return true
    }

    /// Gives the answers whose presses are here.
    func answerPresses(_ fleet: FleetLink) {
        guard fleet.verbs.holdsAnswers else { return }
        for (verb, response) in fleet.verbs.takeHeld({ $0.form.hasAll($1) }) {
            give(response, to: verb)
        }
    }

    /// The answer to presses, with the fields and the revision of this host.
    func answer(_ verb: VerbDesk.Passed, with result: SetResult) {
        let (form, state) = (verb.form, verb.form.committed)
        answer(verb) { writer in
            SetResult.encode(
                form.stateStart, revision: Revision(clamping: state.revision), skipped: nil,
                into: &writer
            ) { writer in
                writer.string(result.context)
            } fields: { writer in
                for field in result.fields {
                    guard let index = state.definition.index(of: field.id) else { continue }
                    writer.field(
                        field.id, members: state.text(index),
                        press: field.state.press.flatMap(Dot.init))
                }
            }
        }
    }
}

extension PendingCall {
    /// The id of the verb that a request becomes: the same for a request that is sent again with
    /// its key; `nil` without a key.
    var verbID: UInt64? { key.map { $0.digest ^ UInt64($0.id.uid) &* 0x9e37_79b9_7f4a_7c15 } }

    /// The key of that verb, under which its owner stores the answer; `nil` without a key.
    func verbKey(of host: String?) -> String? {
        verbID.map { HostCall.key($0, of: host ?? "") }
    }
}

extension FormDefinition {
    /// The host that has the presses of a control, whichever that is; `nil` if none is named.
    fileprivate func handledAt(_ control: Int) -> String? {
        targets[control].first.flatMap { controls[$0].runs?.handledAt }
    }
}

extension LiveForm {
    /// Whether readers see these writes.
    fileprivate func hasAll(_ dots: [Dot]) -> Bool {
        dots.allSatisfy { committed.context.contains($0) }
    }
}
