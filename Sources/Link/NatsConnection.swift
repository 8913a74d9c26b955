internal import CNats
internal import EventLoop
internal import Glibc
internal import SyncCore
internal import Synchronization

// A connection of cnats. Its threads call back; what they say goes into a queue and wakes the loop.
//
// Invariants: the threads of cnats touch nothing but a `NatsQueue`. What they are given to hold
// lives until they have said that they use it no more: one hold for the connection, one for each
// subscription. A connection is used once; the bridge makes another when it is lost, so that cnats
// keeps nothing from one to the next.

/// What a connection reports.
enum NatsEvent: Sendable {
    case message(LinkTransfer)
    /// The server refused something: one line.
    case refused(String)
    /// The connection is lost: one line.
    case closed(String)
    /// More waits than is kept. Nothing follows.
    case full
}

/// What the threads of a connection have said and the loop has not taken.
///
/// Bounded: beyond `bytesMax` the connection counts as closed. What waited comes again from the
/// log.
final class NatsQueue: Sendable {
    private struct Waiting {
        var events = Queue<NatsEvent>()
        var bytes = 0
        var isFull = false
    }

    /// What an event takes beside its bytes.
    private static let eventBytes = 256

    let bytesMax: Int
    private let waiting = Mutex(Waiting())
    private let waker: Waker

    init(waking waker: Waker, bytesMax: Int = 64 << 20) {
        self.waker = waker
        self.bytesMax = bytesMax
    }

    func add(_ event: NatsEvent) {
        waiting.withLock { waiting in
            guard !waiting.isFull else { return }
            waiting.events.append(event)
            waiting.bytes += Self.bytes(of: event)
            guard waiting.bytes > bytesMax else { return }
            waiting = Waiting(isFull: true)
            waiting.events.append(.full)
        }
        waker.wake()
    }

    var isFull: Bool { waiting.withLock { $0.isFull } }

    /// Removes and returns the oldest; `nil` if there is none.
    func take() -> NatsEvent? {
        waiting.withLock { waiting in
            guard let event = waiting.events.takeFirst() else { return nil }
            waiting.bytes -= Self.bytes(of: event)
            return event
        }
    }

    private static func bytes(of event: NatsEvent) -> Int {
        guard case .message(let transfer) = event else { return eventBytes }
        return eventBytes + transfer.bytes
    }
}

/// What the server says of itself.
struct NatsServer: Sendable {
    let address: String
    /// Empty if it does not say it.
    let version: String
    let payloadMax: Int64
    let rttMicroseconds: Int64
}

/// A connection to a server.
///
/// `@unchecked Sendable` because cnats serializes the calls on a connection, and `close` comes
/// last: the bridge drops its reference with it.
@safe final class NatsConnection: @unchecked Sendable {
    private let connection: OpaquePointer
    private let queue: NatsQueue
    private let subscribed = Mutex<Set<String>>([])
    let server: NatsServer

    /// Connects, and waits for that: for a thread of the pool.
    ///
    /// - Throws: one line that says what is wrong.
    init(_ options: BridgeOptions, reporting queue: NatsQueue) throws(NatsFailure) {
        var made: OpaquePointer?
        try check(unsafe natsOptions_Create(&made), "options")
        let settings = unsafe made
        defer { unsafe natsOptions_Destroy(settings) }
        try Self.set(options, settings)
        let held = unsafe Unmanaged.passRetained(queue).toOpaque()
        unsafe natsOptions_SetErrorHandler(settings, refused, held)
        unsafe natsOptions_SetClosedCB(settings, closed, held)
        var opened: OpaquePointer?
        let status = unsafe natsConnection_Connect(&opened, settings)
        guard status == NATS_OK, let connection = unsafe opened else {
            unsafe Unmanaged<NatsQueue>.fromOpaque(held).release()
            throw NatsFailure(status)
        }
        unsafe self.connection = connection
        self.queue = queue
        server = unsafe Self.describe(connection)
    }

