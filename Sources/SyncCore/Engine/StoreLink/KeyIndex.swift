/// The known idempotency keys and their answers (PROTOCOL.md, All methods).
///
/// A retry soon after its request finds the answer in memory. For an older one, a filter says
/// whether the store may have the answer. Limits: in memory, `recentMax` answers of at most
/// `recentBytesMax` bytes together; and two filters of limited size, one for new keys and one for
/// the keys before, which is dropped when all its keys have expired.
///
/// A class, because each look-up would copy all its parts. Confined to the loop.
final class KeyIndex {
    /// A key belongs to the uid that used it.
    struct ID: Hashable {
        let uid: UInt32
        let key: String
        /// Made once from both: an edit looks for its key several times.
        let hash: UInt64

        init(uid: UInt32, key: String, _ secret: KeyHash.Secret) {
            self.uid = uid
            self.key = key
            var (hash, text) = (KeyHash(secret), key)
            hash.add(UInt64(uid))
            text.withUTF8 { hash.add($0) }
            self.hash = hash.finish()
        }

        static func == (left: ID, right: ID) -> Bool {
            left.hash == right.hash && left.uid == right.uid
                && left.key.isSameBytes(as: right.key)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    enum Knowledge {
        case unused
        /// The answer. `pending` is its batch, until that is durable.
        case answered(result: [UInt8], digest: UInt64, pending: Pending?)
        case inStore
    }

    /// An answer that is not durable yet: its batch, and the form that it is about.
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
    /// An answer may be as long as a frame. Without this limit, 4096 of them would be gigabytes.
    static let recentBytesMax = 8 << 20

    private let secret: KeyHash.Secret
    private let accountUID: @Sendable (UInt32) -> UInt32
    private var recent: [ID: Recent] = [:]
    private(set) var recentBytes = 0
    /// Keys of `recent`, oldest first.
    private var recentOrder = Queue<ID>()
    /// The keys used since `currentSince` (milliseconds), and those before.
    private var current = KeyFilter()
    private var previous = KeyFilter()
    private var currentSince: Int64 = .min
    /// The use of each uid, in total and by the hour of use. Keys are dropped by whole hours.
    private var usage: [UInt32: Usage] = [:]
    private var hours: [Int64: [UInt32: Usage]] = [:]
    private static let hourMilliseconds: Int64 = 3_600_000

    /// What the keys of a uid take in the store.
    struct Usage: Equatable {
        var keys = 0
        /// Bytes of the stored answers and their rows.
        var bytes = 0

        static func += (left: inout Usage, right: Usage) {
            left.keys += right.keys
            left.bytes += right.bytes
        }

        static func -= (left: inout Usage, right: Usage) {
            left.keys -= right.keys
            left.bytes -= right.bytes
        }
    }

    /// The estimated bytes of a stored key beside its answer. If the length of the answer is
    /// unknown, this includes a typical answer.
    private static let rowBytes = 128
    private static let usualBytes = 512

    /// An index of the keys in a store.
    ///
    /// - Parameter secret: random, created for this run.
    /// - Parameter accountUID: the uid whose account a uid is charged to.
    init(
        _ stored: [KeyDigest], secret: KeyHash.Secret,
        accountUID: @escaping @Sendable (UInt32) -> UInt32 = { $0 }
    ) {
        self.secret = secret
        self.accountUID = accountUID
        for key in stored {
            current.insert(id(key.uid, key.key).hash)
            count(key.uid, Usage(keys: 1, bytes: Self.usualBytes), at: key.at)
        }
    }

    func id(_ uid: UInt32, _ key: String) -> ID { ID(uid: uid, key: key, secret) }

    func usage(of uid: UInt32) -> Usage { usage[accountUID(uid)] ?? Usage() }

    var filterBytes: Int { current.bytes + previous.bytes }

    func lookUp(_ id: ID) -> Knowledge {
        if let entry = recent[id] {
            return .answered(result: entry.result, digest: entry.digest, pending: entry.pending)
        }
        return current.contains(id.hash) || previous.contains(id.hash) ? .inStore : .unused
    }

    /// Records the answer under a key; `pending` is `nil` if it is already durable.
    func note(_ id: ID, result: [UInt8], digest: UInt64, at: Int64, pending: Pending?) {
        let answer = Recent(result: result, digest: digest, pending: pending)
        let former = recent.updateValue(answer, forKey: id)
        recentBytes += result.count - (former?.result.count ?? 0)
        recentOrder.append(id)
        if pending != nil {
            count(id.uid, Usage(keys: 1, bytes: Self.rowBytes + result.count), at: at)
        }
        trim()
    }

    /// Drops the oldest answers that are in the store until the limits are met.
    private func trim() {
        // An answer whose batch is pending stays, because the store does not have it yet.
        while recentOrder.count > Self.recentMax || recentBytes > Self.recentBytesMax,
            let oldest = recentOrder.first, recent[oldest]?.pending == nil
        {
            forgetAnswer(oldest)
            recentOrder.takeFirst()
        }
    }

    /// Keys of a batch are durable: the store has them from now on.
    func committed(_ ids: [ID]) {
        for id in ids {
            recent[id]?.pending = nil
            current.insert(id.hash)
        }
        trim()
    }

    /// Keys of a failed batch are unused again.
    func failed(_ keys: [KeyRow]) {
        for key in keys {
            forgetAnswer(id(key.uid, key.key))
            let usage = Usage(keys: 1, bytes: Self.rowBytes + key.result.count)
            discount(key.uid, usage, at: key.at)
        }
    }

    /// Drops keys used before that time; returns whether there were any. `now` is the current time.
    func expire(before: Int64, now: Int64) -> Bool {
        if before >= currentSince {
            // All keys in `previous` are older than `currentSince`.
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

    private func forgetAnswer(_ id: ID) {
        guard let answer = recent.removeValue(forKey: id) else { return }
        recentBytes -= answer.result.count
    }

    private func count(_ uid: UInt32, _ more: Usage, at: Int64) {
        let uid = accountUID(uid)
        hours[at / Self.hourMilliseconds, default: [:]][uid, default: Usage()] += more
        usage[uid, default: Usage()] += more
    }

    private func discount(_ uid: UInt32, _ less: Usage, at: Int64) {
        let uid = accountUID(uid)
        let hour = at / Self.hourMilliseconds
        guard var known = hours[hour]?[uid] else { return }
        known -= less
        hours[hour]?[uid] = known.keys > 0 ? known : nil
        lower(uid, less)
    }

    private func lower(_ uid: UInt32, _ less: Usage) {
        usage[uid]? -= less
        if usage[uid]?.keys ?? 0 <= 0 { usage[uid] = nil }
    }
}
