// The client of PROTOCOL.md without any I/O: bytes in, events out; requests in, bytes out; time is
// a parameter (monotonic nanoseconds).
//
//            connectionOpened                 connectionLost
//   waiting ------------------> online --------------------------> waiting(retryAt)
//      ^  \                        |  incompatible, stop             |
//      |   \-- connectFailed --/   +---------------> stopped <-------+ stop
//
// Invariants:
// - a request that was not answered when the connection was lost is sent again, first and in order,
//   an edit with the same idempotency key: it is applied once, even if it is sent several times;
// - edits made offline are merged in an OfflineQueue, other requests are queued, and no edit
//   overtakes a request that changes something, so that an undo reverts the intended edit;
// - if the configuration asks for it, no change reaches a daemon of another replica than the one
//   that it was made for;
// - every ticket is answered once;
// - a subscription is resumed with `since`, and no revision of a log is reported twice;
// - whatever the peer sends, memory is bounded: `frameBytesMax` limits each frame, and all fields
//   of a form.

public import SyncCore

/// The client without I/O: see the head of this file.
public struct ClientMachine: Sendable {
    /// The configuration of a machine.
    public struct Configuration: Sendable {
        /// Name and version for `hello`, such as `pickerctl/0.1.0`.
        public var client: String
        /// Edits of one session share their undo.
        public var session: String?
        /// The terminal that the client reports.
        public var tty: String?
        /// Random, so that two processes of one user have different keys.
        public var keyPrefix: String
        /// Seeds the jitter.
        public var seed: UInt64
        /// The maximum length of a frame from the daemon, in bytes. Before `hello` is answered it
        /// is 1 MiB, and then what the daemon says, but no more than this.
        public var frameBytesMax = 64 << 20
        /// Whether to reconnect after a lost connection.
        public var reconnects = true
        /// Whether changes that were not answered are given back, as
        /// ``RequestOutcome/otherReplica(_:)``, if the next daemon is another replica. They then
        /// wait for the answer to `hello` after each reconnect, one round trip.
        public var keepsChangesForReplica = false

        /// A configuration with the given identity.
        public init(
            client: String, session: String? = nil, tty: String? = nil, keyPrefix: String,
            seed: UInt64
        ) {
            self.client = client
            self.session = session
            self.tty = tty
            self.keyPrefix = keyPrefix
            self.seed = seed
        }
    }

    enum Link {
        case waiting(retryAt: UInt64)
        case online
        case stopped
    }

    /// The purpose of a request, which determines who receives its answer.
    enum Purpose {
        case hello
        case subscribe(form: String)
        case watchForms
        case request(Request, [Ticket])

        /// The request of a ticket, which is not answered any more; `nil` if it is another one's.
        mutating func withdraw(_ ticket: Ticket) -> Request? {
            guard case .request(let request, var tickets) = self,
                let place = tickets.firstIndex(of: ticket)
            else { return nil }
            tickets.remove(at: place)
            self = .request(request, tickets)
            return request
        }
    }

    /// Requests that were made without a connection and wait.
    enum Waiting {
        case edits(OfflineQueue)
        case request(Request, [Ticket])
    }

    let configuration: Configuration
    var link: Link
    var backoff: Backoff
    var decoder: FrameDecoder
    var messages = ServerMessageDecoder()
    var output: [UInt8] = []
    var events = EventBacklog()
    /// The bytes of all frames that caused no event.
    var ignoredBytes = 0
    var sent: [(id: Int64, purpose: Purpose)] = []
    var waiting: [Waiting] = []
    /// The store whose daemon answered `hello` last. A new epoch is the same store.
    var store: String?
    /// Whether changes wait until the new daemon has said which replica it is.
    var awaitsReplica = false
    /// The requests that the last connection did not answer, while `awaitsReplica`.
    var unanswered: [Purpose] = []
    var subscriptions: [Subscription] = []
    var presences: [PresenceUpdate] = []
    var watchesForms = false
    var lastID: Int64 = 0
    var lastTicket: Int64 = 0
    var lastKey: Int64 = 0
    var retryAfter: UInt64?
    /// When the daemon first answered on this connection (monotonic nanoseconds).
    var answeredAt: UInt64?

