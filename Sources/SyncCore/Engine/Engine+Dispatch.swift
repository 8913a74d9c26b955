// From a request to its answer.

/// A request that is being processed: its connection and the target of its answer.
struct PendingCall {
    let connection: Connection
    /// `nil` for a JSON-RPC notification.
    let id: RequestID?
    var target: AnswerTarget
    /// The idempotency key under which the answer is stored.
    var key: KeyUse?

    var slot: AnswerQueue.Slot {
        switch target {
        case .slot(let slot): slot
        case .batch(let batch): batch.slot
        case .host, .nowhere: .unowed
        }
    }

    /// What another host asked for; `nil`: the connection asks for itself.
    var hostCall: HostCall? { if case .host(let call) = target { call } else { nil } }

    /// Who asks.
    var peer: Peer { hostCall?.peer ?? connection.peer }

    var session: String? { hostCall == nil ? connection.session : hostCall?.session }

    /// The author for dots and history of a form.
    func author(of form: LiveForm, replica: ReplicaID) -> Author {
        hostCall?.author ?? connection.author(of: form, replica: replica)
    }

    /// A key and the digest of its request.
    struct KeyUse {
        let id: KeyIndex.ID
        let digest: UInt64
    }
}

extension Engine {
    /// Executes a request, or puts it back into the queue until it can be executed.
    func perform(
        _ request: Request, _ id: RequestID?, _ target: AnswerTarget, _ connection: Connection
    ) {
        workspace.method = request.method
        var call = PendingCall(connection: connection, id: id, target: target)
        call.key = request.idempotencyKey.map { key in
            use(of: key, connection) { request.encode(id: nil, into: &$0) }
        }
        let verdict = admit(request.kind, call)
        switch verdict {
        case .afterCommit, .unanswered: break
        case .run, .fetch, .replay, .refuse:
            counters.requests += 1
            introduce(connection, request)
        }
        charge(connection) { carryOut(verdict, request, call) }
    }

    /// Runs `work` and charges the account for its answer and the steps of its patterns.
    @inline(__always)
    func charge(_ connection: Connection, _ work: () -> Void) {
        let owed = connection.owedBytes
        workspace.patternMeter.used = 0
        work()
        scheduler.spend(
            ((connection.owedBytes - owed) >> 10) + (workspace.patternMeter.used >> 9),
            connection.account)
    }

    /// Continues with a request that waited for the store. All checks run again.
    ///
    /// - Parameter isKeyUnused: The store has just reported that it does not have the request's
    ///   key.
    func readmit(_ request: Request, _ call: PendingCall, isKeyUnused: Bool = false) {
        workspace.method = request.method
        let verdict = admit(request.kind, call, isKeyUnused: isKeyUnused)
        carryOut(verdict, request, call)
    }

    /// Whether a request without a key, with an answer of its own, is executed now: the verdict on
    /// nearly all requests.
    @inline(__always)
    func runsAtOnce(_ kind: Admission.Kind, _ connection: Connection) -> Bool {
        !link.mustCommitFirst
            && Admission.runs(
                kind, on: connection, isServing: lifecycle == .serving, isHealthy: link.isHealthy)
    }

    /// The verdict on a request in the current state.
    func admit(
        _ kind: Admission.Kind, _ call: PendingCall, isKeyUnused: Bool = false
    ) -> Verdict {
        if call.key == nil, case .slot = call.target, runsAtOnce(kind, call.connection) {
            return .run
        }
        let admission = Admission(
            leaving: lifecycle.reasonToLeave, trouble: link.trouble,
            mustCommitFirst: link.mustCommitFirst,
            answerBytesMax: configuration.limits.answerBytesMax,
            keysMax: configuration.limits.keysPerUserMax,
            keyBytesMax: configuration.limits.keyBytesPerUserMax,
            keyHours: configuration.limits.keyHours)
        let key = call.key.map { use in
            Admission.Key(
                use: use, knowledge: link.keys.lookUp(use.id),
                usage: link.keys.usage(of: use.id.uid))
        }
        return admission.admit(kind, call, key, isKeyUnused: isKeyUnused)
    }

