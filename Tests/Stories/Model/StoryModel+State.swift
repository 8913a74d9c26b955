// The methods of `state`.

import SyncCore

extension StoryModel {
    /// The token of the present state.
    func shown(_ form: StoryForm) -> Token {
        Token(form: form.serial, writes: StoryWrites(upTo: form.writes), isShown: true)
    }

    func stateGet(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        let form = forms[place]
        let globs = request["fields"]?.arrayValue?.compactMap(\.stringValue)
        try requireFields(globs, place)
        let result = JSONObject([
            ("form", .string(form.name)), ("revision", .integer(form.revision)),
            ("fields", form.fields(matching(globs, form))),
        ])
        return Outcome(
            answer: .result(.object(result)), token: shown(form), log: form.serial)
    }

    // MARK: - Edits

    func requireEdit(_ change: JSON, _ place: Int, _ user: StoryUser) throws {
        let form = forms[place]
        let id = change["field"]?.stringValue ?? ""
        let action = change["press"] == nil ? "write" : "press"
        for one in [id] + form.definition.targets(id).filter({ $0 != id }) {
            try require(action, place, user, one)
            guard form.definition.control(one)?.isLocked ?? false,
                !may(user, "admin", form)
            else { continue }
            throw StoryRefusal("disabled", form: form.name, field: one)
        }
    }

    /// The writes that the sender of an edit had seen.
    private func sight(
        _ token: JSON?, _ form: StoryForm, _ peer: StoryPeer
    ) throws -> StorySight {
        guard var writes = try writes(token, form) else { return .everything }
        for write in peer.own[form.serial] ?? [] { writes.insert(write) }
        return .only(writes)
    }

    mutating func set(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        let form = forms[place]
        try require("read", place, peer.user)
        let seen = try sight(request["context"], form, peer)
        let isStrict = request["require"] != nil
        var transaction = StoryTransaction(form, by: peer.author)
        transaction.lease = request["lease"].map { StoryLeaseEnd($0["until"]?.stringValue) }
        let changes = request["changes"]?.arrayValue ?? []
        for change in changes {
            let id = change["field"]?.stringValue ?? ""
            try requireField(id, place)
            try requireEdit(change, place, peer.user)
            guard request["message"] != nil || !form.definition.needsMessage(id) else {
                throw StoryRefusal("invalidParams", form: form.name, field: id)
            }
            if transaction.lease != nil {
                let targets = form.definition.targets(id)
                let isSet = ["value", "toggle", "move", "reset"].contains { change[$0] != nil }
                guard isSet, !targets.isEmpty,
                    targets.allSatisfy({ form.contents[$0]?.canLease ?? false })
                else { throw StoryRefusal("invalidParams", form: form.name, field: id) }
            }
            let own = try change["context"].map { try sight($0, form, peer) } ?? seen
            if isStrict { try requireCurrent([id], own, form) }
            try transaction.apply(change, to: id, own)
        }
        let more = request["requireFields"]?.arrayValue?.compactMap(\.stringValue) ?? []
        for id in more { try requireField(id, place) }
        try requireCurrent(more, seen, form)
        try requireEnabled(transaction, form)
        let said = try self.said(request, changes, form)
        let guards = form.guardsMet(by: transaction)
        if !guards.isEmpty, request["propose"] != nil {
            return try propose(transaction, guards, place, peer, request, seen)
        }
        let isBroken = try !guards.isEmpty && mayBreakGlass(guards, request, place, peer)
        let outcome = finish(
            transaction, place, .set, peer, said: said, skipped: nil, message: request["message"],
            approval: isBroken ? [("breakGlass", true)] : [])
        if isBroken { endProposals(on: transaction.written.union(guards), place) }
        return outcome
    }