    /// A machine without a connection; it may connect at once.
    public init(_ configuration: Configuration, at now: UInt64) {
        self.configuration = configuration
        link = .waiting(retryAt: now)
        backoff = Backoff(seed: configuration.seed)
        decoder = FrameDecoder()
    }

    // MARK: Questions

    /// Whether there is a connection.
    public var isOnline: Bool { if case .online = link { true } else { false } }

    /// When the next connection should be attempted; `nil` while there is one or none is wanted.
    public var connectDeadline: UInt64? {
        if case .waiting(let retryAt) = link { retryAt } else { nil }
    }

    /// The bytes to write next; they are removed from the machine.
    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// The next event, in order.
    public mutating func takeEvent() -> ClientEvent? { events.takeFirst()?.event }

    /// The next event, with the bytes of the frame that it came in; 0 for one of our own.
    mutating func takeEventAndBytes() -> EventBacklog.Entry? { events.takeFirst() }

    // MARK: Commands

    /// Sends a request. Without a connection, plain edits are merged and all other requests are
    /// queued; of focus and drafts only the newest is kept.
    public mutating func submit(_ request: Request) -> Ticket {
        lastTicket += 1
        let ticket = Ticket(lastTicket)
        switch (request, link) {
        case (_, .stopped):
            events.append(.answered([ticket], .lost))
        case (.presenceUpdate(let update), _):
            presences.removeAll { $0.form.isSameBytes(as: update.form) }
            presences.append(update)
            if isOnline {
                send(.request(request, [ticket]))
            } else {
                events.append(.answered([ticket], .superseded))
            }
        case (_, .waiting):
            wait(request, ticket)
        case (_, .online):
            let keyed = keyed(request)
            if awaitsReplica, keyed.idempotencyKey != nil {
                wait(keyed, ticket)
            } else {
                send(.request(keyed, [ticket]))
            }
        }
        return ticket
    }

    /// Withdraws a request: if it was not sent, it never will be.
    ///
    /// - Returns: its state; `nil` if its answer is already among the events.
    public mutating func withdraw(_ ticket: Ticket) -> Withdrawal? {
        for index in waiting.indices {
            switch waiting[index] {
            case .edits(var edits):
                guard edits.withdraw(ticket) else { continue }
                waiting[index] = .edits(edits)
                if edits.isEmpty { waiting.remove(at: index) }
                return .notSent
            case .request(let request, var tickets):
                guard let place = tickets.firstIndex(of: ticket) else { continue }
                tickets.remove(at: place)
                waiting[index] = .request(request, tickets)
                if tickets.isEmpty { waiting.remove(at: index) }
                return .notSent
            }
        }
        for index in sent.indices {
            if let request = sent[index].purpose.withdraw(ticket) { return .sent(request) }
        }
        for index in unanswered.indices {
            if let request = unanswered[index].withdraw(ticket) { return .sent(request) }
        }
        return nil
    }

    /// Follows a form from now on, or from `since`; a second one for the form replaces the first.
    public mutating func subscribe(_ request: StateSubscribe) {
        subscriptions.removeAll { $0.request.form.isSameBytes(as: request.form) }
        subscriptions.append(Subscription(request))
        if isOnline { send(.subscribe(form: request.form)) }
    }

    /// Stops following a form.
    public mutating func unsubscribe(form: String) {
        subscriptions.removeAll { $0.request.form.isSameBytes(as: form) }
        presences.removeAll { $0.form.isSameBytes(as: form) }
        if isOnline { send(.request(.stateUnsubscribe(form: form), [])) }
    }

    /// Follows the list of forms.
    public mutating func watchForms() {
        guard !watchesForms else { return }
        watchesForms = true
        if isOnline { send(.watchForms) }
    }

    /// The current fields of a subscription, in the order of their ids.
    public func fields(of form: String) -> [NamedField] {
        subscription(form)?.replica.fields ?? []
    }

    // MARK: The connection