    /// A connection continues with this work after a commit.
    func afterCommit(_ work: Connection.Work, _ connection: Connection) {
        connection.enqueueFirst([work])
        connection.advance(to: .awaitingCommit)
        link.await(connection)
    }

    private func carryOut(_ verdict: Verdict, _ request: Request, _ call: PendingCall) {
        let connection = call.connection
        switch verdict {
        case .run:
            run(request.kind, call) { () throws(WireError) in try dispatch(request, call) }
        case .afterCommit: afterCommit(.call(request, call.id, call.target), connection)
        case .fetch(let query): fetch(query, for: .key(call, request), connection)
        case .replay(let result, let pending): repeatAnswer(call, result, pending)
        case .refuse(let error): refuse(call, error)
        case .unanswered(let reason):
            connection.answers.fill(call.slot, with: [])
            sayGoodbye(connection, reason)
        }
    }

    /// Executes a request that was admitted.
    @inline(__always)
    func run(_ kind: Admission.Kind, _ call: PendingCall, _ body: () throws(WireError) -> Void) {
        if kind.isEdit { scheduler.countEdit(call.connection.account) }
        if !workspace.verdicts.isEmpty { workspace.verdicts = [:] }
        do { try body() } catch { refuse(call, error) }
    }

    private func dispatch(_ request: Request, _ call: PendingCall) throws(WireError) {
        if fleet != nil { try requireOwnMethods(request, call) }
        switch request {
        case .hello(let params): try hello(params, call)
        case .ping: answer(call) { EmptyResult().encode(into: &$0) }
        case .formList: formList(call)
        case .formWatch: formWatch(call)
        case .formGet(let form): try formGet(form, call)
        case .formApply(let params): try formApply(params, call)
        case .formSetOptions(let params): try formSetOptions(params, call)
        case .formDelete(let params): try formDelete(params, call)
        case .stateGet(let params): try stateGet(params, call)
        case .stateSet(let params): try stateSet(params, call)
        case .stateLease(let params): try stateLease(params, call)
        case .stateSubscribe(let params): try subscribe(params, call)
        case .stateUnsubscribe(let form): try unsubscribe(form, call)
        case .stateHistory(let params): try history(params, call)
        case .stateExplain(let params): try explain(params, call)
        case .historyRedact(let params): try redact(params, call)
        case .stateUndo(let params): try undoOrRedo(.undo, params, call, request)
        case .stateRedo(let params): try undoOrRedo(.redo, params, call, request)
        case .stateReveal(let params): try reveal(params, call)
        case .presenceUpdate(let params): try presenceUpdate(params, call)
        case .buttonHandle(let params): try buttonHandle(params, call)
        case .buttonProgress(let params): try buttonProgress(params, call)
        case .buttonFinish(let params): try buttonFinish(params, call)
        case .buttonCancel(let params): try buttonCancel(params, call)
        case .buttonOutcome(let params): try buttonOutcome(params, call)
        case .proposalList(let params): try proposalList(params, call)
        case .proposalApprove(let params): try proposalApprove(params, call)
        case .proposalRefuse(let params): try proposalRefuse(params, call)
        case .proposalWithdraw(let params): try proposalWithdraw(params, call)
        case .serverStatus: serverStatus(call)
        case .serverBackup(let params): try serverBackup(params, call)
        case .linkAttach: try linkAttach(call)
        case .linkUp(let params): try linkUp(params, call)
        case .linkDown(let params): try linkDown(params, call)
        case .linkMessage(let params): try linkMessage(params, call)
        case .linkRepair(let form): try linkRepair(form, call)
        case .linkTest: try linkTest(call)
        case .formLink(let params): try formLink(params, call)
        case .formUnlink(let form): try formUnlink(form, call)
        }
    }

    // MARK: - Answers

