/// Finds duplicate names in an object, with limited work.
///
/// Names are compared after their escapes are resolved (`"a"` is `"\u0061"`). A small object is
/// compared pair by pair without an allocation. A large one is sorted, so that a hostile object
/// with a hundred thousand names costs n log n comparisons.
struct JSONKeys {
    let base: UnsafePointer<UInt8>
    let entries: UnsafePointer<JSONTape.Entry>

    /// The most members that are compared pair by pair.
    private static let pairsMax = 16

    /// The entry of the first duplicate name; `nil` if there is none.
    func firstRepeated(in object: Int) -> Int? {
        Int(entries[object].count) <= Self.pairsMax
            ? firstRepeatedByPairs(in: object) : firstRepeatedBySorting(in: object)
    }

    private func firstRepeatedByPairs(in object: Int) -> Int? {
        let end = Int(entries[object].next)
        var name = Int(entries[object + 2].next)
        while name < end {
            var earlier = object + 1
            while earlier < name {
                if areSame(earlier, name) { return name }
                earlier = Int(entries[earlier + 1].next)
            }
            name = Int(entries[name + 1].next)
        }
        return nil
    }

    private func firstRepeatedBySorting(in object: Int) -> Int? {
        var names: [Int] = []
        names.reserveCapacity(Int(entries[object].count))
        let end = Int(entries[object].next)
        var name = object + 1
        while name < end {
            names.append(name)
            name = Int(entries[name + 1].next)
        }
        names.sort { left, right in
            let order = compare(left, right)
            return order == 0 ? left < right : order < 0
        }
        var first: Int?
        for index in names.indices.dropFirst() where areSame(names[index - 1], names[index]) {
            first = min(first ?? names[index], names[index])
        }
        return first
    }

    @inline(__always)
    private func areSame(_ left: Int, _ right: Int) -> Bool {
        let (one, other) = (entries[left], entries[right])
        if one.isComplex || other.isComplex { return compare(left, right) == 0 }
        guard one.end - one.start == other.end - other.start else { return false }
        return areSameBytes(
            base + Int(one.start), base + Int(other.start), count: Int(one.end - one.start))
    }

    /// Negative, zero or positive. Any total order works, but it must be the same for escaped and
    /// unescaped names, so bytes decide and not lengths.
    private func compare(_ left: Int, _ right: Int) -> Int {
        var one = UnescapedBytes(base: base, entry: entries[left])
        var other = UnescapedBytes(base: base, entry: entries[right])
        while true {
            switch (one.next(), other.next()) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let left?, let right?):
                if left != right { return Int(left) - Int(right) }
            }
        }
    }
}

/// Whether two byte sequences are equal, eight bytes at a time.
@inline(__always)
func areSameBytes(
    _ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int
) -> Bool {
    let (one, other) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
    // The last word overlaps the one before it, so that there are no single bytes.
    if count >= 8 {
        let end = count &- 8
        var offset = 0
        while offset < end {
            guard isSameWord(one, other, at: offset, as: UInt64.self) else { return false }
            offset &+= 8
        }
        return isSameWord(one, other, at: end, as: UInt64.self)
    }
    if count >= 4 {
        return isSameWord(one, other, at: 0, as: UInt32.self)
            && isSameWord(one, other, at: count &- 4, as: UInt32.self)
    }
    for offset in 0..<count where left[offset] != right[offset] { return false }
    return true
}

@inline(__always)
private func isSameWord<Word: FixedWidthInteger & BitwiseCopyable>(
    _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, at offset: Int, as: Word.Type
) -> Bool {
    one.loadUnaligned(fromByteOffset: offset, as: Word.self)
        == other.loadUnaligned(fromByteOffset: offset, as: Word.self)
}

/// The bytes of a scanned string, one at a time, with escapes resolved.
///
/// The scanner has checked the string, so all escapes are valid.
struct UnescapedBytes: IteratorProtocol {
    private let base: UnsafePointer<UInt8>
    private var position: Int
    private let end: Int
    /// Bytes of a resolved escape that were not returned yet, the next one lowest.
    private var pending: UInt32 = 0

    init(base: UnsafePointer<UInt8>, entry: JSONTape.Entry) {
        self.base = base
        position = Int(entry.start)
        end = Int(entry.end)
    }

    mutating func next() -> UInt8? {
        if pending != 0 {
            defer { pending >>= 8 }
            return UInt8(truncatingIfNeeded: pending)
        }
        guard position < end else { return nil }
        let byte = base[position]
        position += 1
        guard byte == UInt8(ascii: "\\") else { return byte }
        return escaped()
    }

    private mutating func escaped() -> UInt8 {
        let byte = base[position]
        position += 1
        switch byte {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): return scalar()
        default: return byte
        }
    }

    /// Returns the first byte of the scalar with the four digits here; the others become pending.
    /// They are never zero, so 0 means that nothing is pending.
    private mutating func scalar() -> UInt8 {
        var value = unit()
        if value & 0xFC00 == 0xD800 {
            position += 2
            value = 0x1_0000 + (value & 0x3FF) << 10 + (unit() & 0x3FF)
        }
        switch value {
        case ..<0x80:
            return UInt8(value)
        case ..<0x800:
            pending = 0x80 | value & 0x3F
            return UInt8(0xC0 | value >> 6)
        case ..<0x1_0000:
            pending = 0x80 | value >> 6 & 0x3F | (0x80 | value & 0x3F) << 8
            return UInt8(0xE0 | value >> 12)
        default:
            pending =
                0x80 | value >> 12 & 0x3F | (0x80 | value >> 6 & 0x3F) << 8
                | (0x80 | value & 0x3F) << 16
            return UInt8(0xF0 | value >> 18)
        }
    }

    private mutating func unit() -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            value = value << 4 | (hexadecimalDigit(base[position]) ?? 0)
            position += 1
        }
        return value
    }
}
