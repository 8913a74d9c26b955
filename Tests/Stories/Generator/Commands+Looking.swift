// Commands that only read.

import SeededRandom
import SyncCore

extension CommandMaker {
    mutating func looking(_ name: String, _ form: StoryForm?) -> StoryCommand {
        let formName = form?.name ?? "nobody"
        let of = ["--form", formName]
        let read = StoryRequest("state.get", [("form", .string(formName))])
        let one = control(form) { $0.kind != .label }
        let readOne = StoryRequest(
            "state.get", [("form", .string(formName)), ("fields", [.string(one.id)])])
        func value(_ answer: StoryAnswer) -> JSON {
            guard case .result(let json) = answer else { return .null }
            return json["fields"]?[one.id]?["value"] ?? .null
        }
        switch name {
        case "get":
            return StoryCommand(name: name, words: ["get", one.id] + of) { model, connection in
                let answer = Self.ask(&model, connection, [readOne])
                let status = StoryCommand.status(answer)
                guard status == 0 else { return .init(status, output: "") }
                return .init(0, output: StoryCommand.bare(value(answer)) + "\n")
            }
        case "describe":
            let words = ["describe", one.id, "-o", "json"] + of
            return StoryCommand(name: name, words: words) { model, connection in
                let answer = Self.ask(&model, connection, [Self.look(formName), readOne])
                guard case .result(let json) = answer, let place = model.place(of: formName) else {
                    return .init(StoryCommand.status(answer))
                }
                let control = model.forms[place].definition.control(one.id)
                return .init(
                    0,
                    members: [
                        "field": .string(one.id), "definition": control?.json ?? .null,
                        "state": json["fields"]?[one.id] ?? .null,
                    ])
            }
        case "wait": return waiting(form)
        case "watch":
            let words = ["watch", one.id, "-o", "value", "--initial", "--count", "1"]
            return StoryCommand(name: name, words: words + ["--timeout", "20"] + of) {
                let answer = Self.ask(&$0, $1, [Self.look(formName), readOne])
                return .init(StoryCommand.status(answer))
            }
        case "run":
            let words = ["run"] + of + ["--", "/bin/sh", "-c", "exit 7"]
            return StoryCommand(name: name, words: words) {
                let status = StoryCommand.status(Self.ask(&$0, $1, [Self.look(formName), read]))
                return .init(status == 0 ? 7 : status)
            }
        case "history":
            return StoryCommand(
                name: name, words: ["history", one.id, "-o", "json", "--limit", "3"] + of
            ) {
                let request = StoryRequest(
                    "state.history",
                    [("form", .string(formName)), ("field", .string(one.id)), ("limit", 3)])
                let answer = Self.ask(&$0, $1, [request])
                guard case .result(let json) = answer else {
                    return .init(StoryCommand.status(answer))
                }
                // Proposals that were not applied are between the revisions, at their times.
                let form = $0.place(of: formName).map { [forms = $0.forms] in forms[$0] }
                let proposals = (form?.proposals ?? []).filter {
                    !["waits", "applied"].contains($0.state) && $0.touched.contains(one.id)
                }
                // Several may end at the same moment, so any of them may come first.
                let ended = proposals.map { [StoryWire.normal($0.json, isAnonymous: true)] }
                return .init(0, merged: ([json["entries"]?.arrayValue ?? []] + ended, most: 3))
            }
        case "explain":
            return StoryCommand(name: name, words: ["explain", one.id, "-o", "json"] + of) {
                let request = StoryRequest(
                    "state.explain", [("form", .string(formName)), ("field", .string(one.id))])
                return .init(StoryCommand.status(Self.ask(&$0, $1, [request])))
            }
        case "dump": return dumping(formName)
        case "conflicts":
            return StoryCommand(name: name, words: ["conflicts", "-o", "json"] + of) {
                let answer = Self.ask(&$0, $1, [read])
                let status = StoryCommand.status(answer)
                guard status == 0, case .result(let json) = answer else { return .init(status) }
                let fields = json["fields"]?.objectValue?.members ?? []
                let met = fields.filter { $0.value["conflict"] != nil }
                return .init(
                    met.isEmpty ? 0 : 1,
                    json: .object(JSONObject(met.map { ($0.name, $0.value) })))
            }
        case "who":
            return StoryCommand(name: name, words: ["who", "-o", "json"] + of) {
                let status = StoryCommand.status(Self.ask(&$0, $1, [read]))
                let place = $0.place(of: formName)
                let people = place.flatMap { [presence = $0.presence, forms = $0.forms] in
                    presence[forms[$0].serial]
                }
                return .init(status, lines: status == 0 ? people?.count ?? 0 : 0)
            }
        case "form show":
            return StoryCommand(name: name, words: ["form", "show", formName, "-o", "json"]) {
                let answer = Self.ask(&$0, $1, [Self.look(formName)])
                guard case .result(let json) = answer else {
                    return .init(StoryCommand.status(answer))
                }
                return .init(0, json: json["definition"])
            }
        case "form list":
            return StoryCommand(name: name, words: ["form", "list", "-o", "text"]) {
                let answer = Self.ask(&$0, $1, [StoryRequest("form.list")])
                guard case .result(let json) = answer else { return .init(70) }
                let names = json["forms"]?.arrayValue?.compactMap { $0["form"]?.stringValue }
                return .init(0, output: (names ?? []).map { $0 + "\n" }.joined())
            }
        default:
            // Without a terminal they ask no questions and print the form.
            let words = name == "pick" ? ["pick", one.id] : ["open", formName]
            return StoryCommand(
                name: name,
                words: words + ["--non-interactive"] + (name == "pick" ? of : [])
            ) {
                let look = Self.ask(
                    &$0, $1, [Self.look(formName), name == "pick" ? readOne : read])
                let status = StoryCommand.status(look)
                guard status == 0, let place = $0.place(of: formName) else { return .init(status) }
                let form = $0.forms[place]
                guard name == "pick" else {
                    let isComplete = !form.definition.controls.contains {
                        form.shown($0.id).isMissing
                    }
                    return .init(isComplete ? 0 : 1)
                }
                if [.button, .secure, .label].contains(one.kind) { return .init(-1) }
                let reading = form.shown(one.id)
                return .init(reading.isMissing || reading.isMixed || reading.isInvalid ? 1 : 0)
            }
        }
    }

