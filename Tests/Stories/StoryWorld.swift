// A story being told: people ask, the driver answers, and the model says whether that is right.

import SeededRandom
import SyncCore

final class StoryWorld {
    let plan: StoryPlan
    let driver: any StoryDriver
    var model = StoryModel()
    var random = StoryRandom(0)
    private(set) var story: [String] = []
    private var nextID = 1
    /// Who looks at everything after each step, and is nobody in the story.
    private var auditor = 0
    /// How often each method was answered with a result, and each command ended with each status.
    private(set) var census: [String: Int] = [:]
    /// Requests with a key that were answered.
    var answered: [(uid: Int, request: StoryRequest)] = []
    /// Root, whom the daemon runs as, and people who may do what forms let them.
    let users: [StoryUser]

    init(_ plan: StoryPlan, _ driver: any StoryDriver) {
        self.plan = plan
        self.driver = driver
        users = driver.users
        model.isAnonymous = driver.isAnonymous
        model.bounds = plan.bounds
    }

    /// Whether the story has every frame that came.
    var tellsFrames = false

    func tell(_ line: String) { story.append(line) }

    func count(_ what: String) { census[what, default: 0] += 1 }

    /// Tells the whole plan.
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

    /// Those who take part, in order.
    var people: [StoryPeer] {
        model.peers.values.filter { $0.connection != auditor }
            .sorted { $0.connection < $1.connection }
    }

    func somebody() throws -> StoryPeer {
        if people.isEmpty { try connect(random.pick(users)) }
        return random.pick(people)
    }

    func vanish(_ connection: Int) throws {
        tell("\(connection) vanishes")
        try driver.disconnect(connection)
        model.disconnect(connection)
        try hear(answers: [:])
    }

    // MARK: - Asking

    /// One request on its way.
    struct Asked {
        var id: Int
        var request: StoryRequest
    }

    /// Sends requests of several connections, each in order, hears all answers, and finds an order
    /// of all of them in which they are right.
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
        try hear(answers: asked)
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

    /// Hears what has come, and holds it against the model.
    private func hear(answers asked: [Int: [Asked]]) throws {
        var responses: [Int: [JSON]] = [:]
        var notices: [Int: [JSON]] = [:]
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
                    notices[connection, default: []].append(frame)
                }
            }
        }
        for (connection, asked) in asked {
            let got = responses[connection] ?? []
            let ids = got.map { $0["id"]?.integerValue.map { Int($0) } }
            guard ids == asked.map(\.id) else {
                throw StoryDifference(
                    "\(connection) asked \(asked.map(\.id)) and was answered \(ids)")
            }
        }
        for (connection, got) in responses where asked[connection] == nil {
            throw StoryDifference("\(connection) asked nothing and was answered \(got)")
        }
        try settle(asked, responses)
        try hear(notices)
    }

    /// Finds the order, and makes the model what it comes to.
    private func settle(_ asked: [Int: [Asked]], _ responses: [Int: [JSON]]) throws {
        if asked.isEmpty { return }
        var search = OrderSearch(
            asked: asked.mapValues { $0.map(\.request) }, responses: responses,
            isAnonymous: model.isAnonymous)
        guard let order = search.find(model) else { throw StoryDifference(search.complaint) }
        model = order
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

    // MARK: - Looking

    /// Everything that can be seen is what the model says.
    func audit() throws {
        // Whoever followed a form until a moment ago may still be counted by a daemon.
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
        }
        try ask(requests.map { (auditor, $0) }, tells: false)
    }

    // MARK: - Ends of the daemon

    /// The daemon was killed with edits on their way: what is there is one of these.
    func comeBack(asOneOf outcomes: [StoryModel]) throws {
        let everybody = people.map(\.user)
        var failure: any Error = StoryDifference("nothing is there")
        let connection = try driver.connect(users[1])
        for outcome in outcomes.reversed() {
            model = outcome
            do {
                try look(from: connection)
                for user in everybody { try connect(user) }
                return
            } catch let difference as StoryDifference {
                failure = difference
            }
        }
        throw failure
    }

    /// Whether a model is what a new daemon shows: asked once, held against each.
    private func look(from connection: Int) throws {
        model.restart()
        auditor = connection
        model.peers[connection] = StoryPeer(
            user: users[1], connection: connection, isAnonymous: model.isAnonymous)
        try audit()
    }

    /// The daemon is gone and another is there; everybody is new to it.
    func comeBack() throws {
        let everybody = people.map(\.user)
        model.restart()
        auditor = try connect(users[1])
        for user in everybody { try connect(user) }
    }
}
