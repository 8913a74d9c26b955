/// Similar names: `data.similar`, and `did you mean` on a terminal.
public enum Similar {
    /// The most bytes of a name that is compared; a longer one has no similar names.
    private static let bytesMax = 64
    /// The most names in a result.
    public static let countMax = 3

    /// The existing names that are most similar, nearest first; names at the same distance in byte
    /// order.
    ///
    /// A name is similar if the distance is at most a third of its length, at least one, and less
    /// than its length. A name that differs only in case, or in `-` and `_`, is nearest.
    public static func names(
        to name: String, among names: some Sequence<String>, countMax: Int = countMax
    ) -> [String] {
        let wanted = Array(name.utf8.prefix(bytesMax + 1))
        guard !wanted.isEmpty, wanted.count <= bytesMax else { return [] }
        let lower = wanted.map(folded)
        var near: [(distance: Int, name: String)] = []
        for candidate in names where !candidate.isSameBytes(as: name) {
            let bytes = Array(candidate.utf8.prefix(bytesMax + 1))
            let most = min(max(1, max(bytes.count, wanted.count) / 3), wanted.count - 1)
            guard bytes.count <= bytesMax, abs(bytes.count - wanted.count) <= most else { continue }
            let distance =
                bytes.map(folded) == lower ? 0 : Self.distance(wanted, bytes, most: most)
            if let distance { near.append((distance, candidate)) }
        }
        near.sort {
            $0.distance == $1.distance
                ? $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) : $0.distance < $1.distance
        }
        return near.prefix(countMax).map(\.name)
    }

    /// Suggestions for an unknown name: similar names, or else all, for `Wording.refusal`.
    public static func orAll(_ name: String, among names: [String]) -> String {
        let near = self.names(to: name, among: names)
        return near.isEmpty ? Wording.oneOf(names) : Wording.didYouMean(near)
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        if byte == UInt8(ascii: "_") { return UInt8(ascii: "-") }
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")) ~= byte ? byte | 0x20 : byte
    }

    /// The edit distance of two texts: insertions, deletions, substitutions and swaps of
    /// neighbours; `nil` if it is more than `most`. This is the optimal string alignment distance
    /// (Damerau 1964, Levenshtein 1966; no part is edited twice), with each row of the table as the
    /// bits of one word (Hyyrö, "A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit
    /// Distances", 2003), because a request with an unknown name compares all names.
    ///
    /// - Precondition: `left` has 1 to 64 bytes.
    static func distance(_ left: [UInt8], _ right: [UInt8], most: Int) -> Int? {
        precondition((1...bytesMax).contains(left.count), "a row is one word")
        let distance = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 256) { places in
            places.initialize(repeating: 0)
            for (place, byte) in left.enumerated() { places[Int(byte)] |= 1 << UInt64(place) }
            let last: UInt64 = 1 << UInt64(left.count - 1)
            var (up, down, diagonal, before): (UInt64, UInt64, UInt64, UInt64) = (.max, 0, 0, 0)
            var distance = left.count
            for byte in right {
                let same = places[Int(byte)]
                let exchanged = ((~diagonal & same) << 1) & before
                diagonal = (((same & up) &+ up) ^ up) | same | down | exchanged
                let rises = down | ~(diagonal | up)
                let falls = diagonal & up
                if rises & last != 0 { distance += 1 }
                if falls & last != 0 { distance -= 1 }
                up = (falls << 1) | ~(diagonal | (rises << 1 | 1))
                down = (rises << 1 | 1) & diagonal
                before = same
            }
            return distance
        }
        return distance <= most ? distance : nil
    }
}
