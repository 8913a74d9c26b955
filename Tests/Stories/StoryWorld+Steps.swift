// The steps of a story.

import SyncCore

extension StoryWorld {
    func perform(_ verb: StoryStep.Verb) throws {
        switch verb {
        case .request:
            let peer = try somebody()
            try ask([(peer.connection, request(by: peer, isAlone: true))])
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
        case .breakStore: breakStore()
        case .mendStore: try mendStore()
        case .resume: try resume()
        case .command: try command()
        }
    }

    /// A request of any method. The number of a proposal depends on the order of all requests, so
    /// a request that may make one is sent alone.
    func request(
        by peer: StoryPeer, isAlone: Bool = false, where fits: (String) -> Bool = { _ in true }
    ) -> StoryRequest {
        var maker = RequestMaker(random: random, model: model)
        defer { random = maker.random }
        // A failing store would have to be asked what has become of presses and handlers.
        let isHealthy = model.store.health == .healthy
        let method = maker.method {
            fits($0) && (isHealthy || !$0.hasPrefix("button.") && !$0.hasPrefix("proposal."))
        }
        let vote =
            isAlone && isHealthy && random.chance(25) ? maker.voting(by: peer) : nil
        var request = maker.request(vote ?? method, by: peer)
        if !isAlone || !isHealthy {
            request["propose"] = nil
            request["breakGlass"] = nil
        }
        return request
    }

    /// One connection sends several requests without waiting. `presence.update` and
    /// `state.unsubscribe` do not come after an edit: they do not wait until it is durable.
    private func pipeline() throws {
        let peer = try somebody()
        var requests: [StoryRequest] = []
        for _ in 0...random.below(5) {
            let hasEdited = requests.contains { RequestMaker.edits.contains($0.method) }
            requests.append(
                request(by: peer) { method in
                    mayBeSentWithOthers(method)
                        && (!hasEdited
                            || method != "presence.update" && method != "state.unsubscribe")
                })
        }
        let sent = Self.withoutCounts(requests.map { (peer.connection, $0) })
        if random.chance(30) { driver.holdCommits() }
        if sent.count > 1, random.chance(25) {
            try askAtOnce(sent.map(\.request), of: peer.connection)
        } else {
            try ask(sent)
        }
    }

    /// Whether a method may be sent together with others. An undo that finds its field overwritten
    /// is not tried again, unless the commit fails that it is in: while the store fails, it is sent
    /// alone. Which press a handler gets does not show in an answer.
    private func mayBeSentWithOthers(_ method: String) -> Bool {
        if method.hasPrefix("button.") || method.hasPrefix("proposal.") { return false }
        return model.store.health != .failing || method != "state.undo" && method != "state.redo"
    }

    /// Leaves out requests that depend on the number of subscriptions, if a form is deleted. A
    /// subscription of a deleted form counts until its client was notified.
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

    /// Several connections at once. Each sends either edits or reads: a read sees durable state,
    /// and an edit the newest state.
    private func together() throws {
        var requests: [(connection: Int, request: StoryRequest)] = []
        if random.chance(50) { driver.holdFetches() }
        if random.chance(30) { driver.holdCommits() }
        for peer in people.shuffled(using: &random.generator).prefix(random.below(2) + 2) {
            let isEditing = random.chance(60)
            for _ in 0...random.below(2) {
                let one = request(by: peer) {
                    RequestMaker.edits.contains($0) == isEditing && mayBeSentWithOthers($0)
                }
                guard one["dryRun"] == nil || !isEditing else { continue }
                requests.append((peer.connection, one))
            }
        }
        // The order of each connection is kept.
        var queues = Dictionary(grouping: requests, by: \.connection)
        var mixed: [(connection: Int, request: StoryRequest)] = []
        while let connection = queues.keys.sorted().randomElement(using: &random.generator) {
            if let next = queues[connection]?.first { mixed.append(next) }
            queues[connection]?.removeFirst()
            if queues[connection]?.isEmpty ?? true { queues[connection] = nil }
        }
        try ask(Self.withoutCounts(mixed))
    }

    /// A form is deleted and created again, and no other form is looked up in between.
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

    /// A request that was answered is sent again with its key.
    private func retry() throws {
        guard let one = answered.suffix(20).randomElement(using: &random.generator) else { return }
        let same = people.filter { $0.user.uid == one.uid }
        guard let peer = same.randomElement(using: &random.generator) else { return }
        var request = one.request
        if random.chance(15) { request["form"] = "another" }
        try ask([(peer.connection, request)])
    }

    /// Several connections of one user resume their subscriptions while another user edits.
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
        if try driver.stop() {
            try driver.start()
            try comeBack(asOneOf: [model.restarted(from: model, losesLogs: false)])
        } else {
            try driver.start()
            try comeBack(after: [])
        }
    }

    /// Kills the daemon while requests of one connection are not answered. The first of them may be
    /// done, and the others not.
    private func kill() throws {
        tell("the daemon is killed")
        let writes = random.chance(50)
        var edits: [StoryRequest] = []
        var connection = 0
        try driver.pass(milliseconds: 0)
        remember([])
        if random.chance(70), model.store.health == .healthy {
            let peer = try somebody()
            connection = peer.connection
            driver.holdCommits()
            edits = (0...random.below(3)).map { _ in
                request(by: peer) { RequestMaker.edits.contains($0) }
            }
            edits = edits.filter { $0["dryRun"] == nil }
            for edit in edits {
                tell("\(connection) > \(edit), and its answer is lost")
                try driver.send(connection, edit.text(id: 1))
            }
        }
        try driver.kill(writesBatch: writes)
        try driver.start()
        var states: [StoryModel] = []
        var state = model
        for edit in edits {
            _ = state.perform(edit, by: connection)
            states.append(state)
        }
        try comeBack(after: states)
    }

    /// A new daemon is there after a kill, or after a stop with a store that cannot write.
    ///
    /// - Parameter unanswered: the states after each edit that was not answered.
    private func comeBack(after unanswered: [StoryModel]) throws {
        let isDurable = plan.durability == .commit
        let answered = isDurable ? [model] + model.store.unwritten : past.map(\.state)
        try comeBack(
            asOneOf: (answered + unanswered).map {
                $0.restarted(from: model, losesLogs: !isDurable)
            })
    }

    // MARK: - The store

    private func breakStore() {
        guard model.store.health == .healthy,
            driver.breakStore(writesBatch: random.chance(40))
        else { return }
        tell("the store fails")
        model.fail()
    }

    private func mendStore() throws {
        guard model.store.health != .healthy else { return }
        // Shows whether the daemon knows that its store fails.
        try ask([(auditor, StoryRequest("server.status"))], tells: false)
        tell("the store is mended")
        try driver.mendStore()
        model.mend()
        forgetPast()
    }
}
