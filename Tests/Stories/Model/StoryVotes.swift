// Votes on proposals (docs/PROTOCOL.md, Proposals).

import SyncCore

extension StoryModel {
    /// What a vote finds.
    private enum Trial {
        case stale([(String, JSON)])
        case values(StoryTransaction, [String])
        case definition(StoryDefinition, applied: StoryDefinition, String, [String])

        var guards: [String] {
            switch self {
            case .stale: []
            case .values(_, let guards), .definition(_, _, _, let guards): guards
            }
        }
    }

    private func trial(_ proposal: StoryProposal, _ place: Int) throws -> Trial {
        do {
            return try present(proposal, place)
        } catch let refusal as StoryRefusal {
            if ["busy", "limit"].contains(refusal.kind) { throw refusal }
            return .stale([])
        }
    }

    private func present(_ proposal: StoryProposal, _ place: Int) throws -> Trial {
        let form = forms[place]
        switch proposal.content {
        case .values(let changes, let lease):
            func moved(_ ids: [String]) -> [(String, JSON)]? {
                for id in ids {
                    if form.definition.control(id) == nil { return [] }
                    if form.touches[id]?.revision ?? 0 > proposal.basis { return mover(id, place) }
                }
                return nil
            }
            if let members = moved(proposal.watched) { return .stale(members) }
            try require("read", place, proposal.user)
            var transaction = StoryTransaction(form, by: proposal.by)
            if let lease {
                transaction.lease = StoryLeaseEnd(nil)
                transaction.lease?.text = lease["until"]?.stringValue
            }
            for id in proposal.named {
                try requireField(id, place)
                var change = JSONObject([("field", .string(id))])
                change[form.isButton(id) ? "press" : "reset"] = true
                try requireEdit(.object(change), place, proposal.user)
                guard proposal.message != nil || !form.definition.needsMessage(id) else {
                    throw StoryRefusal("invalidParams")
                }
                transaction.named.append(id)
            }
            for change in changes {
                var one = JSONObject([("field", .string(change.field))])
                one[change.action.0] = change.action.0 == "press" ? true : change.action.1
                let count = change.action.0 == "press" ? change.action.1.integerValue ?? 1 : 1
                for _ in 0..<count {
                    try transaction.apply(.object(one), to: change.field, .everything)
                }
            }
            for id in transaction.named where !transaction.form.isEnabled(id) {
                throw StoryRefusal("disabled")
            }
            let guards = form.guardsMet(by: transaction)
            if let members = moved(form.deciding(guards).filter { !form.isButton($0) }) {
                return .stale(members)
            }
            return .values(transaction, guards)
        case .definition(let json):
            try require("admin", place, proposal.user)
            guard let file = StoryDefinition(json), file.isValid else {
                throw StoryRefusal("invalidParams")
            }
            return trial(
                proposal, form.keepingOptions(file), applied: file, "apply", place,
                isIdle: file.json == form.applied.json)
        case .options(let id, let options):
            try require("admin", place, proposal.user)
            guard form.definition.control(id)?.hasOptions ?? false,
                let new = form.settingOptions(of: id, to: options)
            else { throw StoryRefusal("invalidValue") }
            return trial(
                proposal, new, applied: form.applied, "options", place,
                isIdle: new.json == form.definition.json)
        }
    }

    private func trial(
        _ proposal: StoryProposal, _ new: StoryDefinition, applied: StoryDefinition,
        _ kind: String, _ place: Int, isIdle: Bool
    ) -> Trial {
        guard forms[place].version == proposal.version else { return .stale([]) }
        let guards = isIdle ? [] : guardsMet(by: new, applied: applied, place)
        return .definition(new, applied: applied, kind, guards)
    }

    /// The guarded controls that another definition asks for approval of.
    func guardsMet(
        by new: StoryDefinition, applied: StoryDefinition, _ place: Int
    ) -> [String] {
        let form = forms[place]
        guard form.hasGuards else { return [] }
        var next = form
        next.redefine(
            new, applied: applied, kind: "apply",
            by: StoryAuthor(user: "", uid: 0, client: nil, tty: nil, connection: 0), message: nil)
        return form.guardsMet(by: next, form.migration(to: new))
    }

