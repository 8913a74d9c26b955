import SyncCore
import Testing

@testable import Stories

/// What the model does not know after a kill.
@Suite("The model of the stories")
struct StoryModelTests {
    private let user = StoryUser(uid: 900, name: "daemon", isAdmin: true)

    private func apply(_ extra: (String, JSON)...) throws -> StoryRequest {
        let definition = try JSON(
            parsing: #"{"form":"f","fields":[{"id":"a","type":"toggle"}]}"#)
        return StoryRequest(
            "form.apply", [("definition", definition), ("idempotencyKey", "k")] + extra)
    }

    /// A form was created with a key and deleted. Then a kill may have lost both.
    private func afterKill() throws -> StoryModel {
        var model = StoryModel()
        model.peers[1] = StoryPeer(user: user, connection: 1)
        let lost = model
        _ = try model.perform(apply(), by: 1)
        _ = model.perform(StoryRequest("form.delete", [("form", "f")]), by: 1)
        model.doubtKeys(after: [lost])
        return model
    }

    @Test("a refusal that does not depend on a key does not show whether the key is known")
    func refusedWithUncertainKey() throws {
        let refused = try #require(
            try afterKill().possibilities(of: apply(("form", "another")), by: 1).first)
        #expect(refused.outcome.answer == .refusal(StoryRefusal("invalidParams")))
        let retries = try refused.model.possibilities(of: apply(), by: 1)
        #expect(Set(retries.map(\.model.forms.count)) == [0, 1])
    }

    @Test("a result shows whether a key is known")
    func answeredWithUncertainKey() throws {
        let retries = try afterKill().possibilities(of: apply(), by: 1)
        #expect(retries.map(\.model.forms.count) == [0, 1])
        #expect(retries.allSatisfy { $0.model.uncertainKeys.isEmpty })
    }
}
