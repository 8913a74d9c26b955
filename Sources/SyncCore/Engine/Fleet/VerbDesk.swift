// Requests about what another host owns: those that this host passes on, and those that it is
// asked for.
//
//     passed on:  waiting ──the answer──▶ (answered)
//                  │  ▲ └──no answer in time, or its client is gone──▶ (given up)
//                  └──┘ said again each second
//     asked for:  (unknown) ──▶ under way ──▶ answered ──its end has passed──▶ (unknown)
//
// Invariants: a request is done at most once, because its id is known until it is too late for it.
// At most twice `passedMax` wait and `askedMax` are known, with `answerBytesMax`, whatever arrives.
// Confined to the loop.

/// Somebody on another host, whose daemon passed a request on.
final class HostCall {
    let id: UInt64
    let form: String
    let host: String
    let peer: Peer
    let author: Author
    let session: String?
    /// It is not done later (milliseconds since 1970).
    let until: Int64

    init(
        id: UInt64, form: String, host: String, peer: Peer, author: Author, session: String?,
        until: Int64
    ) {
        self.id = id
        self.form = form
        self.host = host
        self.peer = peer
        self.author = author
        self.session = session
        self.until = until
    }

    /// The idempotency key of a request that a host passes on. Another start of the owner's daemon
    /// knows it, and no other host has it.
    static func key(_ id: UInt64, of host: String) -> String { "\(host)/\(id.hexDigits)" }
}

/// See the head of this file.
struct VerbDesk {
    /// What the answer of the owner becomes for the client.
    enum Kind {
        /// The fields of this host: those of the answer have the revisions of its own.
        case lease(control: String)
        case run
        case proposal
        /// Presses: their fields and the revision are this host's.
        case press
    }

    /// A request that was passed on.
    struct Passed {
        let id: UInt64
        let connection: ConnectionID
        let call: PendingCall
        let form: LiveForm
        let host: String
        let kind: Kind
        /// The verb as it is said.
        let bytes: [UInt8]
        let giveUpAt: UInt64
        var sayAt: UInt64
        /// The answer, and the presses that it waits for.
        var held: (response: [UInt8], presses: [Dot])?
    }

    private struct Asked {
        let host: String
        let forgetAt: UInt64
        /// `nil`: it is under way.
        var answer: [UInt8]?
    }

    /// How long the owner may take, in milliseconds, and how long its answer may take after that.
    static let patienceMilliseconds: Int64 = 5_000
    private static let slackNanoseconds: UInt64 = 1_000_000_000
    private static let sayAgainNanoseconds: UInt64 = 1_000_000_000
    /// How long an id is known, in nanoseconds: clocks differ, and beacons may be late.
    private static let knownNanoseconds: UInt64 = 60_000_000_000
    private static let passedMax = 256
    private static let askedMax = 1_024
    /// Bytes of the answers that are kept for requests that are said again.
    private static let answerBytesMax = 4 << 20

    private var passed: [UInt64: Passed] = [:]
    private var asked: [UInt64: Asked] = [:]
    private(set) var answerBytes = 0
    /// When something is said again or given up (monotonic nanoseconds).
    private(set) var deadline = UInt64.max
    /// Whether there may be answers that wait for presses.
    private(set) var holdsAnswers = false

    /// Nothing is under way.
    init() {}

    // MARK: Passed on

    /// Whether a user may wait for other hosts once more: nobody takes all places.
    ///
    /// - Parameter account: who a uid belongs to.
    func admits(_ uid: UInt32, account: (UInt32) -> UInt32) -> Bool {
        let user = account(uid)
        let own = passed.values.count { account($0.call.connection.peer.uid) == user }
        return QueueShare.admits(own: own, all: passed.count, max: Self.passedMax)
    }

    func waits(_ id: UInt64) -> Bool { passed[id] != nil }

    mutating func pass(
        _ id: UInt64, _ call: PendingCall, _ form: LiveForm, to host: String, _ kind: Kind,
        _ bytes: [UInt8], at now: UInt64
    ) {
        let patience = UInt64(Self.patienceMilliseconds) * 1_000_000 + Self.slackNanoseconds
        passed[id] = Passed(
            id: id, connection: call.connection.id, call: call, form: form, host: host, kind: kind,
            bytes: bytes, giveUpAt: now + patience, sayAt: now + Self.sayAgainNanoseconds)
        findDeadline()
    }

