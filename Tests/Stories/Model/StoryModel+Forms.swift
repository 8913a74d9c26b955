// The methods of `form`.

import SyncCore

extension StoryModel {
    func list(for user: StoryUser) -> JSON {
        let rows = forms.filter { may(user, "read", $0) }.map { form in
            var row = JSONObject([("form", .string(form.name))])
            row["title"] = form.definition.title.map { .string($0) }
            row["version"] = .integer(form.version)
            row["revision"] = .integer(form.revision)
            row["fields"] = .integer(form.definition.controls.count)
            row["subscribers"] = .integer(
                peers.values.count { $0.subscriptions[form.serial] != nil })
            row["proposals"] = form.waitingProposals.map {
                .integer($0.arrayValue?.count ?? 0)
            }
            return JSON.object(row)
        }
        return .object(JSONObject([("forms", .array(rows))]))
    }

    func formGet(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let form = forms[try readable(request, peer.user)]
        let result = JSONObject([
            ("form", .string(form.name)), ("version", .integer(form.version)),
            ("revision", .integer(form.revision)), ("definition", form.definition.json),
        ])
        return Outcome(answer: .result(.object(result)), log: form.serial)
    }

    // MARK: - Definitions

    mutating func apply(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        guard let json = request["definition"], json.objectValue != nil else {
            throw StoryRefusal("invalidParams")
        }
        let name = json["form"]?.stringValue
        let place = name.flatMap { self.place(of: $0) }
        if let place {
            try require("admin", place, peer.user)
        } else if !peer.user.isAdmin {
            throw StoryRefusal("forbidden", form: name)
        }
        guard let file = StoryDefinition(json), file.isValid else {
            throw StoryRefusal("invalidParams", form: name)
        }
        let isDryRun = request["dryRun"]?.boolValue ?? false
        let wanted = request["ifVersion"]?.integerValue.map { Int($0) }
        if let place {
            let form = forms[place]
            if let wanted, wanted != form.version {
                throw StoryRefusal("conflict", form: name)
            }
            if file.json == form.applied.json {
                let plan = form.migration(to: form.keepingOptions(file))
                return Outcome(answer: .result(applied(form, plan, isCreated: false)))
            }
            let new = form.keepingOptions(file)
            let plan = form.migration(to: new)
            let guards = guardsMet(by: new, applied: file, place)
            if !guards.isEmpty, !isDryRun, request["propose"] != nil {
                return try propose(
                    .definition(json), guards, place, peer, request["message"])
            }
            var approval: [(String, JSON)] = []
            if !guards.isEmpty {
                if isDryRun {
                    guard request["propose"] != nil || request["breakGlass"] != nil else {
                        throw StoryRefusal("approvalNeeded", form: name, field: guards[0])
                    }
                } else if try mayBreakGlass(guards, request, place, peer) {
                    approval = [("breakGlass", true)]
                }
            }
            if !isDryRun {
                redefine(
                    place, new, applied: file, "apply", peer.author, request["message"],
                    approval: approval)
                if !approval.isEmpty { endProposals(on: Set(guards), place) }
            }
            let result = applied(isDryRun ? form : forms[place], plan, isCreated: false)
            if !isDryRun { adoptRuns(place, before: form) }
            return Outcome(answer: .result(result))
        }
        guard forms.count(where: { $0.owner == peer.user.uid }) < bounds.formsPerUser else {
            throw StoryRefusal("limit")
        }
        if let wanted, wanted != 0 { throw StoryRefusal("conflict", form: name) }
        var form = StoryForm(serial: 0, owner: peer.user.uid, file)
        var plan = StoryForm.Migration()
        plan.added = file.controls.map(\.id)
        if !isDryRun {
            form = StoryForm(serial: newSerial(), owner: peer.user.uid, file)
            form.epochs = [(epochs.present, 0)]
            form.redefine(
                file, applied: file, kind: "apply", by: peer.author, message: request["message"])
            forms.append(form)
            tell(form.listing(request["message"]), of: form)
        }
        form.version = 1
        return Outcome(answer: .result(applied(form, plan, isCreated: true)))
    }

    private func applied(
        _ form: StoryForm, _ plan: StoryForm.Migration, isCreated: Bool
    ) -> JSON {
        func list(_ ids: [String]) -> JSON { .array(ids.map { .string($0) }) }
        return .object(
            JSONObject([
                ("form", .string(form.name)), ("version", .integer(form.version)),
                ("revision", .integer(form.revision)), ("created", .bool(isCreated)),
                ("added", list(plan.added)), ("kept", list(plan.kept)),
                ("invalid", list(plan.invalid)), ("reset", list(plan.reset)),
                ("removed", list(plan.removed)),
            ]))
    }

