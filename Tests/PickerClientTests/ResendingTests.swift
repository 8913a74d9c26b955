import SyncCore
import Testing

@testable import PickerClient

/// What becomes of requests when a connection is lost, or when none is there.
@Suite("requests across lost connections")
struct ResendingTests {
    @Test("an edit that was not answered is sent again under its key, once and in order")
    func resend() {
        var story = ClientStory()
        story.connect()
        let first = story.machine.submit(ClientStory.set)
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
    func notStarted() {
        var story = ClientStory()
        story.connect()
        let ticket = story.machine.submit(ClientStory.set)
        let first = story.sent().dropFirst()
        story.receive(Answer.frame(first.map(\.id)[0], .notStarted("stopping")))
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
    func notStartedForGood() {
        var story = ClientStory(reconnects: false)
        story.connect()
        let ticket = story.machine.submit(ClientStory.set)
        story.receive(Answer.frame(story.sent().dropFirst().map(\.id)[0], .notStarted("stopping")))
        var refused: [Ticket] = []
        for case .answered(let tickets, .refused) in story.events() { refused += tickets }
        #expect(refused == [ticket])
    }

    @Test("edits made while no daemon is there collapse and get one key")
    func offline() {
        var story = ClientStory()
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
        var story = ClientStory()
        _ = story.machine.submit(ClientStory.set)
        _ = story.machine.submit(.stateUndo(StateUndo(form: "f")))
        _ = story.machine.submit(.ping)
        _ = story.machine.submit(ClientStory.set)
        _ = story.machine.submit(.formList)
        _ = story.machine.submit(ClientStory.set)
        story.connect()
        let sent = story.sent().map(\.request.method)
        #expect(sent == [.hello, .stateSet, .stateUndo, .ping, .stateSet, .formList])
    }

    @Test("a compare and set is not collapsed: it is judged as it was made")
    func compareAndSet() {
        var story = ClientStory()
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
        var story = ClientStory()
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

    @Test("no change reaches another replica; its own replica gets it under the same key")
    func otherReplica() throws {
        var story = ClientStory(keepsChanges: true)
        story.connect()
        story.greet(story.sent()[0].id, replica: "a")
        let sent = story.machine.submit(ClientStory.set)
        let key = try #require(story.sent()[0].request.idempotencyKey)
        story.lose()
        let queued = story.machine.submit(ClientStory.set)
        let list = story.machine.submit(.formList)
        story.connect()
        // Nothing but the greeting before it is known who answers.
        let hello = story.sent()
        #expect(hello.map(\.request.method) == [.hello])
        let early = story.machine.submit(ClientStory.set)
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
        _ = story.machine.submit(ClientStory.set)
        #expect(story.sent().map(\.request.method) == [.stateSet])
        story.lose()
        story.connect()
        story.greet(story.sent()[0].id, replica: "b")
        #expect(story.sent().map(\.request.method) == [.formList, .stateSet])
    }

    @Test("a new epoch of the same store is the same replica: changes continue")
    func newEpoch() {
        var story = ClientStory(keepsChanges: true)
        story.connect()
        story.greet(story.sent()[0].id, replica: "3f9a.1")
        story.lose()
        _ = story.machine.submit(ClientStory.set)
        story.connect()
        story.greet(story.sent()[0].id, replica: "3f9a.2")
        #expect(story.sent().map(\.request.method) == [.stateSet])
    }
}
