import Testing

@testable import SyncCore

// The machines of buttons with `runs`, with time as a parameter.

private let replica = ReplicaID(id: 0x3f9a, epoch: 1)
private let alice = Author(user: "alice", uid: 1000, connection: 1, replica: replica)
private let ops = Author(user: "ops", uid: 2000, connection: 2, replica: replica)

private func run(_ number: UInt64, at time: Int64 = 0) -> Run {
    Run(
        press: Dot(replica, number), by: alice, at: time, pressedAt: time, message: nil,
        values: Array("{}".utf8), since: time)
}

private func ticket(_ number: UInt64) -> RunTicket {
    RunTicket(form: 1, first: number, second: 0)
}

@Suite struct RunBoardTests {
    @Test("each mode says what a second press does")
    func modes() throws {
        var board = RunBoard()
        #expect(board.add(run(1), RunRules(.one)).isEmpty)
        func admit(_ mode: RunRules.Mode, isOwn: Bool = true) throws {
            try board.admit(RunRules(mode), queueMax: 2) { _ in isOwn }
        }
        #expect(throws: RunBoard.Refusal.self) { try admit(.one) }
        try admit(.queue)
        #expect(board.add(run(2), RunRules(.queue)).isEmpty)
        #expect(throws: RunBoard.Refusal.self) { try admit(.queue) }
        try admit(.queue, isOwn: false)
        try admit(.latest)
        let dropped = board.add(run(3), RunRules(.latest))
        #expect(dropped.map(\.press.counter) == [1, 2])
        #expect(dropped.allSatisfy { $0.state == .dropped && $0.values.isEmpty })
        #expect(board.waiting.map(\.press.counter) == [3])
    }

    @Test("a press has one outcome")
    func oneOutcome() {
        var board = RunBoard()
        _ = board.add(run(1), RunRules(.queue))
        let press = Dot(replica, 1)
        let begun = board.assign(press, to: ops, ticket(7), at: 5, steady: 6)
        #expect(begun?.state == .running && begun?.ticket == ticket(7) && begun?.beganAt == 6)
        #expect(board.assign(press, to: ops, ticket(8), at: 5, steady: 6) == nil)
        let ended = board.end(press, as: .done, at: 9, in: 4, text: "ok", status: 0)
        #expect(ended?.state == .done && ended?.text == "ok" && ended?.ticket == ticket(7))
        #expect(board.end(press, as: .failed, at: 10, in: 5) == nil)
        #expect(board.runAgain(press, at: 10) == nil)
        #expect(!board.isActive && board.last?.state == .done)
    }

    @Test("a run that is lost waits again in front of later presses")
    func again() {
        var board = RunBoard()
        for number in 1...3 {
            _ = board.add(run(UInt64(number), at: Int64(number)), RunRules(.queue))
        }
        _ = board.assign(Dot(replica, 1), to: ops, ticket(1), at: 5, steady: 5)
        _ = board.assign(Dot(replica, 2), to: ops, ticket(2), at: 6, steady: 6)
        let again = board.runAgain(Dot(replica, 2), at: 9)
        #expect(again?.isAgain == true && again?.handler == nil && again?.ticket == nil)
        #expect(board.waiting.map(\.press.counter) == [2, 3])
    }

