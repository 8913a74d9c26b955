import EngineTestKit
import SyncCore
import Testing

/// Incomplete frames.
@Suite struct HalfFrameTests {
    /// 60 bytes of a frame of 100.
    private let half: [UInt8] = [0, 0, 0, 100] + [UInt8](repeating: 0x20, count: 60)

    @Test("half frames of one user are bounded together, and nobody else pays for them")
    func bounded() throws {
        var limits = Limits()
        limits.unfinishedBytesPerUserMax = 200
        let host = try EngineHost(limits: limits)
        let holders = (0..<4).map { _ in host.connect(uid: 7, user: "mallory") }
        for holder in holders { host.sendBytes(holder, half) }
        host.settle()
        #expect(host.closed == [holders[3]])
        let last = host.take(holders[3])
        #expect(last.first?.contains(#""limit":"unfinishedBytesPerUserMax""#) == true)
        #expect(last.last?.contains(#""reason":"policy""#) == true)

        let bystander = host.connect(uid: 8)
        host.sendBytes(bystander, half)
        host.settle()
        #expect(!host.closed.contains(bystander))

        // A frame that is complete, or whose connection has ended, is no longer charged.
        host.sendBytes(holders[0], [UInt8](repeating: 0x20, count: 40))
        host.disconnect(holders[1])
        let again = (0..<2).map { _ in host.connect(uid: 7, user: "mallory") }
        for holder in again { host.sendBytes(holder, half) }
        host.settle()
        #expect(host.closed.allSatisfy { !again.contains($0) })
    }
}