    mutating func setOptions(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        try require("admin", place, peer.user)
        let form = forms[place]
        let id = request["field"]?.stringValue ?? ""
        try requireField(id, place)
        let options = request["options"]?.arrayValue ?? []
        guard form.definition.control(id)?.hasOptions ?? false,
            let new = form.settingOptions(of: id, to: options)
        else { throw StoryRefusal("invalidValue", form: form.name, field: id) }
        let plan = form.migration(to: new)
        let isNew = new.json != form.definition.json
        if isNew {
            let guards = guardsMet(by: new, applied: form.applied, place)
            if !guards.isEmpty, request["propose"] != nil {
                return try propose(
                    .options(id, options), guards, place, peer, request["message"])
            }
            let isBroken = try !guards.isEmpty && mayBreakGlass(guards, request, place, peer)
            redefine(
                place, new, applied: form.applied, "options", peer.author, request["message"],
                approval: isBroken ? [("breakGlass", true)] : [])
            if isBroken { endProposals(on: Set(guards), place) }
        }
        let result = applied(forms[place], plan, isCreated: false)
        if isNew { adoptRuns(place, before: form) }
        return Outcome(answer: .result(result))
    }

    mutating func delete(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        try require("admin", place, peer.user)
        let guards = forms[place].definition.controls.filter { $0.approval != nil }.map(\.id)
        if !guards.isEmpty { _ = try mayBreakGlass(guards, request, place, peer) }
        let form = forms.remove(at: place)
        let notice = form.deletion(at: form.revision + 1, request["message"])
        for connection in Array(peers.keys) {
            guard
                let subscription = peers[connection]?.subscriptions.removeValue(
                    forKey: form.serial)
            else { continue }
            peers[connection]?.endings.append(
                StoryPeer.Ending(form: form, subscription: subscription, deletion: notice))
        }
        presence[form.serial] = nil
        tell(notice, of: form)
        return Outcome(answer: .result(.object(JSONObject())))
    }

    mutating func redefine(
        _ place: Int, _ new: StoryDefinition, applied: StoryDefinition, _ kind: String,
        _ author: StoryAuthor, _ message: JSON?, approval: [(String, JSON)] = []
    ) {
        forms[place].redefine(
            new, applied: applied, kind: kind, by: author, message: message, approval: approval)
        let form = forms[place]
        publish(place)
        for (connection, peer) in peers {
            guard let subscription = peer.subscriptions[form.serial],
                !may(peer.user, "read", form)
            else { continue }
            // Who loses the right to read is not notified of this revision, but may still be of
            // earlier ones.
            peers[connection]?.subscriptions[form.serial]?.due = subscription.due.dropLast()
            end(form.serial, of: connection)
            peers[connection]?.endings.append(
                StoryPeer.Ending(
                    form: form, subscription: StoryPeer.Subscription(presence: false),
                    deletion: form.deletion(at: form.revision)))
        }
        tell(form.listing(message), of: form)
    }

    /// Notifies those who watch the list of forms and may read the form now.
    private mutating func tell(_ notice: JSON, of form: StoryForm) {
        for (connection, peer) in peers where peer.watchesForms && may(peer.user, "read", form) {
            peers[connection]?.listings.append(notice)
        }
    }

    // MARK: - Watching

    /// Notifies every subscriber of the newest revision.
    mutating func publish(_ place: Int) {
        guard let revision = forms[place].revisions.last else { return }
        let serial = forms[place].serial
        for (connection, peer) in peers {
            guard let subscription = peer.subscriptions[serial],
                Self.wants(revision, subscription.globs)
            else { continue }
            peers[connection]?.subscriptions[serial]?.due.append(revision)
        }
        // A subscription that its connection ended meanwhile may have got this revision before.
        for (connection, peer) in peers where connection != acting {
            for (place, ended) in peer.ended.enumerated()
            where ended.form == serial && Self.wants(revision, ended.subscription.globs) {
                peers[connection]?.ended[place].subscription.due.append(revision)
            }
        }
    }

    static func wants(_ revision: StoryForm.Revision, _ globs: [String]?) -> Bool {
        guard let globs, let touched = revision.touched else { return true }
        return touched.contains { id in globs.contains { StoryRules.matches(id, $0) } }
    }

