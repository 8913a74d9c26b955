// A request of each method, valid or not.

import SeededRandom
import SyncCore

/// Makes requests. It uses what a client can know: the forms, and the tokens of answers.
struct RequestMaker {
    var random: StoryRandom
    let model: StoryModel

    /// The names of forms.
    static let names = ["ice", "desk", "trip"]

    /// How often each method comes, of their sum.
    static let weights: [(method: String, weight: Int)] = [
        ("state.set", 300), ("state.lease", 50), ("form.apply", 60), ("form.delete", 16),
        ("form.setOptions", 24),
        ("state.undo", 40), ("state.redo", 70), ("state.subscribe", 60), ("state.get", 20),
        ("state.unsubscribe", 8), ("state.history", 16), ("state.explain", 24),
        ("history.redact", 12),
        ("state.reveal", 8), ("presence.update", 24), ("button.handle", 30),
        ("button.progress", 12),
        ("button.finish", 24), ("button.cancel", 24), ("button.outcome", 24), ("form.list", 6),
        ("proposal.list", 10), ("proposal.approve", 8), ("proposal.refuse", 4),
        ("proposal.withdraw", 4),
        ("form.watch", 10), ("form.get", 10),
        ("hello", 10), ("ping", 4), ("server.status", 5), ("server.backup", 4),
        ("link.attach", 3), ("link.up", 3), ("link.down", 3), ("link.message", 3),
        ("link.repair", 3), ("link.test", 2), ("form.link", 2), ("form.unlink", 2),
    ]

    /// The methods that edit.
    static let edits: Set<String> = [
        "state.set", "state.lease", "form.apply", "form.delete", "form.setOptions", "state.undo",
        "state.redo", "history.redact", "proposal.approve", "proposal.refuse", "proposal.withdraw",
    ]

    /// When leases end.
    private static let ends = [
        "2200-01-01T00:00:00Z", "2300-01-01T00:00:00Z", "2400-01-01T00:00:00Z",
    ]
    /// Reasons for an edit; the last ones are not valid.
    private static let messages = [
        "INC-231", "load test 🚀", "because é", "again", String(repeating: "x", count: 200), " ",
        String(repeating: "é", count: 201), "two\nlines", "over\u{202E}ridden",
    ]

    mutating func method(where fits: (String) -> Bool = { _ in true }) -> String {
        // Few stories have a run at any time. While there is one, its handler tells more progress.
        let isRunning = model.forms.contains { form in
            presses(form).contains { $0.run.state == "running" && $0.run.ticket != nil }
        }
        return random.generator.pick(
            weighted: Self.weights.compactMap { method, weight in
                guard fits(method) else { return nil }
                let isProgress = method == "button.progress"
                return (method, isRunning && isProgress ? 10 * weight : weight)
            })
    }

    /// Something that the user may say about a proposal that waits; `nil` if there is none.
    mutating func voting(by peer: StoryPeer) -> String? {
        let waiting = model.forms.flatMap(\.proposals).filter { $0.state == "waits" }
        guard let one = waiting.randomElement(using: &random.generator) else { return nil }
        if one.user.uid == peer.user.uid { return "proposal.withdraw" }
        return random.pick(["proposal.approve", "proposal.refuse"])
    }

    /// A request of a method by a connection.
    mutating func request(_ method: String, by peer: StoryPeer) -> StoryRequest {
        var request = make(method, by: peer)
        let mayHaveKey =
            Self.edits.contains(method) && !method.hasPrefix("proposal.")
            && method != "history.redact"
        if mayHaveKey, request["dryRun"] == nil, random.chance(25) {
            request["idempotencyKey"] = .string("key\(random.generator.next() % 1_000_000)")
        }
        if ["state.set", "form.apply", "form.setOptions"].contains(method) {
            if random.chance(60) {
                request["propose"] = true
            } else if random.chance(20) {
                request["breakGlass"] = true
            }
        }
        if Self.edits.contains(method), random.chance(30) {
            request["message"] = .string(random.pick(Self.messages))
        }
        if random.chance(2) { spoil(&request) }
        return request
    }

    private mutating func form() -> StoryForm? {
        model.forms.isEmpty ? nil : model.forms[random.below(model.forms.count)]
    }

    private mutating func name() -> String {
        if let form = form(), random.chance(92) { return form.name }
        return random.pick(Self.names + ["nobody"])
    }

