#if canImport(Glibc)
    import Glibc
#endif

/// Replayable randomness (Steele, Lea, Flood, OOPSLA 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The seed of `PICKERSYNC_TEST_SEED`, or a new one; printed so that a failure can be replayed.
    static func seed(_ name: String) -> UInt64 {
        let given = getenv("PICKERSYNC_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(name): PICKERSYNC_TEST_SEED=\(seed)")
        return seed
    }
}