    @Test("a run is the same after it was stored")
    func stored() throws {
        var board = RunBoard()
        _ = board.add(run(1, at: 77), RunRules(.queue))
        _ = board.assign(Dot(replica, 1), to: ops, ticket(3), at: 80, steady: 81)
        let running = RunRow(field: "start", run: try #require(board.running.first))
        let end = board.end(
            Dot(replica, 1), as: .failed, at: 90, in: 3, text: "no disk", status: -1)
        let ended = RunRow(field: "start", run: try #require(end))
        for row in [running, ended] {
            let read = try RunRow(decoding: row.encoded)
            #expect(read.field == "start" && read.encoded == row.encoded)
            #expect(read.run.wire == row.run.wire && read.run.ticket == row.run.ticket)
        }
        #expect(RunTicket(ticket(3).text) == ticket(3))
        #expect(RunTicket("1-2") == nil && RunTicket("1-x-2") == nil)
    }
}

@Suite struct RunDeskTests {
    private var desk = RunDesk(reclaimMilliseconds: 30_000)
    private var board = RunBoard()
    private var rules = RunRules(.queue)
    private let first = ConnectionID(1)
    private let second = ConnectionID(2)

    private mutating func next(at now: Int64, may: Bool = true) -> RunDesk.Step? {
        desk.next(
            [RunDesk.Button(index: 4, id: "start", rules: rules, board: board)], at: now
        ) { _, _ in may }.first
    }

    private mutating func press(_ number: UInt64, at time: Int64) {
        _ = board.add(run(number, at: time), rules)
    }

    private mutating func begin(_ number: UInt64, _ id: ConnectionID, at now: Int64) {
        let press = Dot(replica, number)
        _ = board.assign(press, to: ops, ticket(number), at: now, steady: now)
        desk.hold(press, id)
    }

    private mutating func end(_ number: UInt64) {
        _ = board.end(Dot(replica, number), as: .done, at: 0, in: 1)
        desk.release(Dot(replica, number))
    }

    @Test("the handler that has waited longest gets the earliest press, one at a time")
    mutating func fair() {
        desk.handle(first, nil)
        desk.handle(second, GlobSet(["st*"]))
        for number in 1...3 { press(UInt64(number), at: Int64(number)) }
        #expect(next(at: 10) == .assign(Dot(replica, 1), of: 4, to: first))
        begin(1, first, at: 10)
        #expect(next(at: 10) == .assign(Dot(replica, 2), of: 4, to: second))
        begin(2, second, at: 10)
        #expect(next(at: 11) == nil)
        end(2)
        end(1)
        #expect(next(at: 12) == .assign(Dot(replica, 3), of: 4, to: second))
    }

    @Test("without a handler a press waits as long as the form says, and not at all by default")
    mutating func unhandled() {
        press(1, at: 0)
        #expect(next(at: 0) == .end(Dot(replica, 1), of: 4, as: .unhandled))
        end(1)
        rules.waitsForMilliseconds = 10_000
        press(2, at: 5)
        #expect(next(at: 5) == nil && desk.deadline == 10_005)
        desk.handle(first, GlobSet(["other"]))
        #expect(next(at: 10_004) == nil)
        #expect(next(at: 10_005, may: false) == .end(Dot(replica, 2), of: 4, as: .unhandled))
    }

    @Test("a form that changes how long presses wait changes it for those that wait already")
    mutating func waitsForChanges() {
        rules.waitsForMilliseconds = 10_000
        press(1, at: 0)
        #expect(next(at: 0) == nil && desk.deadline == 10_000)
        rules.waitsForMilliseconds = 60_000
        #expect(next(at: 10_000) == nil && desk.deadline == 60_000)
        rules.waitsForMilliseconds = 0
        #expect(next(at: 10_001) == .end(Dot(replica, 1), of: 4, as: .unhandled))
    }

    @Test("a press that a handler could have taken waits for it to come back")
    mutating func handlerLeaves() {
        desk.handle(first, nil)
        press(1, at: 0)
        begin(1, first, at: 0)
        press(2, at: 1)
        #expect(next(at: 1) == nil && desk.deadline == nil)
        desk.leave(first, at: 100)
        #expect(next(at: 100) == nil && desk.deadline == 30_100)
        #expect(next(at: 30_100) == .end(Dot(replica, 1), of: 4, as: .lost))
        end(1)
        #expect(next(at: 30_100) == .end(Dot(replica, 2), of: 4, as: .unhandled))
    }

    @Test("a ticket that comes back in time keeps the run")
    mutating func reclaim() {
        desk.handle(first, nil)
        press(1, at: 0)
        begin(1, first, at: 0)
        desk.leave(first, at: 100)
        #expect(next(at: 30_099) == nil)
        desk.hold(Dot(replica, 1), second)
        #expect(next(at: 90_000) == nil && desk.deadline == nil)
    }

    @Test("again: a lost run waits again; a timeout ends it in any case")
    mutating func againAndTimeout() {
        rules.whenLost = .again
        rules.timeoutMilliseconds = 60_000
        desk.handle(first, nil)
        press(1, at: 0)
        begin(1, first, at: 0)
        #expect(next(at: 1) == nil && desk.deadline == 60_000)
        desk.leave(first, at: 1_000)
        #expect(next(at: 31_000) == .runAgain(Dot(replica, 1), of: 4))
        _ = board.runAgain(Dot(replica, 1), at: 31_000)
        desk.release(Dot(replica, 1), waitsAgain: true)
        #expect(next(at: 31_000) == nil && desk.deadline == 61_000)
        begin(1, second, at: 40_000)
        #expect(next(at: 100_000) == .end(Dot(replica, 1), of: 4, as: .timedOut))
    }

    @Test("after a start, runs and presses that wait have the time of a handler that was lost")
    mutating func restored() {
        press(1, at: 0)
        press(2, at: 0)
        _ = board.assign(Dot(replica, 1), to: ops, ticket(1), at: 0, steady: 0)
        desk = RunDesk(reclaimMilliseconds: 30_000, restored: board.active)
        #expect(next(at: 500) == nil && desk.deadline == 30_500)
        #expect(next(at: 30_500) == .end(Dot(replica, 1), of: 4, as: .lost))
    }
}

@Suite struct ProgressBoardTests {
    private func told(_ board: ProgressBoard, _ cursor: inout UInt64) -> [String] {
        var output = Output()
        board.read(from: &cursor, filter: nil, into: &output)
        return output.segments.map { segment in
            let bytes = Array(
                UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count))
            let json = try? JSON(parsing: Array(bytes.dropFirst(Frame.headerBytes)))
            return json?["params"]?["text"]?.stringValue ?? ""
        }
    }

    private func progress(_ text: String) -> ButtonProgressed {
        ButtonProgressed(form: "f", field: "b", press: "", text: text)
    }

    @Test("ten a second, the newest of each run, and to a late subscriber too")
    func coalesced() {
        var board = ProgressBoard()
        var cursor: UInt64 = 0
        board.note(Dot(replica, 1), field: 0, progress("1"))
        #expect(board.tell(at: 1_000) && told(board, &cursor) == ["1"])
        for step in 2...9 { board.note(Dot(replica, 1), field: 0, progress("\(step)")) }
        board.note(Dot(replica, 2), field: 0, progress("x"))
        #expect(!board.tell(at: 1_050) && board.deadline == 1_100)
        #expect(told(board, &cursor) == [])
        #expect(board.tell(at: 1_100) && told(board, &cursor) == ["9", "x"])
        #expect(board.deadline == nil)
        var late: UInt64 = 0
        board.remove(Dot(replica, 1))
        #expect(told(board, &late) == ["x"])
        #expect(told(board, &cursor) == [])
    }
}
