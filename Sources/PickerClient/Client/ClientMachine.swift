// The client of PROTOCOL.md without any I/O: bytes in, events out; requests in, bytes out; time is
// a parameter (monotonic nanoseconds).
//
//            connectionOpened                 connectionLost
//   waiting ------------------> online --------------------------> waiting(retryAt)
//      ^  \                        |  incompatible, stop             |
//      |   \-- connectFailed --/   +---------------> stopped <-------+ stop
//
// What holds always:
// - a request that was not answered when the connection went is sent again, first and in order, an
//   edit under the idempotency key that it had: it happens once however often it is sent;
// - edits made while waiting collapse in an OfflineQueue, other requests wait in line, and no edit
//   overtakes a request that changes something: an undo takes back what it was meant to;
// - every ticket is answered once;
// - a subscription comes back with `since`, and no revision of a log is told twice;
// - a Field is taken into a view only when it is newer than the one there.

public import SyncCore

/// The sans-I/O client: see the file's head.
public struct ClientMachine: Sendable {
    /// What a machine is told once.
    public struct Configuration: Sendable {
        /// Name and version for `hello`, such as `pickerctl/0.1.0`.
        public var client: String
        /// Edits of one session are *mine* for undo.
        public var session: String?
        /// The terminal as claimed.
        public var tty: String?
        /// Random, so that keys of two processes of one user differ.
        public var keyPrefix: String
        /// Seeds the jitter.
        public var seed: UInt64
        /// Bytes of the longest frame that is taken from the daemon.
        public var frameBytesMax = 64 << 20
        /// Whether a lost connection is to be made again.
        public var reconnects = true

        /// A configuration of the given identity.
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

    /// Why a message was sent, and so where its answer goes.
    enum Purpose {
        case hello
        case subscribe(form: String)
        case watchForms
        case request(Request, [Ticket])
    }

    /// What was asked while no connection was up, and waits in line.
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
    var events: [ClientEvent] = []
    var sent: [(id: Int64, purpose: Purpose)] = []
    var waiting: [Waiting] = []
    var subscriptions: [Subscription] = []
    var presences: [PresenceUpdate] = []
    var watchesForms = false
    var lastID: Int64 = 0
    var lastTicket: Int64 = 0
    var lastKey: Int64 = 0
    var retryAfter: UInt64?

    /// A machine that has yet to be connected; it may be at once.
    public init(_ configuration: Configuration, at now: UInt64) {
        self.configuration = configuration
        link = .waiting(retryAt: now)
        backoff = Backoff(seed: configuration.seed)
        decoder = FrameDecoder(frameBytesMax: configuration.frameBytesMax)
    }

    // MARK: Questions

    /// Whether a connection is up.
    public var isOnline: Bool { if case .online = link { true } else { false } }

    /// When the next connection should be attempted; `nil` while one is up or none is wanted.
    public var connectDeadline: UInt64? {
        if case .waiting(let retryAt) = link { retryAt } else { nil }
    }

    /// Whether edits wait for a daemon.
    public var hasUnsentEdits: Bool {
        waiting.contains { if case .edits = $0 { true } else { false } }
    }

    /// The bytes to be written next; the machine forgets them.
    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// The next event, in order.
    public mutating func takeEvent() -> ClientEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    // MARK: Commands

