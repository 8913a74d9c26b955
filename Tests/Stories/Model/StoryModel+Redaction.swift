// `history.redact`.

import SyncCore

extension StoryModel {
    /// Overwrites the message of a revision, and makes a revision that says so.
    mutating func redact(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let (place, past) = try redacted(by: request, peer)
        let name = forms[place].name
        forms[place].redact(past, by: peer.author, message: request["message"])
        publish(place)
        return Outcome(
            answer: .result(
                .object(
                    JSONObject([
                        ("form", .string(name)),
                        ("revision", .integer(forms[place].revision)),
                    ]))))
    }

    /// The revision whose message a request overwrites.
    private func redacted(
        by request: StoryRequest, _ peer: StoryPeer
    ) throws -> (place: Int, past: Int) {
        let place = try readable(request, peer.user)
        try require("admin", place, peer.user)
        let form = forms[place]
        guard let number = request["revision"]?.integerValue,
            let past = form.revisions.firstIndex(where: { $0.number == Int(number) }),
            form.revisions[past].entry["message"] != nil
        else { throw StoryRefusal("notFound", form: form.name) }
        return (place, past)
    }

    /// Whether a notification is the one that is due. A client that reads earlier revisions may get
    /// it with its message or, after a redaction, without.
    func isSame(_ told: JSON, as due: JSON) -> Bool {
        if told == due { return true }
        guard let revision = told["params"]?["revision"],
            due.with("redacted", of: ["params", "message"]) == told
        else { return false }
        return forms.contains { form in
            told["params"]?["form"] == .string(form.name)
                && form.revisions.contains { $0.entry["redacts"] == revision }
        }
    }

    /// What a read may be answered that was begun before redactions of other connections and ended
    /// after them: all as it was, without the messages.
    func readingsDuringRedactions(
        _ request: StoryRequest, by connection: Int
    ) -> [Possibility] {
        guard request.method == "state.history" || request.method == "state.explain" else {
            return []
        }
        let others = redactionsUnderWay.filter { $0.connection != connection }
        let sets = others.count > 1 ? others.map { [$0] } + [others] : [others]
        return sets.compactMap { redactions in
            var known = self
            var isChanged = false
            for (connection, request) in redactions {
                guard let peer = peers[connection],
                    let (place, past) = try? known.redacted(by: request, peer)
                else { continue }
                known.forms[place].overwriteMessage(ofRevisionAt: past)
                isChanged = true
            }
            guard isChanged else { return nil }
            return (self, known.perform(request, by: connection))
        }
    }
}

extension StoryForm {
    fileprivate mutating func overwriteMessage(ofRevisionAt past: Int) {
        let redacted: JSON = "redacted"
        revisions[past].entry = revisions[past].entry.with(redacted, of: ["message"])
        revisions[past].notice = revisions[past].notice.with(redacted, of: ["params", "message"])
    }

    fileprivate mutating func redact(_ past: Int, by author: StoryAuthor, message: JSON?) {
        overwriteMessage(ofRevisionAt: past)
        if let id = revisions[past].entry["proposal"]?.integerValue,
            let proposal = proposals.firstIndex(where: { $0.id == Int(id) })
        {
            proposals[proposal].message = "redacted"
        }
        let number = JSON.integer(revisions[past].number)
        revision += 1
        var entry = JSONObject([
            ("revision", .integer(revision)), ("by", author.json), ("kind", "redact"),
            ("changes", []), ("redacts", number),
        ])
        entry["message"] = message
        revisions.append(
            Revision(
                number: revision,
                notice: StoryWire.notification(
                    "state.changed",
                    [
                        ("form", .string(name)), ("revision", .integer(revision)),
                        ("changes", []), ("redacts", number),
                    ], message), touched: [], entry: .object(entry), writes: writes))
    }
}

extension JSON {
    /// The object with another value of a member, which it has, on a path.
    fileprivate func with(_ value: JSON, of path: ArraySlice<String>) -> JSON {
        guard let name = path.first, var object = objectValue, let old = object[name] else {
            return self
        }
        object[name] = path.count == 1 ? value : old.with(value, of: path.dropFirst())
        return .object(object)
    }

    fileprivate func with(_ value: JSON, of path: [String]) -> JSON { with(value, of: path[...]) }
}
