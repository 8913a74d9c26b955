/// The hash of idempotency keys for the filter: SipHash-1-3 with a secret of this run.
///
/// Invariant: nobody outside knows the secret. So nobody can choose keys that collide in the filter
/// with another user's keys and cause a store look-up for each request (Aumasson and Bernstein,
/// "SipHash: a fast short-input PRF", INDOCRYPT 2012). `Hasher` is not used because its secret
/// belongs to the process, and a simulation could not be replayed from its seed.
struct KeyHash {
    struct Secret {
        let first: UInt64
        let second: UInt64
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    /// Bytes that do not fill a word yet, the first one lowest.
    private var tail: UInt64 = 0
    private var count: UInt64 = 0

    init(_ secret: Secret) {
        v0 = secret.first ^ 0x736f_6d65_7073_6575
        v1 = secret.second ^ 0x646f_7261_6e64_6f6d
        v2 = secret.first ^ 0x6c79_6765_6e65_7261
        v3 = secret.second ^ 0x7465_6462_7974_6573
    }

    /// The same for everybody, of bytes that nobody chooses against others.
    static func unkeyed(_ bytes: [UInt8]) -> UInt64 {
        var hash = KeyHash(Secret(first: 0, second: 0))
        bytes.withUnsafeBufferPointer { hash.add($0) }
        return hash.finish()
    }

    mutating func add(_ byte: UInt8) {
        tail |= UInt64(byte) << (8 * (count & 7))
        count += 1
        guard count & 7 == 0 else { return }
        compress(tail)
        tail = 0
    }

    /// Adds the eight bytes of a word, the lowest first, after whole words.
    mutating func add(_ word: UInt64) {
        precondition(count & 7 == 0, "a word comes after whole words")
        compress(word)
        count += 8
    }

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        var place = 0
        while count & 7 == 0, place + 8 <= bytes.count {
            let word = UnsafeRawBufferPointer(bytes).loadUnaligned(
                fromByteOffset: place, as: UInt64.self)
            add(UInt64(littleEndian: word))
            place += 8
        }
        while place < bytes.count {
            add(bytes[place])
            place += 1
        }
    }

    /// The hash of all added bytes.
    consuming func finish() -> UInt64 {
        compress(tail | count << 56)
        v2 ^= 0xff
        for _ in 0..<3 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    private mutating func round() {
        v0 &+= v1
        v1 = Self.rotated(v1, 13) ^ v0
        v0 = Self.rotated(v0, 32)
        v2 &+= v3
        v3 = Self.rotated(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotated(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotated(v1, 17) ^ v2
        v2 = Self.rotated(v2, 32)
    }

    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }
}
