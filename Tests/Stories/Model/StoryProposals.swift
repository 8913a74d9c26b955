// Proposals and guards (docs/PROTOCOL.md, Proposals).
//
// No time passes for the model: proposals of stories wait longer than a story.

import SyncCore

/// `approval` and `breakGlass` of a control.
struct StoryApproval: Equatable {
    var from: [String]
    var count: Int
    var when: StoryControl.Condition?
    var breakGlass: [String]?

    var json: JSON {
        var object = JSONObject([
            ("from", .array(from.map { .string($0) })), ("count", .integer(count)),
            ("within", "30d"),
        ])
        object["when"] = when.map { .object(JSONObject([($0.field, .bool($0.value))])) }
        return .object(object)
    }
}

extension StoryUser {
    /// Whether a list names the user: `anyone` does not stand for root and the daemon's user.
    func isNamed(by principals: [String], owner: Int) -> Bool {
        isAmong(principals.filter { !isAdmin || $0 != "anyone" }, owner: owner)
    }
}

/// A proposal.
struct StoryProposal {
    enum Content {
        case values([(field: String, action: (String, JSON), was: JSON?)], lease: JSON?)
        case definition(JSON)
        case options(String, [JSON])
    }

    var id: Int
    var form: String
    var by: StoryAuthor
    var user: StoryUser
    var session: String?
    var message: JSON?
    var content: Content
    var fields: [String]
    var needs: Int
    var votes: [(user: StoryUser, json: JSON)] = []
    var state = "waits"
    var ended: JSONObject?
    var named: [String] = []
    var watched: [String] = []
    /// The revision and the version when it was made.
    var basis: Int
    var version: Int

    var json: JSON {
        var object = JSONObject([
            ("id", .integer(id)), ("form", .string(form)), ("state", .string(state)),
            ("by", by.json), ("fields", .array(fields.map { .string($0) })),
            ("needs", .integer(needs)), ("votes", .array(votes.map(\.json))),
        ])
        object["message"] = message
        object["ended"] = ended.map { .object($0) }
        switch content {
        case .values(let changes, let lease):
            object["lease"] = lease
            object["changes"] = .array(
                changes.map { change in
                    var one = JSONObject([
                        ("field", .string(change.field)), (change.action.0, change.action.1),
                    ])
                    one["was"] = change.was
                    return .object(one)
                })
        case .definition(let definition): object["definition"] = definition
        case .options(let field, let options):
            object["field"] = .string(field)
            object["options"] = .array(options)
        }
        return .object(object)
    }

    var result: JSON { .object(JSONObject([("form", .string(form)), ("proposal", json)])) }

    /// The fields that `pickerctl history` names it for.
    var touched: [String] {
        switch content {
        case .values(let changes, _): changes.map(\.field)
        case .options(let field, _): [field]
        case .definition: fields
        }
    }
}

// MARK: - Guards

extension StoryForm {
    private func holds(_ condition: StoryControl.Condition?) -> Bool {
        guard let condition else { return true }
        let reading = shown(condition.field)
        return !reading.isMixed && !reading.isInvalid && reading.value == .bool(condition.value)
    }

    /// Every state that ends of the leases of these controls can bring about, this one included.
    private func afterEnds(of ids: Set<String>) -> [StoryForm] {
        ids.sorted().reduce([self]) { states, id in
            states.flatMap { $0.afterEnds(of: id) }
        }
    }

    private func afterEnds(of id: String) -> [StoryForm] {
        guard let control = definition.control(id), let stack = leases[id]?.stack else {
            return [self]
        }
        return (0..<1 << stack.count).map { ended in
            var transaction = StoryTransaction(self, by: stack[0].by)
            let top = stack.count - 1
            for place in stack.indices.dropLast().reversed() where ended >> place & 1 == 1 {
                transaction.form.leases[id]?.stack.remove(at: place)
            }
            if ended >> top & 1 == 1 { transaction.endLease(control) }
            return transaction.form
        }
    }

    /// Whether ends of leases can bring about a guarded value that they could not bring about
    /// before, or one that lasts longer.
    private func mayShow(
        _ control: StoryControl, moreThan before: StoryForm, _ earlier: StoryControl
    ) -> Bool {
        func values(_ form: StoryForm, _ control: StoryControl) -> [(value: JSON, end: String?)] {
            guard let rule = control.approval else { return [] }
            let decides = Set(rule.when.map { form.definition.targets($0.field) } ?? [])
            return form.afterEnds(of: decides.union([control.id])).compactMap { state in
                guard state.holds(rule.when) else { return nil }
                let top = state.leases[control.id]?.stack.last
                return (state.stored(control.id).value, top.map { $0.until ?? "" })
            }
        }
        let known = values(before, earlier)
        return values(self, control).contains { value, end in
            !known.contains { other, limit in
                guard value == other else { return false }
                guard let limit else { return true }
                guard let end else { return false }
                return end <= limit
            }
        }
    }

    private func differs(_ id: String, from later: StoryForm) -> Bool {
        guard let control = definition.control(id) else { return false }
        let (was, now) = (stored(id), later.stored(id))
        if was.value != now.value || was.isSet != now.isSet { return true }
        func others(_ form: StoryForm) -> Set<JSON> {
            Set((form.contents[id] ?? .nothing).siblings(control).map(\.value))
        }
        if others(self) != others(later) { return true }
        guard let end = leases[id]?.stack.last?.until else { return false }
        guard let next = later.leases[id]?.stack.last?.until else { return true }
        return next > end
    }

