// `state.explain`.

import SyncCore

extension StoryModel {
    /// Value, last change and permission, now or at an earlier revision. The other facts are tested
    /// in ExplainTests.
    func explain(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try readable(request, peer.user)
        let id = request["field"]?.stringValue ?? ""
        try requireField(id, place)
        let form = forms[place]
        var facts: [String: JSON] = ["form": .string(form.name), "field": .string(id)]
        if let at = request["at"]?.integerValue.map({ Int($0) }), at < form.revision {
            facts["revision"] = .integer(at)
            let last = form.revisions.last { $0.number <= at && $0.change(of: id) != nil }
            facts["change"] = Self.change(last, number: at)
            facts["state"] = last?.change(of: id)
            return Outcome(answer: .partial(facts))
        }
        if let at = request["at"]?.integerValue, at > Int64(form.revision) {
            throw StoryRefusal("invalidParams", form: form.name, field: id)
        }
        facts["revision"] = .integer(form.revision)
        let reading = form.reading(id)
        facts["state"] = .object(reading.json)
        if reading.revision > 0 {
            let last = form.revisions.last { $0.number == reading.revision }
            facts["change"] = Self.change(last, number: reading.revision)
        }
        guard form.definition.control(id)?.kind != .label else {
            return Outcome(answer: .partial(facts))
        }
        let isButton = form.definition.control(id)?.kind == .button
        let edit = JSONObject([("field", .string(id)), (isButton ? "press" : "reset", true)])
        let isPermitted = (try? requireEdit(.object(edit), place, peer.user)) != nil
        let mayEdit = isPermitted && form.isEnabled(id) && !form.isAlwaysAsked(id)
        facts["may"] = .object(JSONObject([("edit", .bool(mayEdit))]))
        return Outcome(answer: .partial(facts))
    }

    private static func change(_ revision: StoryForm.Revision?, number: Int) -> JSON {
        guard let revision else {
            return .object(JSONObject([("revision", .integer(number)), ("gone", true)]))
        }
        var change = JSONObject([("revision", .integer(revision.number))])
        change["kind"] = revision.entry["kind"]
        change["message"] = revision.entry["message"]
        return .object(change)
    }
}

extension StoryForm.Revision {
    /// The state of a field as the notification told it; `nil` if it did not.
    fileprivate func change(of id: String) -> JSON? {
        let changes = notice["params"]?["changes"]?.arrayValue ?? []
        guard var change = changes.first(where: { $0["field"] == .string(id) })?.objectValue
        else { return nil }
        change["field"] = nil
        change["was"] = nil
        return .object(change)
    }
}
