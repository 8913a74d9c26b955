// What each step does.

import SyncCore

extension StoryWorld {
    func perform(_ verb: StoryStep.Verb) throws {
        switch verb {
        case .request:
            let peer = try somebody()
            try ask([(peer.connection, request(by: peer))])
        case .pipeline:
            try pipeline()
        case .together: try together()
        case .comeAndGo: try comeAndGo()
        case .retry: try retry()
        case .connect: if people.count < 6 { try connect(random.pick(users)) }
        case .vanish:
            if let peer = people.randomElement(using: &random.generator) {
                try vanish(peer.connection)
            }
        case .restart: try restart()
        case .kill: try kill()
        case .wait: try driver.pass(milliseconds: random.pick([1, 50, 700, 11_000, 700_000]))
        case .resume: try resume()
        case .command: try command()
        }
    }

    /// A request of any method.
    func request(
        by peer: StoryPeer, where fits: (String) -> Bool = { _ in true }
    ) -> StoryRequest {
        var maker = RequestMaker(random: random, model: model)
        defer { random = maker.random }
        return maker.request(maker.method(where: fits), by: peer)
    }

    /// One sends several without waiting. What says where it is, or that it watches no more, is
    /// not put off behind its edits and is judged on what is durable.
    private func pipeline() throws {
        let peer = try somebody()
        var requests: [StoryRequest] = []
        for _ in 0...random.below(5) {
            let hasEdited = requests.contains { RequestMaker.edits.contains($0.method) }
            requests.append(
                request(by: peer) { method in
                    !hasEdited || method != "presence.update" && method != "state.unsubscribe"
                })
        }
        let sent = Self.withoutCounts(requests.map { (peer.connection, $0) })
        if sent.count > 1, random.chance(25) {
            try askAtOnce(sent.map(\.request), of: peer.connection)
        } else {
            try ask(sent)
        }
    }

    /// A subscription of a form that was deleted counts until its client has been told: beside a
    /// deletion nobody asks how many there are, nor for one that may be one too many.
    private static func withoutCounts(
        _ requests: [(connection: Int, request: StoryRequest)]
    ) -> [(connection: Int, request: StoryRequest)] {
        guard requests.contains(where: { $0.request.method == "form.delete" }) else {
            return requests
        }
        return requests.filter {
            $0.request.method != "server.status" && $0.request.method != "state.subscribe"
        }
    }

    /// Several at once, each either editing or looking: a look sees what is durable, and an edit is
    /// judged on what is not yet.
    private func together() throws {
        var requests: [(connection: Int, request: StoryRequest)] = []
        if random.chance(50) { driver.holdFetches() }
        for peer in people.shuffled(using: &random.generator).prefix(random.below(2) + 2) {
            let isEditing = random.chance(60)
            for _ in 0...random.below(2) {
                let one = request(by: peer) { RequestMaker.edits.contains($0) == isEditing }
                guard one["dryRun"] == nil || !isEditing else { continue }
                requests.append((peer.connection, one))
            }
        }
        // Each keeps its own order.
        var queues = Dictionary(grouping: requests, by: \.connection)
        var mixed: [(connection: Int, request: StoryRequest)] = []
        while let connection = queues.keys.sorted().randomElement(using: &random.generator) {
            if let next = queues[connection]?.first { mixed.append(next) }
            queues[connection]?.removeFirst()
            if queues[connection]?.isEmpty ?? true { queues[connection] = nil }
        }
        try ask(Self.withoutCounts(mixed))
    }

    /// A form goes and comes back under its name, and nobody asks for another between.
    private func comeAndGo() throws {
        guard let peer = people.first(where: \.user.isAdmin) else { return }
        let name = random.pick(RequestMaker.names)
        var maker = DefinitionMaker(random: random)
        let definition = maker.create(name).json
        random = maker.random
        let form = ("form", JSON.string(name))
        let apply = StoryRequest("form.apply", [("definition", definition)])
        let delete = StoryRequest("form.delete", [form])
        let requests = [apply, delete, apply, StoryRequest("state.get", [form])]
        if random.chance(50) {
            try ask(requests.map { (peer.connection, $0) })
        } else {
            for request in requests { try ask([(peer.connection, request)]) }
        }
    }

    /// What was answered is asked once more, under its key.
    private func retry() throws {
        guard let one = answered.suffix(20).randomElement(using: &random.generator) else { return }
        let same = people.filter { $0.user.uid == one.uid }
        guard let peer = same.randomElement(using: &random.generator) else { return }
        var request = one.request
        if random.chance(15) { request["form"] = "another" }
        try ask([(peer.connection, request)])
    }

    /// Several of one person go on from where they were, while somebody changes the form.
    private func resume() throws {
        guard let form = model.forms.randomElement(using: &random.generator),
            let log = form.log
        else { return }
        let uid = try somebody().user.uid
        var requests: [(connection: Int, request: StoryRequest)] = []
        driver.holdFetches()
        for peer in people where peer.user.uid == uid {
            var request = StoryRequest("state.subscribe", [("form", .string(form.name))])
            if random.chance(50) {
                let controls = form.definition.controls
                request["fields"] = [.string(controls[random.below(controls.count)].id)]
            }
            request["since"] = .object(
                JSONObject([
                    ("log", .string(log)), ("revision", .integer(random.below(form.revision + 1))),
                ]))
            requests.append((peer.connection, request))
        }
        if let admin = people.first(where: { $0.user.isAdmin && $0.user.uid != uid }) {
            let names = ["form.apply", "form.delete", "state.set"]
            let one = request(by: admin) { names.contains($0) }
            if one["dryRun"] == nil { requests.append((admin.connection, one)) }
        }
        try ask(requests)
    }

    // MARK: - The daemon

    private func restart() throws {
        tell("the daemon is restarted")
        try driver.stop()
        try driver.start()
        try comeBack()
    }

    /// Killed while requests are on their way: all of what was sent together is done, or none.
    private func kill() throws {
        tell("the daemon is killed")
        let writes = random.chance(50)
        var edits: [StoryRequest] = []
        var connection = 0
        if random.chance(70) {
            let peer = try somebody()
            connection = peer.connection
            driver.holdCommits()
            edits = (0...random.below(3)).map { _ in
                request(by: peer) { RequestMaker.edits.contains($0) }
            }
            edits = edits.filter { $0["dryRun"] == nil }
            for edit in edits {
                tell("\(connection) > \(edit), and nobody hears of it")
                try driver.send(connection, edit.text(id: 1))
            }
        }
        try driver.kill(writesBatch: writes)
        try driver.start()
        let before = model
        var outcomes = [model]
        for edit in edits {
            _ = model.perform(edit, by: connection)
            outcomes.append(model)
        }
        model = before
        try comeBack(asOneOf: outcomes)
    }
}
