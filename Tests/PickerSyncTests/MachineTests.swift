// The heart without a socket, and then on three kinds of loop: libuv's, a plain descriptor's, and
// Swift concurrency's own (LiveTests).

import EventLoop
import Foundation
import PickerClient
import PickerSync
import SyncCore
import Synchronization
import Testing

/// A port that a test plays the daemon behind.
private struct PlayedPort: RequestPort {
    var requests: [Request] = []
    var subscriptions: [StateSubscribe] = []
    var unsubscribed: [String] = []
    private var machine = ClientMachine(
        ClientMachine.Configuration(client: "test", keyPrefix: "k", seed: 1), at: 0)

    mutating func submit(_ request: Request) -> Ticket {
        requests.append(request)
        return machine.submit(request)
    }
    mutating func subscribe(_ request: StateSubscribe) { subscriptions.append(request) }
    mutating func unsubscribe(form: String) { unsubscribed.append(form) }
    mutating func withdraw(_ ticket: Ticket) -> Withdrawal? { machine.withdraw(ticket) }
    /// The requests are on their way from now on.
    mutating func connect() { machine.connectionOpened() }
}

private final class Opened: Sendable {
    let session = Mutex<Result<FormSession, FormError>?>(nil)
    var value: FormSession? { session.withLock { try? $0?.get() } }
}

/// A machine that is stopped when nobody needs it any more: it and its forms hold each other.
private final class StoppedMachine: Sendable {
    let forms = FormMachine(wake: {})

    deinit { forms.stop(.closed) }
}

/// A machine with an open ice-cream form at revision 1.
private struct Story {
    private let owner = StoppedMachine()
    var machine: FormMachine { owner.forms }
    var port = PlayedPort()
    var tickets: [Ticket] = []
    let order = IceCream()
    let opened = Opened()

    static let setResult: JSON = [
        "form": "ice-cream", "revision": 2, "context": "r.1:2", "fields": [:],
    ]

    static func field(_ value: JSON, _ revision: Int64) -> FieldState {
        FieldState(value: value, revision: revision, isSet: revision > 1)
    }

    init() {
        machine.open(order) { [opened] result in opened.session.withLock { $0 = result } }
        pump()
        answer(0, .result(["form": "ice-cream"]))
        pump()
        let values: [(String, JSON)] = [
            ("flavor", "chocolate"), ("topping", "nuts"), ("scoops", 2), ("cone", true),
        ]
        machine.received(
            .snapshot(
                SubscribeResult(
                    form: "ice-cream", log: "L", revision: 1, context: "r.1:1", isResumed: false,
                    fields: values.map { NamedField(id: $0.0, state: Self.field($0.1, 1)) }),
                previous: []))
    }

    mutating func pump() {
        let before = port.requests.count
        machine.pump(into: &port)
        for _ in before..<port.requests.count { tickets.append(lastTicket(tickets.count)) }
    }

    /// The machine below numbers tickets from 1.
    private func lastTicket(_ index: Int) -> Ticket {
        var machine = ClientMachine(
            ClientMachine.Configuration(client: "t", keyPrefix: "k", seed: 1), at: 0)
        for _ in 0..<index { _ = machine.submit(.ping) }
        return machine.submit(.ping)
    }

    func answer(_ index: Int, _ outcome: RequestOutcome) {
        machine.received(.answered([tickets[index]], outcome))
    }

    func change(_ revision: Int64, _ field: String, _ value: JSON) {
        machine.received(
            .changed(
                StateChanged(
                    form: "ice-cream", revision: revision, context: "r.1:\(revision)",
                    changes: [
                        FieldChange(field: field, state: Self.field(value, revision), was: nil)
                    ])))
    }

    /// The changes of the newest request.
    var written: [Change] {
        guard case .stateSet(let edit)? = port.requests.last else { return [] }
        return edit.changes
    }
}

@Suite("The machine of forms")
struct MachineTests {
    @Test("opening applies, then follows, then shows")
    func opening() {
        let story = Story()
        #expect(story.port.requests.map(\.method) == [.formApply])
        #expect(story.port.subscriptions.map(\.form) == ["ice-cream"])
        #expect(story.opened.value?.revision == 1)
        #expect(story.order.scoops == 2)
    }

    @Test("a write carries the token of when its field was last read, and none where it never was")
    func tokens() {
        var story = Story()
        story.order.flavor = .vanilla
        story.pump()
        #expect(story.written == [Change(field: "flavor", context: nil, .value("vanilla"))])
        _ = story.order.scoops
        story.change(2, "topping", "cookies")
        story.order.scoops = 3
        story.pump()
        #expect(story.written == [Change(field: "scoops", context: "r.1:1", .value(3))])
        _ = story.order.topping
        story.order.topping = .nuts
        story.pump()
        #expect(story.written == [Change(field: "topping", context: "r.1:2", .value("nuts"))])
    }

