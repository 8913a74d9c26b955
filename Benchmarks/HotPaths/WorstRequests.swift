import CCallgrind
import CostlyRequests
import EngineTestKit
import FormFile
import SyncCore

/// What follows the name of a case that is measured with `durability = memory`.
private let inMemory = "@memory"

/// The names of all cases. Rows beside the values are kept in another way below `commit`.
var worstNames: [String] {
    CostlyRequest.all.map(\.name) + CostlyRequest.ofRuns.map { $0.name + inMemory } + [departure]
}

/// Handlers that leave in one iteration of the loop.
private let departure = "departure/handlers"

/// Asks for one costly request as an engine over a store in memory is asked, where `isAsked`;
/// otherwise only what it needs is made.
func worst(_ name: String, isAsked: Bool) throws {
    if name == departure { return try worstDeparture(isAsked: isAsked) }
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
    if isAsked { counting { host.ask(client, request) } }
}

/// As many handlers as a form may have leave it in one iteration, and 700 runs are without their
/// handlers already.
private func worstDeparture(isAsked: Bool) throws {
    let host = try EngineHost(compile: RegularExpression.compiler)
    let client = host.connect(uid: 0, user: "root")
    let buttons = (0..<100).map { #"{"id":"b\#($0)","type":"button","runs":"queue"}"# }
    let presses = (0..<100).map { #"{"field":"b\#($0)","press":true}"# }
    func ask(_ id: ConnectionID, _ method: String, _ params: String) {
        let answers = host.ask(
            id, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)}}"#)
        precondition(
            answers.contains { $0.contains("\"result\"") },
            "\(method): \(answers.description.prefix(400))")
    }
    ask(
        client, "form.apply",
        #""definition":{"form":"f","access":{"handle":["anyone"]},"fields":["#
            + buttons.joined(separator: ",") + "]}")
    for _ in 0..<8 {
        ask(client, "state.set", #""form":"f","changes":[\#(presses.joined(separator: ","))]"#)
    }
    func handlers() -> [ConnectionID] {
        (0..<Limits().handlersMax).map { number in
            let id = host.connect(uid: UInt32(1_000 + number), user: "user\(number)")
            ask(id, "button.handle", #""form":"f""#)
            return id
        }
    }
    for _ in 0..<7 {
        for id in handlers() { host.disconnect(id) }
        host.settle()
    }
    let leaving = handlers()
    guard isAsked else { return }
    counting {
        for id in leaving { host.disconnect(id) }
        host.settle()
    }
}

/// Callgrind counts what is done in here and, with `--instr-atstart=no`, nothing else: what has to
/// be made before takes a tenth of the time then.
private func counting(_ body: () -> Void) {
    ccallgrind_start()
    body()
    ccallgrind_stop()
}
