// The product in the test's own words: forms, people, what they watch, and what each request does.

import SyncCore

/// A person, as the kernel says.
struct StoryUser: Equatable {
    var uid: Int
    var name: String
    /// Root, or whom the daemon runs as: may do everything.
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
        /// What is still to be told, in order.
        var due: [StoryForm.Revision] = []
        /// Everybody whom it was told of, by connection.
        var picture: [Int: JSON] = [:]
    }

    var user: StoryUser
    var connection: Int
    var client: String?
    var tty: String?
    var session: String?
    /// By form.
    var subscriptions: [Int: Subscription] = [:]
    /// What ended subscriptions still have to tell.
    var endings: [[JSON]] = []
    /// What subscriptions that it ended itself may have been on the way to tell.
    var leftovers: [[JSON]] = []
    var watchesForms = false
    var listings: [JSON] = []
    /// Its own writes, by form.
    var own: [Int: Set<Int>] = [:]
    /// What others are told does not say by which of a user's connections.
    var isAnonymous = false

    var author: StoryAuthor {
        if isAnonymous {
            return StoryAuthor(
                user: user.name, uid: user.uid, client: nil, tty: nil, connection: 0)
        }
        return StoryAuthor(
            user: user.name, uid: user.uid, client: client, tty: tty, connection: connection)
    }
}

/// The whole product.
struct StoryModel {
    /// Bounds that stories meet.
    struct Bounds {
        var subscriptionsPerUser = Int.max
        var formsPerUser = Int.max
        /// Whether who watches may be told only the newest: so little is kept for them.
        var mayFallBehind = false
    }

    var bounds = Bounds()
    /// Commands come by connections of their own, whose numbers nobody knows: what is told of
    /// people is their names alone.
    var isAnonymous = false
    /// In the order in which they were created.
    var forms: [StoryForm] = []
    var peers: [Int: StoryPeer] = [:]
    /// By form and connection.
    var presence: [Int: [Int: JSON]] = [:]
    /// What was answered under a key.
    var keys: [String: (request: StoryRequest, answer: StoryAnswer, token: Token?)] = [:]
    /// What each token that was given out says, by form.
    var tokens: [Int: [String: StoryWrites]] = [:]
    private var nextSerial = 1

    /// What the token in an answer has to say.
    struct Token {
        var form: Int
        var writes: StoryWrites
        /// Whether it is what everybody is shown.
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
        let usual = action == "reveal" || action == "admin" ? ["owner"] : ["anyone"]
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

    func requireField(_ id: String, _ place: Int) throws {
        guard forms[place].definition.control(id) != nil else {
            throw StoryRefusal("notFound", form: forms[place].name, field: id)
        }
    }

    // MARK: - Requests

    /// What came of a request.
    struct Outcome {
        var answer: StoryAnswer
        var token: Token?
        /// The form whose log the answer names.
        var log: Int?
    }

    /// Does a request of a connection.
    mutating func perform(_ request: StoryRequest, by connection: Int) -> Outcome {
        guard let peer = peers[connection] else {
            return Outcome(answer: .refusal(StoryRefusal("internal")))
        }
        do {
            if let fault = StoryRules.fault(of: request) { throw fault }
            guard let key = request["idempotencyKey"]?.stringValue else {
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
                keys[place] = (request, outcome.answer, outcome.token)
            }
            return outcome
        } catch {
            let refusal = error as? StoryRefusal ?? StoryRefusal("internal")
            return Outcome(answer: .refusal(refusal))
        }
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
            peers[peer.connection]?.leftovers.append(peer.listings)
            peers[peer.connection]?.listings = []
            return Outcome(answer: .result(list(for: peer.user)))
        case "form.get": return try formGet(request, peer)
        case "form.apply": return try apply(request, peer)
        case "form.setOptions": return try setOptions(request, peer)
        case "form.delete": return try delete(request, peer)
        case "state.get": return try stateGet(request, peer)
        case "state.set": return try set(request, peer)
        case "state.subscribe": return try subscribe(request, peer)
        case "state.unsubscribe": return try unsubscribe(request, peer)
        case "state.history": return try history(request, peer)
        case "state.undo", "state.redo": return try takeBack(request, peer)
        case "state.reveal": return try reveal(request, peer)
        case "presence.update": return try presenceUpdate(request, peer)
        case "server.status": return status()
        case "server.backup": return try backup(request, peer)
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
        let known: [String: JSON] = ["durability": "commit", "writable": true, "forms": count]
        // A command that has just ended may still be counted.
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
        // No daemon of a story makes so many that the number asked for is one of them.
        if request["backup"] != nil { throw StoryRefusal("notFound") }
        return Outcome(answer: .partial([:]))
    }

    /// The daemon is started again: everybody is new to it.
    mutating func restart() {
        peers = [:]
        presence = [:]
        for place in forms.indices { forms[place].journal.restart() }
    }

    mutating func newSerial() -> Int {
        defer { nextSerial += 1 }
        return nextSerial
    }
}
