// A test of the link: one message that goes to the stream and comes back, each part timed.
//
//   server ─answered─▶ taken ─acknowledged─▶ back ─delivered─▶ saved ─cursor is durable─▶ ended
//      └─────────────── no answer in time, or the link goes down: failed at that part ─────▶ ended

/// A test of the link: see the head of this file.
package struct LinkProbe: Hashable, Sendable {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        /// The server answers a request that the bridge carries.
        case server
        /// The stream has taken a message.
        case taken
        /// The message came back through the stream.
        case back
        /// The cursor behind it is in the store.
        case saved
    }

    /// When it began, in nanoseconds of the monotonic clock.
    let startedAt: UInt64
    /// Names the answers to it, and the message.
    let token: UInt64
    let number: UInt64
    /// What is waited for; `nil`: it has ended.
    package private(set) var awaited: Part? = .server
    /// Nanoseconds from the publication of what a part begins with to its end.
    package private(set) var took: [Part: UInt64] = [:]
    /// Whether it failed, at the part that was awaited.
    package private(set) var failedAt: Part?
    /// The delivery with which the message came back.
    var order: UInt64?
    private var partFrom: UInt64

    init(token: UInt64, number: UInt64, at now: UInt64) {
        (startedAt, partFrom) = (now, now)
        self.token = token
        self.number = number
    }

    /// When it fails, in nanoseconds.
    var deadline: UInt64? { awaited == nil ? nil : startedAt + LinkMachine.patience }

    /// A part has ended. Everything behind the server's answer is timed from the publication on.
    mutating func ended(_ part: Part, at now: UInt64) {
        guard awaited != nil, took[part] == nil else { return }
        took[part] = now - partFrom
        if part == .server { partFrom = now }
        awaited = Part.allCases.first { took[$0] == nil }
    }

    mutating func fail() {
        failedAt = awaited
        awaited = nil
    }
}

extension LinkMachine {
    /// The least time between two tests, in nanoseconds.
    private static let probePeriod: UInt64 = 1_000_000_000
    /// The name in the subject of a test's message. Nothing is joined of it.
    private static let probeForm = "link-test"

    /// Tests the link, if it is live and was not tested just now.
    package mutating func test(at now: Moment) {
        self.now = now
        let time = now.monotonicNanoseconds
        if let probe, probe.awaited != nil || time < probe.startedAt + Self.probePeriod { return }
        let request = ask(
            JetStreamTalk.info(fleet: configuration.fleet, site: readers[0].site))
        probe = LinkProbe(token: request.token, number: random(), at: time)
    }

    /// The server answered the first request of a test: a message goes to the stream.
    mutating func probeAnswered() {
        guard var probe else { return }
        probe.ended(.server, at: now.monotonicNanoseconds)
        self.probe = probe
        guard
            let parts = sealer.seal(
                LinkItem.encode([LinkItem(.test, [])]), counters: nil,
                to: .bundles(form: Self.probeForm), number: probe.number)
        else { return probeFailed() }
        for part in parts { publish(part, "\(probe.token)", of: "t") }
    }

    /// Whether a delivery is that of the message of a test.
    package func probes(_ order: UInt64) -> Bool { probe?.awaited != nil && probe?.order == order }

    mutating func probeEnded(_ part: LinkProbe.Part) {
        probe?.ended(part, at: now.monotonicNanoseconds)
    }

    mutating func probeFailed() { if probe?.awaited != nil { probe?.fail() } }
}
