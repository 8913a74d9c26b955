// Presence: who has a form open, on which control, with which draft. It is never stored.

extension Engine {
    func presenceUpdate(_ params: PresenceUpdate, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let form = try readableForm(params.form, connection.peer)
        let state = form.committed
        scheduler.spend(form.subscriptionCount >> 4, connection.account)
        guard connection.subscription(to: form) != nil else {
            throw WireError(
                .invalidParams, "subscribe to form \(form.name) before you send presence",
                form: form.name, path: "form")
        }
        var focus: Int?
        if let id = params.focus { focus = try index(of: id, form, state) }
        var draft: JSON?
        if let proposed = params.draft { draft = try admitDraft(proposed, focus, form, connection) }
        form.presence.update(connection, focus: params.focus, draft: draft)
        notifyPresence(of: form)
        answer(call) { EmptyResult().encode(into: &$0) }
    }

    /// Accepts a draft only if the control would accept the value and the peer may edit it; never
    /// for a secret.
    private func admitDraft(
        _ proposed: JSON, _ focus: Int?, _ form: LiveForm, _ connection: Connection
    ) throws(WireError) -> JSON {
        let state = form.committed
        guard let focus else {
            throw WireError(
                .invalidParams, "a draft belongs to the field that has the focus",
                form: form.name, path: "draft", expected: "a focus beside it")
        }
        let id = state.definition.controls[focus].id
        let max = configuration.limits.draftsPerSecondMax
        guard connection.admitsDraft(max: max, at: now) else {
            throw .limit(
                "draftsPerSecondMax", max: max, "more than \(max) drafts a second; wait")
        }
        guard state.definition.controls[focus].type != .secure else {
            throw WireError(
                .invalidValue, "a secret has no draft", form: form.name, field: id,
                expected: "no draft")
        }
        try requireEdit(.value(proposed), form, state, focus, connection.peer)
        do {
            return try state.definition.admit(proposed, control: focus, values: state.value)
        } catch { throw WireError(invalid: error, form: form.name) }
    }

    /// Tells the subscribers, once per iteration. A subscriber that is far behind is closed, but
    /// not for what happened in this iteration or while it waits for its turn.
    func notifyPresence(of form: LiveForm) {
        scheduler.noteNews(of: form)
        if let link = form.link { fleet?.notePresence(of: form, link) }
        if form.presence.hasNews { return }
        form.presence.hasNews = true
        guard form.presence.isReviewDue else { return }
        var slowest = form.presence.sequence
        if let link = form.link, link.isPresenceNoted { slowest = link.presenceCursor }
        let isCrowded = form.presence.goneCount > PresenceBoard.goneMax
        for subscription in form.subscriptions {
            // A subscriber that was told of nobody need not be told that somebody left.
            guard let cursor = subscription.presenceCursor, cursor > 0 else { continue }
            if isCrowded, !subscription.connection.isReady,
                cursor < form.presence.sequence - UInt64(PresenceBoard.goneMax)
            {
                effects.cutOff(.slow(subscription.connection))
            }
            slowest = min(slowest, cursor)
        }
        form.presence.forgetGone(toldTo: slowest)
    }
}
