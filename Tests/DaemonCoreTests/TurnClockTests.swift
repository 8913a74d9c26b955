import SyncCore
import Testing

@testable import DaemonCore

@Suite("How long a turn of the loop takes")
struct TurnClockTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test("processor time is that of the turn, whatever the machine does meanwhile")
    func busyMachine() {
        var clock = TurnClock()
        _ = clock.turn(from: 0, to: 5 * Self.millisecond, processor: 5 * Self.millisecond)
        let turn = clock.turn(
            from: 9 * Self.millisecond, to: 89 * Self.millisecond, processor: 12 * Self.millisecond)
        #expect(turn.nanoseconds == 80 * Self.millisecond)
        #expect(turn.processorNanoseconds == 7 * Self.millisecond)
        let costly = clock.turn(
            from: 90 * Self.millisecond, to: 150 * Self.millisecond,
            processor: 72 * Self.millisecond)
        #expect(costly.processorNanoseconds == 60 * Self.millisecond)
    }

    @Test("short turns are measured without a call of the kernel, and never longer than they were")
    func shortTurns() {
        var clock = TurnClock()
        var calls = 0
        var last: UInt64 = 0
        for number in UInt64(0)..<10_000 {
            let start = number * 10_000
            func processor() -> UInt64 {
                calls += 1
                return start
            }
            let turn = clock.turn(from: start, to: start + 5_000, processor: processor())
            #expect(turn.processorNanoseconds <= turn.nanoseconds)
            last = start
        }
        #expect(UInt64(calls) <= last / TurnClock.readNanoseconds + 1)
    }

    @Test("both maxima are kept, each by itself, and what the costliest turn was made of")
    func figures() {
        let figures = Figures()
        let preempted = Turn(nanoseconds: 80_000_000, processorNanoseconds: 7_000_000)
        #expect(figures.note(TurnReport(turn: preempted)))
        var costly = TurnReport(
            turn: Turn(nanoseconds: 40_000_000, processorNanoseconds: 39_000_000),
            longestRequest: LongestRequest(method: .formApply, nanoseconds: 28_000_000))
        costly.parts.begin(at: 1_000_000)
        costly.parts.mark(.received, at: 33_000_000)
        costly.parts.mark(.writes, at: 41_000_000)
        #expect(!figures.note(costly))
        #expect(!figures.note(TurnReport(turn: Turn(nanoseconds: 5, processorNanoseconds: 5))))
        let turn = figures.members()["loop"]?["costliestTurn"]
        #expect(turn?["parts"] == ["received": 32_000, "writes": 8_000])
        #expect(turn?["longestRequest"] == ["us": 28_000, "method": "form.apply"])
        #expect(
            costly.line
                == "a turn of the event loop took 40.0 ms, of that 39.0 ms of the processor: "
                + "received 32.0 ms, writes 8.0 ms; longest request form.apply 28.0 ms")
        let loop = figures.members()["loop"]
        #expect(loop?["longestTurnUs"] == 80_000)
        #expect(loop?["longestTurnCpuUs"] == 39_000)
        #expect(loop?["longTurns"] == 1)
    }
}
