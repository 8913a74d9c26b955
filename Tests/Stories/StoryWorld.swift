// A story that runs: users send requests, the driver answers, and the model checks the answers.

import SeededRandom
import SyncCore

final class StoryWorld {
    let plan: StoryPlan
    let driver: any StoryDriver
    var model = StoryModel()
    var random = StoryRandom(0)
    private(set) var story: [String] = []
    private var nextID = 1
    /// The connection that reads everything after each step. It sends nothing else.
    private(set) var auditor = 0
    /// How often each method had a result, and each command each exit status.
    private(set) var census: [String: Int] = [:]
    /// Requests with a key that were answered.
    var answered: [(uid: Int, request: StoryRequest)] = []
    /// Root, the daemon's user, and users with the rights that forms give them.
    let users: [StoryUser]

    init(_ plan: StoryPlan, _ driver: any StoryDriver) {
        self.plan = plan
        self.driver = driver
        users = driver.users
        model.isAnonymous = driver.isAnonymous
        model.bounds = plan.bounds
        model.store.durability = plan.durability
    }

    /// Whether all frames are recorded in `story`.
    var tellsFrames = false

    func tell(_ line: String) { story.append(line) }

    func count(_ what: String) { census[what, default: 0] += 1 }

    /// Runs the whole plan.
    func run() throws {
        try begin()
        for step in plan.steps {
            random = StoryRandom(step.bits)
            try perform(step.verb)
            try audit()
        }
    }

    private func begin() throws {
        auditor = try connect(users[1])
        for user in [users[0], users[users.count - 1]] { try connect(user) }
    }

    // MARK: - Connections

    @discardableResult
    func connect(_ user: StoryUser) throws -> Int {
        let connection = try driver.connect(user)
        model.peers[connection] = StoryPeer(
            user: user, connection: connection, isAnonymous: model.isAnonymous)
        tell("\(user.name) connects as \(connection)")
        return connection
    }

    /// The connections of the story, in order.
    var people: [StoryPeer] {
        model.peers.values.filter { $0.connection != auditor }
            .sorted { $0.connection < $1.connection }
    }

    func somebody() throws -> StoryPeer {
        if people.isEmpty { try connect(random.pick(users)) }
        return random.pick(people)
    }

    func vanish(_ connection: Int) throws {
        tell("\(connection) disconnects")
        try driver.disconnect(connection)
        model.disconnect(connection)
        try hear(answers: [:])
    }

    // MARK: - Asking

    /// A request that was sent.
    struct Asked {
        var id: Int
        var request: StoryRequest
    }

    /// Sends requests of several connections, each in its order, reads all answers, and finds an
    /// order of all requests in which the answers are right.
    func ask(
        _ requests: [(connection: Int, request: StoryRequest)], tells: Bool = true
    ) throws {
        var asked: [Int: [Asked]] = [:]
        for (connection, request) in requests {
            if tells { tell("\(connection) > \(request)") }
            asked[connection, default: []].append(Asked(id: nextID, request: request))
            try driver.send(connection, request.text(id: nextID))
            nextID += 1
        }
        try driver.settle(answers: asked.mapValues(\.count))
        // Only the list shows in which order several connections created forms, and whether an edit
        // was before the deletion of its form or after its next creation.
        let editors = asked.values.count { one in
            one.contains { RequestMaker.edits.contains($0.request.method) }
        }
        let isListed = editors > 1 || requests.contains { isUncertain($1, by: $0) }
        try hear(answers: asked, listed: isListed ? listedForms() : nil)
    }

    /// Whether a request is either done, or answered as it was before a kill. If it creates a form
    /// that was deleted since, both answers are the same.
    private func isUncertain(_ request: StoryRequest, by connection: Int) -> Bool {
        guard let uid = model.peers[connection]?.user.uid,
            let key = request["idempotencyKey"]?.stringValue
        else { return false }
        return model.uncertainKeys.contains("\(uid)/\(key)")
    }

    /// All forms, as the daemon lists them.
    private func listedForms() throws -> JSON? {
        try driver.send(auditor, StoryRequest("form.list").text(id: nextID))
        nextID += 1
        try driver.settle(answers: [auditor: 1])
        return try driver.take(auditor).last?["result"]
    }

