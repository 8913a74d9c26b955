// In which order were the requests done?
//
// The daemon does the requests of one connection in their order, and those of several connections
// in any order. All answers must be right in one of these orders (Herlihy, Wing, "Linearizability",
// TOPLAS 1990; the search is that of Wing and Gong, "Testing and Verifying Concurrent Objects",
// JPDC 1993).

import SyncCore

struct OrderSearch {
    private let connections: [Int]
    private let asked: [Int: [StoryRequest]]
    private let responses: [Int: [JSON]]
    private let normal: [Int: [JSON]]
    private let listed: (forms: JSON, for: StoryUser)?
    private var tries = 0
    private var deepest = -1
    /// What was expected where the search came furthest.
    private(set) var complaint = "no order of requests was tried"
    /// The states after each order in which all answers are right: the first, or many.
    private(set) var all: [StoryModel] = []
    /// The states after each edit, in all orders that were found.
    private(set) var states: [StoryModel] = []
    /// The states that a failed commit may have left in the store, in all orders that were found.
    private(set) var unwritten: [StoryModel] = []
    /// Whether the store failed before the requests.
    private(set) var isFailing = false
    private static let triesMax = 20_000
    private static let allMax = 200

    /// - Parameter listed: The result of `form.list` afterwards for a user, if known.
    init(
        asked: [Int: [StoryRequest]], responses: [Int: [JSON]],
        listed: (forms: JSON, for: StoryUser)?, isAnonymous: Bool
    ) {
        self.asked = asked
        self.responses = responses
        self.listed = listed
        connections = asked.keys.sorted()
        normal = responses.mapValues { $0.map { StoryWire.normal($0, isAnonymous: isAnonymous) } }
    }

    /// Searches from a state.
    ///
    /// - Parameter isExhaustive: All orders are searched.
    mutating func run(from model: StoryModel, isExhaustive: Bool) {
        isFailing = model.store.health == .failing
        var path: [StoryModel] = []
        find(model, connections.map { _ in 0 }, &path, isExhaustive)
    }

    private mutating func find(
        _ model: StoryModel, _ done: [Int], _ path: inout [StoryModel], _ isExhaustive: Bool
    ) {
        var isEnd = true
        for place in connections.indices {
            let connection = connections[place]
            guard let requests = asked[connection], done[place] < requests.count else { continue }
            isEnd = false
            let number = done[place]
            var model = model
            model.peers[connection]?.request = number + 1
            for (trial, outcome) in model.possibilities(of: requests[number], by: connection) {
                if tries > Self.triesMax || !all.isEmpty && !isExhaustive { return }
                tries += 1
                var next = trial
                do {
                    try check(
                        outcome, responses[connection]?[number] ?? .null,
                        normal[connection]?[number] ?? .null, &next)
                } catch {
                    if done.reduce(0, +) > deepest {
                        deepest = done.reduce(0, +)
                        complaint = "\(connection) > \(requests[number])\n  \(error)"
                    }
                    continue
                }
                var counts = done
                counts[place] += 1
                let isEdit = RequestMaker.edits.contains(requests[number].method)
                if isEdit { path.append(next) }
                find(next, counts, &path, isExhaustive)
                if isEdit { path.removeLast() }
            }
        }
        guard isEnd, isListed(model) else { return }
        if all.count < Self.allMax { all.append(model) }
        states += path
        unwritten += model.store.unwritten
    }

    /// Whether `form.list` shows the forms of a state. The number of subscribers is not compared: a
    /// daemon may still count one that has just disconnected.
    private func isListed(_ model: StoryModel) -> Bool {
        guard let listed else { return true }
        func rows(_ list: JSON) -> [JSON] {
            (list["forms"]?.arrayValue ?? []).map { row in
                guard var members = row.objectValue else { return row }
                members["subscribers"] = nil
                return .object(members)
            }
        }
        return rows(listed.forms) == rows(model.list(for: listed.for))
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
            let isOld =
                model.store.health == .refusing && log == model.forms[place].storedLog
            guard known == nil || known == log, !isOld else {
                throw StoryDifference("the log is \(log), and was \(known ?? "another")")
            }
            model.forms[place].log = log
            model.forms[place].uncertainLog = nil
        }
        if let (serial, presses) = outcome.presses,
            let place = model.forms.firstIndex(where: { $0.serial == serial })
        {
            for press in presses where press.write == presses.last(of: press.field)?.write {
                let text = result?["fields"]?[press.field]?["press"]?.stringValue
                guard let text else { throw StoryDifference("no press of \(press.field)") }
                model.forms[place].learn(press.write) { $0.press = text }
            }
        }
        if let token = outcome.token, let text = result?["context"]?.stringValue {
            try model.check(text, token.writes, token.form, isShown: token.isShown)
        }
    }
}

extension [StoryForm.Press] {
    /// The last press of a button: the one that an answer names.
    fileprivate func last(of field: String) -> StoryForm.Press? { last { $0.field == field } }
}
