// What a store that fails, or a kill, does to the forms (docs/RELIABILITY.md).
//
// Invariant: an edit that was answered is there afterwards, except that below `commit` a killed
// daemon may have lost the newest edits. Edits are lost from the newest on, so the daemon returns
// with one of its earlier states.

import SyncCore

/// When the daemon answers an edit.
enum StoryDurability: String, CaseIterable {
    case commit, interval, memory

    /// The edits of so many milliseconds before a kill may be lost.
    var lossMilliseconds: Int {
        switch self {
        case .commit: 0
        case .interval: 100
        case .memory: 10_000
        }
    }
}

/// What is known of the daemon's store.
struct StoryStore {
    enum Health {
        case healthy
        /// It cannot write. The daemon may not have tried.
        case failing
        /// The daemon knows that the store cannot write. It refuses edits.
        case refusing
    }

    var durability = StoryDurability.commit
    var health = Health.healthy
    /// With `commit`: the states after each edit that was refused because its commit failed. Nobody
    /// sees them, but after a kill the store may contain them.
    var unwritten: [StoryModel] = []
}

extension StoryModel {
    typealias Possibility = (model: StoryModel, outcome: Outcome)

    /// What may come of a request. While the store fails, there are several possibilities, because
    /// nobody knows when the daemon tries to write.
    func possibilities(of request: StoryRequest, by connection: Int) -> [Possibility] {
        if let key = request["idempotencyKey"]?.stringValue, let peer = peers[connection],
            uncertainKeys.contains("\(peer.user.uid)/\(key)")
        {
            return possibilities(
                of: request, by: connection, uncertain: "\(peer.user.uid)/\(key)")
        }
        if request.method == "state.subscribe", let log = request["since"]?["log"]?.stringValue,
            let place = forms.firstIndex(where: { $0.uncertainLog == log && $0.log == nil })
        {
            var known = self
            known.forms[place].log = log
            return [self, known].flatMap { $0.alternatives(of: request, by: connection) }
        }
        if ["state.undo", "state.redo"].contains(request.method),
            let place = forms.firstIndex(where: {
                $0.name == request["form"]?.stringValue && $0.journal.mayBeReadAgain
            })
        {
            return possibilities(of: request, by: connection, journal: place)
        }
        if let early = endingEarly(request, by: connection) {
            let done = Outcome(answer: .result(.object(JSONObject())))
            return alternatives(of: request, by: connection) + [(early, done)]
        }
        return alternatives(of: request, by: connection)
    }

    /// With a key that the daemon may or may not know.
    private func possibilities(
        of request: StoryRequest, by connection: Int, uncertain key: String
    ) -> [Possibility] {
        var known = self
        known.uncertainKeys.remove(key)
        var unused = known
        unused.keys[key] = nil
        let ifKnown = known.possibilities(of: request, by: connection)
        let ifUnused = unused.possibilities(of: request, by: connection)
        // A refusal that comes in both cases does not show whether the key is known.
        let refused = ifUnused.compactMap { possibility -> Possibility? in
            guard case .refusal = possibility.outcome.answer,
                ifKnown.contains(where: { $0.outcome.answer == possibility.outcome.answer })
            else { return nil }
            var result = possibility
            result.model.keys[key] = keys[key]
            result.model.uncertainKeys.insert(key)
            return result
        }
        return refused + ifKnown + ifUnused
    }

    /// Undo or redo in a form whose journal the daemon may have read again.
    private func possibilities(
        of request: StoryRequest, by connection: Int, journal place: Int
    ) -> [Possibility] {
        var kept = self
        kept.forms[place].journal.mayBeReadAgain = false
        var read = self
        read.forms[place].journal.restart()
        let ifKept = kept.possibilities(of: request, by: connection)
        let ifRead = read.possibilities(of: request, by: connection)
        // An answer that comes in both cases does not show which of them it was.
        let same = ifKept.compactMap { possibility -> Possibility? in
            guard ifRead.contains(where: { $0.outcome.answer == possibility.outcome.answer })
            else { return nil }
            var result = possibility
            result.model.forms[place].journal.mayBeReadAgain = true
            return result
        }
        return same + ifKept + ifRead
    }

    private func alternatives(of request: StoryRequest, by connection: Int) -> [Possibility] {
        if mayMissRevisions(request) {
            var plain = request
            plain["since"] = nil
            return choices(of: plain, by: connection) + choices(of: request, by: connection)
        }
        return choices(of: request, by: connection)
            + readingsDuringRedactions(request, by: connection)
    }

    /// Below `commit`, a revision that is no longer in memory may not be in the store yet. The
    /// first revision of a form is never kept in memory, and `history.redact` empties it.
    private func mayMissRevisions(_ request: StoryRequest) -> Bool {
        guard store.durability != .commit, request.method == "state.subscribe",
            let seen = request["since"]?["revision"]
        else { return false }
        if bounds.mayFallBehind || seen == 0 { return true }
        let log = request["since"]?["log"]?.stringValue
        return forms.contains { form in
            form.log == log
                && form.revisions.contains {
                    $0.entry["kind"] == "redact" && $0.number > (seen.integerValue ?? 0)
                }
        }
    }