    @Test("an answer's token is what was seen from then on, unless more was read meanwhile")
    func answeredTokens() {
        var story = Story()
        _ = story.order.flavor
        story.order.flavor = .vanilla
        story.pump()
        story.answer(
            1, .result(["form": "ice-cream", "revision": 2, "context": "r.1:1+2", "fields": [:]]))
        story.order.flavor = .strawberry
        story.pump()
        #expect(story.written.first?.context == "r.1:1+2")
    }

    @Test("a draft shows until its answer; a later one stays; an older field never comes back")
    func drafts() {
        var story = Story()
        story.order.flavor = .vanilla
        story.order.flavor = .strawberry
        story.pump()
        story.change(2, "flavor", "vanilla")
        #expect(story.order.flavor == .strawberry)
        story.answer(1, .result(Story.setResult))
        #expect(story.order.flavor == .strawberry, "the second write is still on its way")
        story.answer(
            2,
            .result([
                "form": "ice-cream", "revision": 3, "context": "r.1:3",
                "fields": ["flavor": ["value": "strawberry", "revision": 3, "set": true]],
            ]))
        #expect(story.order.flavor == .strawberry)
        story.change(2, "flavor", "vanilla")
        #expect(story.order.flavor == .strawberry)
    }

    @Test("a value that is none of the type leaves the last one, and the state tells")
    func undecodable() {
        let story = Story()
        story.change(2, "flavor", "mint")
        #expect(story.order.flavor == .chocolate)
        #expect(story.order.$flavor.state?.value == "mint")
    }

    @Test("a gap in the log tells what differs and forgets tokens of the other log")
    func gap() async {
        var story = Story()
        let session = story.opened.value
        var events = session?.events.makeAsyncIterator()
        _ = story.order.flavor
        story.machine.received(.disconnected(retryAt: 5))
        story.machine.received(
            .snapshot(
                SubscribeResult(
                    form: "ice-cream", log: "M", revision: 9, context: "s.1:4", isResumed: false,
                    fields: [NamedField(id: "scoops", state: Story.field(5, 9))]),
                previous: []))
        story.order.flavor = .vanilla
        story.pump()
        #expect(story.written.first?.context == nil)
        var told: [String] = []
        for _ in 0..<3 {
            switch await events?.next() {
            case .disconnected: told.append("disconnected")
            case .reconnected: told.append("reconnected")
            case .changed(let change):
                told.append("\(change.revision) \(change[story.order.$scoops] ?? 0)")
            default: told.append("?")
            }
        }
        #expect(told == ["disconnected", "reconnected", "9 5"])
    }

    @Test("a reader that stopped costs a bounded queue: events that do not fit are merged")
    func folding() async throws {
        let story = Story()
        let session = try #require(story.opened.value)
        var changes = session.changes.makeAsyncIterator()
        for revision in 2...2_000 { story.change(Int64(revision), "scoops", .integer(revision)) }
        var seen: [FormChange] = []
        while seen.last?.revision != 2_000, let change = await changes.next() {
            seen.append(change)
        }
        #expect(seen.count == 1_024)
        #expect(seen.last?.coalescedFrom == 1_025)
        #expect(seen.last?.fields.map(\.state.value) == [2_000])
        for (one, next) in zip(seen, seen.dropFirst()) {
            #expect(next.coalescedFrom ?? next.revision == one.revision + 1)
        }
    }

    @Test("a machine that is stopped tells everybody who waits")
    func stopped() {
        var story = Story()
        story.order.flavor = .vanilla
        let lost = Mutex<Int>(0)
        story.machine.ask(.ping) { outcome in
            if case .lost = outcome { lost.withLock { $0 += 1 } }
        }
        story.pump()
        story.machine.ask(.ping) { outcome in
            if case .lost = outcome { lost.withLock { $0 += 1 } }
        }
        story.machine.stop(.closed)
        story.machine.ask(.ping) { outcome in
            if case .lost = outcome { lost.withLock { $0 += 1 } }
        }
        #expect(lost.withLock { $0 } == 3)
        #expect(story.order.flavor == .chocolate, "what was not answered shows no more")
    }

