// The nearest names to one that is not there: `no field "flavour"; did you mean flavor?`

/// Distances between names.
public enum Similarity {
    /// Names that may be meant by `name`, nearest first, at most `count`.
    ///
    /// The distance is Damerau's (insertions, deletions, changes, neighbours swapped; the optimal
    /// string alignment variant), capitals and hyphens left aside.
    public static func nearest(to name: String, among names: [String], count: Int = 3) -> [String] {
        let wanted = folded(name)
        guard wanted.count <= nameBytesMax else { return [] }
        // Of a name of one letter nothing is left once that is changed.
        let bound = min(max(1, wanted.count / 3), wanted.count - 1)
        var found: [(distance: Int, name: String)] = []
        for candidate in names {
            guard abs(candidate.utf8.count - wanted.count) <= bound else { continue }
            let bytes = folded(candidate)
            let distance = distance(wanted, bytes)
            if distance <= bound { found.append((distance, candidate)) }
        }
        // Stable: names at the same distance stay in the order given.
        let sorted = found.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }
        return sorted.prefix(count).map(\.element.name)
    }

    /// A name asked for may be as long as a frame; no name of a form is.
    private static let nameBytesMax = 128

    private static func folded(_ name: String) -> [UInt8] {
        name.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    }

    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in 0..<right.count {
                let change = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