    private mutating func propose(
        _ transaction: StoryTransaction, _ guards: [String], _ place: Int, _ peer: StoryPeer,
        _ request: StoryRequest, _ seen: StorySight
    ) throws -> Outcome {
        let form = forms[place]
        let written = form.definition.controls.filter { transaction.written.contains($0.id) }
        if let secret = written.first(where: { $0.kind == .secure }) {
            throw StoryRefusal("invalidParams", form: form.name, field: secret.id)
        }
        let deciding = form.deciding(guards).filter { !form.isButton($0) }
        try requireCurrent(deciding, seen, form)
        for change in request["changes"]?.arrayValue ?? [] {
            let id = change["field"]?.stringValue ?? ""
            if form.isButton(id) { continue }
            try requireCurrent(
                [id], try change["context"].map { try sight($0, form, peer) } ?? seen, form)
        }
        func presses(_ form: StoryForm, _ id: String) -> Int {
            Int(form.stored(id).value["presses"]?.integerValue ?? 0)
        }
        let changes = written.map {
            control -> (field: String, action: (String, JSON), was: JSON?) in
            let id = control.id
            if control.kind == .button {
                let count = presses(transaction.form, id) - presses(form, id)
                return (id, ("press", .integer(count)), nil)
            }
            let isSet = transaction.form.stored(id).isSet
            return (
                id, isSet ? ("value", transaction.form.shown(id).value) : ("reset", true),
                form.shown(id).value
            )
        }
        let watched = form.definition.controls.map(\.id).filter { id in
            !form.isButton(id) && (transaction.written.contains(id) || deciding.contains(id))
        }
        let lease = transaction.lease?.text.map {
            JSON.object(JSONObject([("until", .string($0))]))
        }
        return try propose(
            .values(changes, lease: lease), guards, place, peer, request["message"],
            named: form.definition.controls.map(\.id).filter(transaction.named.contains),
            watched: watched)
    }

    /// Refuses what changes a guarded field.
    func requireApproval(_ transaction: StoryTransaction, _ form: StoryForm) throws {
        guard let first = form.guardsMet(by: transaction).first else { return }
        throw StoryRefusal("approvalNeeded", form: form.name, field: first)
    }

    private func requireCurrent(
        _ ids: [String], _ sight: StorySight, _ form: StoryForm
    ) throws {
        let trial = StoryTransaction(
            form,
            by: StoryAuthor(user: "", uid: 0, client: nil, tty: nil, connection: 0))
        let stale = ids.filter { id in
            !form.definition.targets(id).allSatisfy { trial.isCurrent($0, sight) }
        }
        let first = form.definition.controls.map(\.id).first(where: stale.contains)
        if let first { throw StoryRefusal("conflict", form: form.name, field: first) }
    }

    private func requireEnabled(_ transaction: StoryTransaction, _ form: StoryForm) throws {
        for id in transaction.named where !transaction.form.isEnabled(id) {
            throw StoryRefusal("disabled", form: form.name, field: id)
        }
    }

    /// The writes that the token of the answer continues.
    private func said(
        _ request: StoryRequest, _ changes: [JSON], _ form: StoryForm
    ) throws -> StoryWrites {
        if let writes = try writes(request["context"], form) { return writes }
        let claims = try changes.compactMap { try parsed($0["context"]) }
        // The claim that all others include, if there is one.
        guard let least = claims.first(where: { claims.allSatisfy($0.isSubset(of:)) }) else {
            return StoryWrites()
        }
        return epochs.writes(of: least, form)
    }

