import SyncCore
import Testing

@testable import PickerClient

@Suite("subscriptions across lost connections")
struct SubscriptionTests {
    @Test("a subscription comes back with since, and tells no revision twice")
    func since() {
        var story = ClientStory()
        story.machine.subscribe(StateSubscribe(form: "f", presence: true))
        story.connect()
        story.answer(story.sent()[1].id, ClientStory.snapshot(4, resumed: false))
        story.notify(ClientStory.change(5, "flavor", "vanilla"))
        story.notify(ClientStory.change(6, "flavor", "mint"))
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
        story.answer(sent[1].id, ClientStory.snapshot(8, resumed: true))
        for revision in [5, 6, 7, 7, 8] as [Int64] {
            story.notify(ClientStory.change(revision, "flavor", .string("v\(revision)")))
        }
        var seen: [Int64] = []
        for case .changed(let change) in story.events() { seen.append(change.revision) }
        #expect(seen == [7, 8])
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "v8")
        #expect(story.machine.subscription("f")?.replica.context == "r.1:8")
    }

    @Test("a log without continuation begins again, and says what was known")
    func newLog() {
        var story = ClientStory()
        story.machine.subscribe(StateSubscribe(form: "f"))
        story.connect()
        story.answer(story.sent()[1].id, ClientStory.snapshot(4, resumed: false))
        story.notify(ClientStory.change(5, "flavor", "vanilla"))
        story.lose()
        story.connect()
        _ = story.events()
        story.answer(story.sent()[1].id, ClientStory.snapshot(2, resumed: false, log: "L2"))
        guard case .snapshot(let result, let previous)? = story.events().last else {
            Issue.record("no snapshot")
            return
        }
        #expect(result.log == "L2")
        #expect(previous["flavor"]?.value == "vanilla")
        story.notify(ClientStory.change(3, "flavor", "mint"))
        guard case .changed(let change)? = story.events().last else {
            Issue.record("revision 3 of the new log is news")
            return
        }
        #expect(change.revision == 3)
    }

    @Test("a Field that is not newer is dropped, whichever way it comes")
    func notNewer() {
        var story = ClientStory()
        story.machine.subscribe(StateSubscribe(form: "f"))
        story.connect()
        story.answer(story.sent()[1].id, ClientStory.snapshot(4, resumed: false))
        _ = story.machine.submit(ClientStory.set)
        story.answer(
            story.sent()[0].id,
            [
                "form": "f", "revision": 6, "context": "r.1:6",
                "fields": ["flavor": ["value": "mint", "revision": 6, "set": true]],
            ])
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "mint")
        story.notify(ClientStory.change(5, "flavor", "vanilla"))
        #expect(story.machine.fields(of: "f")["flavor"]?.value == "mint")
        // The stream's own order is untouched: revision 5 and then 6 are told.
        story.notify(ClientStory.change(6, "flavor", "mint"))
        var seen: [Int64] = []
        for case .changed(let change) in story.events() { seen.append(change.revision) }
        #expect(seen == [5, 6])
    }
}
