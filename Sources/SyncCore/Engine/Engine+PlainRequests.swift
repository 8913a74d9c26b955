// Plain requests: from the bytes of a frame to the execution, without a `Request`.

extension Engine {
    /// Executes a plain request. Returns `false` and does nothing if it cannot be executed now, if
    /// the form or field does not exist, or if another host has it. Then the frame is decoded into
    /// a `Request`, and `perform` makes it wait or answers it.
    func executePlain(_ plain: borrowing PlainRequest, _ connection: Connection) -> Bool {
        guard connection.isIntroduced else { return false }
        switch plain.content {
        case .ping:
            return execute(plain.id, .neither, connection) { call throws(WireError) in
                answer(call) { EmptyResult().encode(into: &$0) }
            }
        case .get(let name, let field):
            // No field has a glob as its id.
            guard let form = registry.look(up: name), form.isReadable,
                let control = form.committed.definition.index(of: field)
            else { return false }
            return execute(plain.id, .read, connection) { call throws(WireError) in
                try require(.read, form, form.committed, nil, connection.peer)
                read(CollectionOfOne(control), of: form, call)
            }
        case .set(let edit): return executeSet(plain.id, edit, connection)
        }
    }

    @inline(__always)
    private func executeSet(
        _ id: PlainRequest.Text, _ edit: borrowing PlainRequest.Edit, _ connection: Connection
    ) -> Bool {
        guard let form = registry.look(up: edit.form), form.isEditable,
            let control = form.working.definition.index(of: edit.field),
            !edit.action.isPress || hostHandling(control, of: form) == nil
        else { return false }
        var key: PendingCall.KeyUse?
        if let text = edit.idempotencyKey {
            key = use(of: String(plain: text), connection) { edit.encode(into: &$0) }
        }
        return execute(id, .edit, connection, key) { call throws(WireError) in
            try set(control, of: form, edit, call)
        }
    }

    @inline(__always)
    private func execute(
        _ id: PlainRequest.Text, _ kind: Admission.Kind, _ connection: Connection,
        _ key: PendingCall.KeyUse? = nil, _ body: (PendingCall) throws(WireError) -> Void
    ) -> Bool {
        var call = PendingCall(
            connection: connection, id: RequestID(rawText: String(plain: id)),
            target: .slot(.unowed), key: key)
        if key != nil || !runsAtOnce(kind, connection) {
            guard case .run = admit(kind, call) else { return false }
        }
        counters.requests += 1
        call.target = .slot(connection.answers.reserve())
        charge(connection) {
            run(kind, call) { () throws(WireError) in try body(call) }
        }
        return true
    }
}
