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

    private let target: UnsafeBufferPointer<UInt8>
    private let base: UnsafeBufferPointer<UInt8>

    /// The difference; `nil` if it is not much shorter than the bytes themselves.
    static func packed(
        _ target: UnsafeBufferPointer<UInt8>, from base: UnsafeBufferPointer<UInt8>
    ) -> [UInt8]? {
        unsafe LogDelta(target: target, base: base).packed()
    }

    static func packed(_ target: [UInt8], from base: [UInt8]) -> [UInt8]? {
        unsafe target.withUnsafeBufferPointer { target in
            unsafe base.withUnsafeBufferPointer { unsafe packed(target, from: $0) }
        }
    }

    private func packed() -> [UInt8]? {
        let (count, baseCount) = unsafe (target.count, base.count)
        var out: [UInt8] = []
        var (place, from) = (0, 0)
        while place < count {
            let same = sameBytes(place, from)
            place += same
            from += same
            var end = place
            var shift: Int?
            while end < count {
                shift = resumed(end, from + end - place, baseCount - count + place - from)
                if shift != nil { break }
                end += 1
                if out.count + end - place > count / 2 { return nil }
            }
            Self.append(UInt64(same), to: &out)
            let moved = shift ?? 0
            Self.append(UInt64(end - place) << 1 | (moved == 0 ? 0 : 1), to: &out)
            if moved != 0 {
                Self.append(UInt64(bitPattern: Int64((moved << 1) ^ (moved >> 63))), to: &out)
            }
            unsafe out.append(contentsOf: target[place..<end])
            from += end - place + moved
            place = end
        }
        return out.count < count ? out : nil
    }

    private func sameBytes(_ place: Int, _ from: Int) -> Int {
        let most = unsafe min(target.count - place, base.count - from)
        guard most > 0 else { return 0 }
        var same = 0
        while same + Self.runBytes <= most, word(place + same) == baseWord(from + same) {
            same += Self.runBytes
        }
        while same < most, unsafe target[place + same] == base[from + same] { same += 1 }
        return same
    }

    /// By how much the base is off, if equal bytes begin here.
    ///
    /// - Parameter end: by how much it is off if the rest is equal.
    private func resumed(_ place: Int, _ from: Int, _ end: Int) -> Int? {
        guard unsafe place + Self.runBytes <= target.count else { return nil }
        let wanted = word(place)
        for shift in Self.shifts where baseWord(from + shift) == wanted { return shift }
        return baseWord(from + end) == wanted ? end : nil
    }

    private func word(_ place: Int) -> UInt64 {
        unsafe UnsafeRawBufferPointer(target).loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }

    /// `nil` beyond the ends.
    private func baseWord(_ place: Int) -> UInt64? {
        guard unsafe place >= 0 && place + Self.runBytes <= base.count else { return nil }
        return unsafe UnsafeRawBufferPointer(base).loadUnaligned(
            fromByteOffset: place, as: UInt64.self)
    }

    private static func append(_ value: UInt64, to out: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
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