    /// The guarded controls that a transaction asks for approval of.
    func guardsMet(by transaction: StoryTransaction) -> [String] {
        let changed = transaction.written.union(transaction.leased)
        let touched = definition.withDependents(changed)
        let after = transaction.form
        return definition.controls.filter { control in
            guard let rule = control.approval else { return false }
            let isChanged = changed.contains(control.id) && differs(control.id, from: after)
            let isWatched = rule.when.map { touched.contains($0.field) } ?? false
            guard isChanged || isWatched || touched.contains(control.id) else { return false }
            if isChanged || isWatched, after.holds(rule.when), isChanged || !holds(rule.when) {
                return true
            }
            return after.mayShow(control, moreThan: self, control)
        }.map(\.id)
    }

    /// Whether every change of a field asks for approval.
    func isAlwaysAsked(_ id: String) -> Bool {
        let targets = definition.targets(id)
        guard targets.count == 1, let rule = definition.control(targets[0])?.approval else {
            return false
        }
        guard let when = rule.when else { return true }
        return !definition.withDependents([targets[0]]).contains(when.field) && holds(when)
    }

    /// The guarded controls that another definition asks for approval of.
    func guardsMet(by next: StoryForm, _ plan: Migration) -> [String] {
        definition.controls.filter { control in
            guard let rule = control.approval else { return false }
            let successor = next.definition.controls.first { other in
                switch plan.origins[other.id] {
                case .carries(let source), .restarts(let source): source == control.id
                case .new, nil: false
                }
            }
            guard let successor, let kept = successor.approval, kept == rule else { return true }
            let (was, now) = (shown(control.id), next.shown(successor.id))
            let isSame =
                was.value == now.value && was.isMixed == now.isMixed
                && was.isInvalid == now.isInvalid && was.isMissing == now.isMissing
                && stored(control.id).isSet == next.stored(successor.id).isSet
            let (held, holds) = (holds(rule.when), next.holds(kept.when))
            if isSame ? holds && !held : holds || held { return true }
            return next.mayShow(successor, moreThan: self, control)
        }.map(\.id)
    }

    var hasGuards: Bool { definition.controls.contains { $0.approval != nil } }

    /// The proposals that wait, for the answer to a subscription; `nil` if nothing is guarded.
    var waitingProposals: JSON? {
        let waiting = proposals.filter { $0.state == "waits" }
        return waiting.isEmpty && !hasGuards ? nil : .array(waiting.map(\.json))
    }

    func isButton(_ id: String) -> Bool { definition.control(id)?.kind == .button }

    /// The fields that decide whether these guards apply.
    func deciding(_ guards: [String]) -> [String] {
        guards.compactMap { definition.control($0)?.approval?.when?.field }
    }
}

extension StoryModel {
    /// Keeps a proposal and answers the request.
    mutating func propose(
        _ content: StoryProposal.Content, _ guards: [String], _ place: Int, _ peer: StoryPeer,
        _ message: JSON?, named: [String] = [], watched: [String] = []
    ) throws -> Outcome {
        let form = forms[place]
        let own = forms.reduce(0) { sum, form in
            sum
                + form.proposals.count {
                    $0.state == "waits" && $0.user.uid == peer.user.uid
                }
        }
        guard own < 20 else { throw StoryRefusal("limit") }
        proposalNumber += 1
        let needs = guards.compactMap { form.definition.control($0)?.approval?.count }.max() ?? 1
        let proposal = StoryProposal(
            id: proposalNumber, form: form.name, by: peer.author, user: peer.user,
            session: peer.session, message: message, content: content, fields: guards,
            needs: needs, named: named, watched: watched, basis: form.revision,
            version: form.version)
        forms[place].proposals.append(proposal)
        note(proposal, place)
        return Outcome(answer: .result(proposal.result))
    }

    /// Keeps a change of a proposal.
    mutating func note(_ proposal: StoryProposal, _ place: Int) {
        guard let at = forms[place].proposals.firstIndex(where: { $0.id == proposal.id }) else {
            return
        }
        forms[place].proposals[at] = proposal
        told.append(
            StoryWire.normal(proposal.result, isAnonymous: isAnonymous))
    }

    mutating func end(
        _ proposal: inout StoryProposal, as state: String, _ place: Int,
        _ members: [(String, JSON)]
    ) {
        proposal.state = state
        proposal.ended = JSONObject(members)
        if state == "applied" { proposal.needs = 0 }
        note(proposal, place)
    }

    /// A change without approval ends proposals that are based on these fields.
    mutating func endProposals(on fields: Set<String>, _ place: Int) {
        for var proposal in forms[place].proposals where proposal.state == "waits" {
            guard
                let first = (proposal.watched + proposal.fields).first(where: fields.contains)
            else { continue }
            end(&proposal, as: "stale", place, mover(first, place))
        }
    }

    func mover(_ id: String, _ place: Int) -> [(String, JSON)] {
        guard forms[place].definition.control(id) != nil, let by = forms[place].touches[id]?.by
        else { return [] }
        return [("by", by.json)]
    }

    /// What a change of what is guarded needs. Returns whether it is made without approval.
    func mayBreakGlass(
        _ guards: [String], _ request: StoryRequest, _ place: Int, _ peer: StoryPeer
    ) throws -> Bool {
        let form = forms[place]
        guard request["breakGlass"] != nil else {
            throw StoryRefusal("approvalNeeded", form: form.name, field: guards[0])
        }
        for id in guards {
            let rule = form.definition.control(id)?.approval?.breakGlass ?? []
            guard peer.user.isAmong(rule, owner: form.owner) else {
                throw StoryRefusal("forbidden", form: form.name, field: id)
            }
        }
        guard request["message"] != nil else {
            throw StoryRefusal("invalidParams", form: form.name, field: guards[0])
        }
        return true
    }
}
