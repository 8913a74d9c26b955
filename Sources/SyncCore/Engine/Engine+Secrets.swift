// Sealing what a secure field is given, and showing it to those who may.

extension Engine {
    /// Notes whether secrets may come from now on; they may for as long as the daemon runs.
    func expectSecrets(of definition: FormDefinition) {
        guard !keepsSecrets, definition.controls.contains(where: { $0.type == .secure }) else {
            return
        }
        keepsSecrets = true
        environment.keepMemoryClean()
    }

    /// What was written is freed, and so is wiped, where it may have been a secret.
    func forgetWritten() {
        if keepsSecrets { writer = JSONWriter() }
    }

    func seal(
        _ secret: String, _ form: LiveForm, _ field: String, _ dot: Dot
    ) -> [UInt8]? {
        environment.seal(Array(secret.utf8), Self.place(of: form, field, dot))
    }

    /// What a sealed value is bound to: form, field and dot, so that it opens nowhere else.
    static func place(of form: LiveForm, _ field: String, _ dot: Dot) -> [UInt8] {
        Array("\(form.name)/\(field)/\(ContextToken.render(CausalContext(dots: [dot])))".utf8)
    }

    func reveal(_ params: StateReveal, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.connection)
        let state = form.committed
        guard let control = state.definition.index(of: params.field) else {
            throw noField(params.field, form, state)
        }
        let id = state.definition.controls[control].id
        guard state.definition.controls[control].type == .secure,
            let target = state.definition.targets[control].first
        else {
            throw WireError(
                .invalidValue, "\(id) is not a secure field; read it with state.get",
                form: form.name, field: id, expected: "a secure field")
        }
        for place in [control, target] {
            try require(.reveal, form, state, place, call.connection.peer)
        }
        try audit(
            form.name,
            LogEntry(
                .notice, "\(call.connection.peer.whom) revealed \(form.name)/\(id)",
                [.event(.revealed), .form(form.name), .field(id)]
                    + call.connection.peer.logFields))
        var value = JSON.null
        if case .sealed(let register) = state.cells[target].store, let secret = register.secret,
            let bytes = secret.bytes
        {
            let place = Self.place(of: form, state.definition.controls[target].id, secret.dot)
            guard let plain = environment.open(bytes, place),
                let text = String(validating: plain, as: UTF8.self)
            else {
                throw WireError(
                    .unavailable, "the key that sealed \(id) is lost; set it again",
                    form: form.name, field: id)
            }
            value = .string(text)
        }
        let result = RevealResult(value: value)
        answer(call) { result.encode(into: &$0) }
    }
}
