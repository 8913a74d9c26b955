// Notifications: no gap, no repeat, each exactly what its revision did.

import SyncCore

extension StoryWorld {
    /// Holds what everybody was told against what they had to be.
    func hear(_ notices: [Int: [JSON]]) throws {
        for connection in model.peers.keys.sorted() {
            for notice in notices[connection] ?? [] { try hear(notice, connection) }
        }
        for connection in model.peers.keys.sorted() {
            // A daemon tells when it tells.
            for _ in 0..<500 where complaint(of: connection) != nil {
                guard try driver.waitForMore() else { break }
                for notice in try driver.take(connection) { try hear(notice, connection) }
            }
            if let complaint = complaint(of: connection) { throw StoryDifference(complaint) }
            model.peers[connection]?.endings = []
            model.peers[connection]?.leftovers = []
        }
    }

    private func hear(_ notice: JSON, _ connection: Int) throws {
        let params = notice["params"]
        let name = params?["form"]?.stringValue ?? ""
        switch notice["method"]?.stringValue {
        case "presence.changed": try hearPresence(params, name, connection)
        case "state.changed", "form.changed": try hearChange(notice, name, connection)
        case "goodbye": try hearGoodbye(notice, connection)
        default: throw StoryDifference("\(connection) was told \(notice)")
        }
    }

    private func hearChange(_ notice: JSON, _ name: String, _ connection: Int) throws {
        let normal = StoryWire.normal(notice, isAnonymous: model.isAnonymous)
        guard let peer = model.peers[connection] else { return }
        for (serial, subscription) in peer.subscriptions {
            guard let due = subscription.due.first, due.notice == normal else { continue }
            model.peers[connection]?.subscriptions[serial]?.due.removeFirst()
            return try learn(notice["params"]?["context"], due, serial)
        }
        for place in peer.endings.indices where peer.endings[place].first == normal {
            model.peers[connection]?.endings[place].removeFirst()
            return
        }
        if plan.bounds.mayFallBehind,
            let place = peer.endings.firstIndex(where: { $0.last == normal })
        {
            model.peers[connection]?.endings[place] = []
            return
        }
        // In the order of each form: answers do not tell which of two forms came first.
        let listed = peer.listings.firstIndex { $0["params"]?["form"]?.stringValue == name }
        if let listed, peer.listings[listed] == normal {
            model.peers[connection]?.listings.remove(at: listed)
            return
        }
        // Last, as these need not come: a listing may look the same.
        for place in peer.leftovers.indices where peer.leftovers[place].first == normal {
            model.peers[connection]?.leftovers[place].removeFirst()
            return
        }
        if try hearCoalesced(notice, normal, name, connection) { return }
        let due = peer.subscriptions.values.compactMap(\.due.first?.notice)
        throw StoryDifference(
            """
            \(connection) was told
              \(normal)
            and not one of
              \((due + peer.endings.compactMap(\.first) + peer.listings.prefix(1)).map(\.description)
                .joined(separator: "\n  "))
            """)
    }

    /// The clock that goes with a revision.
    private func learn(
        _ token: JSON?, _ revision: StoryForm.Revision, _ serial: Int
    ) throws {
        guard let text = token?.stringValue else { return }
        try model.learn(text, StoryWrites(upTo: revision.writes), serial, isShown: true)
    }

    /// One who has fallen behind is told the newest of what changed.
    private func hearCoalesced(
        _ notice: JSON, _ normal: JSON, _ name: String, _ connection: Int
    ) throws -> Bool {
        guard let from = notice["params"]?["coalesced"]?["from"]?.integerValue,
            let form = model.forms.first(where: { $0.name == name }),
            let subscription = model.peers[connection]?.subscriptions[form.serial],
            let revision = normal["params"]?["revision"]?.integerValue
        else { return false }
        let first = Int(from)
        guard subscription.due.allSatisfy({ $0.number >= first }) else { return false }
        guard Int(revision) == form.revision else {
            return hearCoalesced(normal, upTo: Int(revision), form, subscription, connection)
        }
        let ids = form.definition.controls.map(\.id).filter { id in
            form.touches[id]?.revision ?? 0 >= first
                && (subscription.globs?.contains { StoryRules.matches(id, $0) } ?? true)
        }
        let changes = ids.map { id in
            var object = JSONObject([("field", .string(id))])
            for member in form.reading(id).json.members { object[member.name] = member.value }
            return JSON.object(object)
        }
        let isRight =
            normal["params"]?["changes"] == .array(changes)
            && (normal["params"]?["definition"] ?? form.definition.json) == form.definition.json
        guard isRight else { return false }
        model.peers[connection]?.subscriptions[form.serial]?.due = []
        return true
    }