    /// Sends requests of one connection as one batch.
    func askAtOnce(_ requests: [StoryRequest], of connection: Int) throws {
        var asked: [Asked] = []
        for request in requests {
            tell("\(connection) > in a batch: \(request)")
            asked.append(Asked(id: nextID, request: request))
            nextID += 1
        }
        let texts = asked.map { $0.request.text(id: $0.id) }
        try driver.send(connection, "[\(texts.joined(separator: ","))]")
        try driver.settle(answers: [connection: 1])
        try hear(answers: [connection: asked])
    }

    /// A notification.
    struct Notice {
        var json: JSON
        /// The number of answers that its connection got before it in this step.
        var position: Int
    }

    /// Reads the frames that arrived, and compares them with the model.
    private func hear(answers asked: [Int: [Asked]], listed: JSON? = nil) throws {
        var responses: [Int: [JSON]] = [:]
        var notices: [Int: [Notice]] = [:]
        for connection in model.peers.keys {
            for frame in try driver.take(connection) {
                if tellsFrames, connection != auditor { tell("    \(connection) < \(frame)") }
                if let batch = frame.arrayValue {
                    // The answers of a batch come in any order.
                    responses[connection, default: []] += batch.sorted {
                        ($0["id"]?.integerValue ?? 0) < ($1["id"]?.integerValue ?? 0)
                    }
                } else if frame["method"] == nil {
                    responses[connection, default: []].append(frame)
                } else {
                    notices[connection, default: []].append(
                        Notice(json: frame, position: responses[connection]?.count ?? 0))
                }
            }
        }
        var asked = asked
        for (connection, requests) in asked {
            let mustReconnect = (notices[connection] ?? []).contains {
                $0.json["method"] == "goodbye"
            }
            if mustReconnect {
                dropNotBegun(
                    &asked[connection, default: []], &responses[connection, default: []])
            }
            let ids = (responses[connection] ?? []).map { $0["id"]?.integerValue.map { Int($0) } }
            guard ids == (asked[connection] ?? []).map(\.id) else {
                throw StoryDifference(
                    "\(connection) asked \(requests.map(\.id)) and was answered \(ids)")
            }
        }
        for (connection, got) in responses where asked[connection] == nil {
            throw StoryDifference("\(connection) asked nothing and was answered \(got)")
        }
        model.redactionsUnderWay = asked.sorted { $0.key < $1.key }.flatMap { connection, asked in
            asked.map(\.request).filter { $0.method == "history.redact" }.map { (connection, $0) }
        }
        let before = model
        try settle(asked, responses, listed)
        do { try hear(notices) } catch let difference as StoryDifference {
            let search = orders(of: asked, responses, listed, from: before, isExhaustive: true)
            guard try hear(notices, afterOneOf: search) else { throw difference }
        }
    }

    /// The answers may be right in several orders. Then only the notifications show which one it
    /// was. Returns whether there is one in which they are right.
    private func hear(_ notices: [Int: [Notice]], afterOneOf search: OrderSearch) throws -> Bool {
        let mustReconnect = notices.values.joined().contains { $0.json["method"] == "goodbye" }
        // A daemon may send notifications later, and these were read already.
        if driver.isAnonymous || mustReconnect { return false }
        remember(search.states)
        for found in search.all.dropFirst() {
            model = visible(found, search)
            do {
                try hear(notices)
                return true
            } catch is StoryDifference {}
        }
        return false
    }

    /// Leaves out the last requests of a connection that must connect again: those that arrived
    /// after its `goodbye` and have no answer, and those whose answers say that they were not
    /// started.
    private func dropNotBegun(_ asked: inout [Asked], _ responses: inout [JSON]) {
        asked = Array(asked.prefix(responses.count))
        while responses.last?["error"]?["data"]?["resend"] == true {
            responses.removeLast()
            asked.removeLast()
        }
    }

