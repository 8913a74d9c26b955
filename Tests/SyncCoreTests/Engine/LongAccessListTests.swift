import EngineTestKit
import SyncCore
import Testing

@Suite("Long access lists")
struct LongAccessListTests {
    @Test("a form names so many users and groups and no more, and a refusal names a few")
    func bounded() throws {
        var limits = Limits()
        limits.principalsMax = 40
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        let answer = host.call(root, .formApply(FormApply(definition: Self.form(principals: 41))))
        #expect(answer[0].contains("more than 40 users and groups"), "\(answer)")
        #expect(
            !host.call(
                root, .formApply(FormApply(definition: Self.form(principals: 40))))[0].contains(
                    "error"))
        let stranger = host.connect(uid: 9_000, user: "stranger")
        let refusal = host.call(stranger, Self.set)[0]
        #expect(refusal.contains("uid:1007 and 32 more may"), "\(refusal)")
        // Others keep what the list gives them, in a request that names many controls too.
        let member = host.connect(uid: 1_039, user: "member")
        #expect(!host.call(member, Self.set)[0].contains("error"))
    }

    @Test("a name of a user is no longer than names are")
    func names() throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        let name = "user:" + String(repeating: "n", count: 100_000)
        let form: JSON = [
            "form": "f", "access": ["write": [.string(name)]],
            "fields": [["id": "a", "type": "toggle"]],
        ]
        let answer = host.call(root, .formApply(FormApply(definition: form)))[0]
        #expect(answer.contains("anyone, owner, user:NAME"))
        #expect(answer.utf8.count < 2_000)
    }

    @Test("titles of any length leave the list of forms one frame that clients take")
    func titles() throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        let title = String(repeating: "t", count: 900_000)
        for number in 0..<4 {
            let form: JSON = [
                "form": .string("f\(number)"), "title": .string(title),
                "fields": [["id": "a", "type": "toggle"]],
            ]
            #expect(!host.call(root, .formApply(FormApply(definition: form)))[0].contains("error"))
        }
        let list = host.call(root, .formList)[0]
        #expect(list.contains("f3") && list.utf8.count < 4_000)
        // Readers of one form still get all of it.
        #expect(host.call(root, .formGet(form: "f0"))[0].utf8.count > 900_000)
    }

    private static let set = Request.stateSet(
        StateSet(
            form: "f",
            changes: [Change(field: "a", .value(true)), Change(field: "b", .value(true))]))

    private static func form(principals: Int) -> JSON {
        [
            "form": "f",
            "access": ["write": .array((0..<principals).map { .string("uid:\(1_000 + $0)") })],
            "fields": [["id": "a", "type": "toggle"], ["id": "b", "type": "toggle"]],
        ]
    }
}