    private mutating func waiting(_ form: StoryForm?) -> StoryCommand {
        let formName = form?.name ?? "nobody"
        let toggle = control(form) { $0.kind == .toggle }
        let wanted = random.chance(50)
        let words = ["wait", "\(toggle.id)=\(wanted)", "--timeout", "0", "--form", formName]
        return StoryCommand(name: "wait", words: words) { model, connection in
            let read = StoryRequest(
                "state.get", [("form", .string(formName)), ("fields", [.string(toggle.id)])])
            let answer = Self.ask(&model, connection, [Self.look(formName), read])
            guard case .result(let json) = answer else {
                return .init(StoryCommand.status(answer))
            }
            let field = json["fields"]?[toggle.id]
            return .init(field?["value"] == .bool(wanted) ? 0 : 124)
        }
    }

    private func dumping(_ formName: String) -> StoryCommand {
        StoryCommand(
            name: "dump", words: ["dump", "-o", "json", "--form", formName]
        ) { model, connection in
            let read = StoryRequest("state.get", [("form", .string(formName))])
            let answer = Self.ask(&model, connection, [Self.look(formName), read])
            guard case .result(let json) = answer, let place = model.place(of: formName) else {
                return .init(StoryCommand.status(answer))
            }
            var values = JSONObject()
            for control in model.forms[place].definition.controls where control.isDumped {
                values[control.id] = json["fields"]?[control.id]?["value"]
            }
            return .init(
                0,
                json: .object(
                    JSONObject([("form", .string(formName)), ("values", .object(values))])))
        }
    }
}
