// Every command, in any state of the forms.
//
// A command looks the form up first, and then sends its request. The model predicts both.

import SeededRandom
import SyncCore

/// Makes commands.
struct CommandMaker {
    var random: StoryRandom
    let model: StoryModel
    /// Where commands may write files.
    let folder: String

    /// The commands, and how often each comes.
    static let weights: [(name: String, weight: Int)] = [
        ("set", 80), ("get", 40), ("form apply", 40), ("toggle", 20), ("next", 12),
        ("previous", 8), ("reset", 16), ("press", 12), ("lease", 14), ("undo", 24), ("redo", 16),
        ("load", 16),
        ("dump", 10), ("resolve", 14), ("conflicts", 10), ("form options", 14),
        ("form delete", 10), ("form list", 8), ("form show", 8), ("form check", 6), ("wait", 12),
        ("form preview", 4),
        ("watch", 8), ("run", 6), ("history", 8), ("explain", 8), ("describe", 8), ("who", 6),
        ("status", 4), ("link status", 2), ("link repair", 2), ("link form", 2), ("link test", 2),
        ("propose", 12), ("proposals", 4), ("approve", 8), ("refuse", 4), ("withdraw", 4),
        ("backup", 3), ("handle", 3), ("pick", 6), ("open", 4), ("form new", 3), ("form import", 3),
        ("completions", 3), ("doctor", 2), ("help", 2), ("relay", 2),
    ]

    mutating func command() -> StoryCommand {
        command(random.generator.pick(weighted: Self.weights.map { ($0.name, $0.weight) }))
    }

    /// A command of this name.
    mutating func command(_ name: String) -> StoryCommand {
        let form = self.form()
        switch name {
        case "get", "describe", "pick", "wait", "watch", "run", "history", "explain", "dump",
            "conflicts",
            "who", "open", "form show", "form list":
            return looking(name, form)
        case "proposals", "approve", "refuse", "withdraw": return proposing(name)
        case "set", "toggle", "next", "previous", "reset", "press", "lease", "undo", "redo",
            "load", "resolve", "propose":
            return editing(name, form)
        case "form apply", "form delete", "form options", "form check", "form preview":
            return forming(name, form)
        default: return besides(name)
        }
    }

    /// A form that exists, nearly always.
    private mutating func form() -> StoryForm? {
        if model.forms.isEmpty || random.chance(4) { return nil }
        return model.forms[random.below(model.forms.count)]
    }

    mutating func control(
        _ form: StoryForm?, where fits: (StoryControl) -> Bool = { _ in true }
    ) -> StoryControl {
        let fitting = form?.definition.controls.filter(fits) ?? []
        if fitting.isEmpty || random.chance(4) { return StoryControl("nothing", .toggle) }
        return random.pick(fitting)
    }

    /// The answer to the first request that is refused, or to the last one.
    static func ask(
        _ model: inout StoryModel, _ connection: Int, _ requests: [StoryRequest]
    ) -> StoryAnswer {
        var answer = StoryAnswer.result(.null)
        for request in requests {
            answer = model.perform(request, by: connection).answer
            if case .refusal = answer { return answer }
        }
        return answer
    }

    static func look(_ name: String) -> StoryRequest {
        StoryRequest("form.get", [("form", .string(name))])
    }

    // MARK: - Editing

