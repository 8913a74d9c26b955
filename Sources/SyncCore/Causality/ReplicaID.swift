// The identity of a daemon's store.
//
// Invariant: two stores that can issue dots at the same time have different ids. Clients are not
// replicas, so a hundred thousand short-lived clients need only one entry.

/// One incarnation of a daemon's store: a random id that was created with the store, and an epoch.
///
/// A restored or copied store gets a new epoch, so a dot is never issued twice. A clock with one
/// entry per client would grow with every client instead (Preguiça et al., "Dotted Version Vectors:
/// Logical Clocks for Optimistic Replication", 2010, section 2).
public struct ReplicaID: Hashable, Sendable {
    /// 48 random bits, created with the store.
    public let id: UInt64
    /// The incarnation of that store.
    public let epoch: UInt32

    /// The greatest id: 48 bits, twelve hexadecimal digits.
    public static let idMax: UInt64 = (1 << 48) - 1

    /// The incarnation `epoch` of the store `id`; bits of `id` above the 48th are dropped.
    public init(id: UInt64, epoch: UInt32) {
        self.id = id & Self.idMax
        self.epoch = epoch
    }

    /// The next incarnation; `nil` after 2^32 of them.
    public var nextEpoch: ReplicaID? {
        epoch == .max ? nil : ReplicaID(id: id, epoch: epoch + 1)
    }
}

extension ReplicaID: Comparable {
    /// Order by id, then by epoch: arbitrary, but the same in all copies.
    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.id != right.id ? left.id < right.id : left.epoch < right.epoch
    }
}

extension ReplicaID: CustomStringConvertible {
    /// `3f9a.1`: the id in lower hexadecimal digits without leading zeros, a dot, the epoch.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.bytesMax) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            var text = TextPlace(start)
            write(to: &text)
            return text.place - start
        }
    }

    /// The most bytes of `description`.
    static let bytesMax = 16 + 1 + 10

    func write(to text: inout TextPlace) {
        text.put(hexadecimal: id)
        text.put(UInt8(ascii: "."))
        text.put(decimal: UInt64(epoch))
    }

    /// The replica with this text; `nil` unless `text` is exactly what `description` writes.
    public init?(_ text: String) {
        var scanner = TokenScanner(text.utf8)
        guard let replica = try? scanner.replica(), scanner.isAtEnd else { return nil }
        self = replica
    }
}
