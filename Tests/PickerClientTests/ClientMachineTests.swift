import SyncCore
import Testing

@testable import PickerClient

/// A machine with a daemon played by the test: what it sent as typed requests, answers by hand.
private struct Story {
    var machine: ClientMachine
    var now: UInt64 = 1_000
    private var frames = FrameDecoder()
    private var calls = MessageDecoder()

    init(reconnects: Bool = true, keepsChanges: Bool = false) {
        var configuration = ClientMachine.Configuration(
            client: "test/1", keyPrefix: "key", seed: 7)
        configuration.reconnects = reconnects
        configuration.keepsChangesForReplica = keepsChanges
        machine = ClientMachine(configuration, at: 0)
    }

    mutating func connect() {
        frames = FrameDecoder()
        machine.connectionOpened()
    }

    mutating func lose() {
        machine.connectionLost(at: now)
    }

    /// Everything that was sent since, as the daemon reads it.
    mutating func sent() -> [(id: RequestID, request: Request)] {
        var result: [(RequestID, Request)] = []
        for frame in frames.feed(machine.takeOutput()).frames {
            guard case .single(let call) = calls.decode(frame), let id = call.id,
                case .success(let request) = call.content
            else {
                Issue.record(
                    "the machine sent what is not a request: \(String(decoding: frame, as: UTF8.self))"
                )
                continue
            }
            result.append((id, request))
        }
        return result
    }

    mutating func receive(_ bytes: [UInt8]) {
        machine.received(bytes, at: now)
    }

    mutating func answer(_ id: RequestID, _ result: JSON) {
        receive(Frame.encode { Answer.encode(id, into: &$0) { $0.value(result) } })
    }

    /// The daemon answers `hello`.
    mutating func greet(_ id: RequestID, replica: String) {
        var writer = JSONWriter()
        HelloResult(
            server: "t", replica: replica, features: [],
            you: .init(connection: 1, uid: 1, gid: 1, pid: 1, user: "ann"), limits: []
        ).encode(into: &writer)
        answer(id, (try? JSON(parsing: String(decoding: writer.take(), as: UTF8.self))) ?? .null)
    }

    mutating func notify(_ notification: ServerNotification) {
        receive(Answer.frame(notification))
    }

    mutating func events() -> [ClientEvent] {
        var result: [ClientEvent] = []
        while let event = machine.takeEvent() { result.append(event) }
        return result
    }

    /// A change of one field, as the daemon tells it.
    static func change(_ revision: Int64, _ field: String, _ value: JSON) -> ServerNotification {
        .stateChanged(
            StateChanged(
                form: "f", revision: revision, context: "r.1:\(revision)",
                changes: [
                    FieldChange(
                        field: field,
                        state: FieldState(value: value, revision: revision, isSet: true), was: nil)
                ]))
    }

    static func snapshot(_ revision: Int64, resumed: Bool, log: String = "L1") -> JSON {
        var result: JSONObject = JSONObject([
            ("form", "f"), ("log", .string(log)), ("revision", .integer(revision)),
            ("context", .string("r.1:\(revision)")), ("resumed", .bool(resumed)),
        ])
        if !resumed {
            result["fields"] = [
                "flavor": ["value": "chocolate", "revision": .integer(revision), "set": false]
            ]
        }
        return .object(result)
    }
}

private let set = Request.stateSet(
    StateSet(form: "f", changes: [Change(field: "flavor", .value("mint"))]))

@Suite struct ClientMachineTests {
    @Test("it greets first, then subscribes, then asks")
    func order() {
        var story = Story()
        story.machine.subscribe(StateSubscribe(form: "f"))
        _ = story.machine.submit(.formList)
        story.connect()
        #expect(story.sent().map(\.request.method) == [.hello, .stateSubscribe, .formList])
    }

