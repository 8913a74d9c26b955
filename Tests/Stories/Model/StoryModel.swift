// A model of the product: forms, users, subscriptions, and the effect of each request.

import SyncCore

/// A user.
struct StoryUser: Equatable {
    var uid: Int
    var name: String
    /// Root or the daemon's user, who may do everything.
    var isAdmin: Bool

    func isAmong(_ principals: [String], owner: Int) -> Bool {
        principals.contains { principal in
            switch principal {
            case "anyone": true
            case "owner": uid == owner
            default: principal == "user:\(name)" || principal == "uid:\(uid)"
            }
        }
    }
}

/// One connection.
struct StoryPeer {
    struct Subscription {
        var globs: [String]?
        var presence: Bool
        /// The revisions to be sent, in order.
        var due: [StoryForm.Revision] = []
        /// Its answer is the one with this number among those of this step; 0 for an earlier step.
        /// Its notifications come after that.
        var answer = 0
        /// The presence that was sent, by connection.
        var picture: [Int: JSON] = [:]
    }

    /// A subscription that ended, with what is still due. The last notification is the deletion.
    struct Ending {
        var form: StoryForm
        var subscription: Subscription
        var deletion: JSON?

        var next: JSON? { subscription.due.first?.notice ?? deletion }
    }

    var user: StoryUser
    var connection: Int
    var client: String?
    var tty: String?
    var session: String?
    /// By form.
    var subscriptions: [Int: Subscription] = [:]
    /// Subscriptions of forms that were deleted, or that the user may not read any more.
    var endings: [Ending] = []
    /// Subscriptions that ended in this step, by form. What is due may have been sent before the
    /// answer with that number.
    var ended: [(form: Int, subscription: Subscription, answer: Int)] = []
    /// The number of its present request among those of this step.
    var request = 0
    var watchesForms = false
    var listings: [JSON] = []
    /// Notifications of an earlier `form.watch` that may have been on their way.
    var formerListings: [JSON] = []
    /// The connection's own writes, by form.
    var own: [Int: Set<Int>] = [:]
    /// Whether the number of its connection is not known.
    var isAnonymous = false
    /// What it must be told of presses: those that it gets, with form and write, and those that
    /// it should end.
    var assigned: [(notice: JSON, form: Int, write: Int)] = []
    var cancelled: [JSON] = []

    var author: StoryAuthor {
        if isAnonymous {
            return StoryAuthor(
                user: user.name, uid: user.uid, client: nil, tty: nil, connection: 0)
        }
        return StoryAuthor(
            user: user.name, uid: user.uid, client: client, tty: tty, connection: connection)
    }
}

/// The product.
struct StoryModel {
    /// Limits that stories reach.
    struct Bounds {
        var subscriptionsPerUser = Int.max
        var formsPerUser = Int.max
        /// Whether subscribers may fall behind, because the change log is short.
        var mayFallBehind = false
    }

    var bounds = Bounds()
    /// The redactions among the requests that are sent together.
    var redactionsUnderWay: [(connection: Int, request: StoryRequest)] = []
    /// Whether there are commands, whose connections have unknown numbers. Then only the names of
    /// users are compared.
    var isAnonymous = false
    /// In the order of their creation.
    var forms: [StoryForm] = []
    var peers: [Int: StoryPeer] = [:]
    /// By form and connection.
    var presence: [Int: [Int: JSON]] = [:]
    /// The answers of idempotency keys.
    var keys: [String: (request: StoryRequest, answer: StoryAnswer, token: Token?)] = [:]
    /// Keys that may be unknown to the daemon.
    var uncertainKeys: Set<String> = []
    /// Tokens of answers and notifications, by form: the write up to which each names all.
    var tokens: [Int: [String: Int]] = [:]
    var epochs = StoryEpochs()
    var store = StoryStore()
    /// The number of the newest proposal.
    var proposalNumber = 0
    /// All that subscribers may be told of proposals.
    var told: [JSON] = []
    /// The states after each edit, where they are recorded.
    var trail: [StoryModel]?
    private var nextSerial = 1
    /// The connection whose request is executed.
    private(set) var acting = 0

    /// The writes that the token of an answer must name.
    struct Token {
        var form: Int
        var writes: StoryWrites
        /// Whether it is the token of the present state.
        var isShown: Bool
    }

    func place(of name: String) -> Int? { forms.firstIndex { $0.name == name } }

    // MARK: - Access

    func may(_ user: StoryUser, _ action: String, _ form: StoryForm, _ id: String? = nil) -> Bool {
        if user.isAdmin { return true }
        var rule = form.definition.access[action]
        if action == "write", let writers = id.flatMap(form.definition.control)?.writers {
            rule = writers
        }
        let usual = ["reveal", "admin", "handle"].contains(action) ? ["owner"] : ["anyone"]
        return user.isAmong(rule ?? usual, owner: form.owner)
    }

    func require(
        _ action: String, _ place: Int, _ user: StoryUser, _ id: String? = nil
    ) throws {
        guard may(user, action, forms[place], id) else {
            throw StoryRefusal("forbidden", form: forms[place].name, field: id)
        }
    }

    func find(_ request: StoryRequest) throws -> Int {
        guard let name = request["form"]?.stringValue else { throw StoryRefusal("invalidParams") }
        guard let place = place(of: name) else { throw StoryRefusal("notFound", form: name) }
        return place
    }

    func readable(_ request: StoryRequest, _ user: StoryUser) throws -> Int {
        let place = try find(request)
        try require("read", place, user)
        return place
    }