    private mutating func field(_ form: StoryForm?) -> String {
        guard let form, random.chance(95) else { return "nothing" }
        return form.definition.controls[random.below(form.definition.controls.count)].id
    }

    private mutating func globs(_ form: StoryForm?) -> JSON? {
        switch random.below(10) {
        case 0..<5: return nil
        case 5: return ["*o*"]
        case 6: return ["?????", "h*"]
        default:
            return .array((0...random.below(2)).map { _ in .string(field(form)) })
        }
    }

    private mutating func make(_ method: String, by peer: StoryPeer) -> StoryRequest {
        let name = name()
        let form = model.forms.first { $0.name == name }
        var request = StoryRequest(method)
        if method.hasPrefix("state.") || method == "history.redact" || method == "presence.update"
            || method == "form.get"
            || method == "form.delete" || method == "form.setOptions"
            || ["button.handle", "button.cancel", "button.outcome"].contains(method)
            || method.hasPrefix("proposal.") && (method != "proposal.list" || random.chance(50))
        {
            request["form"] = .string(name)
        }
        switch method {
        case "state.set": set(&request, form)
        case "state.lease":
            let leased = form?.leases.keys.sorted() ?? []
            request["field"] = .string(
                leased.isEmpty || random.chance(30) ? field(form) : random.pick(leased))
            switch random.below(8) {
            case 0..<3: request["end"] = true
            case 3: request["keep"] = true
            case 4: request["resume"] = "none"
            default: request["until"] = .string(random.pick(Self.ends))
            }
        case "form.delete":
            if random.chance(30) { request["breakGlass"] = true }
        case "form.apply": apply(&request, form)
        case "form.setOptions": setOptions(&request, form)
        case "state.undo", "state.redo":
            if random.chance(30) { request["field"] = .string(field(form)) }
            if random.chance(25) { request["scope"] = .string(random.pick(["mine", "anyone"])) }
        case "state.subscribe": subscribe(&request, form)
        case "state.get": request["fields"] = globs(form)
        case "state.history":
            if random.chance(40) { request["field"] = .string(field(form)) }
            if random.chance(40), let form {
                request["before"] = .integer(random.below(form.revision + 2))
            }
            request["limit"] = .integer(random.below(6) + 1)
        case "history.redact":
            let told = form?.revisions.filter { $0.entry["message"] != nil } ?? []
            let revision = told.randomElement(using: &random.generator)?.number
            request["revision"] = .integer(
                revision ?? random.below((form?.revision ?? 0) + 2) + 1)
        case "state.explain":
            request["field"] = .string(field(form))
            if random.chance(40), let form {
                request["at"] = .integer(random.below(form.revision + 2))
            }
        case "state.reveal":
            let secret = form?.definition.controls.first { $0.kind == .secure }?.id
            request["field"] = .string(secret ?? field(form))
        case "presence.update": present(&request, form)
        case "button.handle", "button.cancel", "button.outcome": button(&request, form)
        case "button.progress", "button.finish": run(&request)
        case "proposal.list": if random.chance(50) { request["ended"] = true }
        case "proposal.approve", "proposal.refuse", "proposal.withdraw":
            vote(&request, peer)
        case "hello": hello(&request)
        case "server.backup": if random.chance(30) { request["backup"] = 99 }
        default: break
        }
        return request
    }

    private mutating func vote(_ request: inout StoryRequest, _ peer: StoryPeer) {
        let all = model.forms.flatMap(\.proposals)
        // Those that the user may say something about, nearly always.
        let isOwn = request.method == "proposal.withdraw"
        let fitting = all.filter {
            $0.state == "waits" && ($0.user.uid == peer.user.uid) == isOwn
        }
        let some = fitting.isEmpty || random.chance(10) ? all : fitting
        let one = some.isEmpty || random.chance(4) ? nil : random.pick(some)
        if let one { request["form"] = .string(one.form) }
        request["proposal"] = .integer(one?.id ?? 4_711)
        if random.chance(30) { request["message"] = "looks good" }
    }

    private mutating func hello(_ request: inout StoryRequest) {
        request["protocol"] = 1
        request["client"] = .string(random.pick(["story", "desk/2"]))
        if random.chance(50) { request["session"] = .string(random.pick(["s1", "s2"])) }
        if random.chance(30) { request["tty"] = "/dev/pts/4" }
    }

