// Verbs on what another host owns: see VerbDesk.swift. The daemon that is asked judges access as
// for its own and passes the request on. The owner does it as a request of the bridge's connection
// under the author's identity, and its answer goes back.

extension Engine {
    // MARK: - Passing on

    /// Passes a word about a proposal on, if it is another host's; returns whether it is.
    func passOn(
        _ params: ProposalVote, _ request: Request, _ call: PendingCall
    ) throws(WireError) -> Bool {
        guard let host = params.host, host != configuration.link?.host else { return false }
        let form = try editableForm(params.form, call.connection)
        try requireEdits(of: form, call.peer)
        try requireKnownLogin(call.peer, form)
        let proposals = proposalsElsewhere(form)
        guard proposals.contains(where: { $0.id == params.proposal && $0.host == host }) else {
            throw WireError(
                .notFound,
                "no proposal \(params.proposal) of \(host.escapedForDisplay()) in form "
                    + "\(form.name); see pickerctl proposals", form: form.name, path: "proposal")
        }
        try passOn(request, .proposal, to: host, form, call)
        return true
    }

    /// The same for a lease of a control.
    func passOn(
        _ params: StateLease, _ control: Int, _ form: LiveForm, _ call: PendingCall
    ) throws(WireError) -> Bool {
        if case .resume = params.action { return false }
        let leases = leasesElsewhere(control, form)
        guard let host = leases.first?.host, call.hostCall == nil else { return false }
        var request = params
        request.idempotencyKey = call.verbKey(of: configuration.link?.host)
        try passOn(
            .stateLease(request), .lease(control: params.field), to: host, form, call,
            id: call.verbID)
        return true
    }

    /// The same for a press.
    func passOn(
        _ params: ButtonCancel, _ form: LiveForm, _ call: PendingCall
    ) throws(WireError) -> Bool {
        guard let found = runElsewhere(params.press, form), let host = found.run.host,
            found.field.isSameBytes(as: params.field), call.hostCall == nil
        else { return false }
        try passOn(.buttonCancel(params), .run, to: host, form, call)
        return true
    }

    /// Says a request to the host that does it. Its answer comes later.
    func passOn(
        _ request: Request, _ kind: VerbDesk.Kind, to host: String, _ form: LiveForm,
        _ call: PendingCall, id: UInt64? = nil
    ) throws(WireError) {
        guard let fleet, call.hostCall == nil else { throw .noLink }
        guard fleet.machine.isLinked else {
            throw WireError(
                .unavailable,
                "only \(host) can do it, and this host is cut off from the others; nothing was "
                    + "done", form: form.name)
        }
        guard let known = fleet.machine.agreement.host(named: host) else {
            throw WireError(
                .unavailable,
                "only \(host) can do it, and this host has not heard of it; nothing was done; see "
                    + "pickerctl link", form: form.name)
        }
        if let since = fleet.machine.awaySince(host, at: now) {
            throw WireError(.unavailable, Self.isAway(host, since), form: form.name)
        }
        let id = id ?? environment.random()
        let uid = call.connection.peer.uid
        guard fleet.verbs.admits(uid, account: environment.accountUID), !fleet.verbs.waits(id)
        else {
            throw WireError(
                .unavailable, "too many requests wait for other hosts; try again in a moment",
                form: form.name)
        }
        let peer = call.connection.peer
        let verb = LinkVerb(
            id: id, to: host, run: known.beacon.run,
            until: now.wallMilliseconds &+ known.clockMilliseconds
                &+ VerbDesk.patienceMilliseconds,
            author: call.connection.author(of: form, replica: replica),
            session: call.connection.session,
            rank: peer.uid == 0 ? .root : peer.uid == configuration.daemonUID ? .daemon : .user,
            groups: peer.groupNames, loginUID: peer.identity.loginUID,
            isLoginKnown: peer.identity.isLoginKnown,
            request: JSONWriter.bytes { request.encode(id: nil, into: &$0) })
        let bytes = verb.encoded
        guard fleet.machine.say(.verb, bytes, of: form.name, at: now) else {
            throw WireError(
                .unavailable,
                "the request has more bytes than one message to \(host) may; nothing was done",
                form: form.name)
        }
        fleet.verbs.pass(
            verb.id, call, form, to: host, kind, bytes, at: now.monotonicNanoseconds)
    }

