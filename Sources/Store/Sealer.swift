/// Encrypts the values of secure fields before they reach the store.
///
/// XChaCha20-Poly1305 (libsodium, crypto_aead_xchacha20poly1305_ietf) with one key per daemon. An
/// encrypted value is `1 ‖ nonce (24 bytes) ‖ ciphertext ‖ tag (16 bytes)`. The nonce has 192 bits,
/// so it can be random. The associated data binds the value to its form, field and dot, so it
/// cannot be decrypted anywhere else. A lost key is not fatal: values cannot be decrypted, and
/// their fields must be set again.

internal import CSodium

/// Contains the key in memory that is locked, guarded, excluded from core dumps and read-only.
///
/// `@unchecked Sendable` because the key is written before `init` returns and only read afterwards,
/// from read-only pages.
@safe
public final class Sealer: @unchecked Sendable {
    private let key: UnsafeMutableRawPointer

    static let keyBytes = 32
    private static let nonceBytes = 24
    private static let tagBytes = 16
    private static let format: UInt8 = 1

    /// The number of bytes that encryption adds.
    public static let overhead = 1 + nonceBytes + tagBytes

    /// Fills 32 bytes of guarded memory with a key.
    ///
    /// sodium_malloc(3): guard pages on both sides, mlock(2) as far as RLIMIT_MEMLOCK allows.
    init(file: String, fill: (UnsafeMutableRawBufferPointer) -> Void) throws(SealerError) {
        guard sodium_init() >= 0, let memory = unsafe sodium_malloc(Self.keyBytes) else {
            throw .noMemory(file: file)
        }
        unsafe fill(UnsafeMutableRawBufferPointer(start: memory, count: Self.keyBytes))
        unsafe key = memory
        guard unsafe sodium_mprotect_readonly(memory) == 0 else { throw .noMemory(file: file) }
    }

    deinit {
        unsafe sodium_free(key)
    }

    /// Encrypts a secret and binds it to its field.
    public func seal(plaintext: [UInt8], associated: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: plaintext.count + Self.overhead) {
            output, count in
            let base = output.baseAddress!
            unsafe base[0] = Self.format
            let nonce = unsafe base + 1
            unsafe randombytes_buf(nonce, Self.nonceBytes)
            var written: UInt64 = 0
            unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                nonce + Self.nonceBytes, &written, plaintext, UInt64(plaintext.count), associated,
                UInt64(associated.count), nil, nonce, key.assumingMemoryBound(to: UInt8.self))
            count = 1 + Self.nonceBytes + Int(written)
        }
    }

    /// Decrypts the result of `seal`; `nil` if the key or the associated data is different, or the
    /// bytes were changed.
    public func open(_ sealed: [UInt8], associated: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.overhead, sealed[0] == Self.format else { return nil }
        var opened = false
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: sealed.count - Self.overhead) {
            output, count in
            unsafe sealed.withUnsafeBufferPointer { input in
                let nonce = unsafe input.baseAddress! + 1
                var written: UInt64 = 0
                let status = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                    output.baseAddress, &written, nil, nonce + Self.nonceBytes,
                    UInt64(input.count - 1 - Self.nonceBytes), associated,
                    UInt64(associated.count), nonce, key.assumingMemoryBound(to: UInt8.self))
                opened = status == 0
                count = opened ? Int(written) : 0
            }
        }
        return opened ? plaintext : nil
    }

    /// A digest that cannot be computed without the key. The stored digest of a request with a
    /// secret must not confirm a guess of the secret.
    ///
    /// BLAKE2b with the key (libsodium, crypto_generichash), its first 64 bits. The encryption key
    /// can be used for both, because BLAKE2b and XChaCha20 reveal nothing about each other.
    public func digest(of bytes: [UInt8]) -> UInt64 {
        unsafe Self.digest(of: bytes, key: key.assumingMemoryBound(to: UInt8.self), Self.keyBytes)
    }

    /// Names the key without telling anything of it: the same for everybody who has it.
    public var id: UInt64 { digest(of: Array("the id of a fleet key".utf8)) }

    /// The same without a key, for a daemon that has none.
    public static func unkeyed(_ bytes: [UInt8]) -> UInt64 {
        unsafe digest(of: bytes, key: nil, 0)
    }

    private static func digest(
        of bytes: [UInt8], key: UnsafePointer<UInt8>?, _ keyBytes: Int
    ) -> UInt64 {
        var digest = [UInt8](repeating: 0, count: Int(crypto_generichash_bytes_min()))
        unsafe _ = crypto_generichash(
            &digest, digest.count, bytes, UInt64(bytes.count), key, keyBytes)
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func writeKey(to descriptor: Int32, of file: String) throws(StoreError) {
        unsafe try POSIX.write(
            UnsafeRawBufferPointer(start: key, count: Self.keyBytes), to: descriptor, of: file)
    }
}
