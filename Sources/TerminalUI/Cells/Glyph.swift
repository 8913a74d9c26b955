// What a cell shows, as the bytes that draw it.
//
// Always holds: two are equal where the same bytes draw them. Clusters that are canonically
// equivalent are the same `Character`, but not to every terminal; and to compare them as such takes
// longer than all else of a frame, which is some thousands of cells.

/// A grapheme cluster in UTF-8.
enum Glyph: Hashable, Sendable {
    /// Eight bytes at most, the first the lowest, the rest zero.
    case short(UInt64)
    /// More than eight.
    case long([UInt8])

    static let space = Glyph(ascii: 0x20)

    /// A character of ASCII.
    init(ascii byte: UInt8) { self = .short(UInt64(byte)) }

    init(_ cluster: Character) {
        let bytes = cluster.utf8
        guard bytes.count <= 8 else {
            self = .long(Array(bytes))
            return
        }
        var packed: UInt64 = 0
        for byte in bytes.reversed() { packed = packed << 8 | UInt64(byte) }
        self = .short(packed)
    }

    /// The character of ASCII that it is.
    var ascii: UInt8? {
        if case .short(let packed) = self, packed < 0x80 { return UInt8(packed) }
        return nil
    }

    /// The bytes that draw it.
    var bytes: [UInt8] {
        switch self {
        case .long(let bytes): return bytes
        case .short(var packed):
            var bytes: [UInt8] = []
            while packed != 0 {
                bytes.append(UInt8(truncatingIfNeeded: packed))
                packed >>= 8
            }
            return bytes
        }
    }

    var cluster: Character {
        if let ascii { return Character(Unicode.Scalar(ascii)) }
        return String(decoding: bytes, as: UTF8.self).first ?? " "
    }
}
