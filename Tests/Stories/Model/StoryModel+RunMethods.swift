// The methods of buttons with `runs` (docs/PROTOCOL.md).

import SyncCore

extension StoryModel {
    mutating func handle(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        let form = forms[place]
        try require("read", place, peer.user)
        let names = request["fields"]?.arrayValue?.compactMap(\.stringValue)
        try requireFields(names, place)
        for name in names ?? [] where !StoryRules.isGlob(name) {
            guard form.definition.control(name)?.runs != nil else {
                throw StoryRefusal("invalidParams", form: form.name, field: name)
            }
            try require("handle", place, peer.user, name)
        }
        let handler = StoryHandler(connection: peer.connection, globs: names)
        let buttons = form.definition.controls.filter { $0.runs != nil && handler.takes($0.id) }
        guard let first = buttons.first else {
            guard names == [] else { throw StoryRefusal("invalidParams", form: form.name) }
            return handling(request, peer, place, nil, [])
        }
        try require("handle", place, peer.user, first.id)
        return handling(request, peer, place, handler, buttons.map(\.id))
    }

    private mutating func handling(
        _ request: StoryRequest, _ peer: StoryPeer, _ place: Int, _ handler: StoryHandler?,
        _ buttons: [String]
    ) -> Outcome {
        let form = forms[place]
        var held: [String] = []
        for ticket in request["tickets"]?.arrayValue?.compactMap(\.stringValue) ?? [] {
            for control in form.definition.controls {
                let runs = form.runs[control.id]?.running ?? []
                guard let run = runs.first(where: { $0.ticket == ticket }) else { continue }
                held.append(ticket)
                forms[place].runs[control.id]?.change(run.write) { $0.holder = peer.connection }
                forms[place].noteAway(run, control.id, isAway: false)
                if let author = run.canceller {
                    cancel(peer.connection, control.id, form, by: author)
                }
            }
        }
        let at = form.handlers.firstIndex { $0.connection == peer.connection }
        switch (handler, at) {
        case (let handler?, let at?): forms[place].handlers[at] = handler
        case (let handler?, nil): forms[place].handlers.append(handler)
        case (nil, let at?): forms[place].handlers.remove(at: at)
        case (nil, nil): break
        }
        let result = JSONObject([
            ("form", .string(form.name)), ("fields", .array(buttons.map { .string($0) })),
            ("tickets", .array(held.map { .string($0) })),
        ])
        serve(place)
        return Outcome(answer: .result(.object(result)))
    }

    /// The run that a ticket holds.
    private func held(_ request: StoryRequest) throws -> (place: Int, field: String, StoryRun) {
        for place in forms.indices {
            guard let press = request["press"]?.stringValue,
                let (field, run) = forms[place].run(press), run.ticket != nil,
                run.ticket == request["ticket"]?.stringValue
            else { continue }
            guard run.state == "running" else {
                throw StoryRefusal("conflict", form: forms[place].name, field: field)
            }
            return (place, field, run)
        }
        throw StoryRefusal("forbidden")
    }

    mutating func progress(_ request: StoryRequest) throws -> Outcome {
        let (place, field, run) = try held(request)
        var params = JSONObject([
            ("form", .string(forms[place].name)), ("field", .string(field)),
        ])
        params["fraction"] = request["fraction"]
        params["text"] = request["text"]
        params["away"] = run.holder == nil ? true : nil
        forms[place].progress[run.write, default: []].append(.object(params))
        return Outcome(answer: .result(.object(JSONObject())))
    }

    mutating func finish(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let (place, field, run) = try held(request)
        let state =
            request["outcome"] == "done" ? "done" : run.canceller == nil ? "failed" : "cancelled"
        end(run.write, field, place, as: state, by: peer.author) {
            $0.text = request["text"]?.stringValue
            $0.status = request["status"]?.integerValue
        }
        let outcome = result(of: forms[place].ended.last?.run ?? run, field, forms[place])
        serve(place)
        return outcome
    }

    mutating func cancelRun(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        let form = forms[place]
        try require("read", place, peer.user)
        let id = request["field"]?.stringValue ?? ""
        try requireField(id, place)
        try require("press", place, peer.user, id)
        guard let press = request["press"]?.stringValue, let (field, run) = form.run(press),
            field == id
        else { throw StoryRefusal("notFound", form: form.name, field: id) }
        switch run.state {
        case "waiting":
            end(run.write, field, place, as: "cancelled", by: peer.author) { _ in }
            let outcome = result(of: forms[place].ended.last?.run ?? run, field, forms[place])
            serve(place)
            return outcome
        case "running":
            forms[place].runs[field]?.change(run.write) {
                $0.canceller = $0.canceller ?? peer.author
            }
            // Told once.
            if run.canceller == nil, let holder = run.holder {
                cancel(holder, field, form, by: peer.author)
            }
            return result(of: run, field, form)
        default: throw StoryRefusal("conflict", form: form.name, field: field)
        }
    }

    func outcome(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let form = forms[try readable(request, peer.user)]
        guard let press = request["press"]?.stringValue, let (field, run) = form.run(press) else {
            throw StoryRefusal("notFound", form: form.name)
        }
        return result(of: run, field, form)
    }

    private func result(of run: StoryRun, _ field: String, _ form: StoryForm) -> Outcome {
        var object = JSONObject([
            ("form", .string(form.name)), ("field", .string(field)),
            ("revision", .integer(form.revision)),
        ])
        for member in run.json.members { object[member.name] = member.value }
        return Outcome(answer: .result(.object(object)))
    }
}
