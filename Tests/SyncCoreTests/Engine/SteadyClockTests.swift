import Testing

@testable import SyncCore

@Suite("The clock of what is kept by age")
struct SteadyClockTests {
    private func moment(wall: Int64, boot: Int64, of start: UInt64 = 0) -> Moment {
        Moment(
            wallMilliseconds: wall, monotonicNanoseconds: 0, bootMilliseconds: boot, boot: start)
    }

    @Test(
        "it follows corrections of seconds, goes on through leaps, and through a suspended machine")
    func leaps() {
        var clock = SteadyClock(at: moment(wall: 1_000_000, boot: 0), kept: [])
        clock.advance(to: moment(wall: 1_009_000, boot: 1_000))
        #expect(clock.milliseconds == 1_009_000)
        // A night with the lid closed.
        clock.advance(to: moment(wall: 30_009_000, boot: 29_001_000))
        #expect(clock.milliseconds == 30_009_000)
        clock.advance(to: moment(wall: 90_000_010_000, boot: 29_002_000))
        #expect(clock.milliseconds == 30_010_000)
        clock.advance(to: moment(wall: 11_000, boot: 29_003_000))
        #expect(clock.milliseconds == 30_011_000)
    }

    @Test("only its difference from the wall clock outlives the run")
    func kept() {
        let stamp = HybridTimestamp(milliseconds: 7_000_000, logical: 3)
        var clock = SteadyClock(at: moment(wall: 1_000_000, boot: 0), kept: [])
        #expect(clock.kept(with: stamp) == stamp.encoded)
        clock.advance(to: moment(wall: 5_000_000, boot: 1_000))
        let kept = clock.kept(with: stamp)
        #expect(SteadyClock.stamp(in: kept) == stamp)
        let next = SteadyClock(at: moment(wall: 5_060_000, boot: 0), kept: kept)
        #expect(next.milliseconds == 1_061_000)
    }

    @Test("a leap that no batch has seen is noticed after a restart, unless the machine restarted")
    func leapsBeforeARestart() {
        let stamp = HybridTimestamp(milliseconds: 7_000_000, logical: 3)
        let clock = SteadyClock(at: moment(wall: 1_000_000, boot: 500, of: 7), kept: [])
        let kept = clock.kept(with: stamp)
        #expect(SteadyClock.stamp(in: kept) == stamp)
        let leapt = moment(wall: 90_000_000, boot: 60_500, of: 7)
        let next = SteadyClock(at: leapt, kept: kept)
        #expect(next.milliseconds == 1_060_000)
        #expect(SteadyClock(at: leapt, kept: next.kept(with: stamp)).milliseconds == 1_060_000)
        // A correction of seconds is followed.
        let corrected = moment(wall: 1_065_000, boot: 60_500, of: 7)
        #expect(SteadyClock(at: corrected, kept: kept).milliseconds == 1_065_000)
        // Of another start of the machine, only the wall clock is known.
        for other in [
            moment(wall: 90_000_000, boot: 60_500, of: 8), moment(wall: 90_000_000, boot: 60_500),
            moment(wall: 90_000_000, boot: 400, of: 7),
        ] {
            #expect(SteadyClock(at: other, kept: kept).milliseconds == 90_000_000)
        }
    }

    @Test("what had been reached is not gone back behind, whatever the bytes say")
    func hostile() {
        let now = moment(wall: 1_000, boot: 0)
        #expect(SteadyClock(at: now, kept: [], notBefore: 9_000).milliseconds == 9_000)
        for bytes in [[], [0xFF], [UInt8](repeating: 0xFF, count: 40)] as [[UInt8]] {
            #expect(SteadyClock(at: now, kept: bytes).milliseconds == 1_000)
        }
        let far =
            HybridTimestamp(milliseconds: 1).encoded + [0x7F] + [UInt8](repeating: 0xFF, count: 7)
        #expect(SteadyClock(at: now, kept: far).milliseconds == 1_000)
    }
}