    @Test("no change reaches another replica; its own replica gets it under the same key")
    func otherReplica() throws {
        var story = Story(keepsChanges: true)
        story.connect()
        story.greet(story.sent()[0].id, replica: "a")
        let sent = story.machine.submit(set)
        let key = try #require(story.sent()[0].request.idempotencyKey)
        story.lose()
        let queued = story.machine.submit(set)
        let list = story.machine.submit(.formList)
        story.connect()
        // Nothing but the greeting before it is known who answers.
        let hello = story.sent()
        #expect(hello.map(\.request.method) == [.hello])
        let early = story.machine.submit(set)
        _ = story.events()
        story.greet(hello[0].id, replica: "b")
        #expect(story.sent().map(\.request.method) == [.formList])
        var keys: [String?] = []
        var tickets: [Ticket] = []
        for case .answered(let ids, .otherReplica(let request)) in story.events() {
            tickets += ids
            keys.append(request.idempotencyKey)
        }
        #expect(tickets == [sent, queued, early])
        #expect(keys.first == key)
        #expect(!tickets.contains(list))
        // From now on it is the replica that changes are made for.
        _ = story.machine.submit(set)
        #expect(story.sent().map(\.request.method) == [.stateSet])
        story.lose()
        story.connect()
        story.greet(story.sent()[0].id, replica: "b")
        #expect(story.sent().map(\.request.method) == [.formList, .stateSet])
    }

    @Test("a new epoch of the same store is the same replica: changes continue")
    func newEpoch() {
        var story = Story(keepsChanges: true)
        story.connect()
        story.greet(story.sent()[0].id, replica: "3f9a.1")
        story.lose()
        _ = story.machine.submit(set)
        story.connect()
        story.greet(story.sent()[0].id, replica: "3f9a.2")
        #expect(story.sent().map(\.request.method) == [.stateSet])
    }

    @Test("an edit that was not answered is sent again under its key, once and in order")
    func resend() {
        var story = Story()
        story.connect()
        let first = story.machine.submit(set)
        let second = story.machine.submit(.formList)
        let before = story.sent().dropFirst().map(\.request)
        let key = before[0].idempotencyKey
        #expect(key != nil)
        story.lose()
        story.connect()
        let after = story.sent().dropFirst()
        #expect(after.map(\.request) == before)
        let ids = after.map(\.id)
        story.answer(
            ids[0],
            ["form": "f", "revision": 3, "context": "r.1:3", "fields": JSON.object(JSONObject())])
        story.answer(ids[1], ["forms": []])
        var answered: [Ticket] = []
        for case .answered(let tickets, .result) in story.events() { answered += tickets }
        #expect(answered == [first, second])
        story.lose()
        story.connect()
        #expect(story.sent().map(\.request.method) == [.hello])
    }

    @Test("an edit that a daemon on its way out did not begin is sent to the next one, unseen")
    func unbegun() {
        var story = Story()
        story.connect()
        let ticket = story.machine.submit(set)
        let first = story.sent().dropFirst()
        story.receive(Answer.frame(first.map(\.id)[0], .unbegun("stopping")))
        story.notify(.goodbye(Goodbye(reason: .restart, retryAfterMs: nil)))
        story.lose()
        for case .answered in story.events() { Issue.record("its owner was told of it") }
        story.connect()
        let again = story.sent().dropFirst()
        #expect(again.map(\.request) == first.map(\.request))
        story.answer(
            again.map(\.id)[0],
            ["form": "f", "revision": 3, "context": "r.1:3", "fields": JSON.object(JSONObject())])
        var answered: [Ticket] = []
        for case .answered(let tickets, .result) in story.events() { answered += tickets }
        #expect(answered == [ticket])
    }

    @Test("a machine that does not come back tells of an edit that was not begun")
    func unbegunForGood() {
        var story = Story(reconnects: false)
        story.connect()
        let ticket = story.machine.submit(set)
        story.receive(Answer.frame(story.sent().dropFirst().map(\.id)[0], .unbegun("stopping")))
        var refused: [Ticket] = []
        for case .answered(let tickets, .refused) in story.events() { refused += tickets }
        #expect(refused == [ticket])
    }

    @Test("edits made while no daemon is there collapse and get one key")
    func offline() {
        var story = Story()
        let one = story.machine.submit(
            .stateSet(
                StateSet(form: "f", changes: [Change(field: "n", .increment(DecimalNumber(1)))])))
        let two = story.machine.submit(
            .stateSet(
                StateSet(form: "f", changes: [Change(field: "n", .increment(DecimalNumber(2)))])))
        story.connect()
        let sent = story.sent()
        #expect(sent.map(\.request.method) == [.hello, .stateSet])
        guard case .stateSet(let edit) = sent[1].request else { return }
        #expect(edit.changes == [Change(field: "n", .increment(DecimalNumber(3)))])
        #expect(edit.idempotencyKey != nil)
        story.answer(
            sent[1].id,
            ["form": "f", "revision": 1, "context": "", "fields": JSON.object(JSONObject())])
        guard case .answered(let tickets, .result)? = story.events().last else {
            Issue.record("no answer")
            return
        }
        #expect(tickets == [one, two])
    }