    /// The same between two requests that were sent together: the newest of what was due until
    /// then.
    private func hearCoalesced(
        _ normal: JSON, upTo revision: Int, _ form: StoryForm,
        _ subscription: StoryPeer.Subscription, _ connection: Int
    ) -> Bool {
        let covered = subscription.due.filter { $0.number <= revision }
        let notices = covered.compactMap { $0.notice["params"] }
        var newest: [String: JSON] = [:]
        for change in notices.flatMap({ $0["changes"]?.arrayValue ?? [] }) {
            guard let id = change["field"]?.stringValue, var object = change.objectValue else {
                continue
            }
            object["was"] = nil
            if form.definition.control(id)?.conflictPolicy != "ask" { object["conflict"] = nil }
            newest[id] = .object(object)
        }
        let globs = subscription.globs
        newest = newest.filter { id, _ in
            globs?.contains { StoryRules.matches(id, $0) } ?? true
        }
        let told = normal["params"]?["changes"]?.arrayValue ?? []
        let ids = told.compactMap { $0["field"]?.stringValue }
        guard !covered.isEmpty, ids.count == newest.count, Set(ids).count == ids.count,
            told.allSatisfy({ newest[$0["field"]?.stringValue ?? ""] == $0 }),
            normal["params"]?["definition"] == notices.compactMap({ $0["definition"] }).last
        else { return false }
        model.peers[connection]?.subscriptions[form.serial]?.due.removeFirst(covered.count)
        return true
    }

    /// One who watches the list of forms and has missed a change begins again.
    private func hearGoodbye(_ notice: JSON, _ connection: Int) throws {
        guard plan.bounds.mayFallBehind, model.peers[connection]?.watchesForms ?? false,
            notice["params"]?["reason"] == "slow"
        else { throw StoryDifference("\(connection) was told \(notice)") }
        tell("\(connection) is told to begin again")
        try driver.disconnect(connection)
        model.disconnect(connection)
    }

    private func hearPresence(_ params: JSON?, _ name: String, _ connection: Int) throws {
        guard let form = model.forms.first(where: { $0.name == name }) else { return }
        for peer in params?["peers"]?.arrayValue ?? [] {
            let number = Int(peer["connection"]?.integerValue ?? 0)
            let there =
                peer["gone"] == true
                ? nil : StoryWire.normal(peer, isAnonymous: model.isAnonymous)
            model.peers[connection]?.subscriptions[form.serial]?.picture[number] = there
        }
    }

    /// What a connection had to be told and was not.
    private func complaint(of connection: Int) -> String? {
        guard let peer = model.peers[connection] else { return nil }
        let due =
            peer.subscriptions.values.flatMap { $0.due.map(\.notice) }
            + peer.endings.flatMap(\.self) + peer.listings
        if let first = due.first { return "\(connection) was not told \(first)" }
        for (serial, subscription) in peer.subscriptions where subscription.presence {
            let there = model.presence[serial] ?? [:]
            guard subscription.picture == there else {
                return "\(connection) sees \(subscription.picture) at form \(serial), not \(there)"
            }
        }
        return nil
    }
}

extension StoryModel {
    /// Notes what a token says; the same must not come to say another thing.
    mutating func learn(
        _ text: String, _ writes: StoryWrites, _ serial: Int, isShown: Bool
    ) throws {
        let known = tokens[serial]?[text]
        // Of what a store does not hold any more a token need not speak.
        guard known == nil || known == writes || !isShown else {
            throw StoryDifference("the token \(text) says \(writes), and said \(known as Any)")
        }
        if known == nil || isShown { tokens[serial, default: [:]][text] = writes }
    }
}