    mutating func vote(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        try require("read", place, peer.user)
        let form = forms[place]
        let id = request["proposal"]?.integerValue ?? 0
        guard var proposal = form.proposals.first(where: { $0.id == id }) else {
            throw StoryRefusal("notFound", form: form.name)
        }
        guard proposal.state == "waits" else {
            throw StoryRefusal("conflict", form: form.name)
        }
        var by: [(String, JSON)] = [("by", peer.author.json)]
        if let message = request["message"] { by.append(("message", message)) }
        switch request.method {
        case "proposal.withdraw":
            guard peer.user.uid == proposal.user.uid else {
                throw StoryRefusal("forbidden", form: form.name)
            }
            end(&proposal, as: "withdrawn", place, by)
        case "proposal.refuse":
            try requireVoter(peer.user, proposal, [], form)
            end(&proposal, as: "refused", place, by)
        default: return try approve(proposal, place, peer, by)
        }
        return Outcome(answer: .result(proposal.result))
    }

    private func requireVoter(
        _ user: StoryUser, _ proposal: StoryProposal, _ guards: [String], _ form: StoryForm
    ) throws {
        guard user.uid != proposal.user.uid else {
            throw StoryRefusal("forbidden", form: form.name)
        }
        let rules = (guards + proposal.fields).compactMap {
            form.definition.control($0)?.approval
        }
        guard rules.contains(where: { user.isNamed(by: $0.from, owner: form.owner) }) else {
            throw StoryRefusal("forbidden", form: form.name, field: proposal.fields.first)
        }
    }

    private mutating func approve(
        _ found: StoryProposal, _ place: Int, _ peer: StoryPeer, _ by: [(String, JSON)]
    ) throws -> Outcome {
        var proposal = found
        let form = forms[place]
        let trial = try trial(proposal, place)
        try requireVoter(peer.user, proposal, trial.guards, form)
        if case .stale(let members) = trial {
            end(&proposal, as: "stale", place, members)
            return Outcome(answer: .result(proposal.result))
        }
        if !proposal.votes.contains(where: { $0.user.uid == peer.user.uid }) {
            proposal.votes.append((peer.user, .object(JSONObject(by))))
        }
        let needs =
            trial.guards.compactMap { form.definition.control($0)?.approval }.map { rule in
                rule.count
                    - proposal.votes.count { $0.user.isNamed(by: rule.from, owner: form.owner) }
            }.max() ?? 0
        if needs > 0 {
            proposal.needs = needs
            note(proposal, place)
            return Outcome(answer: .result(proposal.result))
        }
        let authors = proposal.votes.map { $0.json["by"] ?? .null }
        let approval: [(String, JSON)] = [
            ("proposal", .integer(proposal.id)), ("approvedBy", .array(authors)),
        ]
        var revision = forms[place].revision
        switch trial {
        case .stale: break
        case .values(let transaction, _):
            _ = forms[place].take(
                transaction, kind: .set, session: proposal.session, message: proposal.message,
                approval: approval)
            if !transaction.written.isEmpty { publish(place) }
            revision = forms[place].revision
        case .definition(let new, let applied, let kind, _):
            redefine(
                place, new, applied: applied, kind, proposal.by, proposal.message,
                approval: approval)
            // Presses that the new definition ends are a revision of their own.
            revision = forms[place].revision
            adoptRuns(place, before: form)
        }
        end(&proposal, as: "applied", place, by + [("revision", .integer(revision))])
        let result = proposal.result
        if case .values(let transaction, _) = trial, !transaction.presses.isEmpty { serve(place) }
        return Outcome(answer: .result(result))
    }

    // MARK: - Reading

    func proposals(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let named =
            try request["form"] == nil
            ? forms.filter { may(peer.user, "read", $0) } : [forms[readable(request, peer.user)]]
        let isEnded = request["ended"] == true
        // Sorted as `StoryWire` sorts the answer: several may end at the same moment.
        var all = named.flatMap(\.proposals).filter { ($0.state == "waits") != isEnded }
        all.sort { $0.id < $1.id }
        return Outcome(
            answer: .result(
                .object(JSONObject([("proposals", .array(all.map(\.json)))]))))
    }
}
