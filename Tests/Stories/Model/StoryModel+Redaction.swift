// `history.redact`.

import SyncCore

extension StoryModel {
    /// Overwrites the message of a revision, and makes a revision that says so.
    mutating func redact(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        try require("admin", place, peer.user)
        let form = forms[place]
        guard let number = request["revision"]?.integerValue,
            let past = form.revisions.firstIndex(where: { $0.number == Int(number) }),
            form.revisions[past].entry["message"] != nil
        else { throw StoryRefusal("notFound", form: form.name) }
        forms[place].redact(past, by: peer.author, message: request["message"])
        publish(place)
        return Outcome(
            answer: .result(
                .object(
                    JSONObject([
                        ("form", .string(form.name)),
                        ("revision", .integer(forms[place].revision)),
                    ]))))
    }
}

extension StoryForm {
    fileprivate mutating func redact(_ past: Int, by author: StoryAuthor, message: JSON?) {
        let redacted: JSON = "redacted"
        revisions[past].entry = revisions[past].entry.with(redacted, of: ["message"])
        revisions[past].notice = revisions[past].notice.with(redacted, of: ["params", "message"])
        if let id = revisions[past].entry["proposal"]?.integerValue,
            let proposal = proposals.firstIndex(where: { $0.id == Int(id) })
        {
            proposals[proposal].message = redacted
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