    @Test("no edit made offline overtakes a request that changes something")
    func offlineOrder() {
        var story = Story()
        _ = story.machine.submit(set)
        _ = story.machine.submit(.stateUndo(StateUndo(form: "f")))
        _ = story.machine.submit(.ping)
        _ = story.machine.submit(set)
        _ = story.machine.submit(.formList)
        _ = story.machine.submit(set)
        story.connect()
        let sent = story.sent().map(\.request.method)
        #expect(sent == [.hello, .stateSet, .stateUndo, .ping, .stateSet, .formList])
    }

    @Test("who tells their focus is answered, also where nobody heard it")
    func presence() {
        var story = Story()
        let offline = story.machine.submit(
            .presenceUpdate(PresenceUpdate(form: "f", focus: "flavor")))
        story.connect()
        let online = story.machine.submit(.presenceUpdate(PresenceUpdate(form: "f", focus: "n")))
        story.lose()
        story.connect()
        var answered: [Ticket] = []
        for case .answered(let tickets, .superseded) in story.events() { answered += tickets }
        #expect(answered == [offline, online])
    }

    @Test("a compare and set is not collapsed: it is judged as it was made")
    func compareAndSet() {
        var story = Story()
        for value in ["a", "b"] as [JSON] {
            _ = story.machine.submit(
                .stateSet(
                    StateSet(
                        form: "f", changes: [Change(field: "x", .value(value))], context: "t",
                        requireCurrent: true)))
        }
        story.connect()
        #expect(story.sent().map(\.request.method) == [.hello, .stateSet, .stateSet])
    }

    @Test("edits taken back offline are answered without being sent")
    func superseded() {
        var story = Story()
        for _ in 0..<2 {
            _ = story.machine.submit(
                .stateSet(StateSet(form: "f", changes: [Change(field: "t", .toggle)])))
        }
        story.connect()
        #expect(story.sent().map(\.request.method) == [.hello])
        guard case .answered(let tickets, .superseded)? = story.events().first else {
            Issue.record("no answer")
            return
        }
        #expect(tickets.count == 2)
    }

