// Reading: which fields, and what they have.

extension Engine {
    func stateGet(_ params: StateGet, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        let state = form.committed
        read(try matching(params.fields, form, state, call.connection), of: form, call)
    }

    func read(_ fields: some Collection<Int>, of form: LiveForm, _ call: PendingCall) {
        let state = form.committed
        answer(call) { writer in
            StateSnapshot.encode(
                form: form.name, log: form.log, revision: Revision(clamping: state.revision),
                into: &writer
            ) {
                state.writeToken(into: &$0)
            } fields: { writer in
                for index in fields {
                    writer.field(state.definition.controls[index].id, members: state.text(index))
                }
            }
        }
    }

    /// The fields that a read asks for, in form order.
    private func matching(
        _ names: [String]?, _ form: LiveForm, _ state: FormState, _ connection: Connection
    ) throws(WireError) -> [Int] {
        if let names, names.count == 1, Glob.isLiteral(names[0]) {
            // Nearly every read of a program names one field. It is looked up, however large the
            // form is.
            return [try index(of: names[0], form, state)]
        }
        let globs = names.map { GlobSet($0) }
        scheduler.spend(Self.units(matching: globs, fields: state.cells.count), connection.account)
        try requireMatches(globs, form, state)
        return state.indexes(matching: globs)
    }

    /// The units for matching globs against this many fields, or for sending them.
    static func units(matching globs: GlobSet?, fields: Int) -> Int {
        ((fields * (globs?.steps ?? 0)) >> 11) + (fields >> 4)
    }

    /// A glob without `*` and `?` is a field name, and the field must exist.
    func requireMatches(_ globs: GlobSet?, _ form: LiveForm, _ state: FormState) throws(WireError) {
        for name in globs?.literals ?? [] { _ = try index(of: name, form, state) }
    }

    /// The form with that name as readers see it, if the peer may read it.
    func readableForm(_ name: String, _ peer: Peer) throws(WireError) -> LiveForm {
        guard let form = durableForm(name) else { throw noForm(name, peer) }
        try require(.read, form, form.committed, nil, peer)
        return form
    }

    /// The form with that name as readers see it. While a form is being deleted and another one
    /// with its name is being created, that is the first.
    func durableForm(_ name: String) -> LiveForm? {
        if let form = form(named: name), form.isReadable { return form }
        return forms.first { $0.isReadable && $0.name.isSameBytes(as: name) }
    }

    /// The form with that name as edits see it.
    func editableForm(_ name: String, _ connection: Connection) throws(WireError) -> LiveForm {
        guard let form = form(named: name), form.isEditable else {
            throw noForm(name, connection.peer)
        }
        return form
    }

    /// Suggests only names of forms that the peer may read.
    func noForm(_ name: String, _ peer: Peer) -> WireError {
        let names = forms.filter { $0.isReadable && mayRead($0, peer) }.map(\.name)
        return .missing(
            "no form \"\(name.escapedForDisplay())\"", Similar.names(to: name, among: names),
            elseSee: "form list", form: name)
    }

    /// The index of a field, which must exist.
    func index(of id: String, _ form: LiveForm, _ state: FormState) throws(WireError) -> Int {
        guard let index = state.definition.index(of: id) else { throw noField(id, form, state) }
        return index
    }

    private func noField(_ id: String, _ form: LiveForm, _ state: FormState) -> WireError {
        .missing(
            "no field \"\(id.escapedForDisplay())\" in form \(form.name)",
            state.definition.idsSimilar(to: id), elseSee: "describe \(form.name)/",
            form: form.name, field: id)
    }
}

extension FormState {
    /// The indexes of matching fields, in form order; all fields without globs.
    func indexes(matching globs: GlobSet?) -> [Int] {
        guard let globs else { return Array(cells.indices) }
        return cells.indices.filter { globs.matches(definition.controls[$0].id) }
    }

    func fields(matching globs: GlobSet?) -> [NamedField] {
        indexes(matching: globs).map {
            NamedField(id: definition.controls[$0].id, state: field($0))
        }
    }
}

extension WireError {
    /// Something does not exist; these names are similar.
    fileprivate static func missing(
        _ what: String, _ similar: [String], elseSee command: String, form: String,
        field: String? = nil
    ) -> WireError {
        let hint = similar.first.map { "did you mean \($0)?" } ?? "see pickerctl \(command)"
        var error = WireError(.notFound, "\(what); \(hint)", form: form, field: field)
        error.similar = similar
        return error
    }
}
