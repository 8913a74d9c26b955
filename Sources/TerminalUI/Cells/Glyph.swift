// The contents of a cell, as UTF-8.
//
// Invariants: two glyphs are equal if their bytes are equal. Canonically equivalent clusters are
// the same `Character`, but terminals may draw them differently, and comparing characters is slow
// for thousands of cells. A glyph is one number, so frames are copied and compared like plain
// memory.

internal import Synchronization

/// A grapheme cluster in UTF-8.
struct Glyph: Hashable, Sendable {
    // Eight bytes at most, the first the lowest, the rest zero; or, if the lowest is `kept`,
    // which no UTF-8 has, the number of a longer cluster above it.
    private var packed: UInt64

    private static let kept: UInt64 = 0xFF
    private static let longer = Mutex(LongerClusters())

    static let space = Glyph(ascii: 0x20)

    /// A character of ASCII.
    init(ascii byte: UInt8) { packed = UInt64(byte) }

    init(_ cluster: Character) {
        let bytes = cluster.utf8
        if bytes.count > 8,
            let number = Self.longer.withLock({ $0.number(of: Array(bytes)) })
        {
            packed = UInt64(number) << 8 | Self.kept
        } else {
            packed = Self.packed(cluster)
        }
    }

    /// The first scalars of a cluster, as far as eight bytes hold them.
    static func packed(_ cluster: Character) -> UInt64 {
        var packed: UInt64 = 0
        var place: UInt64 = 0
        for scalar in cluster.unicodeScalars {
            let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            guard place + UInt64(bytes.count) <= 8 else { break }
            for byte in bytes {
                packed |= UInt64(byte) << (place * 8)
                place += 1
            }
        }
        return packed
    }

    /// Zero where both are the same.
    func difference(from other: Glyph) -> UInt64 { packed ^ other.packed }

    /// The character of ASCII that it is.
    var ascii: UInt8? { packed < 0x80 ? UInt8(packed) : nil }

    /// The bytes that draw it.
    var bytes: [UInt8] {
        if packed & 0xFF == Self.kept {
            let number = Int(packed >> 8)
            return Self.longer.withLock { $0.clusters[number] }
        }
        var bytes: [UInt8] = []
        var left = packed
        while left != 0 {
            bytes.append(UInt8(truncatingIfNeeded: left))
            left >>= 8
        }
        return bytes
    }

    var cluster: Character {
        if let ascii { return Character(Unicode.Scalar(ascii)) }
        return String(decoding: bytes, as: UTF8.self).first ?? " "
    }
}

/// Clusters of more than eight bytes, by number; each is kept once, as long as the process runs.
struct LongerClusters {
    private(set) var clusters: [[UInt8]] = []
    private var numbers: [[UInt8]: Int] = [:]
    private let max: Int

    /// At most `max`, because other users' texts can contain any clusters. There are fewer than
    /// 4,000 emoji sequences. Beyond the maximum, a cluster is drawn as its first scalars.
    init(max: Int = 1 << 16) { self.max = max }

    mutating func number(of bytes: [UInt8]) -> Int? {
        if let number = numbers[bytes] { return number }
        guard clusters.count < max else { return nil }
        clusters.append(bytes)
        numbers[bytes] = clusters.count - 1
        return clusters.count - 1
    }
}
