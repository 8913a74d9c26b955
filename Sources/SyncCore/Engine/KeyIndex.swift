/// Which idempotency keys are known, and what was answered under them (PROTOCOL.md, All methods).
///
/// A retry that follows its request closely finds the answer in memory; an older one is found by a
/// filter to be perhaps in the store, and fetched from there. Bounds: `recentMax` answers of
/// `recentBytesMax` bytes together in memory, and two filters of a bounded size: one that takes
/// keys in, one of the keys before, given up when all of them have expired.
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

        /// Its place in the filters.
        func digest(_ secret: KeyHash.Secret) -> UInt64 {
            var hash = KeyHash(secret)
            hash.add(uid)
            for byte in key.utf8 { hash.add(byte) }
            return hash.finish()
        }
    }

    /// What is known of a key.
    enum Knowledge {
        /// Nobody has used it.
        case unused
        /// It was answered with this; `pending` says what makes it durable, until it has.
        case answered(result: [UInt8], digest: UInt64, pending: Pending?)
        /// The store may have it.
        case inStore
    }

    /// An answer that is not durable yet: the batch that makes it so, and the form it is about.
    struct Pending {
        let batch: UInt64
        let form: FormKey
    }

    private struct Recent {
        var result: [UInt8]
        var digest: UInt64
        var pending: Pending?
    }

    private static let recentMax = 4096
    /// An answer may be as long as a frame: without this bound, 4096 of them would be gigabytes.
    static let recentBytesMax = 8 << 20

    private let secret: KeyHash.Secret
    private let accountUID: @Sendable (UInt32) -> UInt32
    private var recent: [ID: Recent] = [:]
    /// Bytes of the answers in `recent`.
    private(set) var recentBytes = 0
    /// Keys of `recent`, oldest first.
    private var recentOrder: [ID] = []
    private var recentHead = 0
    /// The keys used since `currentSince` (milliseconds), and those before.
    private var current = KeyFilter()
    private var previous = KeyFilter()
    private var currentSince: Int64 = .min
    /// What the keys of each uid take, and by the hour of their use, which are forgotten as whole
    /// hours.
    private var usage: [UInt32: Usage] = [:]
    private var hours: [Int64: [UInt32: Usage]] = [:]
    private static let hourMilliseconds: Int64 = 3_600_000

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
    ///
    /// - Parameter secret: random, made for this run.
    /// - Parameter accountUID: whose use of keys that of a uid is counted to.
    init(
        _ stored: [KeyDigest], secret: KeyHash.Secret,
        accountUID: @escaping @Sendable (UInt32) -> UInt32 = { $0 }
    ) {
        self.secret = secret
        self.accountUID = accountUID
        for key in stored {
            let id = ID(uid: key.uid, key: key.key)
            current.insert(id.digest(secret))
            count(id.uid, Usage(keys: 1, bytes: Self.usualBytes), at: key.at)
        }
    }

    /// What the keys of a uid take.
    func usage(of uid: UInt32) -> Usage { usage[accountUID(uid)] ?? Usage() }

    /// Bytes of what is known of keys that are not in memory themselves.
    var filterBytes: Int { current.bytes + previous.bytes }

    /// What is known of a key.
    func lookUp(_ id: ID) -> Knowledge {
        if let entry = recent[id] {
            return .answered(result: entry.result, digest: entry.digest, pending: entry.pending)
        }
        let digest = id.digest(secret)
        return current.contains(digest) || previous.contains(digest) ? .inStore : .unused
    }

    /// Notes the answer given under a key; `pending` is `nil` where it is durable already.
    mutating func note(_ id: ID, result: [UInt8], digest: UInt64, at: Int64, pending: Pending?) {
        forgetAnswer(id)
        recent[id] = Recent(result: result, digest: digest, pending: pending)
        recentBytes += result.count
        recentOrder.append(id)
        if pending != nil {
            count(id.uid, Usage(keys: 1, bytes: Self.rowBytes + result.count), at: at)
        }
        trim()
    }

    /// Leaves the oldest answers to the store, as far as the bounds ask for it.
    private mutating func trim() {
        // One whose batch is on its way stays: the store does not know it yet.
        while recentOrder.count - recentHead > Self.recentMax || recentBytes > Self.recentBytesMax,
            recentHead < recentOrder.count, recent[recentOrder[recentHead]]?.pending == nil
        {
            forgetAnswer(recentOrder[recentHead])
            recentHead += 1
        }
        if recentHead > Self.recentMax {
            recentOrder.removeFirst(recentHead)
            recentHead = 0
        }
    }

    /// Keys of a batch are durable: from now on the store has them.
    mutating func committed(_ ids: [ID]) {
        for id in ids {
            recent[id]?.pending = nil
            current.insert(id.digest(secret))
        }
        trim()
    }

    /// Keys of a batch that was not made durable are unused again.
    mutating func failed(_ keys: [KeyRow]) {
        for key in keys {
            forgetAnswer(ID(uid: key.uid, key: key.key))
            let usage = Usage(keys: 1, bytes: Self.rowBytes + key.result.count)
            discount(key.uid, usage, at: key.at)
        }
    }

    /// Forgets keys used before that moment; whether there were any. `now` is when that is asked.
    mutating func expire(before: Int64, now: Int64) -> Bool {
        if before >= currentSince {
            // All that is in `previous` is older than `currentSince`.
            previous = current
            current = KeyFilter()
            currentSince = now
        }
        let over = hours.keys.filter { ($0 + 1) * Self.hourMilliseconds <= before }
        for hour in over.sorted() {
            let uids = hours.removeValue(forKey: hour) ?? [:]
            for (uid, number) in uids.sorted(by: { $0.key < $1.key }) { lower(uid, number) }
        }
        return !over.isEmpty
    }

    private mutating func forgetAnswer(_ id: ID) {
        guard let answer = recent.removeValue(forKey: id) else { return }
        recentBytes -= answer.result.count
    }

    private mutating func count(_ uid: UInt32, _ more: Usage, at: Int64) {
        let uid = accountUID(uid)
        let hour = at / Self.hourMilliseconds
        let before = hours[hour]?[uid] ?? Usage()
        hours[hour, default: [:]][uid] = Usage(
            keys: before.keys + more.keys, bytes: before.bytes + more.bytes)
        usage[uid, default: Usage()].keys += more.keys
        usage[uid, default: Usage()].bytes += more.bytes
    }

    private mutating func discount(_ uid: UInt32, _ less: Usage, at: Int64) {
        let uid = accountUID(uid)
        let hour = at / Self.hourMilliseconds
        guard var known = hours[hour]?[uid] else { return }
        known.keys -= less.keys
        known.bytes -= less.bytes
        hours[hour]?[uid] = known.keys > 0 ? known : nil
        lower(uid, less)
    }

    private mutating func lower(_ uid: UInt32, _ less: Usage) {
        usage[uid]?.keys -= less.keys
        usage[uid]?.bytes -= less.bytes
        if usage[uid]?.keys ?? 0 <= 0 { usage[uid] = nil }
    }
}
