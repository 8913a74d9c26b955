import CostlyRequests
import EngineTestKit
import SyncCore
import TerminalUI

// The hot paths without sockets and disk, for profilers and for `make check-cost`:
//
//     HotPaths PATH COUNT
//
// runs one of `paths` this many times. What one run of it costs is the difference of two counts,
// divided by that of their sizes: the start of the process and the making of the form fall out.
// Invariant: the same arguments do the same work, to the instruction.

/// One engine with a form of one text field, and connections that take all that they are given.
final class Bench {
    let engine: Engine
    private var effects: [Effect] = []
    private var clock: Int64 = 1_795_000_000_000
    private var sequence = 0
    private var lastKey = 0
    private(set) var bytesWritten = 0
    /// The connection whose bytes are kept, and what it got.
    private var listener: ConnectionID?
    private var heard: [UInt8] = []

    init(
        durability: Durability, subscribers: Int, replica: UInt64 = 0x3f9a_8b7c_6d5e,
        link: LinkConfiguration? = nil
    ) throws {
        var environment = Environment(
            random: { 1 }, compile: { _ in .success(PatternMatcher { _ in true }) },
            seal: { plaintext, _ in plaintext }, open: { sealed, _ in sealed }, digest: { _ in 1 },
            audit: { _ in true })
        if link != nil { environment.fleetKeys = .forTests() }
        var configuration = EngineConfiguration(
            durability: durability, serverName: "pickersyncd/bench", daemonUID: 0)
        configuration.link = link
        engine = try Engine(
            configuration: configuration, environment: environment,
            replica: ReplicaID(id: replica, epoch: 1),
            image: StoreImage(), newLogs: false,
            at: Moment(wallMilliseconds: clock, monotonicNanoseconds: 1))
        for number in 0...UInt64(subscribers) { connect(number) }
        guard link == nil else { return }
        applyForm()
        for number in 0..<subscribers {
            send(
                Self.frame(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"bench"}}
                    """), to: UInt64(number) + 1)
        }
        settle()
    }

    private func connect(_ number: UInt64, uid: UInt32 = 0, user: String = "root") {
        let peer = Peer(pid: 4242, uid: uid, gid: uid, user: user)
        engine.handle(.connected(ConnectionID(number), peer), at: now, into: &effects)
    }

    /// Another connection, whose bytes are kept for `takeHeard`.
    func listen(uid: UInt32, user: String) -> UInt64 {
        listener = ConnectionID(1)
        connect(1, uid: uid, user: user)
        return 1
    }

    /// What the first connection is answered.
    func ask(_ request: String) -> String {
        let before = listener
        listener = ConnectionID(0)
        defer { listener = before }
        send(Self.frame(request), to: 0)
        settle()
        return String(decoding: takeHeard(), as: UTF8.self)
    }

    func takeHeard() -> [UInt8] {
        defer { heard = [] }
        return heard
    }

    func applyForm() {
        send(
            Self.frame(
                """
                {"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":\
                "bench","title":"Bench","sections":[{"fields":[{"id":"f-0","type":"text",\
                "label":"Value"}]}]}}}
                """), to: 0)
        settle()
    }

    /// A millisecond is a thousand requests long.
    private var now: Moment {
        Moment(
            wallMilliseconds: clock + Int64(sequence / 1000),
            monotonicNanoseconds: UInt64(sequence) * 1000 + 1)
    }

    static func frame(_ text: String) -> [UInt8] {
        let count = UInt32(text.utf8.count).bigEndian
        return withUnsafeBytes(of: count) { Array($0) } + Array(text.utf8)
    }

    func send(_ bytes: [UInt8], to connection: UInt64) {
        bytes.withUnsafeBytes {
            engine.received(ConnectionID(connection), $0, at: now, into: &effects)
        }
    }

    /// Ends iterations until nothing is left to do.
    func settle() {
        while true {
            if engine.schedule.wantsTurn { engine.handle(.turn, at: now, into: &effects) }
            engine.handle(.iterationEnded, at: now, into: &effects)
            var batch: UInt64?
            for effect in effects { if case .persist(let sent) = effect { batch = sent.number } }
            effects.removeAll(keepingCapacity: true)
            if let batch { engine.handle(.committed(batch: batch), at: now, into: &effects) }
            let hasWritten = write()
            if batch == nil && !hasWritten && !engine.schedule.wantsIteration { return }
        }
    }

    /// Takes what is ready, as a socket does that is never full.
    private func write() -> Bool {
        let told = engine.tell { _, output in
            bytesWritten += output.byteCount
            return .written
        }
        let ready = engine.takeReady()
        for outbox in ready {
            guard let output = engine.nextOutput(outbox) else { continue }
            check(output)
            bytesWritten += output.byteCount
            if outbox.id == listener { hear(output) }
            engine.wrote(outbox, at: now, into: &effects)
        }
        return told > 0 || !ready.isEmpty
    }

    private func hear(_ output: Output) {
        for segment in output.segments {
            heard += UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count)
        }
    }

    /// An error would be answered fast; nobody is to measure that.
    private func check(_ output: Output) {
        guard sequence <= 64, let first = output.segments.first else { return }
        let text = UnsafeRawBufferPointer(start: first.baseAddress, count: first.count)
        precondition(
            !String(decoding: text, as: UTF8.self).contains("\"error\""), "a request was refused")
    }

    /// Requests, so many of them in one read, then the end of the iteration. The same 64 again and
    /// again, made before any is sent, because making one is not the engine's work.
    func run(
        _ count: Int, atOnce: Int = 64, thenEach: () -> Void = {}, _ request: (Int) -> String
    ) {
        let frames = (0..<64).map { Self.frame(request($0)) }
        var reads = stride(from: 0, to: frames.count, by: atOnce).map { first in
            Array(frames[first..<first + atOnce].joined())
        }
        let keys = reads.map { Self.places(of: Self.key, in: $0) }
        precondition(count.isMultiple(of: 64), "so many requests are made")
        for number in 0..<count / atOnce {
            sequence += atOnce
            let place = number % reads.count
            renew(keys[place], in: &reads[place])
            send(reads[place], to: 0)
            settle()
            thenEach()
        }
    }

    /// What stands for an idempotency key, of which no two requests have the same.
    private static let key = Array("zzzzzzzzzzzz".utf8)

    private static func places(of part: [UInt8], in bytes: [UInt8]) -> [Int] {
        bytes.indices.filter { bytes[$0...].starts(with: part) }
    }

    private func renew(_ keys: [Int], in read: inout [UInt8]) {
        for place in keys {
            lastKey += 1
            for digit in 0..<8 {
                read[place + digit] = UInt8(ascii: "a") + UInt8(lastKey >> (4 * digit) & 15)
            }
        }
    }

    func set(_ count: Int) { run(count) { Self.set($0) } }

    /// Each with an idempotency key, after as many as are kept in memory.
    func setKeyed(_ count: Int) {
        for part in [4096 + 64, count] { run(part) { Self.set($0, key: Self.key) } }
    }

    /// One change at a time, told to everybody before the next comes.
    func tell(_ count: Int) { run(count, atOnce: 1) { Self.set($0) } }

    func get(_ count: Int) { run(count) { _ in Self.get } }

    static let get = """
        {"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"bench","fields":["f-0"]}}
        """

    /// Connections that watch the list of forms and a form, and end together.
    func leave(_ count: Int) {
        let ids = (1...UInt64(count)).map { 1_000_000 + $0 }
        let watch = Self.frame(#"{"jsonrpc":"2.0","id":1,"method":"form.watch","params":{}}"#)
        let subscribe = Self.frame(
            #"{"jsonrpc":"2.0","id":2,"method":"state.subscribe","params":{"form":"bench"}}"#)
        for id in ids {
            sequence += 1
            connect(id)
            send(watch + subscribe, to: id)
            settle()
        }
        for id in ids { engine.handle(.endOfStream(ConnectionID(id)), at: now, into: &effects) }
        for id in ids { engine.handle(.disconnected(ConnectionID(id)), at: now, into: &effects) }
        settle()
    }

    static func set(_ sequence: Int, key: [UInt8]? = nil) -> String {
        let key = key.map { #","idempotencyKey":"\#(String(decoding: $0, as: UTF8.self))""# } ?? ""
        return """
            {"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"bench","changes":[\
            {"field":"f-0","value":"\(value(sequence))"}]\(key)}}
            """
    }

    static func value(_ sequence: Int) -> String { "\(1_000_000_000 + sequence)" }
}

/// Decodes one request this many times.
func decode(_ count: Int) {
    var decoder = MessageDecoder()
    let text = Array(Bench.set(0).utf8)
    for _ in 0..<count {
        guard case .single = decoder.decode(text) else {
            preconditionFailure("the request is one")
        }
    }
}

/// Encodes one notification this many times.
func encode(_ count: Int) {
    let author = WireAuthor(
        user: "root", uid: 0, client: nil, tty: nil, connection: 3, replica: "3f9a8b7c6d5e.1")
    let change = FieldChange(
        field: "f-0",
        state: FieldState(
            value: "1000000001", revision: 123_456, isSet: true, by: author,
            at: Timestamp(milliseconds: 1_795_000_000_000)), was: "1000000000")
    let changed = StateChanged(
        form: "bench", revision: 123_456, context: "3f9a8b7c6d5e.1:123456", changes: [change])
    var writer = JSONWriter()
    for _ in 0..<count {
        writer.removeAll()
        changed.encode(into: &writer)
    }
}

/// Brings a terminal from one screen to the next this many times; in it one number changes.
func frame(_ count: Int) {
    var encoder = FrameEncoder(options: .init(depth: .palette256, isSynchronized: true))
    var screen = CellBuffer(columns: 80, lines: 24)
    for line in 0..<24 {
        screen.write(
            "▌ Replicas  ─ 1000 +  somebody is here", at: Point(x: 2, y: line),
            style: CellStyle(.rgb(10, 20, 30)))
    }
    for number in 0..<count {
        screen.write("\(1_000 + number % 1_000)", at: Point(x: 16, y: 12))
        let bytes = encoder.encode(screen, cursor: Point(x: 2, y: 12))
        precondition(!bytes.isEmpty, "each screen is another")
    }
}

/// What can be run, by name.
let paths: [(name: String, run: (Int) throws -> Void)] = [
    ("decode", decode),
    ("encode", encode),
    ("set", { try Bench(durability: .memory, subscribers: 0).set($0) }),
    ("set-keyed", { try Bench(durability: .memory, subscribers: 0).setKeyed($0) }),
    ("set-durable", { try Bench(durability: .commit, subscribers: 0).set($0) }),
    ("get", { try Bench(durability: .memory, subscribers: 0).get($0) }),
    ("frame", frame),
    ("tell", { try Bench(durability: .memory, subscribers: 100).tell($0) }),
    ("leave", { try Bench(durability: .memory, subscribers: 0).leave($0) }),
    ("share", { try LinkBench(joins: false).set($0) }),
    ("join", { try LinkBench(joins: true).set($0) }),
    ("fan-out", { try Bench(durability: .memory, subscribers: 100).set($0) }),
]

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
    print("usage: HotPaths \(paths.map(\.name).joined(separator: "|")) COUNT")
    print("       HotPaths METHOD/CASE 0|1; HotPaths worst 0 lists them")
    preconditionFailure("which path, and how often")
}
if let path = paths.first(where: { $0.name == CommandLine.arguments[1] }) {
    try path.run(count)
} else if CommandLine.arguments[1] == "worst" {
    precondition(
        CostlyRequest.missingMethods.isEmpty,
        "no costly request for \(CostlyRequest.missingMethods)")
    for name in worstNames { print(name) }
} else {
    try worst(CommandLine.arguments[1], isAsked: count > 0)
}
