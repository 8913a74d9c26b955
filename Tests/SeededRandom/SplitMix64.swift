#if canImport(Glibc)
    import Glibc
#endif

/// The randomness of every test that needs some: a seed gives the same numbers again (Steele, Lea,
/// Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that gives the same numbers for the same seed.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// One of the values; each as often as its weight says. There is at least one value.
    public mutating func pick<Value>(weighted values: [(Value, Int)]) -> Value {
        var place = Int.random(in: 0..<values.reduce(0) { $0 + $1.1 }, using: &self)
        for (value, weight) in values.dropLast() {
            if place < weight { return value }
            place -= weight
        }
        return values[values.count - 1].0
    }

    /// The seed that the environment's `variable` gives, or a new one; printed, so that a failure
    /// can be replayed.
    public static func seed(of test: String = #function, from variable: String) -> UInt64 {
        let given = getenv(variable).flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(test): \(variable)=\(seed)")
        return seed
    }
}