    /// A connection was made: send `hello`, subscribe again, send unanswered requests again, then
    /// the queued ones.
    public mutating func connectionOpened() {
        guard case .waiting = link else { return }
        link = .online
        decoder = FrameDecoder(
            frameBytesMax: min(Limits().maxFrame, configuration.frameBytesMax))
        output = []
        unanswered += sent.map(\.purpose)
        sent = []
        send(.hello)
        if watchesForms { send(.watchForms) }
        for subscription in subscriptions { send(.subscribe(form: subscription.request.form)) }
        awaitsReplica = configuration.keepsChangesForReplica && store != nil
        if !awaitsReplica { sendWaiting() }
    }

    /// An attempt to connect failed.
    public mutating func connectFailed(at now: UInt64) {
        guard case .waiting = link else { return }
        let (retryAt, overflow) = now.addingReportingOverflow(backoff.next())
        link = .waiting(retryAt: overflow ? .max : retryAt)
    }

    /// The connection was lost, or was closed after a protocol violation.
    public mutating func connectionLost(at now: UInt64) {
        guard case .online = link else { return }
        output = []
        guard configuration.reconnects else { return stop() }
        if let answeredAt { backoff.connectionEnded(after: now &- answeredAt) }
        answeredAt = nil
        var delay = backoff.next()
        if let retryAfter { delay = max(delay, retryAfter) }
        retryAfter = nil
        let (retryAt, overflow) = now.addingReportingOverflow(delay)
        link = .waiting(retryAt: overflow ? .max : retryAt)
        events.append(.disconnected(retryAt: connectDeadline))
    }

    /// Stops the machine: all waiting requests end with a lost answer.
    public mutating func stop() {
        if case .stopped = link { return }
        link = .stopped
        for purpose in unanswered + sent.map(\.purpose) {
            if case .request(_, let tickets) = purpose, !tickets.isEmpty {
                events.append(.answered(tickets, .lost))
            }
        }
        for item in waiting {
            switch item {
            case .request(_, let tickets): events.append(.answered(tickets, .lost))
            case .edits(var edits):
                for transaction in edits.drain() {
                    events.append(.answered(transaction.tickets, .lost))
                }
            }
        }
        sent = []
        unanswered = []
        waiting = []
        events.append(.disconnected(retryAt: nil))
    }

    // MARK: Sending

    mutating func send(_ purpose: Purpose) {
        lastID += 1
        let request: Request
        switch purpose {
        case .hello:
            request = .hello(
                Hello(
                    client: configuration.client, session: configuration.session,
                    tty: configuration.tty))
        case .watchForms:
            request = .formWatch
        case .subscribe(let form):
            guard let subscription = subscription(form) else { return }
            request = .stateSubscribe(subscription.continued)
        case .request(let asked, _):
            request = asked
        }
        sent.append((lastID, purpose))
        output += request.frame(id: RequestID(lastID))
    }

    /// The request, with a new idempotency key if it changes something and has none.
    mutating func keyed(_ request: Request) -> Request {
        guard request.idempotencyKey == nil else { return request }
        switch request {
        case .stateSet(var params):
            params.idempotencyKey = newKey()
            return .stateSet(params)
        case .stateLease(var params):
            // To take over a lease is for this connection, not for a later answer.
            if case .resume = params.action { return request }
            params.idempotencyKey = newKey()
            return .stateLease(params)
        case .formApply(var params) where !params.isDryRun:
            params.idempotencyKey = newKey()
            return .formApply(params)
        case .formSetOptions(var params):
            params.idempotencyKey = newKey()
            return .formSetOptions(params)
        case .formDelete(var params):
            params.idempotencyKey = newKey()
            return .formDelete(params)
        case .stateUndo(var params):
            params.idempotencyKey = newKey()
            return .stateUndo(params)
        case .stateRedo(var params):
            params.idempotencyKey = newKey()
            return .stateRedo(params)
        default:
            return request
        }
    }

    private mutating func newKey() -> String {
        lastKey += 1
        return "\(configuration.keyPrefix)-\(lastKey)"
    }

    func subscription(_ form: String) -> Subscription? {
        subscriptions.first { $0.request.form.isSameBytes(as: form) }
    }
}