    private mutating func apply(_ request: inout StoryRequest, _ form: StoryForm?) {
        var maker = DefinitionMaker(random: random)
        let definition: StoryDefinition
        if random.chance(4) {
            definition = maker.broken(form?.name ?? random.pick(Self.names))
        } else if let form, model.forms.count == Self.names.count || random.chance(70) {
            definition = random.chance(15) ? form.applied : maker.change(form.applied)
        } else {
            definition = maker.create(random.pick(Self.names))
        }
        random = maker.random
        request["definition"] = definition.json
        if random.chance(12) { request["dryRun"] = true }
        if random.chance(12) { request["ifVersion"] = .integer(random.below(4)) }
    }

    private mutating func setOptions(_ request: inout StoryRequest, _ form: StoryForm?) {
        var maker = DefinitionMaker(random: random)
        var control = StoryControl("", .picker)
        (control.options, control.disabledOptions) = maker.options()
        random = maker.random
        let pickers = form?.definition.controls.filter(\.hasOptions) ?? []
        let id =
            pickers.isEmpty || random.chance(10) ? field(form) : random.pick(pickers).id
        request["field"] = .string(id)
        request["options"] = random.chance(4) ? [] : .array(control.optionsJSON)
    }

    private mutating func subscribe(_ request: inout StoryRequest, _ form: StoryForm?) {
        request["fields"] = globs(form)
        if random.chance(40) { request["presence"] = true }
        guard let form, random.chance(55) else { return }
        let log = random.chance(92) ? form.log ?? "none" : "another"
        let seen = random.chance(95) ? random.below(form.revision + 1) : form.revision + 3
        request["since"] = .object(
            JSONObject([("log", .string(log)), ("revision", .integer(seen))]))
    }

    private mutating func present(_ request: inout StoryRequest, _ form: StoryForm?) {
        let id = random.chance(20) ? nil : field(form)
        request["focus"] = id.map { .string($0) } ?? .null
        guard random.chance(40) else { return }
        let control = id.flatMap { form?.definition.control($0) }
        request["draft"] = control.map { value(of: $0) } ?? 4
    }

    // MARK: - Runs

    /// Presses that clients know.
    private func presses(_ form: StoryForm?) -> [(field: String, run: StoryRun)] {
        let active = (form?.runs ?? [:]).sorted { $0.key < $1.key }.flatMap { field, button in
            button.active.map { (field, $0) }
        }
        return (active + (form?.ended ?? [])).filter { $0.1.press != nil }
    }

    private mutating func button(_ request: inout StoryRequest, _ form: StoryForm?) {
        let known = presses(form)
        guard request.method == "button.handle" else {
            // The newest are of more interest.
            let press = known.isEmpty || random.chance(8) ? nil : random.pick(known.suffix(6) + [])
            request["press"] = .string(press?.run.press ?? "3f9a.1:999999")
            if request.method == "button.cancel" {
                request["field"] = .string(press?.field ?? field(form))
            }
            return
        }
        let buttons = form?.definition.controls.filter { $0.runs != nil }.map(\.id) ?? []
        switch random.below(10) {
        case 0..<5: break
        case 5: request["fields"] = []
        case 6: request["fields"] = globs(form)
        default: request["fields"] = [.string(buttons.isEmpty ? field(form) : random.pick(buttons))]
        }
        let tickets = known.compactMap(\.run.ticket)
        if !tickets.isEmpty, random.chance(40) {
            request["tickets"] = .array(
                tickets.filter { _ in random.chance(50) }.map { .string($0) })
        }
    }

    private mutating func run(_ request: inout StoryRequest) {
        let known = model.forms.flatMap { presses($0) }.map(\.run).filter { $0.ticket != nil }
        let running = known.filter { $0.state == "running" }
        let run =
            !running.isEmpty && random.chance(80)
            ? random.pick(running) : known.isEmpty ? nil : random.pick(known)
        request["press"] = .string(run?.press ?? "3f9a.1:999999")
        request["ticket"] = .string(random.chance(95) ? run?.ticket ?? "1-2-3" : "1-2-3")
        if random.chance(50) {
            request["text"] = .string(random.pick(["copying", "é", "9 files"]))
        }
        if request.method == "button.finish" {
            request["outcome"] = .string(random.pick(["done", "done", "failed"]))
            if random.chance(40) { request["status"] = .integer(random.below(3)) }
        } else if random.chance(70) {
            request["fraction"] = random.pick([0, 1])
        }
    }

    // MARK: - Edits

