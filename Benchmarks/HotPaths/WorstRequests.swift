import CostlyRequests
import EngineTestKit
import FormFile
import SyncCore

/// What follows the name of a case that is measured with `durability = memory`.
private let inMemory = "@memory"

/// The names of all cases. Rows beside the values are kept in another way below `commit`.
var worstNames: [String] {
    CostlyRequest.all.map(\.name) + CostlyRequest.ofRuns.map { $0.name + inMemory }
}

/// Asks for one costly request as an engine over a store in memory is asked, where `isAsked`;
/// otherwise only what it needs is made.
func worst(_ name: String, isAsked: Bool) throws {
    let durability: Durability = name.hasSuffix(inMemory) ? .memory : .commit
    let name = durability == .commit ? name : String(name.dropLast(inMemory.count))
    guard let costly = CostlyRequest.all.first(where: { $0.name == name }) else {
        preconditionFailure("there is no costly request \(name)")
    }
    let host = try EngineHost(durability: durability, compile: RegularExpression.compiler)
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
