import CostlyRequests
import EngineTestKit
import FormFile

/// Asks for one costly request as an engine over a store in memory is asked, where `isAsked`;
/// otherwise only what it needs is made.
func worst(_ name: String, isAsked: Bool) throws {
    guard let costly = CostlyRequest.all.first(where: { $0.name == name }) else {
        preconditionFailure("there is no costly request \(name)")
    }
    let host = try EngineHost(compile: RegularExpression.compiler)
    let client = host.connect(uid: 0, user: "root")
    for request in costly.setup() {
        let answers = host.ask(client, request)
        precondition(
            answers.contains { $0.contains("\"result\"") },
            "\(name): \(answers.description.prefix(400))")
    }
    let request = costly.request()
    measured = { host.ask(client, request) }
    if isAsked { measuredRequest() }
}

/// What `measuredRequest` does.
nonisolated(unsafe) private var measured: () -> Void = {}

/// Valgrind counts what is done in here (`--toggle-collect`, scripts/check-cost).
@inline(never) public func measuredRequest() { measured() }
