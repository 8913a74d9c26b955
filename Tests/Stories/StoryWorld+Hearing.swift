// Notifications: no gap, no repeat, and each has exactly the changes of its revision.

import SyncCore

extension StoryWorld {
    /// Compares all notifications that arrived with those that are due.
    func hear(_ notices: [Int: [Notice]]) throws {
        // The progress of runs last: a handler that must connect again is away from then on.
        for isProgress in [false, true] {
            for connection in model.peers.keys.sorted() {
                for notice in notices[connection] ?? []
                where (notice.json["method"] == "button.progress") == isProgress {
                    try hear(notice, connection)
                }
            }
        }
        for connection in model.peers.keys.sorted() {
            // A daemon may send them later.
            for _ in 0..<500 where complaint(of: connection) != nil {
                guard try driver.waitForMore() else { break }
                for notice in try driver.take(connection) {
                    try hear(Notice(json: notice, position: .max), connection)
                }
            }
            if let complaint = complaint(of: connection) { throw StoryDifference(complaint) }
            model.peers[connection]?.endings = []
            model.peers[connection]?.ended = []
            model.peers[connection]?.formerListings = []
            for serial in model.peers[connection]?.subscriptions.keys.sorted() ?? [] {
                model.peers[connection]?.subscriptions[serial]?.answer = 0
            }
        }
    }

    private func hear(_ notice: Notice, _ connection: Int) throws {
        let params = notice.json["params"]
        let name = params?["form"]?.stringValue ?? ""
        switch notice.json["method"]?.stringValue {
        case "presence.changed": hearPresence(notice, name, connection)
        case "state.changed", "form.changed": try hearChange(notice, name, connection)
        case "goodbye": try hearGoodbye(notice.json, connection)
        case "button.assigned", "button.cancelled": try hearPress(notice.json, connection)
        case "button.progress": try hearProgress(notice.json, name)
        case "proposal.changed": try hearProposal(notice.json)
        default: throw StoryDifference("\(connection) was notified of \(notice.json)")
        }
    }

    private func hearChange(_ notice: Notice, _ name: String, _ connection: Int) throws {
        let normal = StoryWire.normal(notice.json, isAnonymous: model.isAnonymous)
        guard let peer = model.peers[connection] else { return }
        // Those of the list of forms have no token.
        let token = notice.json["params"]?["context"]
        if token != nil {
            for (serial, subscription) in peer.subscriptions
            where subscription.answer <= notice.position {
                guard let due = subscription.due.first, model.isSame(normal, as: due.notice)
                else { continue }
                model.peers[connection]?.subscriptions[serial]?.due.removeFirst()
                return try learn(token, due, serial)
            }
            for (place, ended) in peer.ended.enumerated() where notice.position < ended.answer {
                guard let due = ended.subscription.due.first, model.isSame(normal, as: due.notice)
                else { continue }
                model.peers[connection]?.ended[place].subscription.due.removeFirst()
                return
            }
        }
        if hearEnding(normal, peer) { return }
        // In the order of each form. The order of two forms does not follow from the answers.
        let listed =
            token == nil
            ? peer.listings.firstIndex { $0["params"]?["form"]?.stringValue == name } : nil
        if let listed, peer.listings[listed] == normal {
            model.peers[connection]?.listings.remove(at: listed)
            return
        }
        // Last, because these need not come, and a notification of the list may look the same.
        if token == nil, let place = peer.formerListings.firstIndex(of: normal) {
            model.peers[connection]?.formerListings.removeSubrange(...place)
            return
        }
        if hearCoalesced(notice, normal, name, connection) { return }
        let due = peer.subscriptions.values.compactMap(\.due.first?.notice)
        throw StoryDifference(
            """
            \(connection) was told
              \(normal)
            and not one of
              \((due + peer.endings.compactMap(\.next) + peer.listings.prefix(1)).map(\.description)
                .joined(separator: "\n  "))
            """)
    }