    private func choices(of request: StoryRequest, by connection: Int) -> [Possibility] {
        var done = self
        let outcome = done.perform(request, by: connection)
        guard store.health != .healthy else { return [(done, outcome)] }
        if !isNewEdit(request, by: connection) {
            guard store.health == .failing else { return [(done, outcome)] }
            var noticed = afterFailure
            let later = noticed.perform(request, by: connection)
            return [(done, outcome), (noticed, later)]
        }
        let refusal = Outcome(answer: .refusal(StoryRefusal("unavailable")))
        if store.health == .refusing { return [(self, refusal)] }
        if store.durability != .commit { return [(done, outcome), (afterFailure, refusal)] }
        return possibilitiesOfUnwritten(request, connection, refusal)
    }

    /// An edit is done in the daemon's memory, and then its commit fails.
    private func possibilitiesOfUnwritten(
        _ request: StoryRequest, _ connection: Int, _ refusal: Outcome
    ) -> [Possibility] {
        var working = store.unwritten.last ?? self
        working.store = StoryStore(durability: store.durability, health: .failing)
        // A `hello` between two edits is done at once.
        for (number, peer) in peers {
            working.peers[number]?.client = peer.client
            working.peers[number]?.tty = peer.tty
            working.peers[number]?.session = peer.session
        }
        let before = working.marks
        let outcome = working.perform(request, by: connection)
        let isWaiting = !store.unwritten.isEmpty
        let refused: [Possibility] =
            (isWaiting ? [(self, refusal)] : []) + [(afterFailure, refusal)]
        if case .refusal = outcome.answer {
            if isWaiting { return [(self, outcome)] + refused }
            working.store = store
            return [(working, outcome)] + refused
        }
        let isWritten = working.marks != before || request["idempotencyKey"] != nil
        if !isWritten, !isWaiting {
            working.store = store
            return [(working, outcome)] + refused
        }
        var failed = self
        failed.store.unwritten.append(working)
        return [(failed, refusal)] + refused
    }

    /// Whether a request is an edit that was not answered before.
    private func isNewEdit(_ request: StoryRequest, by connection: Int) -> Bool {
        guard RequestMaker.edits.contains(request.method), request["dryRun"] != true,
            StoryRules.fault(of: request) == nil
        else { return false }
        guard let key = request["idempotencyKey"]?.stringValue, let peer = peers[connection] else {
            return true
        }
        return keys["\(peer.user.uid)/\(key)"] == nil
    }

    /// What distinguishes the forms before and after an edit.
    private var marks: [[Int]] { forms.map(\.mark) }

    /// Notes the keys of edits that may be lost: after a kill, nobody sees whether the store has
    /// their keys if they changed nothing, or created a form again that had been deleted.
    ///
    /// - Parameter states: The other states that were possible after the kill.
    mutating func doubtKeys(after states: [StoryModel]) {
        for state in states where state.looksLike(self) {
            uncertainKeys.formUnion(keys.keys.filter { state.keys[$0] == nil })
        }
    }

    private func looksLike(_ other: StoryModel) -> Bool {
        forms.elementsEqual(other.forms) { left, right in
            left.name == right.name && left.revision == right.revision
                && left.writes == right.writes
        }
    }

    /// Whether a store with this state has the forms, proposals and keys of the other one.
    func isDurably(_ other: StoryModel) -> Bool {
        marks == other.marks && keys.count == other.keys.count && told.count == other.told.count
    }

    /// The same after a commit failed. Every form has a new log, because the contents of the store
    /// are not known.
    var afterFailure: StoryModel {
        guard store.health == .failing else { return self }
        var result = self
        result.store.health = .refusing
        for place in result.forms.indices {
            let form = result.forms[place]
            if form.storedLog == nil { result.forms[place].uncertainLog = form.log }
            if form.log == form.storedLog || form.storedLog == nil { result.forms[place].log = nil }
            result.forms[place].journal.commitFailed()
        }
        return result
    }

    /// The store cannot write any more.
    mutating func fail() {
        store.health = .failing
        for place in forms.indices { forms[place].storedLog = forms[place].log }
    }

    /// The store can write again. What was answered is in it, in a new epoch of the replica.
    mutating func mend() {
        if store.health == .refusing { beginEpoch() }
        store = StoryStore(durability: store.durability)
        for place in forms.indices { forms[place].storedLog = nil }
    }

    private mutating func beginEpoch() {
        epochs.begin()
        for place in forms.indices {
            forms[place].epochs.append((epochs.present, forms[place].writes))
        }
    }

    /// What a new daemon shows after a kill or a stop, if the store contains this state.
    ///
    /// - Parameters:
    ///   - end: the state at the end of the last daemon, which gave out tokens and logs since.
    ///   - losesLogs: the last daemon may have shown edits that are lost.
    func restarted(from end: StoryModel, losesLogs: Bool) -> StoryModel {
        var result = self
        result.peers = [:]
        result.forgetHandlers()
        result.presence = [:]
        result.tokens = end.tokens
        result.epochs = end.epochs
        result.store = StoryStore(durability: end.store.durability)
        for place in result.forms.indices {
            result.forms[place].journal.restart()
            if store.health != .healthy { result.forms[place].log = result.forms[place].storedLog }
            result.forms[place].storedLog = nil
            result.forms[place].uncertainLog = nil
            if losesLogs { result.forms[place].log = nil }
        }
        if losesLogs { result.beginEpoch() }
        return result
    }
}

extension StoryForm {
    fileprivate var mark: [Int] { [serial, revision, writes] }
}