    private static func set(
        _ options: BridgeOptions, _ settings: OpaquePointer?
    ) throws(NatsFailure) {
        unsafe natsOptions_SetName(settings, "pickersync-link")
        unsafe natsOptions_SetAllowReconnect(settings, false)
        unsafe natsOptions_SetNoRandomize(settings, true)
        unsafe natsOptions_SetIgnoreDiscoveredServers(settings, true)
        unsafe natsOptions_SetTimeout(settings, 5_000)
        unsafe natsOptions_SetPingInterval(settings, 2_000)
        unsafe natsOptions_SetMaxPingsOut(settings, 2)
        // Otherwise a message waits a millisecond for others, and edits travel in bundles already.
        unsafe natsOptions_SetSendAsap(settings, true)
        // A server that does not read must not stop the loop for long.
        unsafe natsOptions_SetWriteDeadline(settings, 5_000)
        let servers = options.servers
        let status = unsafe withCStrings(servers) { list in
            unsafe natsOptions_SetServers(settings, list, CInt(servers.count))
        }
        try check(status, "servers")
        if let file = options.credentials {
            try check(
                unsafe natsOptions_SetUserCredentialsFromFiles(settings, file, nil),
                "credentials \(file)")
        }
        if let key = options.nkey, let file = options.seed {
            try check(unsafe natsOptions_SetNKeyFromSeed(settings, key, file), "nkey \(key)")
        }
        let usesTLS = servers.contains { $0.hasPrefix("tls://") }
        if usesTLS || options.ca != nil || options.certificate != nil {
            try check(unsafe natsOptions_SetSecure(settings, true), "TLS")
        }
        if let file = options.ca {
            try check(unsafe natsOptions_LoadCATrustedCertificates(settings, file), "ca \(file)")
        }
        if let file = options.certificate, let key = options.key {
            try check(
                unsafe natsOptions_LoadCertificatesChain(settings, file, key),
                "certificate \(file)")
        }
    }

    private static func describe(_ connection: OpaquePointer) -> NatsServer {
        var rtt: Int64 = 0
        unsafe natsConnection_GetRTT(connection, &rtt)
        var text = [CChar](repeating: 0, count: 1024)
        unsafe natsConnection_GetConnectedUrl(connection, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let url = String(decoding: bytes, as: UTF8.self)
        // An address may have a password before the `@`.
        let authority = url.split(separator: "@").last.map(String.init) ?? ""
        let address = authority.split(separator: "/").last.map(String.init) ?? authority
        return NatsServer(
            address: address, version: ServerGreeting.version(ofServer: address),
            payloadMax: unsafe natsConnection_GetMaxPayload(connection),
            rttMicroseconds: rtt / 1_000)
    }

    /// Subscribes to a subject for as long as the connection lives, once.
    func subscribe(_ subject: String) throws(NatsFailure) {
        guard subscribed.withLock({ $0.insert(subject).inserted }) else { return }
        let held = unsafe Unmanaged.passRetained(queue).toOpaque()
        var subscription: OpaquePointer?
        let status = unsafe natsConnection_Subscribe(
            &subscription, connection, subject, arrived, held)
        guard status == NATS_OK else {
            unsafe Unmanaged<NatsQueue>.fromOpaque(held).release()
            throw NatsFailure(status)
        }
        // The connection has the subscription, and calls this when its thread has ended.
        unsafe natsSubscription_SetOnCompleteCB(subscription, completed, held)
    }

    /// Publishes a message.
    func publish(_ transfer: LinkTransfer) throws(NatsFailure) {
        var made: OpaquePointer?
        let status = unsafe transfer.data.withUnsafeBytes { bytes in
            unsafe natsMsg_Create(
                &made, transfer.subject, transfer.reply,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count))
        }
        try check(status, "a message")
        let message = unsafe made
        defer { unsafe natsMsg_Destroy(message) }
        for header in transfer.headerPairs {
            try check(
                unsafe natsMsgHeader_Add(message, header.name, header.value), "a header")
        }
        try check(unsafe natsConnection_PublishMsg(connection, message), "publishing")
    }

    /// Waits until the server has taken everything before, or has refused it.
    private func isRefused(_ subject: String) throws(NatsFailure) -> Bool {
        try check(unsafe natsConnection_FlushTimeout(connection, 5_000), "flush")
        var text: UnsafePointer<CChar>?
        unsafe _ = natsConnection_GetLastError(connection, &text)
        // `Permissions Violation for Publish to "SUBJECT"`
        return unsafe text.map { unsafe String(cString: $0).contains("\"\(subject)\"") } ?? false
    }

    /// Tries what a host does with the server, and waits for that: for a thread of the pool.
    ///
    /// - Throws: each permission that this host lacks.
    func requirePermissions(_ link: LinkAttached) throws(NatsFailure) {
        var missing: [String] = []
        // Without content, none of these has an effect.
        for subject in BridgeProgram.tried(link) {
            try publish(LinkTransfer(subject: subject, data: []))
            if try isRefused(subject) { missing.append("publish to \(subject)") }
        }
        for subject in ["_INBOX.\(link.host).check"] + LinkSubject.heard(in: link.fleet) {
            try subscribe(subject)
            if try isRefused(subject) { missing.append("subscribe to \(subject)") }
        }
        guard missing.isEmpty else { throw NatsFailure(missing: missing) }
    }