    private mutating func editing(_ name: String, _ form: StoryForm?) -> StoryCommand {
        let message = random.chance(30) ? random.pick(["INC-231", "é 🚀", "why not"]) : nil
        let why = message.map { ["-m", $0] } ?? []
        let formName = form?.name ?? "nobody"
        switch name {
        case "undo", "redo":
            var request = StoryRequest("state.\(name)", [("form", .string(formName))])
            var words = [name]
            if random.chance(40) {
                let field = control(form).id
                request["field"] = .string(field)
                words.append(field)
            }
            if random.chance(40) {
                request["scope"] = "anyone"
                words.append("--anyone")
            }
            request["message"] = message.map { .string($0) }
            return StoryCommand(name: name, words: words + why + ["--form", formName]) {
                .init(StoryCommand.status(Self.ask(&$0, $1, [request])))
            }
        case "load": return loading(form, message)
        case "lease":
            let keeps = random.chance(50)
            let field = control(form).id
            var request = StoryRequest(
                "state.lease",
                [
                    ("form", .string(formName)), ("field", .string(field)),
                    (keeps ? "keep" : "end", true),
                ])
            request["message"] = message.map { .string($0) }
            let words = [name, field, keeps ? "--keep" : "--end", "--form", formName] + why
            return StoryCommand(name: name, words: words) { [request] in
                .init(StoryCommand.status(Self.ask(&$0, $1, [request])))
            }
        case "set", "resolve", "propose": return setting(name, form, message)
        default: break
        }
        let kinds: [String: StoryControl.Kind] = [
            "toggle": .toggle, "next": .picker, "previous": .picker, "press": .button,
        ]
        let one = control(form) { control in
            kinds[name].map { $0 == control.kind }
                ?? (control.kind != .button && control.kind != .label)
        }
        var change = JSONObject([("field", .string(one.id))])
        switch name {
        case "next", "previous": change["move"] = .string(name)
        default: change[name] = true
        }
        let words = [name, one.id, "--form", formName] + why
        return StoryCommand(name: name, words: words) { [change] in
            .init(
                StoryCommand.status(
                    Self.set(&$0, $1, formName, [.object(change)], message: message)))
        }
    }

    /// The form is looked up, then all fields are set in one request.
    private static func set(
        _ model: inout StoryModel, _ connection: Int, _ form: String, _ changes: [JSON],
        message: String?, isProposed: Bool = false
    ) -> StoryAnswer {
        let found = ask(&model, connection, [look(form)])
        if case .refusal = found { return found }
        if let place = model.place(of: form) {
            for change in changes {
                let id = change["field"]?.stringValue ?? ""
                if model.forms[place].definition.control(id) == nil {
                    return .refusal(StoryRefusal("notFound", form: form, field: id))
                }
            }
        }
        var request = StoryRequest(
            "state.set", [("form", .string(form)), ("changes", .array(changes))])
        request["message"] = message.map { .string($0) }
        if isProposed { request["propose"] = true }
        return ask(&model, connection, [request])
    }

    /// Commands about a proposal, by its name.
    private mutating func proposing(_ name: String) -> StoryCommand {
        let one = model.forms.flatMap(\.proposals).randomElement(using: &random.generator)
        if name == "proposals" {
            let isEnded = random.chance(50)
            return StoryCommand(name: name, words: [name] + (isEnded ? ["--ended"] : [])) {
                let request = StoryRequest("proposal.list", [("ended", .bool(isEnded))])
                return .init(StoryCommand.status(Self.ask(&$0, $1, [request])))
            }
        }
        let (form, id) = (one?.form ?? "nobody", one?.id ?? 1)
        let request = StoryRequest(
            "proposal.\(name)", [("form", .string(form)), ("proposal", .integer(id))])
        let words = [name, "\(form)/\(id)"] + (name == "approve" ? ["--yes"] : [])
        return StoryCommand(name: name, words: words) { model, connection in
            let answer = Self.ask(&model, connection, [request])
            if case .result(let json) = answer, json["proposal"]?["state"] == "stale" {
                return .init(75)
            }
            return .init(StoryCommand.status(answer))
        }
    }

