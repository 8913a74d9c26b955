/// Which idempotency keys are known, and what was answered under them (PROTOCOL.md, Methods).
///
/// A retry that follows its request closely finds the answer in memory; an older one is known by a
/// hash and fetched from the store. Bounds: `recentMax` answers of `recentBytesMax` bytes together
/// in memory, one hash a key for as long as the store keeps it. Two keys of one hash cost one vain
/// look into the store, no more.
struct KeyIndex {
    /// A key belongs to the uid that used it.
    struct ID: Hashable {
        let uid: UInt32
        let key: String

        static func == (left: ID, right: ID) -> Bool {
            left.uid == right.uid && left.key.isSameBytes(as: right.key)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(uid)
            for byte in key.utf8 { hasher.combine(byte) }
        }

        /// FNV-1a, 64 bits: the same in every run, as the store's keys outlive this one.
        var digest: UInt64 {
            var digest = Digest()
            digest.add(uid.littleEndian)
            for byte in key.utf8 { digest.add(byte) }
            return digest.value
        }
    }

    /// What is known of a key.
    enum Knowledge {
        /// Nobody has used it.
        case unused
        /// It was answered with this; `batch` is the one that makes it durable, until it has.
        case answered(result: [UInt8], digest: UInt64, batch: UInt64?)
        /// The store may have it.
        case inStore
    }

    private struct Recent {
        var result: [UInt8]
        var digest: UInt64
        var batch: UInt64?
    }

    private static let recentMax = 4096
    /// An answer may be as long as a frame: without this bound, 4096 of them would be gigabytes.
    static let recentBytesMax = 8 << 20

    private var recent: [ID: Recent] = [:]
    /// Bytes of the answers in `recent`.
    private(set) var recentBytes = 0
    /// Keys of `recent`, oldest first.
    private var recentOrder: [ID] = []
    private var recentHead = 0
    /// Hashes of all keys that have not expired, and when they do.
    private var hashes: Set<UInt64> = []
    private var expiry: [(at: Int64, id: ID, bytes: Int)] = []
    private var expiryHead = 0
    private var usage: [UInt32: Usage] = [:]

    /// What a uid takes of the store.
    struct Usage: Equatable {
        var keys = 0
        /// Bytes of the answers kept, and of what is stored beside them.
        var bytes = 0
    }

    /// Bytes of a stored key beside its answer; of one whose answer's length is not known any more,
    /// with a usual answer.
    private static let rowBytes = 128
    private static let usualBytes = 512

    /// The index of the keys that a store holds.
    init(_ stored: [KeyDigest]) {
        for key in stored.sorted(by: { $0.at < $1.at }) {
            note(ID(uid: key.uid, key: key.key), at: key.at, bytes: Self.usualBytes)
        }
    }

    /// What the keys of a uid take.
    func usage(of uid: UInt32) -> Usage { usage[uid] ?? Usage() }

    /// What is known of a key.
    func lookUp(_ id: ID) -> Knowledge {
        if let entry = recent[id] {
            return .answered(result: entry.result, digest: entry.digest, batch: entry.batch)
        }
        return hashes.contains(id.digest) ? .inStore : .unused
    }

    /// Notes the answer given under a key, durable once `batch` is; `nil` where it is already.
    mutating func note(_ id: ID, result: [UInt8], digest: UInt64, at: Int64, batch: UInt64?) {
        forgetAnswer(id)
        recent[id] = Recent(result: result, digest: digest, batch: batch)
        recentBytes += result.count
        recentOrder.append(id)
        if batch != nil { note(id, at: at, bytes: Self.rowBytes + result.count) }
        trim()
    }

    /// Leaves the oldest answers to the store, as far as the bounds ask for it.
    private mutating func trim() {
        // One whose batch is on its way stays: the store does not know it yet.
        while recentOrder.count - recentHead > Self.recentMax || recentBytes > Self.recentBytesMax,
            recentHead < recentOrder.count, recent[recentOrder[recentHead]]?.batch == nil
        {
            forgetAnswer(recentOrder[recentHead])
            recentHead += 1
        }
        if recentHead > Self.recentMax {
            recentOrder.removeFirst(recentHead)
            recentHead = 0
        }
    }

    /// Keys of a batch are durable.
    mutating func committed(_ ids: [ID]) {
        for id in ids { recent[id]?.batch = nil }
        trim()
    }

    /// Keys of a batch that was not made durable are unused again.
    mutating func failed(_ ids: [ID]) {
        guard !ids.isEmpty else { return }
        let gone = Set(ids)
        for id in gone { forgetAnswer(id) }
        expiry.removeFirst(expiryHead)
        expiryHead = 0
        for (_, id, bytes) in expiry where gone.contains(id) { forget(id, bytes) }
        expiry.removeAll { gone.contains($0.id) }
    }

    /// The keys that have not expired, for a store that is written anew.
    var digests: [KeyDigest] {
        expiry[expiryHead...].map { KeyDigest(uid: $0.id.uid, key: $0.id.key, at: $0.at) }
    }

    /// Forgets keys used before that moment; whether there were any.
    mutating func expire(before: Int64) -> Bool {
        let start = expiryHead
        while expiryHead < expiry.count, expiry[expiryHead].at < before {
            forget(expiry[expiryHead].id, expiry[expiryHead].bytes)
            expiryHead += 1
        }
        let expired = expiryHead > start
        if expiryHead > 1024, expiryHead > expiry.count / 2 {
            expiry.removeFirst(expiryHead)
            expiryHead = 0
        }
        return expired
    }

    private mutating func forgetAnswer(_ id: ID) {
        guard let answer = recent.removeValue(forKey: id) else { return }
        recentBytes -= answer.result.count
    }

    private mutating func note(_ id: ID, at: Int64, bytes: Int) {
        guard hashes.insert(id.digest).inserted else { return }
        expiry.append((at, id, bytes))
        usage[id.uid, default: Usage()].keys += 1
        usage[id.uid, default: Usage()].bytes += bytes
    }

    private mutating func forget(_ id: ID, _ bytes: Int) {
        hashes.remove(id.digest)
        usage[id.uid]?.keys -= 1
        usage[id.uid]?.bytes -= bytes
        if usage[id.uid]?.keys == 0 { usage[id.uid] = nil }
    }
}

/// FNV-1a over 64 bits (draft-eastlake-fnv-21, section 2): not against an adversary, who could only
/// confuse keys of their own.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    mutating func add(_ number: UInt32) {
        for shift: UInt32 in [0, 8, 16, 24] { add(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
