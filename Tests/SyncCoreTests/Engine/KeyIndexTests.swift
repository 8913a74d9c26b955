import Testing

@testable import SyncCore

/// What idempotency keys cost in memory.
@Suite struct KeyIndexTests {
    @Test("answers kept for retries are bounded in bytes, and the newest is among them")
    func bytes() {
        var index = KeyIndex([])
        let result = [UInt8](repeating: 0x20, count: 1 << 20)
        for number in 0..<64 {
            let id = KeyIndex.ID(uid: 1, key: "k\(number)")
            index.note(id, result: result, digest: 1, at: 0, batch: UInt64(number))
            index.committed([id])
        }
        #expect(index.recentBytes <= KeyIndex.recentBytesMax)
        guard case .answered = index.lookUp(KeyIndex.ID(uid: 1, key: "k63")) else {
            Issue.record("the newest answer is gone")
            return
        }
        guard case .inStore = index.lookUp(KeyIndex.ID(uid: 1, key: "k0")) else {
            Issue.record("the oldest answer is still in memory, or its key forgotten")
            return
        }
    }

    @Test("an answer whose batch is on its way stays, however much there is, and goes if it fails")
    func pending() {
        var index = KeyIndex([])
        let ids = (0..<16).map { KeyIndex.ID(uid: 1, key: "k\($0)") }
        for id in ids {
            index.note(
                id, result: [UInt8](repeating: 0, count: 1 << 20), digest: 1, at: 0, batch: 7)
        }
        for id in ids {
            guard case .answered = index.lookUp(id) else {
                Issue.record("\(id.key) is gone")
                return
            }
        }
        index.failed(ids)
        #expect(index.recentBytes == 0)
        for id in ids {
            guard case .unused = index.lookUp(id) else {
                Issue.record("\(id.key) is still known")
                return
            }
        }
    }
}