    mutating func finish(
        _ transaction: StoryTransaction, _ place: Int, _ kind: StoryJournal.Kind,
        _ peer: StoryPeer, said: StoryWrites, skipped: [String]?, message: JSON?,
        approval: [(String, JSON)] = []
    ) -> Outcome {
        let serial = forms[place].serial
        let fields = forms[place].take(
            transaction, kind: kind, session: peer.session, message: message, approval: approval)
        var writes = said
        for write in transaction.newWrites {
            writes.insert(write)
            peers[peer.connection]?.own[serial, default: []].insert(write)
        }
        if !transaction.written.isEmpty || !transaction.leased.isEmpty { publish(place) }
        var result = JSONObject([
            ("form", .string(forms[place].name)),
            ("revision", .integer(forms[place].revision)), ("fields", fields),
        ])
        result["skipped"] = skipped.map { .array($0.map { .string($0) }) }
        if !transaction.presses.isEmpty { serve(place) }
        return Outcome(
            answer: .result(.object(result)),
            token: Token(form: serial, writes: writes, isShown: false),
            presses: (serial, transaction.presses))
    }

    // MARK: - Undo

    mutating func takeBack(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        try require("read", place, peer.user)
        let field = request["field"]?.stringValue
        if let field { try requireField(field, place) }
        let isUndo = request.method == "state.undo"
        let isMine = request["scope"]?.stringValue != "anyone"
        let owner = isMine ? StoryOwner(uid: peer.user.uid, session: peer.session) : nil
        let form = forms[place]
        guard let entry = form.journal.newest(isUndo: isUndo, owner: owner, field: field) else {
            throw StoryRefusal("conflict", form: form.name, field: field)
        }
        var transaction = StoryTransaction(form, by: peer.author)
        transaction.isUndo = true
        var skipped: [String] = []
        var steps = entry.steps
        while let step = steps.popLast() {
            guard let control = form.definition.control(step.field) else {
                skipped.append(step.field)
                continue
            }
            try requireEdit(
                .object(JSONObject([("field", .string(step.field)), ("reset", true)])), place,
                peer.user)
            if try !transaction.takeBack(step, control) { skipped.append(step.field) }
        }
        guard !transaction.named.isEmpty else {
            forms[place].journal.giveUp(entry.revision, fields: skipped)
            let fields = entry.steps.map(\.field)
            let first = form.definition.controls.map(\.id).first(where: fields.contains)
            throw StoryRefusal("conflict", form: form.name, field: first)
        }
        try requireEnabled(transaction, form)
        try requireApproval(transaction, form)
        forms[place].journal.consume(entry)
        transaction.keep(forms[place].journal)
        return finish(
            transaction, place, isUndo ? .undo : .redo, peer, said: StoryWrites(),
            skipped: skipped,
            message: request["message"] ?? .string("undoes revision \(entry.revision)"))
    }

    // MARK: - History

    func history(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        let field = request["field"]?.stringValue
        if let field { try requireField(field, place) }
        let form = forms[place]
        let limit = Int(min(request["limit"]?.integerValue ?? 50, 1000))
        let before = request["before"]?.integerValue.map { Int($0) } ?? form.revision + 1
        let older = form.revisions.filter { $0.number < before }.reversed()
        let entries = older.compactMap { revision -> JSON? in
            guard let field, var entry = revision.entry.objectValue else {
                return revision.entry
            }
            let changes = (entry["changes"]?.arrayValue ?? []).filter {
                $0["field"] == .string(field)
            }
            if changes.isEmpty { return nil }
            entry["changes"] = .array(changes)
            return .object(entry)
        }
        return Outcome(
            answer: .result(
                .object(
                    JSONObject([
                        ("entries", .array(Array(entries.prefix(limit)))),
                        ("more", .bool(entries.count > limit)),
                    ]))))
    }

    func reveal(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        let id = request["field"]?.stringValue ?? ""
        try requireField(id, place)
        let form = forms[place]
        guard form.definition.control(id)?.kind == .secure,
            let target = form.definition.targets(id).first
        else { throw StoryRefusal("invalidValue", form: form.name, field: id) }
        try require("reveal", place, peer.user, id)
        var value = JSON.null
        if case .secret(let secret?, _) = form.contents[target] { value = .string(secret) }
        return Outcome(answer: .result(.object(JSONObject([("value", value)]))))
    }
}
