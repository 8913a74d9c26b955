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
        guard (1...bytesMax).contains(name.utf8.count) else { return [] }
        let wanted = Pattern(name)
        // Only the nearest `countMax` names are kept in order, because thousands may be near.
        var near: [(distance: Int, name: String)] = []
        for candidate in names
        where candidate.utf8.count <= bytesMax && !candidate.isSameBytes(as: name) {
            guard let distance = wanted.distance(to: candidate) else { continue }
            let place =
                near.firstIndex {
                    $0.distance == distance
                        ? candidate.precedesInBytes($0.name) : distance < $0.distance
                } ?? near.count
            guard place < countMax else { continue }
            if near.count == countMax { near.removeLast() }
            near.insert((distance, candidate), at: place)
        }
        return near.map(\.name)
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

    /// A name that others are compared to.
    struct Pattern {
        private let bytes: [UInt8]
        /// For each byte, the positions of the name that contain it, as bits.
        private var places = [UInt64](repeating: 0, count: 256)

        /// - Precondition: `name` has 1 to 64 bytes.
        init(_ name: String) {
            bytes = Array(name.utf8)
            precondition((1...bytesMax).contains(bytes.count), "a row is one word")
            for (place, byte) in bytes.enumerated() { places[Int(byte)] |= 1 << UInt64(place) }
        }

        /// The distance of another name from this one; `nil` if it is not similar.
        func distance(to other: String) -> Int? {
            let count = other.utf8.count
            let most = min(max(1, max(count, bytes.count) / 3), bytes.count - 1)
            guard abs(count - bytes.count) <= most else { return nil }
            var other = other
            return other.withUTF8 { other in
                let isFolded =
                    other.count == bytes.count
                    && other.indices.allSatisfy { folded(other[$0]) == folded(bytes[$0]) }
                return isFolded ? 0 : distance(to: other, most: most)
            }
        }

        /// The number of insertions, deletions, replacements and exchanges of neighbouring letters
        /// between two texts; `nil` for more than `most`. This is the optimal string alignment
        /// distance (Damerau 1964, Levenshtein 1966; no part is edited twice). One row of its table
        /// is computed at a time, as the bits of one word (Hyyrö, "A Bit-Vector Algorithm for
        /// Computing Levenshtein and Damerau Edit Distances", 2003), because a request with an
        /// unknown name compares it with all names.
        func distance(to other: some Sequence<UInt8>, most: Int) -> Int? {
            let last: UInt64 = 1 << UInt64(bytes.count - 1)
            return places.withUnsafeBufferPointer { places in
                var (up, down, diagonal, before): (UInt64, UInt64, UInt64, UInt64) = (.max, 0, 0, 0)
                var distance = bytes.count
                for byte in other {
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
                return distance <= most ? distance : nil
            }
        }
    }
}