    /// Ends the connection, and waits for that: for a thread of the pool, and the last call.
    func close() { unsafe natsConnection_Destroy(connection) }
}

/// Why cnats did not do something: one line.
struct NatsFailure: Error, CustomStringConvertible {
    let description: String
    /// Whether a person has to change something.
    var isRefusal = false

    /// The server does not permit what a host needs.
    init(missing: [String]) {
        description =
            "the server refuses: \(missing.joined(separator: "; ")); allow this host what "
            + "pickersync-link --print-nats-config prints"
        isRefusal = true
    }

    init(_ status: natsStatus, _ what: String? = nil) {
        var status = status
        let detail = unsafe nats_GetLastError(&status).map { unsafe String(cString: $0) } ?? ""
        let name = unsafe String(cString: natsStatus_GetText(status))
        // cnats begins with the place in its source: `(conn.c:2088): `.
        let line = detail.split(separator: "): ", maxSplits: 1).last.map(String.init) ?? name
        description = (what.map { "\($0): \(line)" } ?? line).escapedForDisplay()
    }
}

private func check(_ status: natsStatus, _ what: String) throws(NatsFailure) {
    guard status == NATS_OK else { throw NatsFailure(status, what) }
}

/// Passes an array of C strings that lives during the call.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe texts.map { text in
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        unsafe copy.initialize(from: bytes, count: bytes.count)
        return unsafe copy
    }
    defer { for copy in unsafe copies { unsafe copy.deallocate() } }
    var list = unsafe copies.map { unsafe UnsafePointer<CChar>?($0) }
    return unsafe list.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}

// Called by the threads of cnats. Each gets a queue that is held for it.

private nonisolated func queue(_ held: UnsafeMutableRawPointer?) -> NatsQueue? {
    guard let held = unsafe held else { return nil }
    return unsafe Unmanaged<NatsQueue>.fromOpaque(held).takeUnretainedValue()
}

private nonisolated func arrived(
    _: OpaquePointer?, _: OpaquePointer?, _ message: OpaquePointer?,
    _ held: UnsafeMutableRawPointer?
) {
    defer { unsafe natsMsg_Destroy(message) }
    guard let queue = unsafe queue(held), let subject = unsafe natsMsg_GetSubject(message) else {
        return
    }
    var data: [UInt8] = []
    if let bytes = unsafe natsMsg_GetData(message) {
        let count = unsafe Int(natsMsg_GetDataLength(message))
        data = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    queue.add(
        .message(
            LinkTransfer(
                subject: unsafe String(cString: subject),
                reply: unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) },
                headers: unsafe headers(of: message), data: data
            ).cutToLimits))
}

private nonisolated func headers(of message: OpaquePointer?) -> [String] {
    var keys: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    var count: CInt = 0
    guard unsafe natsMsgHeader_Keys(message, &keys, &count) == NATS_OK else { return [] }
    defer { unsafe free(keys) }
    var lines: [String] = []
    for index in 0..<Int(count) {
        guard let key = unsafe keys?[index] else { continue }
        var values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
        var valueCount: CInt = 0
        guard unsafe natsMsgHeader_Values(message, key, &values, &valueCount) == NATS_OK else {
            continue
        }
        defer { unsafe free(values) }
        for place in 0..<Int(valueCount) {
            guard let value = unsafe values?[place] else { continue }
            lines.append(unsafe "\(String(cString: key)): \(String(cString: value))")
        }
    }
    return lines
}

private nonisolated func refused(
    _ connection: OpaquePointer?, _: OpaquePointer?, _ status: natsStatus,
    _ held: UnsafeMutableRawPointer?
) {
    var text: UnsafePointer<CChar>?
    unsafe _ = natsConnection_GetLastError(connection, &text)
    let line = unsafe text.map { unsafe String(cString: $0) } ?? ""
    let name = unsafe String(cString: natsStatus_GetText(status))
    unsafe queue(held)?.add(.refused((line.isEmpty ? name : line).escapedForDisplay()))
}

private nonisolated func closed(
    _ connection: OpaquePointer?, _ held: UnsafeMutableRawPointer?
) {
    var text: UnsafePointer<CChar>?
    unsafe _ = natsConnection_GetLastError(connection, &text)
    let line = unsafe text.map { unsafe String(cString: $0) } ?? ""
    unsafe queue(held)?.add(
        .closed(line.isEmpty ? "the connection is lost" : line.escapedForDisplay()))
    if let held = unsafe held { unsafe Unmanaged<NatsQueue>.fromOpaque(held).release() }
}

private nonisolated func completed(_ held: UnsafeMutableRawPointer?) {
    if let held = unsafe held { unsafe Unmanaged<NatsQueue>.fromOpaque(held).release() }
}
