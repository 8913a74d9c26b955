// Calls that wait end: by their answer, at their deadline, or when their task is cancelled; and an
// open form ends with its sessions.

import Foundation
import PickerSync
import SyncCore
import Synchronization
import Testing

/// The fate that an error tells.
private func fate(_ error: FormError?) -> RequestFate? {
    switch error {
    case .timedOut(let fate), .cancelled(let fate): fate
    default: nil
    }
}

private let moment = Duration.milliseconds(50)

@Suite("Calls that wait", .serialized)
struct WaitingTests {
    private let programs: Programs
    private var daemon: Daemon { programs.daemon }

    init() throws { programs = try Programs() }

    @Test("a silent daemon: an edit that was sent has an unknown outcome, which its key settles")
    func silent() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        daemon.signal(SIGSTOP)
        let error = await #expect(throws: FormError.self) {
            try await order.$scoops.increment(timeout: moment)
        }
        guard case .timedOut(.unknown(let request?)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(request.idempotencyKey != nil)
        #expect(order.scoops == 2)
        daemon.signal(SIGCONT)
        _ = try await client.settle(request)
        try await eventually("done") { order.scoops == 3 }
        _ = try await client.settle(request)
        #expect(try await session.history().entries.count == 2, "the apply and one increment")
    }

    @Test("a silent daemon: a flush names what has no answer, and it is done later all the same")
    func silentFlush() async throws {
        let (client, order, _) = try await programs.open(IceCream())
        daemon.signal(SIGSTOP)
        order.flavor = .vanilla
        let error = await #expect(throws: FormError.self) {
            try await client.flush(timeout: moment)
        }
        guard case .timedOut(.pending(edits: 1)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        daemon.signal(SIGCONT)
        try await client.flush()
        #expect(try daemon.pickerctl("get", "flavor") == "vanilla\n")
    }

    @Test("a daemon that is gone: an edit that was not sent never is")
    func gone() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        var events = session.events.makeAsyncIterator()
        try daemon.stop()
        guard case .disconnected? = await events.next() else {
            Issue.record("not told that the daemon is gone")
            return
        }
        order.flavor = .vanilla
        let error = await #expect(throws: FormError.self) {
            try await order.$flavor.set(.strawberry, timeout: moment)
        }
        guard case .timedOut(.notSent) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(order.flavor == .vanilla, "what was assigned before it is still on its way")
        try daemon.start()
        try await client.flush()
        #expect(try daemon.pickerctl("get", "flavor") == "vanilla\n")
    }

    @Test("opening, flushing, setting and asking end when their task is cancelled")
    func cancelled() async throws {
        let (client, order, _) = try await programs.open(IceCream())
        daemon.signal(SIGSTOP)
        // Without an edit that waits a flush would have nothing to wait for.
        order.flavor = .vanilla
        let calls: [@Sendable () async throws -> Void] = [
            { try await order.$scoops.set(5) },
            { try await client.flush() },
            { _ = try await client.open(Income()) },
            { _ = try await client.ask(.formList) },
        ]
        let tasks = calls.map { call in Task { try await call() } }
        // None of them can end by itself, whenever the cancellation comes.
        for task in tasks { task.cancel() }
        for task in tasks {
            let result = await task.result
            guard case .failure(let error as FormError) = result, case .cancelled = error else {
                Issue.record("\(result)")
                return
            }
        }
        daemon.signal(SIGCONT)
        try await client.flush()
        _ = try await client.open(Income())
    }

    @Test("a task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        let (_, order, session) = try await programs.open(IceCream())
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await order.$scoops.set(5)
        }
        task.cancel()
        guard case .failure(let error as FormError) = await task.result,
            case .cancelled(.notSent) = error
        else {
            Issue.record("it was sent")
            return
        }
        #expect(try await session.history().entries.count == 1)
    }

    @Test("a shutdown waits so long for a silent daemon and no longer; then every use throws")
    func shutdown() async throws {
        let (client, order, session) = try await programs.open(IceCream())
        daemon.signal(SIGSTOP)
        order.flavor = .vanilla
        let error = await #expect(throws: FormError.self) {
            try await client.shutdown(flushingFor: moment)
        }
        guard case .pending(edits: 1) = fate(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        await #expect(throws: FormError.self) { try await client.flush() }
        await #expect(throws: FormError.self) { try await order.$scoops.increment() }
        await #expect(throws: FormError.self) { try await session.history() }
        await #expect(throws: FormError.self) { try await session.transaction {} }
        daemon.signal(SIGCONT)
    }

    @Test("the face for scripts ends at its deadline as well")
    func blocking() throws {
        let client = BlockingFormClient(daemon.options("script"))
        let order = IceCream()
        _ = try client.open(order)
        daemon.signal(SIGSTOP)
        order.flavor = .vanilla
        let error = #expect(throws: FormError.self) { try client.flush(timeout: moment) }
        guard case .pending(edits: 1) = fate(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        daemon.signal(SIGCONT)
        try client.flush()
        #expect(try daemon.pickerctl("get", "flavor") == "vanilla\n")
    }

    // MARK: Sessions

    @Test("a form that is opened twice ends with its second session")
    func counted() async throws {
        let client = programs.client()
        let one = IceCream()
        let two = IceCream()
        let first = try await client.open(one)
        let second = try await client.open(two)
        #expect(first !== second)
        var changes = first.changes.makeAsyncIterator()
        second.close()
        second.close()
        try await one.$flavor.set(.vanilla)
        #expect(await changes.next()?[one.$flavor] == .vanilla)
        #expect(first.isOnline && !second.isOnline)
        let error = await #expect(throws: FormError.self) { try await two.$flavor.set(.strawberry) }
        guard case .closed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(two.flavor == .chocolate, "what it showed when it was closed")
        two.flavor = .strawberry
        try await client.flush()
        #expect(one.flavor == .vanilla)
        first.close()
        let third = try await client.open(IceCream())
        #expect(third.isOnline)
    }

    @Test("a session holds its client, and after the last one the client ends")
    func lifetime() async throws {
        let order = IceCream()
        var session: FormSession? = try await FormClient(daemon.options()).open(order)
        try await order.$scoops.set(5)
        #expect(session?.isOnline == true)
        session = nil
        try await eventually("the client ended with the session") {
            do {
                _ = try daemon.pickerctl("set", "scoops=4")
            } catch { return false }
            return order.$scoops.state?.value == 5
        }
        await #expect(throws: FormError.self) { try await order.$scoops.set(3) }
    }

    @Test("before a form is open its properties are variables: an edit changes them or throws")
    func unopened() async throws {
        let order = IceCream()
        written {
            order.$scoops.increment(by: 2)
            order.$cone.toggle()
            order.$flavor.next()
        }
        #expect(order.scoops == 4 && !order.cone && order.flavor == .chocolate)
        let error = await #expect(throws: FormError.self) { try await order.$scoops.increment() }
        guard case .notOpen? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        _ = try await programs.client().open(order)
        #expect(order.scoops == 4 && !order.cone, "what was set before is the default")
    }

    @Test("what is dropped after a close is told to the log")
    func dropped() async throws {
        let lines = Mutex<[String]>([])
        let client = FormClient(daemon.options()) { level, message, facts in
            lines.withLock { $0.append("\(level) \(message) \(facts["field"] ?? "")") }
        }
        let order = IceCream()
        let session = try await client.open(order)
        session.close()
        order.flavor = .vanilla
        #expect(
            lines.withLock { $0 }.contains {
                $0.hasPrefix("warning an edit was dropped") && $0.hasSuffix("flavor")
            })
        client.close()
    }

    @Test("the state of the connection is a sequence")
    func connection() async throws {
        let (client, _, _) = try await programs.open(IceCream())
        var states = client.connectionStates.makeAsyncIterator()
        var told: [String] = []
        func take() async {
            switch await states.next() {
            case .connecting: told.append("connecting")
            case .connected(let daemon): told.append("connected \(daemon.you.uid)")
            case .disconnected: told.append("disconnected")
            case .closed: told.append("closed")
            case nil: told.append("end")
            }
        }
        await take()
        try daemon.stop()
        await take()
        try daemon.start()
        await take()
        client.close()
        await take()
        await take()
        let here = "connected \(getuid())"
        #expect(told == [here, "disconnected", here, "closed", "end"])
    }

    @Test("a transaction that throws sends nothing, and one that returns gives what it returned")
    func transactions() async throws {
        struct Enough: Error {}
        let (_, order, session) = try await programs.open(IceCream())
        await #expect(throws: Enough.self) {
            try await session.transaction {
                order.flavor = .vanilla
                throw Enough()
            }
        }
        #expect(order.flavor == .chocolate, "nothing shows of it")
        let before = try await session.transaction {
            order.$scoops.increment()
            return order.scoops
        }
        #expect(before == 2)
        #expect(try await session.history().entries.count == 2, "the apply and one increment")
    }
}
