/// What a row of the log has many of (notifications, records, states of fields), as differences
/// from the first one.
///
/// Those of one batch differ in a few digits. What a commit costs is mostly the bytes that it
/// writes, so each after the first has only what is its own. The base is always the first one, so
/// one is read without those between.
///
/// A difference is a list of steps: bytes that are the same, new bytes, and by how much the place
/// in the base moves beside them. The numbers are LEB128.

/// Packs bytes as their difference from other bytes, the base.
@safe
struct LogDelta {
    /// Fewer equal bytes than this are repeated. It is one word.
    private static let runBytes = 8
    /// By how many bytes the base may be off after new bytes: numbers grow by digits.
    private static let shifts = [0, 1, -1, 2, -2, 3, -3]

    /// How far the same place of the base is tried alone.
    private static let nearBytes = 32

    private let target: UnsafeBufferPointer<UInt8>
    private let base: UnsafeBufferPointer<UInt8>
    private let out: UnsafeMutableBufferPointer<UInt8>
    private var written = 0

    /// Writes the difference to `out`, which is as large as the bytes themselves. Returns its
    /// length; `nil` if it is not much shorter.
    static func pack(
        _ target: UnsafeBufferPointer<UInt8>, from base: UnsafeBufferPointer<UInt8>,
        into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        var packer = unsafe LogDelta(target: target, base: base, out: out)
        return packer.pack() ? packer.written : nil
    }

    /// The difference; `nil` if it is not much shorter than the bytes themselves.
    static func packed(_ target: [UInt8], from base: [UInt8]) -> [UInt8]? {
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: target.count) { out, count in
            count =
                unsafe target.withUnsafeBufferPointer { target in
                    unsafe base.withUnsafeBufferPointer { unsafe pack(target, from: $0, into: out) }
                } ?? 0
        }
        return packed.isEmpty ? nil : packed
    }

    private mutating func pack() -> Bool {
        let count = unsafe target.count
        var (place, from) = (0, 0)
        while place < count {
            let same = sameBytes(place, from)
            place += same
            from += same
            guard let (end, moved) = resumption(place, from) else { return false }
            // The three numbers of a step take fewer bytes than this.
            guard written + end - place + 24 <= count else { return false }
            put(UInt64(same))
            put(UInt64(end - place) << 1 | (moved == 0 ? 0 : 1))
            if moved != 0 { put(UInt64(bitPattern: Int64((moved << 1) ^ (moved >> 63)))) }
            for next in place..<end {
                unsafe out[written] = target[next]
                written += 1
            }
            from += end - place + moved
            place = end
        }
        return written > 0
    }

    private func sameBytes(_ place: Int, _ from: Int) -> Int {
        let most = unsafe min(target.count - place, base.count - from)
        guard most > 0 else { return 0 }
        var same = 0
        while same + Self.runBytes <= most {
            let differing = unsafe word(place + same) ^ Self.word(of: base, from + same)
            if differing != 0 { return same + differing.trailingZeroBitCount / 8 }
            same += Self.runBytes
        }
        while same < most, unsafe target[place + same] == base[from + same] { same += 1 }
        return same
    }

    /// Where equal bytes begin again, and by how much the place in the base is off there; `nil` if
    /// that is too far.
    private func resumption(_ place: Int, _ from: Int) -> (end: Int, moved: Int)? {
        let (count, baseCount) = unsafe (target.count, base.count)
        let furthest = min(count, place + count / 2 - written)
        let atEnd = baseCount - count + place - from
        // Nearly always digits have changed, and not their number.
        let last = min(count, baseCount + place - from) - Self.runBytes
        var end = place
        while end <= min(place + Self.nearBytes, furthest, last) {
            if unsafe word(end) == Self.word(of: base, from + end - place) { return (end, 0) }
            end += 1
        }
        if atEnd == 0, count - place < 2 * Self.runBytes, count <= furthest { return (count, 0) }
        end = place
        while end < count {
            if end > furthest { return nil }
            if let moved = shift(end, from + end - place, atEnd) { return (end, moved) }
            end += 1
        }
        return (count, 0)
    }

    /// By how much the base is off, if equal bytes begin here.
    ///
    /// - Parameter end: by how much it is off if the rest is equal.
    private func shift(_ place: Int, _ from: Int, _ end: Int) -> Int? {
        guard unsafe place + Self.runBytes <= target.count else { return nil }
        let wanted = word(place)
        for shift in Self.shifts where baseWord(from + shift) == wanted { return shift }
        return baseWord(from + end) == wanted ? end : nil
    }

    @inline(__always)
    private func word(_ place: Int) -> UInt64 { unsafe Self.word(of: target, place) }

    @inline(__always)
    private static func word(of bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> UInt64 {
        unsafe UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }

    /// `nil` beyond the ends.
    @inline(__always)
    private func baseWord(_ place: Int) -> UInt64? {
        guard unsafe place >= 0 && place + Self.runBytes <= base.count else { return nil }
        return unsafe Self.word(of: base, place)
    }

    private mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            unsafe out[written] = UInt8(truncatingIfNeeded: rest) | 0x80
            written += 1
            rest >>= 7
        }
        unsafe out[written] = UInt8(rest)
        written += 1
    }

    // MARK: Unpacking

    /// The array that was packed; `nil` if the difference is damaged.
    static func unpacked(_ packed: [UInt8], from base: [UInt8], count: Int) -> [UInt8]? {
        unsafe packed.withUnsafeBytes { packed in
            unsafe base.withUnsafeBytes { unsafe unpacked(packed, from: $0, count: count) }
        }
    }

    /// The bytes that were packed; `nil` if the difference is damaged.
    static func unpacked(
        _ packed: UnsafeRawBufferPointer, from base: UnsafeRawBufferPointer, count: Int
    ) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(min(count, base.count + packed.count))
        var (place, from) = (0, 0)
        func number() -> Int? {
            var value = 0
            for shift in stride(from: 0, through: 35, by: 7) {
                guard place < packed.count else { return nil }
                let next = unsafe packed[place]
                place += 1
                value |= Int(next & 0x7f) << shift
                if next < 0x80 { return value }
            }
            return nil
        }
        while out.count < count {
            guard let same = number(), let step = number() else { return nil }
            let new = step >> 1
            var moved = 0
            if step & 1 == 1 {
                guard let zigzag = number() else { return nil }
                moved = (zigzag >> 1) ^ -(zigzag & 1)
            }
            guard same + new <= count - out.count, from >= 0,
                same <= base.count - from, new <= packed.count - place
            else { return nil }
            unsafe out.append(contentsOf: base[from..<from + same])
            unsafe out.append(contentsOf: packed[place..<place + new])
            place += new
            from += same + new + moved
        }
        return place == packed.count ? out : nil
    }
}
