import Foundation

/// A small seeded generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014), so that every random test can be replayed.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The seed of a random test: `TERMINALUI_SEED` of the environment, else a new one. It is printed,
    /// so that a failure can be replayed.
    static func testSeed(_ test: String = #function) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["TERMINALUI_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(test): TERMINALUI_SEED=\(seed)")
        return seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