    /// Finds the order of the requests, and updates the model.
    private func settle(
        _ asked: [Int: [Asked]], _ responses: [Int: [JSON]], _ listed: JSON?
    ) throws {
        if asked.isEmpty { return }
        let search = orders(
            of: asked, responses, listed, from: model,
            isExhaustive: model.store.health == .failing
                || plan.durability != .commit && listed != nil)
        guard let found = search.all.first else { throw StoryDifference(search.complaint) }
        model = visible(found, search)
        remember(search.states)
        for (connection, asked) in asked {
            for (one, response) in zip(asked, responses[connection] ?? [])
            where response["result"] != nil && connection != auditor {
                count(one.request.method)
            }
            for (one, response) in zip(asked, responses[connection] ?? [])
            where one.request["idempotencyKey"] != nil && response["result"] != nil {
                answered.append((model.peers[connection]?.user.uid ?? 0, one.request))
            }
        }
    }

    private func orders(
        of asked: [Int: [Asked]], _ responses: [Int: [JSON]], _ listed: JSON?,
        from before: StoryModel, isExhaustive: Bool
    ) -> OrderSearch {
        var search = OrderSearch(
            asked: asked.mapValues { $0.map(\.request) }, responses: responses,
            listed: listed.map { ($0, users[1]) }, isAnonymous: before.isAnonymous)
        search.run(from: before, isExhaustive: isExhaustive)
        return search
    }

    /// A state that was found, without edits whose commit failed. Nobody sees them, whether or not
    /// a later answer shows the failure.
    private func visible(_ found: StoryModel, _ search: OrderSearch) -> StoryModel {
        guard search.isFailing, !search.unwritten.isEmpty else { return found }
        var found = found
        found.store.unwritten = search.unwritten
        return found.afterFailure
    }

    // MARK: - Looking

    /// Checks that everything visible is what the model says.
    func audit() throws {
        // A daemon may still count a subscriber that has just disconnected.
        for _ in 0..<100 where driver.isAnonymous {
            do { return try look() } catch is StoryDifference {
                guard try driver.waitForMore() else { break }
            }
        }
        try look()
    }

    private func look() throws {
        var requests = [StoryRequest("form.list")]
        for form in model.forms {
            let name = ("form", JSON.string(form.name))
            requests.append(StoryRequest("form.get", [name]))
            requests.append(StoryRequest("state.get", [name]))
            requests.append(StoryRequest("state.history", [name, ("limit", 10)]))
            // After a kill, only those that have ended may show which state the daemon has.
            guard form.hasGuards || !form.proposals.isEmpty else { continue }
            requests.append(StoryRequest("proposal.list", [name]))
            requests.append(StoryRequest("proposal.list", [name, ("ended", true)]))
        }
        try ask(requests.map { (auditor, $0) }, tells: false)
    }

    // MARK: - What a kill may lose

    /// Below `commit`: the states with which a killed daemon may return, oldest first, and when
    /// each was there at the latest.
    private(set) var past: [(milliseconds: Int, state: StoryModel)] = []

    func remember(_ states: [StoryModel]) {
        if plan.durability == .commit { return }
        let (now, written) = driver.times
        for state in states + [model] where !(past.last?.state.isDurably(state) ?? false) {
            past.append((now, state))
        }
        guard model.store.health == .healthy, let written else { return }
        let durable = past.lastIndex {
            $0.milliseconds <= written - plan.durability.lossMilliseconds
        }
        if let durable { past.removeFirst(durable) }
    }

    /// All that was answered is in the store.
    func forgetPast() { past = [(driver.times.now, model)] }

    // MARK: - Ends of the daemon

    /// A new daemon is there, with one of these states.
    func comeBack(asOneOf states: [StoryModel]) throws {
        let everybody = people.map(\.user)
        var differences: [String] = []
        let connection = try driver.connect(users[1])
        auditor = connection
        for state in states.reversed() {
            model = state
            model.peers[connection] = StoryPeer(
                user: users[1], connection: connection, isAnonymous: model.isAnonymous)
            do {
                try audit()
                model.doubtKeys(after: states)
                forgetPast()
                for user in everybody { try connect(user) }
                return
            } catch let difference as StoryDifference {
                differences.append("\(difference)")
            }
        }
        throw StoryDifference(
            "no state is possible, the latest first:\n  " + differences.joined(separator: "\n  "))
    }
}