    private func hearEnding(_ normal: JSON, _ peer: StoryPeer) -> Bool {
        let (connection, endings) = (peer.connection, peer.endings)
        if let place = endings.firstIndex(where: { $0.next == normal }) {
            if endings[place].subscription.due.isEmpty {
                model.peers[connection]?.endings[place].deletion = nil
            } else {
                model.peers[connection]?.endings[place].subscription.due.removeFirst()
            }
            return true
        }
        // A subscriber that falls behind may get only the deletion, without a message.
        guard plan.bounds.mayFallBehind, let revision = normal["params"]?["revision"]?.integerValue,
            let place = endings.firstIndex(where: { ending in
                ending.deletion?["params"]?["revision"] == .integer(revision)
                    && ending.form.deletion(at: Int(revision)) == normal
            })
        else { return false }
        model.peers[connection]?.endings[place].subscription.due = []
        model.peers[connection]?.endings[place].deletion = nil
        return true
    }

    /// Checks the token of a revision.
    private func learn(
        _ token: JSON?, _ revision: StoryForm.Revision, _ serial: Int
    ) throws {
        guard let text = token?.stringValue else { return }
        try model.check(text, StoryWrites(upTo: revision.writes), serial, isShown: true)
    }

    /// A subscriber that falls behind gets one notification with the newest values.
    private func hearCoalesced(
        _ notice: Notice, _ normal: JSON, _ name: String, _ connection: Int
    ) -> Bool {
        guard let from = notice.json["params"]?["coalesced"]?["from"]?.integerValue,
            let peer = model.peers[connection],
            let revision = normal["params"]?["revision"]?.integerValue
        else { return false }
        for (place, ending) in peer.endings.enumerated() where ending.form.name == name {
            let count = coalesced(
                normal, from: Int(from), upTo: Int(revision), ending.subscription)
            guard let count else { continue }
            model.peers[connection]?.endings[place].subscription.due.removeFirst(count)
            return true
        }
        guard let form = model.forms.first(where: { $0.name == name }) else { return false }
        let current = peer.subscriptions[form.serial].flatMap {
            $0.answer <= notice.position ? $0 : nil
        }
        if let subscription = current,
            hearAll(normal, from: Int(from), form, subscription, connection)
        {
            return true
        }
        if let subscription = current,
            let count = coalesced(normal, from: Int(from), upTo: Int(revision), subscription)
        {
            model.peers[connection]?.subscriptions[form.serial]?.due.removeFirst(count)
            return true
        }
        for (place, ended) in peer.ended.enumerated()
        where ended.form == form.serial && notice.position < ended.answer {
            let count = coalesced(
                normal, from: Int(from), upTo: Int(revision), ended.subscription)
            guard let count else { continue }
            model.peers[connection]?.ended[place].subscription.due.removeFirst(count)
            return true
        }
        return false
    }