    @Test("a subscription comes back with since, and tells no revision twice")
    func since() {
        var story = Story()
        story.machine.subscribe(StateSubscribe(form: "f", presence: true))
        story.connect()
        story.answer(story.sent()[1].id, Story.snapshot(4, resumed: false))
        story.notify(Story.change(5, "flavor", "vanilla"))
        story.notify(Story.change(6, "flavor", "mint"))
        story.lose()
        _ = story.events()
        story.connect()
        let sent = story.sent()
        guard case .stateSubscribe(let again) = sent[1].request else {
            Issue.record("no subscription")
            return
        }
        #expect(again.since == StateSubscribe.Since(log: "L1", revision: 6))
        #expect(again.presence)
        story.answer(sent[1].id, Story.snapshot(8, resumed: true))
        for revision in [5, 6, 7, 7, 8] as [Int64] {
            story.notify(Story.change(revision, "flavor", .string("v\(revision)")))
        }
        var seen: [Int64] = []
        for case .changed(let change) in story.events() { seen.append(change.revision) }
        #expect(seen == [7, 8])
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "v8")
        #expect(story.machine.context(of: "f") == "r.1:8")
    }

    @Test("a log without continuation begins again, and says what was known")
    func newLog() {
        var story = Story()
        story.machine.subscribe(StateSubscribe(form: "f"))
        story.connect()
        story.answer(story.sent()[1].id, Story.snapshot(4, resumed: false))
        story.notify(Story.change(5, "flavor", "vanilla"))
        story.lose()
        story.connect()
        _ = story.events()
        story.answer(story.sent()[1].id, Story.snapshot(2, resumed: false, log: "L2"))
        guard case .snapshot(let result, let previous)? = story.events().last else {
            Issue.record("no snapshot")
            return
        }
        #expect(result.log == "L2")
        #expect(previous["flavor"]?.value == "vanilla")
        story.notify(Story.change(3, "flavor", "mint"))
        guard case .changed(let change)? = story.events().last else {
            Issue.record("revision 3 of the new log is news")
            return
        }
        #expect(change.revision == 3)
    }

    @Test("a Field that is not newer is dropped, whichever way it comes")
    func notNewer() {
        var story = Story()
        story.machine.subscribe(StateSubscribe(form: "f"))
        story.connect()
        story.answer(story.sent()[1].id, Story.snapshot(4, resumed: false))
        _ = story.machine.submit(set)
        story.answer(
            story.sent()[0].id,
            [
                "form": "f", "revision": 6, "context": "r.1:6",
                "fields": ["flavor": ["value": "mint", "revision": 6, "set": true]],
            ])
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "mint")
        story.notify(Story.change(5, "flavor", "vanilla"))
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "mint")
        // The stream's own order is untouched: revision 5 and then 6 are told.
        story.notify(Story.change(6, "flavor", "mint"))
        var seen: [Int64] = []
        for case .changed(let change) in story.events() { seen.append(change.revision) }
        #expect(seen == [5, 6])
    }

    @Test("frames may come in any pieces")
    func splits() {
        let bytes =
            Answer.frame(Story.change(5, "flavor", "vanilla"))
            + Answer.frame(Story.change(6, "flavor", "mint"))
        for split in 0...bytes.count {
            var story = Story()
            story.machine.subscribe(StateSubscribe(form: "f"))
            story.connect()
            story.answer(story.sent()[1].id, Story.snapshot(4, resumed: false))
            story.receive(Array(bytes[..<split]))
            story.receive(Array(bytes[split...]))
            var seen: [Int64] = []
            for case .changed(let change) in story.events() { seen.append(change.revision) }
            #expect(seen == [5, 6], "split at \(split)")
        }
    }

    @Test("what no daemon sends is a violation, never a crash")
    func violations() {
        let texts = [
            "{}", "[]", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}", "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"state.changed\",\"params\":{\"form\":3}}",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"form\":\"f\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"no\"}}",
        ]
        for text in texts {
            var story = Story()
            story.machine.subscribe(StateSubscribe(form: "f"))
            story.connect()
            _ = story.sent()
            story.receive(Frame.encode(text: Array(text.utf8)))
            let isViolation = story.events().contains {
                if case .violation = $0 { true } else { false }
            }
            #expect(isViolation || text == "[]", "\(text)")
        }
        var story = Story()
        story.connect()
        story.receive([0, 0, 0, 0])
        guard case .violation? = story.events().last else {
            Issue.record("an empty frame is a violation")
            return
        }
    }

    @Test("attempts wait longer and longer, up to a bound, with jitter of at most a half")
    func backoff() {
        var backoff = Backoff(seed: 1)
        var ceiling = backoff.first
        for _ in 0..<20 {
            let delay = backoff.next()
            #expect(delay >= ceiling / 2 && delay <= ceiling)
            ceiling = min(ceiling * 2, backoff.longest)
        }
        backoff.reset()
        #expect(backoff.next() <= backoff.first)
    }

    @Test("goodbye says when to come back")
    func goodbye() {
        var story = Story()
        story.connect()
        story.notify(.goodbye(Goodbye(reason: .restart, retryAfterMs: 2_000)))
        story.lose()
        #expect(story.machine.connectDeadline ?? 0 >= story.now + 2_000_000_000)
        story.connect()
        story.lose()
        #expect(story.machine.connectDeadline ?? .max < story.now + 1_000_000_000)
    }

    @Test("a daemon of another protocol ends it, and everybody waiting is told")
    func incompatible() {
        var story = Story()
        story.connect()
        let ticket = story.machine.submit(.ping)
        let hello = story.sent()[0].id
        story.receive(Answer.frame(hello, WireError(.unsupportedProtocol, "protocol 2 only")))
        var lost: [Ticket] = []
        var isTold = false
        for event in story.events() {
            if case .incompatible = event { isTold = true }
            if case .answered(let tickets, .lost) = event { lost += tickets }
        }
        #expect(isTold)
        #expect(lost == [ticket])
        #expect(story.machine.connectDeadline == nil)
    }
}