    /// Asks for something. While no connection is up, plain edits collapse and everything else
    /// waits in line; a focus or draft is only worth its newest.
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
        case (.stateSet(let edit), .waiting)
        where !edit.requireCurrent && edit.idempotencyKey == nil:
            queue(edit, ticket)
        case (_, .waiting):
            waiting.append(.request(keyed(request), [ticket]))
        case (_, .online):
            send(.request(keyed(request), [ticket]))
        }
        return ticket
    }

    /// Puts an edit to those that wait already, if no later request changes something.
    private mutating func queue(_ edit: StateSet, _ ticket: Ticket) {
        // What only asks may see a newer value: as good an answer while nobody is there.
        let last = waiting.lastIndex { item in
            if case .request(let request, _) = item { request.idempotencyKey != nil } else { true }
        }
        if let last, case .edits(var edits) = waiting[last] {
            edits.append(edit, ticket: ticket)
            waiting[last] = .edits(edits)
            return
        }
        var edits = OfflineQueue()
        edits.append(edit, ticket: ticket)
        waiting.append(.edits(edits))
    }

    /// Nobody waits for a request any more: one that was not sent never will be.
    ///
    /// - Returns: what became of it; `nil` where its answer is among the events already.
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
            guard case .request(let request, var tickets) = sent[index].purpose,
                let place = tickets.firstIndex(of: ticket)
            else { continue }
            tickets.remove(at: place)
            sent[index].purpose = .request(request, tickets)
            return .sent(request)
        }
        return nil
    }

    /// Follows a form from now on, or from `since`; a second one for the form replaces the first.
    public mutating func subscribe(_ request: StateSubscribe) {
        subscriptions.removeAll { $0.request.form.isSameBytes(as: request.form) }
        subscriptions.append(Subscription(request))
        if isOnline { send(.subscribe(form: request.form)) }
    }

    /// Follows a form no longer.
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

    /// What a subscription shows now, in the order of its snapshot.
    public func fields(of form: String) -> [NamedField] {
        subscription(form)?.view ?? []
    }

    /// The newest token of what was shown of a form, to be handed back with edits of it.
    public func context(of form: String) -> String? {
        subscription(form)?.context
    }

    // MARK: The connection

    /// A connection was made: greet, subscribe again, send again, then what waited.
    public mutating func connectionOpened() {
        guard case .waiting = link else { return }
        link = .online
        decoder = FrameDecoder(frameBytesMax: configuration.frameBytesMax)
        output = []
        let unanswered = sent
        sent = []
        send(.hello)
        if watchesForms { send(.watchForms) }
        for subscription in subscriptions { send(.subscribe(form: subscription.request.form)) }
        for (_, purpose) in unanswered {
            switch purpose {
            // An unsubscription has happened by the loss; presence is told anew below.
            case .hello, .subscribe, .watchForms, .request(.stateUnsubscribe, _): continue
            case .request(.presenceUpdate, let tickets):
                if !tickets.isEmpty { events.append(.answered(tickets, .superseded)) }
            case .request: send(purpose)
            }
        }
        let waited = waiting
        waiting = []
        for item in waited {
            switch item {
            case .request(let request, let tickets): send(.request(request, tickets))
            case .edits(var edits): send(edits.drain())
            }
        }
        for update in presences { send(.request(.presenceUpdate(update), [])) }
    }

    private mutating func send(_ edits: [OfflineQueue.Transaction]) {
        for transaction in edits {
            guard !transaction.changes.isEmpty else {
                events.append(.answered(transaction.tickets, .superseded))
                continue
            }
            let edit = StateSet(form: transaction.form, changes: transaction.changes)
            send(.request(keyed(.stateSet(edit)), transaction.tickets))
        }
    }

    /// An attempt to connect failed.
    public mutating func connectFailed(at now: UInt64) {
        guard case .waiting = link else { return }
        let (retryAt, overflow) = now.addingReportingOverflow(backoff.next())
        link = .waiting(retryAt: overflow ? .max : retryAt)
    }

    /// The connection is gone, or was closed after a violation.
    public mutating func connectionLost(at now: UInt64) {
        guard case .online = link else { return }
        output = []
        guard configuration.reconnects else { return stop() }
        var delay = backoff.next()
        if let retryAfter { delay = max(delay, retryAfter) }
        retryAfter = nil
        let (retryAt, overflow) = now.addingReportingOverflow(delay)
        link = .waiting(retryAt: overflow ? .max : retryAt)
        events.append(.disconnected(retryAt: connectDeadline))
    }

    /// Ends it: whoever waits is told that the answer is lost.
    public mutating func stop() {
        if case .stopped = link { return }
        link = .stopped
        for (_, purpose) in sent {
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

    /// The request with an idempotency key of ours where it changes something and has none.
    mutating func keyed(_ request: Request) -> Request {
        guard request.idempotencyKey == nil else { return request }
        switch request {
        case .stateSet(var params):
            params.idempotencyKey = newKey()
            return .stateSet(params)
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
