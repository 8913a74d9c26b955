import SeededRandom

/// What pieces of work take, from a seed: nearly always little, sometimes as long as a long turn of
/// the loop.
public struct WorkTime {
    private var random: SplitMix64

    public init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// The nanoseconds of the next piece.
    public mutating func take() -> UInt64 {
        let isLong = Int.random(in: 0..<50, using: &random) == 0
        return UInt64.random(in: 0...(isLong ? 4_000_000 : 60_000), using: &random)
    }
}