    private static func isAway(_ host: String, _ since: Int64) -> String {
        "\(host) is away since \(Timestamp(milliseconds: since)), and only \(host) can do it; "
            + "nothing was done"
    }

    /// Says again what is not answered, and gives up.
    func keepVerbs(_ fleet: FleetLink) {
        let due = fleet.verbs.takeDue(at: now.monotonicNanoseconds)
        for verb in due.again {
            _ = fleet.machine.say(.verb, verb.bytes, of: verb.form.name, at: now)
        }
        for verb in due.late {
            // It was done.
            if let response = verb.held?.response {
                give(response, to: verb)
                continue
            }
            let away = fleet.machine.awaySince(verb.host, at: now).map {
                "\(verb.host) is away since \(Timestamp(milliseconds: $0))"
            }
            refuse(
                verb,
                WireError(
                    .unavailable,
                    "\(away ?? "\(verb.host) did not answer"); as far as this host knows, nothing "
                        + "was done", form: verb.form.name))
        }
    }

    private func refuse(_ verb: VerbDesk.Passed, _ error: WireError) {
        guard let connection = connections[verb.connection] else { return }
        refuse(verb.call, error)
        closeIfDone(connection)
    }

    /// The owner has answered.
    func hearAnswer(_ word: LinkWord, _ fleet: FleetLink) {
        guard let said = try? LinkVerbAnswer(decoding: word.item.bytes),
            said.to == configuration.link?.host,
            let verb = fleet.verbs.take(said.id, from: word.host)
        else { return }
        if holdAnswer(verb, said.response, fleet) { return }
        give(said.response, to: verb)
    }

    /// Gives the answer of the owner to the client.
    func give(_ response: [UInt8], to verb: VerbDesk.Passed) {
        do throws(WireError) { try answer(verb, response) } catch { refuse(verb, error) }
        if let connection = connections[verb.connection] { closeIfDone(connection) }
    }

    private func answer(_ verb: VerbDesk.Passed, _ response: [UInt8]) throws(WireError) {
        guard connections[verb.connection] != nil else { return }
        let unreadable = WireError(
            .unavailable,
            "\(verb.host) answered what this daemon cannot read; look whether it was done",
            form: verb.form.name)
        guard let json = try? JSON(parsing: response) else { throw unreadable }
        if let failure = json["error"] {
            guard var error = try? WireError(decoding: failure) else { throw unreadable }
            error.resend = false
            throw error
        }
        guard let result = json["result"] else { throw unreadable }
        let form = verb.form
        switch verb.kind {
        case .lease(let field):
            // What the owner did comes as its edit.
            let state = form.committed
            answer(verb) {
                form.encode(state.definition.index(of: field), of: state, into: &$0)
            }
        case .run:
            guard var run = try? RunResult(decoding: result) else { throw unreadable }
            run.revision = Revision(clamping: form.working.revision)
            run.run.host = verb.host
            answer(verb.call) { run.encode(into: &$0) }
        case .press where result["proposal"] == nil:
            guard let set = try? SetResult(decoding: result) else { throw unreadable }
            answer(verb, with: set)
        case .press, .proposal:
            guard var proposal = try? ProposalResult(decoding: result) else { throw unreadable }
            proposal.proposal.host = verb.host
            // Revisions are those of each host.
            proposal.proposal.ended?.revision = nil
            answer(verb.call) { proposal.encode(into: &$0) }
            // Its message may be redacted later.
            proposal.proposal.message = nil
            remember(verb) { proposal.encode(into: &$0) }
        }
    }

    /// Answers with what the owner did.
    func answer(_ verb: VerbDesk.Passed, _ result: (inout JSONWriter) -> Void) {
        answer(verb.call, result)
        remember(verb, result)
    }

    /// Gives a retry with the same key the same answer, also while the owner is away. The owner has
    /// it as well, so nobody waits until it is durable here.
    private func remember(_ verb: VerbDesk.Passed, _ result: (inout JSONWriter) -> Void) {
        if verb.call.key == nil { return }
        remember(verb.call, Array(workspace.encoded(result)), verb.form)
    }

    // MARK: - Being asked