    /// Names without a wildcard must be fields. The first in alphabetical order is reported.
    func requireFields(_ globs: [String]?, _ place: Int) throws {
        for name in (globs ?? []).sorted() where !StoryRules.isGlob(name) {
            try requireField(name, place)
        }
    }

    func requireField(_ id: String, _ place: Int) throws {
        guard forms[place].definition.control(id) != nil else {
            throw StoryRefusal("notFound", form: forms[place].name, field: id)
        }
    }

    // MARK: - Requests

    /// The result of a request.
    struct Outcome {
        var answer: StoryAnswer
        var token: Token?
        /// The form whose log is in the answer.
        var log: Int?
        /// The presses that the answer names, and their form.
        var presses: (form: Int, [StoryForm.Press])?
    }

    /// Executes a request of a connection.
    mutating func perform(_ request: StoryRequest, by connection: Int) -> Outcome {
        guard let peer = peers[connection] else {
            return Outcome(answer: .refusal(StoryRefusal("internal")))
        }
        acting = connection
        do {
            if let fault = StoryRules.fault(of: request) { throw fault }
            guard let key = request["idempotencyKey"]?.stringValue else {
                defer { record() }
                return try dispatch(request, peer)
            }
            let place = "\(peer.user.uid)/\(key)"
            if let known = keys[place] {
                guard known.request.method == request.method,
                    known.request.params == request.params
                else { throw StoryRefusal("invalidParams") }
                return Outcome(answer: known.answer, token: known.token)
            }
            let outcome = try dispatch(request, peer)
            if request["dryRun"]?.boolValue != true {
                keys[place] = (request, outcome.answer.kept, outcome.token)
            }
            record()
            return outcome
        } catch {
            let refusal = error as? StoryRefusal ?? StoryRefusal("internal")
            return Outcome(answer: .refusal(refusal))
        }
    }

    private mutating func record() {
        guard let states = trail else { return }
        trail = nil
        trail = states + [self]
    }

    private mutating func dispatch(
        _ request: StoryRequest, _ peer: StoryPeer
    ) throws -> Outcome {
        switch request.method {
        case "hello": return hello(request, peer)
        case "ping": return Outcome(answer: .result(.object(JSONObject())))
        case "form.list": return Outcome(answer: .result(list(for: peer.user)))
        case "form.watch":
            peers[peer.connection]?.watchesForms = true
            peers[peer.connection]?.formerListings += peer.listings
            peers[peer.connection]?.listings = []
            return Outcome(answer: .result(list(for: peer.user)))
        case "form.get": return try formGet(request, peer)
        case "form.apply": return try apply(request, peer)
        case "form.setOptions": return try setOptions(request, peer)
        case "form.delete": return try delete(request, peer)
        case "state.get": return try stateGet(request, peer)
        case "state.set": return try set(request, peer)
        case "state.lease": return try changeLease(request, peer)
        case "state.subscribe": return try subscribe(request, peer)
        case "state.unsubscribe": return try unsubscribe(request, peer)
        case "state.history": return try history(request, peer)
        case "history.redact": return try redact(request, peer)
        case "state.explain": return try explain(request, peer)
        case "state.undo", "state.redo": return try takeBack(request, peer)
        case "state.reveal": return try reveal(request, peer)
        case "presence.update": return try presenceUpdate(request, peer)
        case "button.handle": return try handle(request, peer)
        case "button.progress": return try progress(request)
        case "button.finish": return try finish(request, peer)
        case "button.cancel": return try cancelRun(request, peer)
        case "button.outcome": return try outcome(request, peer)
        case "proposal.list": return try proposals(request, peer)
        case "proposal.approve", "proposal.refuse", "proposal.withdraw":
            return try vote(request, peer)
        case "server.status": return status()
        case "server.backup": return try backup(request, peer)
        // No daemon of a story is linked.
        case "link.attach", "link.up", "link.down", "link.message", "link.repair",
            "link.test",
            "form.link", "form.unlink":
            throw StoryRefusal("invalidParams")
        default: throw StoryRefusal("methodNotFound")
        }
    }

    private mutating func hello(_ request: StoryRequest, _ peer: StoryPeer) -> Outcome {
        peers[peer.connection]?.client = request["client"]?.stringValue
        peers[peer.connection]?.tty = request["tty"]?.stringValue
        peers[peer.connection]?.session = request["session"]?.stringValue
        return Outcome(answer: .partial(["protocol": 1]))
    }

    private func status() -> Outcome {
        let fields = forms.reduce(0) { $0 + $1.definition.controls.count }
        let count = JSON.object(
            JSONObject([
                ("count", .integer(forms.count)), ("readOnly", 0), ("fields", .integer(fields)),
            ]))
        let known: [String: JSON] = [
            "durability": .string(store.durability.rawValue),
            "writable": .bool(store.health != .refusing), "forms": count,
        ]
        // The connection of a command that has just ended may still be counted.
        if isAnonymous { return Outcome(answer: .partial(known)) }
        let subscriptions = peers.values.reduce(0) { $0 + $1.subscriptions.count }
        let people = JSON.object(
            JSONObject([
                ("count", .integer(peers.count)),
                ("users", .integer(Set(peers.values.map(\.user.uid)).count)),
                ("subscriptions", .integer(subscriptions)),
            ]))
        return Outcome(answer: .partial(known.merging(["connections": people]) { $1 }))
    }

    private func backup(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        guard peer.user.isAdmin else { throw StoryRefusal("forbidden") }
        // The requested number is higher than that of any backup.
        if request["backup"] != nil { throw StoryRefusal("notFound") }
        return Outcome(answer: .partial([:]))
    }

    mutating func newSerial() -> Int {
        defer { nextSerial += 1 }
        return nextSerial
    }
}