    /// All that is due in one notification: the present state of all fields that changed.
    private func hearAll(
        _ normal: JSON, from first: Int, _ form: StoryForm, _ subscription: StoryPeer.Subscription,
        _ connection: Int
    ) -> Bool {
        guard normal["params"]?["revision"] == .integer(form.revision),
            subscription.due.allSatisfy({ $0.number >= first })
        else { return false }
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

    /// The number of due revisions that one notification replaces. It has the newest change of
    /// each field up to its own revision. `nil` if it does not.
    private func coalesced(
        _ normal: JSON, from first: Int, upTo revision: Int,
        _ subscription: StoryPeer.Subscription
    ) -> Int? {
        guard subscription.due.allSatisfy({ $0.number >= first }) else { return nil }
        let covered = subscription.due.filter { $0.number <= revision }
        let notices = covered.compactMap { $0.notice["params"] }
        var newest: [String: JSON] = [:]
        for revision in covered {
            for change in revision.notice["params"]?["changes"]?.arrayValue ?? [] {
                guard let id = change["field"]?.stringValue, var object = change.objectValue else {
                    continue
                }
                object["was"] = nil
                if let conflict = revision.conflicts?[id] {
                    object["conflict"] = conflict.isEmpty ? nil : .array(conflict)
                }
                newest[id] = .object(object)
            }
        }
        let globs = subscription.globs
        newest = newest.filter { id, _ in
            globs?.contains { StoryRules.matches(id, $0) } ?? true
        }
        let definition = notices.compactMap { $0["definition"] }.last
        if let fields = definition?["fields"]?.arrayValue {
            // A control that was removed since is left out.
            let present = Set(fields.compactMap { $0["id"]?.stringValue })
            newest = newest.filter { present.contains($0.key) }
        }
        let told = normal["params"]?["changes"]?.arrayValue ?? []
        let ids = told.compactMap { $0["field"]?.stringValue }
        guard !covered.isEmpty, ids.count == newest.count, Set(ids).count == ids.count,
            told.allSatisfy({ newest[$0["field"]?.stringValue ?? ""] == $0 }),
            normal["params"]?["definition"] == definition
        else { return nil }
        return covered.count
    }

    /// A connection that watches the list of forms and missed a change must connect again.
    private func hearGoodbye(_ notice: JSON, _ connection: Int) throws {
        guard plan.bounds.mayFallBehind, model.peers[connection]?.watchesForms ?? false,
            notice["params"]?["reason"] == "slow"
        else { throw StoryDifference("\(connection) was notified of \(notice)") }
        tell("\(connection) must connect again")
        try driver.disconnect(connection)
        model.disconnect(connection)
    }

    private func hearPresence(_ notice: Notice, _ name: String, _ connection: Int) {
        // Before the answer of a subscription, it is about the one that this replaced.
        guard let form = model.forms.first(where: { $0.name == name }),
            let subscription = model.peers[connection]?.subscriptions[form.serial],
            subscription.answer <= notice.position
        else { return }
        for peer in notice.json["params"]?["peers"]?.arrayValue ?? [] {
            let number = Int(peer["connection"]?.integerValue ?? 0)
            let there =
                peer["gone"] == true
                ? nil : StoryWire.normal(peer, isAnonymous: model.isAnonymous)
            model.peers[connection]?.subscriptions[form.serial]?.picture[number] = there
        }
    }

    /// A handler gets a press, or should end one.
    private func hearPress(_ notice: JSON, _ connection: Int) throws {
        let normal = StoryWire.normal(notice, isAnonymous: model.isAnonymous)
        guard let peer = model.peers[connection] else { return }
        if let place = peer.cancelled.firstIndex(of: normal) {
            model.peers[connection]?.cancelled.remove(at: place)
            return
        }
        guard let due = peer.assigned.first, due.notice == normal else {
            throw StoryDifference(
                """
                \(connection) was told
                  \(normal)
                and not one of
                  \((peer.assigned.prefix(1).map(\.notice) + peer.cancelled).map(\.description)
                    .joined(separator: "\n  "))
                """)
        }
        model.peers[connection]?.assigned.removeFirst()
        let params = notice["params"]
        guard let place = model.forms.firstIndex(where: { $0.serial == due.form }) else { return }
        model.forms[place].learn(due.write) {
            $0.press = params?["press"]?.stringValue
            $0.ticket = params?["ticket"]?.stringValue
        }
    }

    /// Progress need not come, and only the newest is told; but it was sent by a handler.
    private func hearProgress(_ notice: JSON, _ name: String) throws {
        let normal = StoryWire.normal(notice, isAnonymous: model.isAnonymous)["params"] ?? .null
        // The form may have been deleted since.
        guard let form = model.forms.first(where: { $0.name == name }) else { return }
        let sent = form.progress.values.flatMap(\.self)
        guard sent.contains(normal) else { throw StoryDifference("nobody sent \(normal)") }
    }

    /// A subscriber may be told of the newest state of a proposal only, but of nothing else.
    private func hearProposal(_ notice: JSON) throws {
        let normal = StoryWire.normal(notice, isAnonymous: model.isAnonymous)["params"] ?? .null
        guard model.told.contains(normal) else { throw StoryDifference("no proposal is \(normal)") }
    }

    /// A notification that is due and did not come.
    private func complaint(of connection: Int) -> String? {
        guard let peer = model.peers[connection] else { return nil }
        let due =
            peer.subscriptions.values.flatMap { $0.due.map(\.notice) }
            + peer.endings.compactMap(\.next) + peer.listings + peer.assigned.map(\.notice)
            + peer.cancelled
        if let first = due.first { return "\(connection) was not notified of \(first)" }
        for (serial, subscription) in peer.subscriptions where subscription.presence {
            let there = model.presence[serial] ?? [:]
            guard subscription.picture == there else {
                return "\(connection) sees \(subscription.picture) at form \(serial), not \(there)"
            }
        }
        return nil
    }
}
