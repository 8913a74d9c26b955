/// The idempotency keys that may be in the store: "no" is certain, "yes" needs a look-up.
///
/// A key takes two bytes, however long it is. Keys are not removed one by one: a whole generation
/// is dropped when all its keys have expired. This is a Bloom filter (Bloom, CACM 1970) that grows
/// by segments (Almeida et al., "Scalable Bloom Filters", IPL 2007) up to a limit. Beyond the limit
/// it answers "yes" more often, which is slower but never wrong.
struct KeyFilter {
    private struct Segment {
        var words: [UInt64]
        var count = 0
        /// 16 bits per key: with `probes` probes, one of 400 answers is a false "yes".
        var capacity: Int { words.count * 4 }
    }

    private static let probes: UInt64 = 4
    /// The words of a segment are a power of two.
    private static let firstWords = 1 << 10
    /// 2 MiB: a million keys.
    private static let lastWords = 1 << 18

    private var segments: [Segment] = []

    var bytes: Int { segments.reduce(0) { $0 + $1.words.count * 8 } }

    mutating func insert(_ digest: UInt64) {
        if segments.last.map({ $0.count >= $0.capacity }) ?? true {
            let words = segments.last.map { $0.words.count * 2 } ?? Self.firstWords
            if words <= Self.lastWords {
                segments.append(Segment(words: [UInt64](repeating: 0, count: words)))
            }
        }
        let last = segments.count - 1
        segments[last].count += 1
        let words = UInt64(segments[last].words.count)
        Self.forEachBit(of: digest, words: words) { word, bit in
            segments[last].words[word] |= bit
            return true
        }
    }

    /// Whether a key with that digest may have been added.
    func contains(_ digest: UInt64) -> Bool {
        segments.contains { segment in
            Self.forEachBit(of: digest, words: UInt64(segment.words.count)) { word, bit in
                segment.words[word] & bit != 0
            }
        }
    }

    /// Calls `body` for each probe until it returns false. Returns whether it never did.
    ///
    /// Two halves of a digest give all probes (Kirsch, Mitzenmacher, "Less Hashing, Same
    /// Performance", ESA 2006).
    @discardableResult
    private static func forEachBit(
        of digest: UInt64, words: UInt64, _ body: (_ word: Int, _ bit: UInt64) -> Bool
    ) -> Bool {
        let step = (digest >> 32) | 1
        for probe in 0..<probes {
            let place = digest &+ probe &* step
            guard body(Int((place >> 6) & (words - 1)), 1 << (place & 63)) else { return false }
        }
        return true
    }
}