    private mutating func setting(
        _ name: String, _ form: StoryForm?, _ message: String?
    ) -> StoryCommand {
        let formName = form?.name ?? "nobody"
        let one = control(form) { control in
            ![.button, .label, .wheels].contains(control.kind)
        }
        var change = JSONObject([("field", .string(one.id))])
        var words = [name]
        var input: String?
        let isNumber = [.stepper, .slider, .gauge].contains(one.kind)
        if isNumber, name == "set", random.chance(50) {
            let amount = random.pick([1, 2, 7])
            let isMinus = random.chance(50)
            change["increment"] = .integer(isMinus ? -amount : amount)
            words.append("\(one.id)\(isMinus ? "-" : "+")=\(amount)")
        } else if one.kind == .secure {
            change["value"] = "hidden"
            input = "hidden\n"
            words.append("\(one.id)=-")
        } else {
            var maker = RequestMaker(random: random, model: model)
            var value = maker.value(of: one)
            // Values without a text form are replaced by a text that is not a value.
            while !one.isWritable(value) { value = maker.value(of: one) }
            random = maker.random
            change["value"] = value
            words.append("\(one.id)=\(StoryCommand.bare(value))")
        }
        let isResolving = name == "resolve"
        words += message.map { ["-m", $0] } ?? []
        return StoryCommand(name: name, words: words + ["--form", formName], input: input) {
            [change] model, connection in
            let changes = [JSON.object(change)]
            guard isResolving else {
                return .init(
                    StoryCommand.status(
                        Self.set(
                            &model, connection, formName, changes, message: message,
                            isProposed: name == "propose")))
            }
            let found = Self.ask(
                &model, connection,
                [
                    Self.look(formName),
                    StoryRequest(
                        "state.get",
                        [("form", .string(formName)), ("fields", [.string(one.id)])]),
                ])
            guard case .result(let json) = found else {
                return .init(StoryCommand.status(found))
            }
            if json["fields"]?[one.id]?["conflict"] == nil { return .init(1) }
            // Its token covers everything, so it works like a set without a token.
            return .init(
                StoryCommand.status(
                    Self.set(&model, connection, formName, changes, message: message)))
        }
    }

    private mutating func loading(_ form: StoryForm?, _ message: String?) -> StoryCommand {
        let formName = form?.name ?? "nobody"
        var values = JSONObject()
        var maker = RequestMaker(random: random, model: model)
        for control in form?.definition.controls ?? []
        where control.isDumped && maker.random.chance(40) {
            values[control.id] = maker.value(of: control)
        }
        random = maker.random
        let preset = JSON.object(
            JSONObject([("form", .string(formName)), ("values", .object(values))]))
        return StoryCommand(
            name: "load", words: ["load", "-"] + (message.map { ["-m", $0] } ?? []),
            input: preset.encodedText
        ) { [values] model, connection in
            let read = StoryRequest("state.get", [("form", .string(formName))])
            let found = Self.ask(&model, connection, [Self.look(formName), read])
            guard case .result(let json) = found else {
                return .init(StoryCommand.status(found))
            }
            let changes = values.members.filter {
                json["fields"]?[$0.name]?["value"] != $0.value
            }.map { member in
                JSON.object(
                    JSONObject([("field", .string(member.name)), ("value", member.value)]))
            }
            if changes.isEmpty { return .init(0) }
            return .init(
                StoryCommand.status(
                    Self.set(&model, connection, formName, changes, message: message)))
        }
    }

    // MARK: - Forms

    private mutating func forming(_ name: String, _ form: StoryForm?) -> StoryCommand {
        let formName = form?.name ?? random.pick(RequestMaker.names)
        var maker = DefinitionMaker(random: random)
        let isBroken = random.chance(8)
        let definition =
            isBroken
            ? maker.broken(formName)
            : form.map { maker.change($0.applied) } ?? maker.create(formName)
        let options = maker.options().tags
        random = maker.random
        switch name {
        case "form delete":
            let words = ["form", "delete", "--yes", form?.name ?? "nobody"]
            let request = StoryRequest(
                "form.delete", [("form", .string(form?.name ?? "nobody"))])
            return StoryCommand(name: name, words: words) {
                let asked = [Self.look(form?.name ?? "nobody"), request]
                return .init(StoryCommand.status(Self.ask(&$0, $1, asked)))
            }
        case "form options":
            let one = self.control(form) { $0.hasOptions }
            var control = StoryControl("", .picker)
            control.options = options
            control.hasLabels = true
            let request = StoryRequest(
                "form.setOptions",
                [
                    ("form", .string(form?.name ?? "nobody")), ("field", .string(one.id)),
                    ("options", .array(control.optionsJSON)),
                ])
            return StoryCommand(
                name: name,
                words: ["form", "options", one.id] + options
                    + ["--form", form?.name ?? "nobody"]
            ) {
                let look = Self.look(form?.name ?? "nobody")
                let control = $0.forms.first { $0.name == form?.name }.flatMap {
                    $0.definition.control(one.id)
                }
                // The command line looks the control up, and reports these mistakes itself.
                if let control, !control.hasOptions { return .init(64) }
                let asked = control == nil ? [look] : [look, request]
                let found = Self.ask(&$0, $1, asked)
                if control == nil, case .result = found { return .init(66) }
                return .init(StoryCommand.status(found))
            }
        case "form check", "form preview":
            return StoryCommand(
                name: name, words: name.split(separator: " ").map(String.init) + ["-"],
                input: definition.json.encodedText
            ) { _, _ in .init(isBroken ? 65 : 0) }
        default:
            let isDry = random.chance(20)
            return StoryCommand(
                name: name, words: ["form", "apply", "-"] + (isDry ? ["--dry-run"] : ["--yes"]),
                input: definition.json.encodedText
            ) { model, connection in
                if isBroken { return .init(65) }
                var request = StoryRequest("form.apply", [("definition", definition.json)])
                request["dryRun"] = true
                var requests = [request]
                // The present form is read before it is changed.
                if model.place(of: formName) != nil { requests.append(Self.look(formName)) }
                request["dryRun"] = nil
                if !isDry { requests.append(request) }
                return .init(StoryCommand.status(Self.ask(&model, connection, requests)))
            }
        }
    }

