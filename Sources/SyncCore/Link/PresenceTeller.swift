// What this host tells the others of its people.
//
// Invariants: at most `LinkPresence.peersMax` people are told of; of a form at most
// `linkPresencePerSecondMax` words a second, however often they move: a word has the newest state
// of each. Nothing waits while the host is not linked; then all are told again.

/// The people of this host who have shared forms open.
struct PresenceTeller {
    fileprivate struct Form {
        var people: [UInt64: LinkPresence.Peer.Presence] = [:]
        /// The connections of which a word is due, in the order of their changes.
        var due: [UInt64] = []
        /// When the next word may be said (monotonic nanoseconds).
        var mayTellAt: UInt64 = 0
        var tellAllAt: UInt64
    }

    /// How often everybody is told again, in nanoseconds.
    private static let period: UInt64 = 10_000_000_000
    /// More departures than this are not told: they show by themselves, as nothing more is heard.
    private static let dueMax = 2 * LinkPresence.peersMax
    private static let wordsAtOnce = 16

    private var forms: [String: Form] = [:]
    private var count = 0
    private let perSecondMax: Int
    private var isLinked = false
    private var number: UInt64 = 0
    /// The earliest time of a word (monotonic nanoseconds).
    private(set) var deadline = UInt64.max

    /// Nobody is here.
    init(_ limits: Limits) { perSecondMax = limits.linkPresencePerSecondMax }

    /// A connection has a form open, or moved in it; `nil`: it left.
    mutating func note(
        _ name: String, _ connection: UInt64,
        _ presence: @autoclosure () -> LinkPresence.Peer.Presence?, isGone: Bool, at now: UInt64
    ) {
        var form = forms[name] ?? Form(tellAllAt: now + Self.period)
        let isKnown = form.people[connection] != nil
        guard isKnown || !isGone && count < LinkPresence.peersMax else { return }
        form.people[connection] = isGone ? nil : presence()
        count += (isGone ? 0 : 1) - (isKnown ? 1 : 0)
        if isLinked, !form.due.contains(connection), !isGone || form.due.count < Self.dueMax {
            form.due.append(connection)
        }
        keep(form, name)
    }

    /// Forgets the forms that are not shared any more.
    mutating func keep(where isShared: (String) -> Bool) {
        for name in forms.keys.sorted() where !isShared(name) {
            count -= forms.removeValue(forKey: name)?.people.count ?? 0
        }
    }

    mutating func link(_ isLinked: Bool, at now: UInt64) {
        self.isLinked = isLinked
        forms = forms.mapValues { form in
            var form = form
            (form.due, form.tellAllAt) = ([], now)
            return form
        }
        look()
    }

    /// Everybody is told at a time, or earlier.
    mutating func tellAll(at time: UInt64) {
        guard isLinked else { return }
        forms = forms.mapValues { form in
            var form = form
            form.tellAllAt = min(form.tellAllAt, time)
            return form
        }
        look()
    }

    private mutating func keep(_ form: Form, _ name: String) {
        forms[name] = form.people.isEmpty && form.due.isEmpty ? nil : form
        deadline = min(deadline, time(of: form))
    }

    private func time(of form: Form) -> UInt64 {
        guard isLinked else { return .max }
        return min(
            form.due.isEmpty ? .max : form.mayTellAt, max(form.tellAllAt, form.mayTellAt))
    }

    private mutating func look() {
        deadline = forms.values.map(time).min() ?? .max
    }

    /// Removes and returns the words that are due.
    mutating func take(at now: UInt64, bytesMax: Int) -> [(form: String, word: LinkPresence)] {
        guard deadline <= now else { return [] }
        var words: [(form: String, word: LinkPresence)] = []
        for name in forms.keys.sorted() where words.count < Self.wordsAtOnce {
            guard var form = forms[name], time(of: form) <= now else { continue }
            if form.tellAllAt <= now {
                form.due += form.people.keys.sorted().filter { !form.due.contains($0) }
                form.tellAllAt = now + Self.period
            }
            form.mayTellAt = now + 1_000_000_000 / UInt64(perSecondMax)
            let peers = form.takeDue(bytesMax: min(bytesMax, LinkPresence.bytesMax))
            if !peers.isEmpty {
                number += 1
                words.append((name, LinkPresence(number: number, peers: peers)))
            }
            forms[name] = form.people.isEmpty && form.due.isEmpty ? nil : form
        }
        look()
        return words
    }
}

extension PresenceTeller.Form {
    /// The next of whom a word is due. A draft for which a word has no space is left out.
    fileprivate mutating func takeDue(bytesMax: Int) -> [LinkPresence.Peer] {
        var peers: [LinkPresence.Peer] = []
        var bytes = 16
        for connection in due {
            var peer = LinkPresence.Peer(connection: connection, people[connection])
            var size = peer.encoded.count
            if 16 + size > bytesMax {
                peer.presence?.draft = nil
                size = peer.encoded.count
            }
            bytes += size
            guard peers.isEmpty || bytes <= bytesMax else { break }
            peers.append(peer)
        }
        due.removeFirst(peers.count)
        return peers
    }
}
