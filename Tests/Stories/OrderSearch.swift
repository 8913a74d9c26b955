// In which order were they done?
//
// Requests of one connection are done in order; those of several in any. Whatever was answered has
// to be right in one of the orders (Herlihy, Wing, "Linearizability", TOPLAS 1990; the search is
// that of Wing and Gong, "Testing and Verifying Concurrent Objects", JPDC 1993).

import SyncCore

struct OrderSearch {
    private let connections: [Int]
    private let asked: [Int: [StoryRequest]]
    private let responses: [Int: [JSON]]
    private let normal: [Int: [JSON]]
    private var tries = 0
    private var deepest = -1
    /// What was expected where the search came furthest.
    private(set) var complaint = "no order of requests was tried"
    private static let triesMax = 20_000

    init(asked: [Int: [StoryRequest]], responses: [Int: [JSON]], isAnonymous: Bool) {
        self.asked = asked
        self.responses = responses
        connections = asked.keys.sorted()
        normal = responses.mapValues { $0.map { StoryWire.normal($0, isAnonymous: isAnonymous) } }
    }

    /// The model after the first order in which all is right.
    mutating func find(_ model: StoryModel) -> StoryModel? {
        find(model, connections.map { _ in 0 })
    }

    private mutating func find(_ model: StoryModel, _ done: [Int]) -> StoryModel? {
        var isEnd = true
        for place in connections.indices {
            let connection = connections[place]
            guard let requests = asked[connection], done[place] < requests.count else { continue }
            isEnd = false
            tries += 1
            if tries > Self.triesMax { return nil }
            var trial = model
            let number = done[place]
            let outcome = trial.perform(requests[number], by: connection)
            do {
                try check(
                    outcome, responses[connection]?[number] ?? .null,
                    normal[connection]?[number] ?? .null, &trial)
            } catch {
                if done.reduce(0, +) > deepest {
                    deepest = done.reduce(0, +)
                    complaint = "\(connection) > \(requests[number])\n  \(error)"
                }
                continue
            }
            var next = done
            next[place] += 1
            if let found = find(trial, next) { return found }
        }
        return isEnd ? model : nil
    }

    private func check(
        _ outcome: StoryModel.Outcome, _ response: JSON, _ normal: JSON,
        _ model: inout StoryModel
    ) throws {
        guard outcome.answer.matches(normal) else {
            throw StoryDifference("was answered \(normal)\n  and not \(outcome.answer)")
        }
        let result = response["result"]
        if let serial = outcome.log, let log = result?["log"]?.stringValue,
            let place = model.forms.firstIndex(where: { $0.serial == serial })
        {
            let known = model.forms[place].log
            guard known == nil || known == log else {
                throw StoryDifference("the log is \(log), and was \(known ?? "")")
            }
            model.forms[place].log = log
        }
        if let token = outcome.token, let text = result?["context"]?.stringValue {
            try model.learn(text, token.writes, token.form, isShown: token.isShown)
        }
    }
}