    @Test("a flush waits for what was asked before it, whatever is answered first")
    func flush() {
        var story = Story()
        let flushed = Mutex<[FormError?]>([])
        story.order.flavor = .vanilla
        story.machine.flush { error in flushed.withLock { $0.append(error) } }
        story.order.flavor = .strawberry
        story.pump()
        #expect(story.port.requests.map(\.method) == [.formApply, .stateSet, .ping, .stateSet])
        story.answer(2, .result([:]))
        #expect(flushed.withLock { $0.count } == 0, "the edit before it goes to the next daemon")
        story.answer(1, .result(Story.setResult))
        #expect(flushed.withLock { $0.count } == 1, "the edit behind it does not matter")
        #expect(flushed.withLock { $0.allSatisfy { $0 == nil } })
        #expect(!story.machine.isSettled)

        story.machine.flush { error in flushed.withLock { $0.append(error) } }
        story.pump()
        story.answer(4, .result([:]))
        story.machine.stop(.closed)
        #expect(flushed.withLock { $0.count } == 2)
        #expect(flushed.withLock { $0.last.map { $0 != nil } } == true)
    }
}

@Suite("The machine on other loops", .serialized)
struct AdapterTests {
    @Test(
        "on libuv: a pipe of the loop brings the bytes, and a program on Swift concurrency sees it")
    func libuv() async throws {
        let daemon = try Daemon()
        let client = FormClient(daemon.options("other"))
        defer { client.close() }
        let theirs = IceCream()
        _ = try await client.open(theirs)
        let socket = daemon.socket
        let seen = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Flavor, any Error>) in
            Thread.detachNewThread {
                continuation.resume(with: Result { try onLibuv(socket) })
            }
        }
        #expect(seen == .vanilla)
        try await eventually("what libuv wrote") { theirs.flavor == .vanilla && theirs.scoops == 3 }
    }

    /// Opens the form, writes to it and waits until that shows, all in one libuv loop.
    private func onLibuv(_ socket: String) throws -> Flavor {
        var configuration = ClientMachine.Configuration(client: "libuv", keyPrefix: "uv", seed: 3)
        configuration.reconnects = false
        return try Loop.withLoop { loop in
            let connection = try StreamSocket.connect(
                path: socket, deadline: MonotonicClock.now().adding(seconds: 10))
            let pipe = try Pipe(
                loop: loop, adopting: OwnedDescriptor(adopting: dup(connection.number)))
            let forms = FormMachine(wake: {})
            defer { forms.stop(.closed) }
            let order = IceCream()
            var wire = ClientMachine(configuration, at: MonotonicClock.now())
            var flavor: Flavor?
            func turn() {
                while let event = wire.takeEvent() { forms.received(event) }
                forms.pump(into: &wire)
                let output = wire.takeOutput()
                if !output.isEmpty { try? pipe.write(output) }
                if forms.isSettled, order.$flavor.state?.value == "vanilla", order.scoops == 3 {
                    flavor = order.flavor
                    pipe.close()
                }
            }
            wire.connectionOpened()
            forms.open(order) { result in
                guard case .success = result else { return }
                order.flavor = .vanilla
                order.$scoops.increment()
            }
            pipe.reader = Reading { bytes in
                wire.received(bytes, at: MonotonicClock.now())
                turn()
                turn()
            }
            try pipe.readStart()
            turn()
            loop.run()
            guard let flavor else { throw FormError.closed }
            return flavor
        }
    }

    @Test("on a plain descriptor: read, write and poll of the program's own")
    func descriptor() throws {
        let daemon = try Daemon()
        let connection = try StreamSocket.connect(
            path: daemon.socket, deadline: MonotonicClock.now().adding(seconds: 10))
        let forms = FormMachine(wake: {}, isDrivenByCaller: true)
        defer { forms.stop(.closed) }
        let order = IceCream()
        var wire = ClientMachine(
            ClientMachine.Configuration(client: "descriptor", keyPrefix: "fd", seed: 4),
            at: MonotonicClock.now())
        wire.connectionOpened()
        forms.open(order) { result in
            if case .success = result { order.flavor = .strawberry }
        }
        let deadline = Date().addingTimeInterval(30)
        while order.$flavor.state?.value != "strawberry", Date() < deadline {
            while let event = wire.takeEvent() { forms.received(event) }
            forms.pump(into: &wire)
            let output = wire.takeOutput()
            _ = output.withUnsafeBytes { write(connection.number, $0.baseAddress, $0.count) }
            var entry = pollfd(fd: connection.number, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 100)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(connection.number, &buffer, buffer.count)
            if count > 0 { wire.received(Array(buffer[..<count]), at: MonotonicClock.now()) }
        }
        #expect(order.flavor == .strawberry)
        #expect(try daemon.pickerctl("get", "flavor") == "strawberry\n")
    }
}

/// What comes, as bytes; how a connection ends is not of this story.
private final class Reading: PipeReader {
    private let read: ([UInt8]) -> Void

    init(_ read: @escaping ([UInt8]) -> Void) { self.read = read }

    func pipeRead(_ bytes: UnsafeRawBufferPointer) { read(Array(bytes)) }
    func pipeEnded() {}
    func pipeHeldBack() {}
    func pipeFailed(_ error: UVError) {}
}
