import SeededRandom
import SyncCore
import Testing

@testable import Store

@Suite("Differences of notifications")
struct LogDeltaTests {
    @Test("bytes with a few other digits take few bytes, also where a number has grown")
    func short() throws {
        func text(_ revision: Int, _ value: Int, _ at: Int) -> [UInt8] {
            Array(
                """
                {"method":"state.changed","params":{"revision":\(revision),"changes":{"f-0":\
                {"value":"\(value)","at":"2026-11-26T10:20:\(at)Z","by":{"user":"alice","uid":\
                1000,"client":"pickerctl","connection":77}}}}}
                """.utf8)
        }
        let base = text(99, 1, 31)
        for other in [text(100, 2, 31), text(7, 123_456, 59), text(99, 1, 31)] {
            let difference = try #require(LogDelta.packed(other, from: base))
            #expect(difference.count <= 40)
            #expect(LogDelta.unpacked(difference, from: base, count: other.count) == other)
        }
    }

    @Test("what was packed is unpacked, and nothing traps on other bytes; DELTA_SEED replays")
    func random() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "DELTA_SEED"))
        func bytes(_ most: Int) -> [UInt8] {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in
                UInt8.random(in: 0...random.pick(weighted: [(1, 1), (255, 3)]), using: &random)
            }
        }
        for _ in 0..<20_000 {
            let base = bytes(200)
            var target = base
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let start = Int.random(in: 0...target.count, using: &random)
                let end = Int.random(in: start...min(target.count, start + 6), using: &random)
                target.replaceSubrange(start..<end, with: bytes(6))
            }
            guard let difference = LogDelta.packed(target, from: base) else { continue }
            #expect(difference.count < target.count)
            #expect(LogDelta.unpacked(difference, from: base, count: target.count) == target)
            var damaged = difference
            for _ in 0..<3 {
                damaged[Int.random(in: damaged.indices, using: &random)] ^= UInt8(
                    1 << Int.random(in: 0...7, using: &random))
            }
            let found = LogDelta.unpacked(damaged, from: base, count: target.count)
            #expect(found?.count ?? target.count == target.count)
            damaged = difference.dropLast()
            #expect(LogDelta.unpacked(damaged, from: base, count: target.count) == nil)
        }
    }
}