    /// Answers a request that is not an edit.
    func answer(_ call: PendingCall, _ result: (inout JSONWriter) -> Void) {
        guard let id = call.id else { return }
        var response = workspace.encoded { Answer.encode(id, into: &$0, result: result) }
        let max = configuration.limits.maxFrame
        if case .batch(let batch) = call.target, batch.bytes + response.count + 1 > max {
            let error = WireError.batchIsFull("maxFrame", max)
            response = workspace.encoded { Answer.encode(id, error, into: &$0) }
        } else if response.count > max {
            let error = WireError.limit(
                "maxFrame", max: max,
                "the answer has \(response.count) bytes; one message has at most \(max) (maxFrame)")
            response = workspace.encoded { Answer.encode(id, error, into: &$0) }
        }
        deliver(response, to: call.target, call.connection)
    }

    /// Answers an edit of a form as soon as it is durable, and stores the answer under the
    /// request's key.
    func answerEdit(_ call: PendingCall, of form: LiveForm, _ result: (inout JSONWriter) -> Void) {
        var place = 0..<0
        let response = workspace.encoded { writer in
            Answer.encode(call.id ?? .null, into: &writer) { writer in
                let start = writer.nextValue
                result(&writer)
                place = start..<writer.count
            }
        }
        // Of the exact size: the rest of the writer's memory may contain the request with a secret.
        if call.key != nil { remember(call, Array(response[place]), form) }
        sendWhenDurable(call, response, form)
    }

    /// The same with a proposal. Its message may be redacted later, so a retry is answered without.
    func answerEdit(_ call: PendingCall, with proposal: FormProposal, of form: LiveForm) {
        func result(_ proposal: FormProposal) -> [UInt8] {
            Array(workspace.encoded { ProposalResult(proposal).encode(into: &$0) })
        }
        if call.key != nil {
            var kept = proposal
            kept.message = nil
            remember(call, result(kept), form)
        }
        sendWhenDurable(call, response(call.id, result(proposal)), form)
    }

    /// Stores an answer for a retry with the same key.
    func remember(_ call: PendingCall, _ result: [UInt8], _ form: LiveForm) {
        guard let key = call.key else { return }
        let time = clocks.steadyMilliseconds()
        let row = KeyRow(
            uid: key.id.uid, key: key.id.key, at: time, digest: key.digest, result: result)
        link.gathering.keys.append(OpenBatch.Key(id: key.id, row: row, form: form.key))
        link.keys.note(
            key.id, result: result, digest: key.digest, at: time,
            pending: KeyIndex.Pending(batch: link.gathering.number, form: form.key))
    }

    /// Delivers the response to an edit as soon as the edit is durable.
    private func sendWhenDurable(
        _ call: PendingCall, _ response: UnsafeBufferPointer<UInt8>, _ form: LiveForm
    ) {
        if !deferUntilDurable(call, response, about: form.key), call.id != nil {
            deliver(response, to: call.target, call.connection)
        }
    }

    /// A response with a result that is already JSON text.
    private func response(
        _ id: RequestID?, _ result: [UInt8]
    ) -> UnsafeBufferPointer<UInt8> {
        workspace.encoded { Answer.encode(id ?? .null, into: &$0) { $0.raw(result) } }
    }

    /// Rejects a request that has changed nothing.
    func refuse(_ call: PendingCall, _ error: WireError) {
        counters.refused += 1
        if let id = call.id {
            let response = workspace.encoded { Answer.encode(id, error, into: &$0) }
            // The values in an error may not be durable yet. They are sent only when they are.
            let shown = error.fields.isEmpty ? nil : error.form
            if shown == nil
                || !deferUntilDurable(call, response, about: shown.flatMap(form(named:))?.key)
            {
                deliver(response, to: call.target, call.connection)
            }
        }
        // Names only, because a rejected value may be a secret. A few per second only, because all
        // clients share the log. `forbidden` has already been logged with its reason.
        guard error.kind != .forbidden,
            call.connection.admitsRefusal(max: Self.refusalsLoggedASecondMax, at: now)
        else { return }
        let place = [error.form, error.field].compactMap(\.self).joined(separator: "/")
        log(
            .info,
            "refused \(error.kind.rawValue)\(place.isEmpty ? "" : " at " + place): "
                + call.peer.whom,
            [.event(.refused), LogEntry.Field(.kind, error.kind.rawValue)]
                + (error.form.map { [.form($0)] } ?? [])
                + (error.field.map { [.field($0)] } ?? []) + call.peer.logFields)
    }