    /// Another host passes a request on.
    func hearVerb(_ word: LinkWord, _ fleet: FleetLink) {
        guard let verb = try? LinkVerb(decoding: word.item.bytes), let link = configuration.link,
            verb.to == link.host, verb.run == fleet.machine.configuration.run,
            verb.author.host == word.host, !isTold(verb, word, fleet)
        else { return }
        let by = verb.author
        let uid =
            switch verb.rank {
            case .root: 0 as UInt32
            case .daemon: configuration.daemonUID
            case .user: LiveForm.stranger
            }
        let peer = Peer(
            pid: 0,
            Peer.Identity(
                uid: uid, gid: LiveForm.stranger, groups: [], user: by.user,
                groupNames: verb.groups, loginUID: verb.loginUID,
                isLoginKnown: verb.isLoginKnown,
                home: Peer.Identity.Home(host: word.host, uid: by.uid)))
        let asked = HostCall(
            id: verb.id, form: word.form, host: word.host, peer: peer,
            author: Author(
                user: by.user, uid: by.uid, client: by.client, tty: by.tty,
                connection: by.connection, replica: replica, host: word.host
            ).withText(),
            session: verb.session, until: verb.until)
        guard let bridge = fleet.bridge else { return }
        let call = PendingCall(connection: bridge, id: RequestID(0), target: .host(asked))
        guard case .single(let decoded) = decoder.decode(verb.request),
            case .success(let request) = decoded.content,
            request.isVerb(on: word.form, key: HostCall.key(verb.id, of: word.host))
        else {
            return refuse(
                call,
                WireError(
                    .invalidParams,
                    "\(link.host) does not know this request; it has another version"))
        }
        bridge.enqueueLast(.call(request, call.id, call.target))
    }

    /// Whether a request was told before; then its answer is told again.
    private func isTold(_ verb: LinkVerb, _ word: LinkWord, _ fleet: FleetLink) -> Bool {
        switch fleet.verbs.admit(verb.id, of: word.host, at: now.monotonicNanoseconds) {
        case .new: return false
        case .underWay, .tooMany: return true
        case .answered(let answer):
            _ = fleet.machine.say(.verbAnswer, answer, of: word.form, at: now)
            return true
        }
    }

    /// Refuses a request of another host that comes so late that its client may have been told
    /// that it was not done.
    func requireTimely(_ asked: HostCall) throws(WireError) {
        guard now.wallMilliseconds <= asked.until else {
            throw WireError(
                .unavailable, "the request came too late; nothing was done", form: asked.form)
        }
    }

    /// A request of another host is answered.
    func tell(_ response: UnsafeBufferPointer<UInt8>, to call: HostCall) {
        guard let fleet else { return }
        func word(_ response: [UInt8]) -> [UInt8] {
            LinkVerbAnswer(id: call.id, to: call.host, response: response).encoded
        }
        var bytes = word(Array(response))
        if bytes.count > fleet.machine.wordBytesMax {
            let error = WireError(
                .unavailable,
                "it was done or refused, and the answer is larger than a message may be",
                form: call.form)
            bytes = word(JSONWriter.bytes { Answer.encode(RequestID(0), error, into: &$0) })
        }
        fleet.verbs.answered(call.id, bytes)
        _ = fleet.machine.say(.verbAnswer, bytes, of: call.form, at: now)
        followFleet()
    }
}

extension Request {
    /// Whether it is one that a host passes on, about this form, with no other key.
    fileprivate func isVerb(on form: String, key: String) -> Bool {
        switch self {
        case .stateLease(let params):
            if case .resume = params.action { return false }
            return params.form == form && params.idempotencyKey ?? key == key
        case .buttonCancel(let params): return params.form == form
        case .buttonOutcome(let params): return params.form == form
        case .stateSet(let params):
            return params.form == form && params.idempotencyKey ?? key == key && params.lease == nil
                && params.changes.allSatisfy(\.action.isPress)
        case .proposalApprove(let params), .proposalRefuse(let params),
            .proposalWithdraw(let params):
            return params.form == form && params.host == nil
        default: return false
        }
    }
}

extension LiveForm {
    /// The uid of everybody on another host but root and the daemon's user: nobody's here.
    fileprivate static let stranger = UInt32.max - 1
}
