import Testing

@testable import SyncCore

/// The memory of idempotency keys.
@Suite struct KeyIndexTests {
    private let secret = KeyHash.Secret(first: 7, second: 8)

    @Test("a key's place in the filter is that of SipHash-1-3, and another under another secret")
    func keyed() {
        // The key 00 01 … 0f and the text 00 01 … of each length, as in Rust's core::hash::sip.
        let known = KeyHash.Secret(first: 0x0706_0504_0302_0100, second: 0x0f0e_0d0c_0b0a_0908)
        let expected: [UInt64] = [
            0xabac_0158_050f_c4dc, 0xc9f4_9bf3_7d57_ca93, 0x82cb_9b02_4dc7_d44d,
        ]
        for (length, value) in expected.enumerated() {
            var hash = KeyHash(known)
            for byte in 0..<UInt8(length) { hash.add(byte) }
            #expect(hash.finish() == value)
        }
        let bytes = (0..<UInt8(19)).map { $0 }
        var (whole, parts) = (KeyHash(known), KeyHash(known))
        bytes.withUnsafeBufferPointer { whole.add($0) }
        for byte in bytes { parts.add(byte) }
        #expect(whole.finish() == parts.finish())
        #expect(id("k").hash != KeyIndex.ID(uid: 1, key: "k", known).hash)
    }

    private func id(_ key: String) -> KeyIndex.ID { KeyIndex.ID(uid: 1, key: key, secret) }

    /// What an answer waits for.
    private let pending = KeyIndex.Pending(batch: 7, form: 1)

    @Test("answers kept for retries are bounded in bytes, and the newest is among them")
    func bytes() {
        let index = KeyIndex([], secret: secret)
        let result = [UInt8](repeating: 0x20, count: 1 << 20)
        for number in 0..<64 {
            let id = id("k\(number)")
            index.note(id, result: result, digest: 1, at: 0, pending: pending)
            index.committed([id])
        }
        #expect(index.recentBytes <= KeyIndex.recentBytesMax)
        guard case .answered = index.lookUp(id("k63")) else {
            Issue.record("the newest answer is gone")
            return
        }
        guard case .inStore = index.lookUp(id("k0")) else {
            Issue.record("the oldest answer is still in memory, or its key forgotten")
            return
        }
    }

    @Test("an answer whose batch is on its way stays, however much there is, and goes if it fails")
    func onItsWay() {
        let index = KeyIndex([], secret: secret)
        let ids = (0..<16).map { id("k\($0)") }
        for id in ids {
            index.note(
                id, result: [UInt8](repeating: 0, count: 1 << 20), digest: 1, at: 0,
                pending: pending)
        }
        for id in ids {
            guard case .answered = index.lookUp(id) else {
                Issue.record("\(id.key) is gone")
                return
            }
        }
        index.failed(ids.map { KeyRow(uid: 1, key: $0.key, at: 0, digest: 1, result: []) })
        #expect(index.usage(of: 1).keys == 0)
        #expect(index.recentBytes == 0)
        for id in ids {
            guard case .unused = index.lookUp(id) else {
                Issue.record("\(id.key) is still known")
                return
            }
        }
    }

    @Test("a million keys take a few bytes each, none is forgotten, few unused ones are looked up")
    func filter() {
        let index = KeyIndex([], secret: secret)
        let count = 1_000_000
        func id(_ number: Int) -> KeyIndex.ID { self.id("a key of some length \(number)") }
        for start in stride(from: 0, to: count, by: 1000) {
            let ids = (start..<start + 1000).map(id)
            for id in ids { index.note(id, result: [], digest: 1, at: 0, pending: pending) }
            index.committed(ids)
        }
        #expect(index.filterBytes < 5 << 20)
        #expect(index.usage(of: 1).keys == count)
        for number in stride(from: 0, to: count, by: 97) {
            if case .unused = index.lookUp(id(number)) { Issue.record("\(number) is forgotten") }
        }
        let vain = (count..<count + 10_000).count {
            if case .unused = index.lookUp(id($0)) { false } else { true }
        }
        #expect(vain < 500)
    }

    @Test("keys are kept for their time, through clocks that jump, and then given up")
    func expiry() {
        let hour: Int64 = 3_600_000
        let index = KeyIndex([KeyDigest(uid: 1, key: "old", at: 0)], secret: secret)
        func use(_ key: String, at: Int64) {
            let id = id(key)
            index.note(
                id, result: [UInt8](repeating: 0, count: 9 << 20), digest: 1, at: at,
                pending: pending)
            index.committed([id])
        }
        func isKnown(_ key: String) -> Bool {
            if case .unused = index.lookUp(id(key)) { false } else { true }
        }
        // Checked every ten minutes of two days; the clock is ten years ahead for an hour.
        var lastUse: [String: Int64] = [:]
        for step in 0..<288 as Range<Int64> {
            let ahead: Int64 = (100..<106).contains(step) ? 87_600 * hour : 0
            let now = step * hour / 6
            use("key-\(step)", at: now + ahead)
            lastUse["key-\(step)"] = now
            _ = index.expire(before: now + ahead - 24 * hour, now: now + ahead)
            for (key, at) in lastUse where now - at < 23 * hour {
                // Keys that look old to a clock far ahead are dropped, as they must be.
                #expect(isKnown(key) || (100..<251).contains(step), "\(key) at step \(step)")
            }
        }
        #expect(!isKnown("old"))
        #expect(index.usage(of: 1).keys < 160)
    }
}