    /// An answer of a host came; returns the request that waited for it.
    mutating func take(_ id: UInt64, from host: String) -> Passed? {
        guard passed[id]?.host == host else { return nil }
        defer { findDeadline() }
        return passed.removeValue(forKey: id)
    }

    /// Keeps an answer until these presses are here, but no longer than the request would wait.
    mutating func hold(_ verb: Passed, until presses: [Dot], _ response: [UInt8]) {
        passed[verb.id] = verb
        passed[verb.id]?.held = (response, presses)
        passed[verb.id]?.sayAt = .max
        findDeadline()
        holdsAnswers = true
    }

    /// Removes and returns the answers whose presses are here.
    mutating func takeHeld(
        _ areHere: (Passed, [Dot]) -> Bool
    ) -> [(verb: Passed, response: [UInt8])] {
        let held = passed.values.filter { $0.held != nil }.sorted { $0.giveUpAt < $1.giveUpAt }
        holdsAnswers = !held.isEmpty
        var taken: [(verb: Passed, response: [UInt8])] = []
        for verb in held {
            guard let held = verb.held, areHere(verb, held.presses) else { continue }
            passed[verb.id] = nil
            taken.append((verb, held.response))
        }
        if !taken.isEmpty { findDeadline() }
        return taken
    }

    /// Removes and returns the calls of a connection that ends.
    mutating func takeCalls(of connection: Connection) -> [PendingCall] {
        if passed.isEmpty { return [] }
        let gone = passed.filter { $0.value.connection == connection.id }
        for id in gone.keys { passed[id] = nil }
        findDeadline()
        return gone.sorted { $0.value.giveUpAt < $1.value.giveUpAt }.map(\.value.call)
    }

    /// What is said again now, and what is given up.
    mutating func takeDue(at now: UInt64) -> (again: [Passed], late: [Passed]) {
        guard deadline <= now else { return ([], []) }
        var due: (again: [Passed], late: [Passed]) = ([], [])
        for (id, verb) in passed.sorted(by: { $0.key < $1.key }) {
            if verb.giveUpAt <= now {
                passed[id] = nil
                due.late.append(verb)
            } else if verb.sayAt <= now {
                passed[id]?.sayAt = now + Self.sayAgainNanoseconds
                due.again.append(verb)
            }
        }
        findDeadline()
        return due
    }

    private mutating func findDeadline() {
        deadline = passed.values.map { min($0.giveUpAt, $0.sayAt) }.min() ?? .max
    }

    // MARK: Asked for

    /// What is to be done with a request of another host.
    enum Admission {
        case new
        case underWay
        case answered([UInt8])
        case tooMany
    }

    mutating func admit(_ id: UInt64, of host: String, at now: UInt64) -> Admission {
        if let known = asked[id] {
            guard known.host == host else { return .tooMany }
            return known.answer.map { .answered($0) } ?? .underWay
        }
        if asked.count >= Self.askedMax {
            asked = asked.filter { $0.value.forgetAt > now }
            answerBytes = asked.values.reduce(0) { $0 + ($1.answer?.count ?? 0) }
        }
        guard asked.count < Self.askedMax else { return .tooMany }
        asked[id] = Asked(host: host, forgetAt: now + Self.knownNanoseconds)
        return .new
    }

    /// A request was answered. Of the answers the oldest are forgotten first; their requests are
    /// not done again.
    mutating func answered(_ id: UInt64, _ answer: [UInt8]) {
        guard let former = asked[id] else { return }
        asked[id]?.answer = answer
        answerBytes += answer.count - (former.answer?.count ?? 0)
        while answerBytes > Self.answerBytesMax {
            let others = asked.filter { $0.value.answer != nil && $0.key != id }
            guard let oldest = others.min(by: { $0.value.forgetAt < $1.value.forgetAt }) else {
                return
            }
            answerBytes -= oldest.value.answer?.count ?? 0
            asked[oldest.key]?.answer = nil
        }
    }
}
