// What shared forms have under way: on this host, for the others, and on the others.
//
//     own:     (nothing) ──a commit──▶ to look at ──it is another──▶ due ──told──▶ told
//                                                                     ▲    10 s     │
//                                                                     └─────────────┘
//     others:  (nothing) ──a word──▶ shown ──nothing for 45 s, and its host is there──▶ (nothing)
//                  ▲                 │  ▲
//                  └──an empty word──┘  └──while the host is away
//
// Invariants: a form with nothing under way, and with no change of that, is not looked at. What is
// kept of the others is at most `bytesMax`, whatever arrives. Confined to the loop.

/// See the head of this file.
struct UnderWayBoard {
    private struct Own {
        let form: LiveForm
        /// The controls with leases.
        var leased: Set<Int> = []
        /// What was told last; empty: nothing.
        var text: [UInt8] = []
        /// When it is looked at, and when it is told (monotonic nanoseconds).
        var lookAt = UInt64.max
        var tellAt = UInt64.max
        var mayLookAt: UInt64 = 0
    }

    private struct Other {
        let run: UInt64
        let number: UInt64
        let bytes: Int
        /// When it is dropped if nothing more is heard (monotonic nanoseconds).
        var end: UInt64
        let underWay: HostUnderWay
    }

    /// When it is told again, in nanoseconds.
    private static let period: UInt64 = 10_000_000_000
    /// When it is dropped, in nanoseconds: later than its host is away if nothing more is heard.
    private static let goneAfter: UInt64 = 45_000_000_000
    /// The least time between two looks at a form, in nanoseconds.
    private static let lookPeriod: UInt64 = 200_000_000
    /// When hosts that have just come are told, in nanoseconds: they must have heard of this one.
    private static let newHostDelay: UInt64 = 2_000_000_000
    /// Bytes of a word, if the server takes as many.
    static let wordBytesMax = 64 << 10
    /// Bytes of what all others have under way.
    private static let bytesMax = 16 << 20

    private var own: [FormKey: Own] = [:]
    private var others: [String: [String: Other]] = [:]
    private var othersBytes = 0
    private var number: UInt64 = 0
    private var ownDeadline = UInt64.max
    private var othersDeadline = UInt64.max

    /// Nothing is under way.
    init() {}

    func deadline(isLinked: Bool) -> UInt64 {
        isLinked ? min(ownDeadline, othersDeadline) : othersDeadline
    }

    // MARK: This host

    /// The controls of a form that have leases, as far as they are known; `nil`: not yet.
    func leased(of form: LiveForm) -> Set<Int>? { own[form.key]?.leased }

    /// A commit changed what a form may have under way.
    mutating func note(_ form: LiveForm, leased: Set<Int>, hasMore: Bool, at now: UInt64) {
        guard var known = own[form.key] ?? (leased.isEmpty && !hasMore ? nil : Own(form: form))
        else { return }
        known.leased = leased
        known.lookAt = min(known.lookAt, max(now, known.mayLookAt))
        own[form.key] = known
        ownDeadline = min(ownDeadline, known.lookAt)
    }

    mutating func forget(_ form: LiveForm) { own[form.key] = nil }

    /// Nothing is known of this host's forms any more.
    mutating func forgetOwn() { own = [:] }

    /// Hosts came or left: this host tells all again, and those that are there will.
    mutating func hostsChanged(at now: UInt64, isHeard: (String) -> Bool) {
        for (key, form) in own where !form.text.isEmpty {
            own[key]?.tellAt = min(form.tellAt, now + Self.newHostDelay)
        }
        for (form, hosts) in others {
            for (host, told) in hosts where told.end == .max && isHeard(host) {
                others[form]?[host]?.end = now + Self.goneAfter
            }
        }
        findDeadlines()
    }

    /// Removes and returns the words that are due.
    ///
    /// - Parameter text: what a form has under way, as JSON text.
    mutating func takeDue(
        at now: UInt64, _ text: (LiveForm, Set<Int>) -> [UInt8]
    ) -> [(form: LiveForm, word: UnderWayWord)] {
        guard ownDeadline <= now else { return [] }
        var words: [(form: LiveForm, word: UnderWayWord)] = []
        for (key, form) in own.sorted(by: { $0.key < $1.key }) {
            var form = form
            if form.lookAt <= now {
                let present = text(form.form, form.leased)
                if present != form.text { form.tellAt = now }
                form.text = present
                form.lookAt = .max
                form.mayLookAt = now + Self.lookPeriod
            }
            if form.tellAt <= now {
                number += 1
                words.append((form.form, UnderWayWord(number: number, text: form.text)))
                form.tellAt = form.text.isEmpty ? .max : now + Self.period
            }
            let isOver = form.text.isEmpty && form.leased.isEmpty && form.tellAt == .max
            own[key] = isOver ? nil : form
        }
        findDeadlines()
        return words
    }

    private mutating func findDeadlines() {
        ownDeadline = own.values.map { min($0.lookAt, $0.tellAt) }.min() ?? .max
        othersDeadline = others.values.flatMap { $0.values.map(\.end) }.min() ?? .max
    }

    // MARK: Others

    /// A host told what it has under way; returns whether that is another than before.
    mutating func heard(
        _ word: UnderWayWord, on form: String, of host: String, run: UInt64, at now: UInt64
    ) -> Bool {
        let known = others[form]?[host]
        if let known, known.run == run, known.number >= word.number { return false }
        var underWay: HostUnderWay?
        if !word.text.isEmpty, word.text.count <= Self.wordBytesMax,
            let json = try? JSON(parsing: word.text)
        {
            underWay = try? HostUnderWay(decoding: json, path: "underWay").named(host)
        }
        othersBytes -= known?.bytes ?? 0
        guard let underWay, othersBytes + word.text.count <= Self.bytesMax else {
            others[form]?[host] = nil
            if others[form]?.isEmpty == true { others[form] = nil }
            findDeadlines()
            return known != nil
        }
        othersBytes += word.text.count
        others[form, default: [:]][host] = Other(
            run: run, number: word.number, bytes: word.text.count, end: now + Self.goneAfter,
            underWay: underWay)
        othersDeadline = min(othersDeadline, now + Self.goneAfter)
        return known?.underWay != underWay
    }

    /// Drops what its hosts, which are there, do not tell any more; returns the forms of it.
    mutating func expire(at now: UInt64, isHeard: (String) -> Bool) -> [String] {
        guard othersDeadline <= now else { return [] }
        var changed: Set<String> = []
        for (form, hosts) in others {
            for (host, told) in hosts where told.end <= now {
                if isHeard(host) {
                    others[form]?[host] = nil
                    othersBytes -= told.bytes
                    changed.insert(form)
                } else {
                    others[form]?[host]?.end = .max
                }
            }
            if others[form]?.isEmpty == true { others[form] = nil }
        }
        findDeadlines()
        return changed.sorted()
    }

    func hasOthers(on form: String) -> Bool { others[form] != nil }

    /// What other hosts have under way in a form, in ascending order of their names.
    func others(on form: String) -> [HostUnderWay] {
        (others[form] ?? [:]).values.map(\.underWay).sorted { $0.host < $1.host }
    }
}