    /// The most rejections of one connection that are logged per second.
    private static var refusalsLoggedASecondMax: Int { 5 }

    // MARK: - Idempotency keys

    /// A key and the digest of its request, which `encode` writes without its id.
    func use(
        of key: String, _ connection: Connection, _ encode: (inout JSONWriter) -> Void
    ) -> PendingCall.KeyUse {
        PendingCall.KeyUse(
            id: link.keys.id(connection.peer.uid, key),
            digest: environment.digest(Array(workspace.encoded(encode))))
    }

    private func repeatAnswer(
        _ call: PendingCall, _ result: [UInt8], _ pending: KeyIndex.Pending?
    ) {
        let response = response(call.id, result)
        if let pending, deferUntilDurable(call, response, about: pending.form, batch: pending.batch)
        {
            return
        }
        if call.id != nil { deliver(response, to: call.target, call.connection) }
    }

    /// Adds a response to the batch with that number, or else to the newest pending batch; returns
    /// whether there is one. Below `durability = commit`, nothing waits unless the disk is too
    /// slow.
    func deferUntilDurable(
        _ call: PendingCall, _ response: UnsafeBufferPointer<UInt8>, about form: FormKey?,
        batch: UInt64? = nil
    ) -> Bool {
        guard configuration.durability == .commit || isDiskBehind,
            let number = batch ?? link.newestPending
        else { return false }
        let waiter = OpenBatch.Waiter(
            connection: call.connection.id, form: form, target: call.target, id: call.id,
            response: link.gathering.keep(response))
        guard link.wait(for: number, waiter) else { return false }
        call.connection.editBegan(answerBytes: response.count)
        return true
    }

    /// Whether the disk is too slow: the most that may wait for it is waiting.
    private var isDiskBehind: Bool {
        link.gathering.bytes > configuration.limits.unwrittenBytesMax && link.isCommitting
    }

    /// The store has reported whether a key was used.
    func fetchedKey(_ row: KeyRow?, _ call: PendingCall, _ request: Request) {
        guard let row, let key = call.key else { return readmit(request, call, isKeyUnused: true) }
        guard row.digest == key.digest else { return refuse(call, .keyOfAnotherRequest) }
        link.keys.note(key.id, result: row.result, digest: row.digest, at: row.at, pending: nil)
        repeatAnswer(call, row.result, nil)
    }

    // MARK: - Greeting

    /// Logs a new connection once, with the content of `hello` if there was one.
    private func introduce(_ connection: Connection, _ request: Request) {
        guard !connection.isIntroduced else { return }
        connection.isIntroduced = true
        var line = "connection \(connection.id.number): \(connection.peer.whom)"
        var fields = [.event(.connected), .connection(connection.id)] + connection.peer.logFields
        if case .hello(let greeting) = request {
            line += ", \(greeting.client)\(greeting.tty.map { " on \($0)" } ?? "")"
            fields.append(LogEntry.Field(.client, greeting.client))
        }
        log(.info, line, fields)
    }

    private func hello(_ params: Hello, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        guard params.protocolVersion == 1 else {
            refuse(
                call,
                WireError(
                    .unsupportedProtocol,
                    "protocol \(params.protocolVersion) is not supported; "
                        + "this daemon has protocol 1", expected: "1"))
            end(connection)
            return
        }
        connection.greet(client: params.client, tty: params.tty, session: params.session)
        let limits = configuration.limits
        let result = HelloResult(
            server: configuration.serverName, replica: replica.description,
            features: [
                "presence", "undo", "history", "reveal", "backup", "messages", "leases", "runs",
                "explain", "proposals", "redact",
            ] + (configuration.link == nil ? [] : ["link", "verbs"]),
            host: configuration.link?.host,
            you: HelloResult.Peer(
                connection: Int64(clamping: connection.id.number), uid: connection.peer.uid,
                gid: connection.peer.gid, pid: connection.peer.pid, user: connection.peer.user),
            limits: Limits.all.map {
                HelloResult.NamedLimit($0.name, Int64(limits[keyPath: $0.path]))
            })
        answer(call) { result.encode(into: &$0) }
    }
}