    // MARK: - Other commands

    private mutating func besides(_ name: String) -> StoryCommand {
        switch name {
        case "backup":
            let file = "\(folder)/copy-\(random.generator.next())"
            return StoryCommand(name: name, words: ["backup", file]) { model, connection in
                .init(
                    StoryCommand.status(
                        Self.ask(&model, connection, [StoryRequest("server.backup")])))
            }
        case "form new":
            let file = "\(folder)/new-\(random.generator.next()).yaml"
            return StoryCommand(name: name, words: ["form", "new", file]) { _, _ in .init(0) }
        case "form import":
            return StoryCommand(
                name: name, words: ["form", "import", "-"], input: "light: on\ncount: 3\n"
            ) { _, _ in .init(0) }
        case "completions":
            return StoryCommand(name: name, words: ["completions", "bash"]) { _, _ in .init(0) }
        case "help": return StoryCommand(name: name, words: ["help", "set"]) { _, _ in .init(0) }
        case "relay": return StoryCommand(name: name, words: ["relay"]) { _, _ in .init(0) }
        case "handle":
            return StoryCommand(name: name, words: ["handle", "nobody/go", "--", "true"]) {
                .init(StoryCommand.status(Self.ask(&$0, $1, [Self.look("nobody")])))
            }
        case "link status":
            return StoryCommand(name: name, words: ["link", "status"]) { _, _ in .init(1) }
        case "link repair":
            return StoryCommand(name: name, words: ["link", "repair", "nobody"]) {
                .init(
                    StoryCommand.status(
                        Self.ask(&$0, $1, [StoryRequest("link.repair", [("form", "nobody")])])))
            }
        case "link form":
            return StoryCommand(name: name, words: ["link", "form", "nobody"]) {
                .init(
                    StoryCommand.status(
                        Self.ask(&$0, $1, [StoryRequest("form.link", [("form", "nobody")])])))
            }
        case "link test":
            return StoryCommand(name: name, words: ["link", "test"]) {
                .init(StoryCommand.status(Self.ask(&$0, $1, [StoryRequest("link.test", [])])))
            }
        case "doctor": return StoryCommand(name: name, words: ["doctor"]) { _, _ in .init(0) }
        default: return StoryCommand(name: name, words: ["status"]) { _, _ in .init(0) }
        }
    }
}

extension StoryControl {
    /// Whether a preset has its value.
    var isDumped: Bool {
        binds == nil && sources.isEmpty && ![.secure, .button, .label].contains(kind)
    }

    /// Whether a value can be written as `FIELD=VALUE` and is parsed as the same value.
    fileprivate func isWritable(_ value: JSON) -> Bool {
        switch (kind, value) {
        case (.picker, .string(let tag)): !tag.contains("\"")
        case (.multiple, .array(let tags)):
            tags.allSatisfy {
                $0.stringValue.map { options.contains($0) && !$0.contains("\"") } ?? false
            }
        case (.toggle, .bool), (.text, .string), (.date, .string): true
        case (.stepper, .number), (.slider, .number), (.gauge, .number): true
        default: false
        }
    }
}
