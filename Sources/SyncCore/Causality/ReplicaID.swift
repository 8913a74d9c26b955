// The name of one incarnation of one daemon's store.
//
// Always holds: two stores that can issue dots at the same time have different ids. A client never
// is a replica, so that a hundred thousand short-lived writers leave one entry.

/// One incarnation of a daemon's store: a random id made with the store, and an epoch.
///
/// A store that was restored or copied takes a new epoch, so that it never issues a dot twice.
/// Client-keyed clocks grow with every client instead (Preguiça et al., "Dotted Version Vectors:
/// Logical Clocks for Optimistic Replication", 2010, section 2).
public struct ReplicaID: Hashable, Sendable {
    /// 48 random bits, made by the shell together with the store.
    public let id: UInt64
    /// Which incarnation of that store this is.
    public let epoch: UInt32

    /// The greatest id: 48 bits, twelve hexadecimal digits.
    public static let idMax: UInt64 = (1 << 48) - 1

    /// The incarnation `epoch` of the store `id`; bits of `id` above the 48th are dropped.
    public init(id: UInt64, epoch: UInt32) {
        self.id = id & Self.idMax
        self.epoch = epoch
    }

    /// The incarnation that follows this one; `nil` after 2^32 of them.
    public var nextEpoch: ReplicaID? {
        epoch == .max ? nil : ReplicaID(id: id, epoch: epoch + 1)
    }
}

extension ReplicaID: Comparable {
    /// Order by id, then by epoch: arbitrary, and the same at every copy.
    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.id != right.id ? left.id < right.id : left.epoch < right.epoch
    }
}

extension ReplicaID: CustomStringConvertible {
    /// `3f9a.1`: the id in lower hexadecimal digits without leading zeros, a dot, the epoch.
    public var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends what `description` gives.
    func append(to text: inout [UInt8]) {
        text.append(hexadecimal: id)
        text.append(UInt8(ascii: "."))
        text.append(decimal: UInt64(epoch))
    }

    /// The replica that `text` names; `nil` unless `text` is exactly what `description` writes.
    public init?(_ text: String) {
        var scanner = TokenScanner(text.utf8)
        guard let replica = try? scanner.replica(), scanner.isAtEnd else { return nil }
        self = replica
    }
}
