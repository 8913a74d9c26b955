// Encrypts values of secure fields, and decrypts them for those who may see them.

extension Engine {
    /// Notes that secrets may arrive if a definition has a secure control. This holds for the rest
    /// of the run.
    func expectSecrets(of definition: FormDefinition) {
        if registry.noteSecrets(in: definition) { environment.keepMemoryClean() }
    }

    /// Frees, and so clears, the writer's buffer if it may contain a secret.
    func forgetWritten() { if registry.keepsSecrets { workspace.writer = JSONWriter() } }

    func seal(_ secret: String, _ form: LiveForm, _ index: Int, _ dot: Dot) -> [UInt8]? {
        environment.seal(Array(secret.utf8), Self.place(of: form, form.working, index, dot))
    }

    /// The associated data of a control's encrypted value: form, field and dot, so it can be
    /// decrypted only there. Where the form is shared, the id of the store, which all hosts have.
    static func place(
        of form: LiveForm, _ state: FormState, _ index: Int, _ dot: Dot
    ) -> [UInt8] {
        place(
            form.name, state.shared?.storeIDs[index] ?? state.definition.controls[index].id, dot)
    }

    static func place(_ form: String, _ field: String, _ dot: Dot) -> [UInt8] {
        Array("\(form)/\(field)/\(ContextToken.render(CausalContext(dots: [dot])))".utf8)
    }

    func reveal(_ params: StateReveal, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        let state = form.committed
        let control = try index(of: params.field, form, state)
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
                [.event(.revealed), .form(form.name), .field(id)] + call.connection.peer.logFields))
        var value = JSON.null
        if case .sealed(let register) = state.cells[target].store, let secret = register.secret,
            let bytes = secret.bytes
        {
            let place = Self.place(of: form, state, target, secret.dot)
            guard let plain = environment.open(bytes, place),
                let text = String(validating: plain, as: UTF8.self)
            else {
                throw WireError(
                    .unavailable, "the key that sealed \(id) is not on this host; set it again",
                    form: form.name, field: id)
            }
            value = .string(text)
        }
        let result = RevealResult(value: value)
        answer(call) { result.encode(into: &$0) }
    }
}
