// A client of the fleet. It edits at one daemon, goes offline, connects to another one, and uses
// the tokens that it got from any of them. It checks every frame.

import EngineTestKit
import SyncCore

/// A token with the events that it names and the daemon that sent it.
struct FleetSight {
    var token = ""
    var seen = EventSet()
    var place: Int?
}

final class FleetClient {
    /// A present or earlier subscription at one daemon.
    struct Watch {
        var log: String
        var cursor: Int64
        var fields: [String: FieldState]
    }

    private enum Due {
        case edit(FleetEdit)
        case subscription(StateSubscribe)
        case hello
    }

    let number: Int
    let owner: Owner
    private(set) var daemon: FleetDaemon?
    private(set) var connection: ConnectionID?
    private var due: [(id: Int64, what: Due)] = []
    private var nextID: Int64 = 1
    /// Edits that were made while offline and not sent.
    var queue: [FleetEdit] = []
    /// Edits that were sent with a key and not answered.
    private(set) var unsettled: [FleetEdit] = []
    /// What it has shown, and the token of the answer to its last edit.
    private(set) var shown = FleetSight()
    private(set) var answered = FleetSight()
    /// By the number of the daemon.
    private var watches: [Int: Watch] = [:]

    init(_ number: Int) {
        self.number = number
        owner = Owner(uid: 1000 + UInt32(number % 2), session: number == 0 ? nil : "s\(number)")
    }

    var name: String { "client \(number)" }

    // MARK: - Connections

    /// Connects and resumes its subscription. Edits that this daemon did not answer are sent again.
    func comeBack(to daemon: FleetDaemon) {
        self.daemon = daemon
        connection = daemon.host.connect(uid: owner.uid, user: "user\(owner.uid)")
        nextID = 1
        let since = watches[daemon.place].map {
            StateSubscribe.Since(log: $0.log, revision: $0.cursor)
        }
        let params = StateSubscribe(form: "fleet", since: since)
        send(.stateSubscribe(params), .subscription(params))
    }

    /// The edits to send to the daemon `place`: those that it did not answer, then those that were
    /// made offline.
    func takeQueue(for place: Int) -> [FleetEdit] {
        let edits = unsettled.filter { $0.place == place } + queue
        unsettled.removeAll { $0.place == place }
        queue = []
        return edits
    }

    /// Its connection has ended.
    func lost() {
        for case .edit(let edit) in due.map(\.what) where edit.hasKey { unsettled.append(edit) }
        due = []
        daemon = nil
        connection = nil
    }

    /// Whether an answer is expected.
    func waits(at daemon: FleetDaemon) -> Bool { self.daemon === daemon && !due.isEmpty }

    // MARK: - Sending

    /// Sends an edit with its number as the name of the client.
    func send(_ edit: FleetEdit) {
        edit.place = daemon?.place
        send(.hello(Hello(client: "fleet#\(edit.number)", session: owner.session)), .hello)
        send(edit.request, .edit(edit))
    }

    private func send(_ request: Request, _ what: Due) {
        guard let daemon, let connection else { return }
        due.append((nextID, what))
        daemon.host.sendBytes(connection, request.frame(id: RequestID(nextID)))
        nextID += 1
    }

    // MARK: - Frames

    /// Reads the frames that arrived.
    func read() throws {
        guard let daemon, let connection else { return }
        for text in daemon.host.take(connection) {
            if text.tellsSecret {
                throw Violation("\(name) got a secret: \(text)")
            }
            var decoder = ServerMessageDecoder()
            for message in try decoder.decode(Array(text.utf8)) {
                switch message {
                case .result(let id, let json): try result(id, json, daemon)
                case .failure(let id, let error): try failure(id, error)
                case .notification(.stateChanged(let params)): try changed(params, text, daemon)
                case .notification(.goodbye): break
                default: throw Violation("\(name) got \(text)")
                }
            }
        }
    }

    private func next(_ id: RequestID) throws -> Due {
        guard let first = due.first, first.id == id.number else {
            throw Violation("\(name) got an answer to \(id.rawText) out of order")
        }
        return due.removeFirst().what
    }

    private func failure(_ id: RequestID, _ error: WireError) throws {
        guard case .edit(let edit) = try next(id) else {
            throw Violation("\(name) cannot subscribe: \(error.message)")
        }
        let mayMeet = edit.fields.contains(.first) || edit.request.method != .stateSet
        switch error.kind {
        case .unavailable: if edit.hasKey { unsettled.append(edit) }
        case .conflict where mayMeet:
            edit.isRefused = true
            if daemon?.done[edit.number] != nil {
                throw Violation("\(name): edit \(edit.number) was done and was refused")
            }
        default:
            throw Violation("\(name): edit \(edit.number) was refused: \(error.message)")
        }
    }

