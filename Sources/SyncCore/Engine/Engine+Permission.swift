// Who may do what: access lists, locks, and what an edit must have beside its values.

extension Engine {
    /// The most users and groups that an error message names.
    static var namedPrincipalsMax: Int { 8 }

    /// Whether the peer has permission for an action. A request may name ten thousand controls, so
    /// the result for a long access list is kept during the request: each control's own list, and
    /// the list of all others, is searched once.
    func isPermitted(
        _ action: FormAction, _ form: LiveForm, _ state: FormState, _ control: Int?, _ peer: Peer
    ) -> Bool {
        let definition = state.definition
        let isLong = definition.rule(of: action, control: control).principals.count > 8
        let own = control.flatMap { definition.controls[$0].access[action] == nil ? nil : $0 }
        let place = AccessPlace(action: action, control: own)
        if isLong, let known = workspace.verdicts[place] { return known }
        let isPermitted = definition.permits(
            action, control: control, peer: peer,
            owner: owner(of: form, for: peer, action, control),
            daemonUID: configuration.daemonUID)
        if isLong { workspace.verdicts[place] = isPermitted }
        return isPermitted
    }

    /// Throws and logs `forbidden` unless the peer has permission for an action.
    func require(
        _ action: FormAction, _ form: LiveForm, _ state: FormState, _ control: Int?, _ peer: Peer
    ) throws(WireError) {
        if isPermitted(action, form, state, control, peer) { return }
        let field = control.map { state.definition.controls[$0].id }
        let what = field.map { "\(form.name)/\($0)" } ?? form.name
        let rule = state.definition.rule(of: action, control: control)
        throw forbidden(
            peer, "\(action.verb) \(what)", rule, form.name, field,
            because: rule.principals.isEmpty ? "only root may" : nil)
    }

    /// Logs and returns `forbidden`.
    ///
    /// - Parameter reason: why; `nil` names those of the rule.
    func forbidden(
        _ peer: Peer, _ what: String, _ rule: AccessRule?, _ form: String?, _ field: String?,
        because reason: String? = nil
    ) -> WireError {
        log(
            .warning, "forbidden: \(peer.whom) may not \(what)",
            [.event(.forbidden)] + (form.map { [.form($0)] } ?? [])
                + (field.map { [.field($0)] } ?? []) + peer.logFields)
        let principals = rule?.principals ?? []
        var who = principals.prefix(Self.namedPrincipalsMax).map(\.description)
            .joined(separator: ", ")
        if principals.count > Self.namedPrincipalsMax {
            who += " and \(principals.count - Self.namedPrincipalsMax) more"
        }
        let why = reason ?? (who.isEmpty ? "nobody may" : "only \(who) may")
        return WireError(
            .forbidden, "\(peer.user) may not \(what); \(why)".escapedForDisplay(),
            form: form, field: field)
    }

    /// Rejects edits of a form that the peer may not read, or whose edits the store has rejected.
    func requireEdits(of form: LiveForm, _ peer: Peer) throws(WireError) {
        try require(.read, form, form.working, nil, peer)
        try requireWritable(form)
    }

    /// Rejects an edit of a control that the peer may not edit. For a control that shows others,
    /// each of them is checked too.
    func requireEdit(
        _ edit: Change.Action, _ form: LiveForm, _ state: FormState, _ control: Int, _ peer: Peer
    ) throws(WireError) {
        let action: FormAction = edit.isPress ? .press : .write
        try requireEditAlone(action, form, state, control, peer)
        for target in state.definition.targets[control] where target != control {
            try requireEditAlone(action, form, state, target, peer)
        }
    }

    private func requireEditAlone(
        _ action: FormAction, _ form: LiveForm, _ state: FormState, _ control: Int, _ peer: Peer
    ) throws(WireError) {
        try require(action, form, state, control, peer)
        guard isLocked(control, form, state, peer) else { return }
        let id = state.definition.controls[control].id
        throw WireError(
            .disabled, "\(id) is locked; an admin of form \(form.name) may set it",
            form: form.name, field: id)
    }

    private func isLocked(
        _ control: Int, _ form: LiveForm, _ state: FormState, _ peer: Peer
    ) -> Bool {
        state.definition.controls[control].isLocked && !isPermitted(.admin, form, state, nil, peer)
    }

    /// Rejects an edit without a message if the definition requires one.
    func requireMessage(
        _ message: String?, _ definition: FormDefinition, _ control: Int, _ form: LiveForm
    ) throws(WireError) {
        guard message == nil, definition.needsMessage(control) else { return }
        let id = definition.controls[control].id
        throw WireError(
            .invalidParams,
            "\(id) is changed only with a message that says why; give one with -m",
            form: form.name, field: id, needs: "message")
    }

    /// Whether a peer may change a field: the checks of `state.set`, without an edit. `nil` for a
    /// label.
    func permission(
        of index: Int, _ form: LiveForm, _ peer: Peer
    ) -> Explanation.Permission? {
        let state = form.committed
        let definition = state.definition
        let control = definition.controls[index]
        if case .none = control.storage { return nil }
        var refusals: [Explanation.Refusal] = []
        let action: FormAction = control.type == .button ? .press : .write
        for place in [index] + definition.targets[index].filter({ $0 != index }) {
            let id = definition.controls[place].id
            if !isPermitted(action, form, state, place, peer) {
                var refusal = Explanation.Refusal(.access, field: id)
                let principals = definition.rule(of: action, control: place).principals
                refusal.only = principals.prefix(Self.namedPrincipalsMax).map(\.description)
                refusal.more = principals.count - refusal.only.count
                refusals.append(refusal)
            }
            if isLocked(place, form, state, peer) {
                refusals.append(Explanation.Refusal(.locked, field: id))
            }
            // A form may have many sources, and one reason is enough.
            if refusals.count >= Self.namedPrincipalsMax { break }
        }
        if definition.mayBeDisabled(index) {
            let judge = ConditionEvaluator(definition) { state.value($0) }
            if control.isDisabled {
                refusals.append(Explanation.Refusal(.disabled, field: control.id))
            } else if let condition = control.enabledWhen, !judge.holds(condition) {
                var refusal = Explanation.Refusal(.condition, field: control.id)
                refusal.unmet = judge.unmet(condition)
                refusals.append(refusal)
            }
        }
        if form.failureReport != nil {
            refusals.append(Explanation.Refusal(.store, field: control.id))
        }
        let approvals = state.approvals(of: index)
        var permission = Explanation.Permission(refusals + approvals.always)
        permission.asks = approvals.forSome
        permission.needsMessage = definition.needsMessage(index)
        permission.leaseMax = definition.targets[index].compactMap {
            definition.controls[$0].leaseMax
        }.min()
        return permission
    }
}