    private mutating func set(_ request: inout StoryRequest, _ form: StoryForm?) {
        let count = random.pick([1, 1, 1, 1, 2, 3])
        request["changes"] = .array((0..<count).map { _ in change(form) })
        if random.chance(20) {
            request["lease"] = .object(JSONObject([("until", .string(random.pick(Self.ends)))]))
        }
        guard let form else { return }
        if random.chance(45) { request["context"] = token(form) }
        if random.chance(8), request["context"] != nil {
            request["require"] = "current"
            if random.chance(40) { request["requireFields"] = [.string(field(form))] }
        }
    }

    private mutating func token(_ form: StoryForm) -> JSON {
        let known = (model.tokens[form.serial] ?? [:]).keys.sorted()
        if known.isEmpty || random.chance(15) { return "" }
        // Newer tokens more often.
        let newest = known.sorted {
            (model.tokens[form.serial]?[$0] ?? 0, $0)
                > (model.tokens[form.serial]?[$1] ?? 0, $1)
        }
        return .string(
            newest[random.below(random.chance(60) ? min(3, newest.count) : newest.count)])
    }

    private mutating func change(_ form: StoryForm?) -> JSON {
        // Otherwise few stories would have a run.
        let buttons = form?.definition.controls.filter { $0.runs != nil } ?? []
        if !buttons.isEmpty, random.chance(15) {
            return .object(
                JSONObject([("field", .string(random.pick(buttons).id)), ("press", true)]))
        }
        let guarded = form?.definition.controls.filter { $0.approval != nil } ?? []
        let id = guarded.isEmpty || random.chance(60) ? field(form) : random.pick(guarded).id
        var change = JSONObject([("field", .string(id))])
        let control = form?.definition.control(id) ?? StoryControl(id, .toggle)
        action(of: control, into: &change)
        if let form, random.chance(6) { change["context"] = token(form) }
        return .object(change)
    }

    private mutating func action(of control: StoryControl, into change: inout JSONObject) {
        if random.chance(9) {
            change["reset"] = true
            return
        }
        if random.chance(3) {
            change[random.pick(["toggle", "press"])] = true
            return
        }
        switch control.kind {
        case .picker where random.chance(35):
            change["move"] = .string(random.pick(["next", "previous", "first", "last"]))
            if random.chance(40) { change["wraps"] = .bool(random.chance(60)) }
        case .multiple where random.chance(60):
            let tags = JSON.array(
                control.options.filter { _ in random.chance(40) }.map { .string($0) })
            change[random.pick(["add", "remove"])] = tags
        case .toggle where random.chance(50): change["toggle"] = true
        case .stepper where random.chance(60), .slider where random.chance(60),
            .gauge where random.chance(60):
            change["increment"] = .integer(random.pick([1, 1, -1, 2, -3, 7, 0]))
        case .button: change["press"] = true
        default: change["value"] = value(of: control)
        }
    }

    /// A value that a control accepts, most of the time.
    mutating func value(of control: StoryControl) -> JSON {
        if random.chance(5) { return random.pick([.null, "odd", 4711, true, ["odd"]]) }
        switch control.kind {
        case .picker:
            if control.isOptional, random.chance(25) { return .null }
            return .string(random.pick(control.options + ["gone"]))
        case .multiple:
            return .array(control.options.filter { _ in random.chance(50) }.map { .string($0) })
        case .toggle: return .bool(random.chance(50))
        case .stepper, .slider, .gauge:
            let width = control.maximum - control.minimum
            return .integer(control.minimum + random.below(width + 2))
        case .text: return .string(random.pick(["", "Ada", "Bo", "Cleopatra", "né 👩‍👩‍👧"]))
        case .secure: return .string("secret\(random.below(9))")
        case .wheels:
            var rows = JSONObject()
            for wheel in control.wheels where random.chance(60) {
                rows[wheel.id] = .string(random.pick(wheel.options))
            }
            return .object(rows)
        case .date: return .string("2026-0\(random.below(9) + 1)-1\(random.below(9))")
        case .button, .label: return "odd"
        }
    }

    // MARK: - Invalid requests

    private mutating func spoil(_ request: inout StoryRequest) {
        switch random.below(4) {
        case 0: request.method = request.method + "s"
        case 1: if request.method != "hello" { request["surprise"] = true }
        case 2: request["form"] = request["form"] == nil ? nil : "no-such-form"
        default:
            if let first = request.params.members.first?.name { request[first] = nil }
        }
    }
}
