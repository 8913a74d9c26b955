import SyncCore
import Testing

@testable import PickerClient

@Suite("the client machine")
struct ClientMachineTests {
    @Test("it greets first, then subscribes, then asks")
    func order() {
        var story = ClientStory()
        story.machine.subscribe(StateSubscribe(form: "f"))
        _ = story.machine.submit(.formList)
        story.connect()
        #expect(story.sent().map(\.request.method) == [.hello, .stateSubscribe, .formList])
    }

    @Test("frames may come in any pieces")
    func splits() {
        let bytes =
            Answer.frame(ClientStory.change(5, "flavor", "vanilla"))
            + Answer.frame(ClientStory.change(6, "flavor", "mint"))
        for split in 0...bytes.count {
            var story = ClientStory()
            story.machine.subscribe(StateSubscribe(form: "f"))
            story.connect()
            story.answer(story.sent()[1].id, ClientStory.snapshot(4, resumed: false))
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
            var story = ClientStory()
            story.machine.subscribe(StateSubscribe(form: "f"))
            story.connect()
            _ = story.sent()
            story.receive(Frame.encode(text: Array(text.utf8)))
            let isViolation = story.events().contains {
                if case .violation = $0 { true } else { false }
            }
            #expect(isViolation || text == "[]", "\(text)")
        }
        var story = ClientStory()
        story.connect()
        story.receive([0, 0, 0, 0])
        guard case .violation? = story.events().last else {
            Issue.record("an empty frame is a violation")
            return
        }
    }

    @Test("who tells their focus is answered, also where nobody heard it")
    func presence() {
        var story = ClientStory()
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

    @Test("attempts wait longer and longer, up to a bound, with jitter of at most a half")
    func backoff() {
        var backoff = Backoff(seed: 1)
        var ceiling = backoff.first
        for _ in 0..<20 {
            let delay = backoff.next()
            #expect(delay >= ceiling / 2 && delay <= ceiling)
            ceiling = min(ceiling * 2, backoff.longest)
        }
        backoff.connectionEnded(after: 999_999_999)
        #expect(backoff.next() > backoff.longest / 2)
        backoff.connectionEnded(after: 1_000_000_000)
        #expect(backoff.next() <= backoff.first)
    }

    @Test("a daemon that greets and ends each connection at once is tried less and less often")
    func endsAtOnce() throws {
        var story = ClientStory()
        func loseAfter(_ nanoseconds: UInt64) throws -> UInt64 {
            story.connect()
            let hello = try #require(story.sent().first)
            story.greet(hello.id, replica: "a.1")
            story.notify(.goodbye(Goodbye(reason: .restart, retryAfterMs: 1)))
            story.now += nanoseconds
            story.lose()
            let deadline = try #require(story.machine.connectDeadline)
            defer { story.now = deadline }
            return deadline - story.now
        }
        for _ in 0..<10 { _ = try loseAfter(1_000_000) }
        #expect(try loseAfter(1_000_000) >= 2_500_000_000)
        // One that has held is tried again soon.
        #expect(try loseAfter(2_000_000_000) <= 20_000_000)
    }

    @Test("goodbye says when to come back")
    func goodbye() {
        var story = ClientStory()
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
        var story = ClientStory()
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