    mutating func subscribe(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        let form = forms[place]
        let globs = request["fields"]?.arrayValue?.compactMap(\.stringValue)
        try requireFields(globs, place)
        if peer.subscriptions[form.serial] == nil {
            let count = peers.values.filter { $0.user.uid == peer.user.uid }
                .reduce(0) { $0 + $1.subscriptions.count }
            guard count < bounds.subscriptionsPerUser else { throw StoryRefusal("limit") }
        }
        let presence = request["presence"]?.boolValue ?? false
        var subscription = StoryPeer.Subscription(globs: globs, presence: presence)
        subscription.answer = peers[peer.connection]?.request ?? 0
        var resumed = false
        if let since = request["since"], let log = since["log"]?.stringValue, log == form.log,
            let seen = since["revision"]?.integerValue, seen <= form.revision
        {
            resumed = true
            subscription.due = form.revisions.filter {
                $0.number > seen && Self.wants($0, globs)
            }
        }
        end(form.serial, of: peer.connection)
        peers[peer.connection]?.subscriptions[form.serial] = subscription
        if presence { note(peer, at: form.serial, focus: nil, draft: nil) }
        var result = JSONObject([
            ("form", .string(form.name)), ("revision", .integer(form.revision)),
            ("resumed", .bool(resumed)),
        ])
        if !resumed { result["fields"] = form.fields(matching(globs, form)) }
        result["proposals"] = form.waitingProposals
        return Outcome(
            answer: .result(.object(result)), token: shown(form), log: form.serial)
    }

    func matching(_ globs: [String]?, _ form: StoryForm) -> [String] {
        form.definition.controls.map(\.id).filter { id in
            globs?.contains { StoryRules.matches(id, $0) } ?? true
        }
    }

    mutating func unsubscribe(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let name = request["form"]?.stringValue ?? ""
        if let place = place(of: name) {
            end(forms[place].serial, of: peer.connection)
        } else {
            throw StoryRefusal("notFound", form: name)
        }
        return Outcome(answer: .result(.object(JSONObject())))
    }

    /// `state.unsubscribe` of a form that was deleted, before the connection was notified of that;
    /// `nil` if it was.
    func endingEarly(_ request: StoryRequest, by connection: Int) -> StoryModel? {
        let name = request["form"]?.stringValue
        guard request.method == "state.unsubscribe", StoryRules.fault(of: request) == nil,
            let peer = peers[connection],
            let place = peer.endings.firstIndex(where: { $0.form.name == name })
        else { return nil }
        var result = self
        let ending = peer.endings[place]
        result.peers[connection]?.endings.remove(at: place)
        result.peers[connection]?.ended.append(
            (ending.form.serial, ending.subscription, peer.request))
        if let deletion = ending.deletion {
            result.peers[connection]?.formerListings.append(deletion)
        }
        return result
    }

    /// Ends a subscription, and the presence of its connection.
    mutating func end(_ serial: Int, of connection: Int) {
        if let ended = peers[connection]?.subscriptions.removeValue(forKey: serial) {
            let answer = connection == acting ? peers[connection]?.request ?? 0 : .max
            peers[connection]?.ended.append((serial, ended, answer))
        }
        presence[serial]?[connection] = nil
    }

    /// Removes a connection.
    mutating func disconnect(_ connection: Int) {
        peers[connection] = nil
        leaveRuns(connection)
        for serial in Array(presence.keys) { presence[serial]?[connection] = nil }
    }

    /// Updates the presence of a connection.
    mutating func note(_ peer: StoryPeer, at serial: Int, focus: String?, draft: JSON?) {
        let author = peer.author
        var object = JSONObject([
            ("connection", .integer(author.connection)), ("user", .string(peer.user.name)),
        ])
        object["client"] = author.client.map { .string($0) }
        object["tty"] = author.tty.map { .string($0) }
        object["focus"] = focus.map { .string($0) } ?? .null
        object["draft"] = draft
        presence[serial, default: [:]][peer.connection] = .object(object)
    }

    mutating func presenceUpdate(
        _ request: StoryRequest, _ peer: StoryPeer
    ) throws -> Outcome {
        let place = try readable(request, peer.user)
        let form = forms[place]
        guard peer.subscriptions[form.serial] != nil else {
            throw StoryRefusal("invalidParams", form: form.name)
        }
        let focus = request["focus"]?.stringValue
        if let focus { try requireField(focus, place) }
        var draft = request["draft"]
        if let proposed = draft {
            guard let focus, let control = form.definition.control(focus) else {
                throw StoryRefusal("invalidParams", form: form.name)
            }
            let invalid = StoryRefusal("invalidValue", form: form.name, field: focus)
            if control.kind == .secure { throw invalid }
            var change = JSONObject([("field", .string(focus))])
            change["value"] = proposed
            try requireEdit(.object(change), place, peer.user)
            var trial = StoryTransaction(form, by: peer.author)
            draft = try trial.admitted(proposed, focus)
        }
        note(peer, at: form.serial, focus: focus, draft: draft)
        return Outcome(answer: .result(.object(JSONObject())))
    }
}