    private func result(_ id: RequestID, _ json: JSON, _ daemon: FleetDaemon) throws {
        switch try next(id) {
        case .hello: break
        case .subscription(let params):
            try subscribed(params, try SubscribeResult(decoding: json), daemon)
        case .edit(let edit): try answered(edit, try SetResult(decoding: json), daemon)
        }
    }

    /// An acknowledged edit is durable. The token of its answer names what the client had seen and
    /// the edit itself.
    private func answered(_ edit: FleetEdit, _ result: SetResult, _ daemon: FleetDaemon) throws {
        let seen = try daemon.oracle.events(of: result.context)
        let done = daemon.done[edit.number]
        if let done, done.revision != result.revision, daemon.frames[result.revision] != nil {
            throw Violation(
                "\(name): edit \(edit.number) is revision \(done.revision), and its answer says "
                    + "\(result.revision)")
        }
        let had = edit.seen ?? EventSet()
        let mine = done?.events ?? EventSet()
        for event in daemon.oracle.causal.events where event.keys != 0 {
            let isThere = seen.contains(event.id)
            let isMine = mine.contains(event.id)
            if isThere ? !isMine && !had.contains(event.id) : isMine {
                throw Violation(
                    "\(name): the answer to edit \(edit.number), \(result.context), says "
                        + "\(isThere) of \(event.dot)")
            }
        }
        if daemon.oracle.namesUnknown(result.context) {
            throw Violation(
                "\(name): edit \(edit.number) was acknowledged and is not durable: \(result.context)"
            )
        }
        answered = FleetSight(token: result.context, seen: seen, place: daemon.place)
    }

    private func subscribed(
        _ params: StateSubscribe, _ result: SubscribeResult, _ daemon: FleetDaemon
    ) throws {
        let isSameLog = params.since?.log == result.log
        guard params.since == nil || result.isResumed == isSameLog else {
            throw Violation(
                "\(name) was at \(params.since as Any) and resumed: \(result.isResumed) in "
                    + result.log)
        }
        var watch = watches[daemon.place]
        if !result.isResumed {
            watch = Watch(log: result.log, cursor: result.revision, fields: [:])
            for field in result.fields ?? [] { watch?.fields[field.id] = field.state }
            // The answer is of its revision, which need not be the newest.
            let seen = try daemon.oracle.events(of: result.context)
            guard daemon.showed(seen, at: result.revision) else {
                throw Violation(
                    "\(name) got revision \(result.revision) with the token \(result.context)")
            }
            shown = FleetSight(token: result.context, seen: seen, place: daemon.place)
        }
        watches[daemon.place] = watch
    }

    private func changed(
        _ params: StateChanged, _ text: String, _ daemon: FleetDaemon
    ) throws {
        guard var watch = watches[daemon.place], params.revision == watch.cursor + 1,
            params.coalescedFrom == nil
        else {
            throw Violation(
                "\(name) is at \(watches[daemon.place]?.cursor ?? -1) of \(daemon.name), and "
                    + "got \(text)")
        }
        guard daemon.frames[params.revision] == text else {
            throw Violation("\(name) got revision \(params.revision) in other bytes")
        }
        watch.cursor = params.revision
        for change in params.changes { watch.fields[change.field] = change.state }
        watches[daemon.place] = watch
        shown = FleetSight(
            token: params.context, seen: try daemon.oracle.events(of: params.context),
            place: daemon.place)
    }

    /// When nothing is pending, it shows what its daemon shows.
    func checkAtRest() throws {
        guard let daemon, let watch = watches[daemon.place] else { return }
        if !due.isEmpty {
            // Clients of the same user may have to wait for the commit of earlier work.
            if daemon.host.batchUnderWay != nil || !daemon.host.rebuildWorks { return }
            throw Violation("\(name) still waits for \(due.count) answers")
        }
        guard watch.cursor == daemon.revision else {
            throw Violation(
                "\(name) has revision \(watch.cursor) of \(daemon.revision) at \(daemon.name)")
        }
        for field in daemon.lastShown {
            let told = watch.fields[field.id]
            guard told?.value == field.state.value, told?.isSet == field.state.isSet,
                told?.isSecretSet == field.state.isSecretSet
            else {
                throw Violation(
                    "\(name) shows \(field.id) as \(told?.value ?? .null), and \(daemon.name) "
                        + "\(field.state.value)")
            }
        }
    }
}

extension FleetOracle {
    /// Whether a token names a write that has not become durable at any daemon.
    func namesUnknown(_ token: String) -> Bool {
        guard let context = try? ContextToken.parse(token) else { return true }
        for entry in context.vector.entries where !isKnown(Dot(entry.replica, entry.counter)) {
            return true
        }
        return !context.loose.allSatisfy(isKnown)
    }
}
