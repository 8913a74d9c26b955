/// Random numbers from the kernel, and clearing of secrets (libsodium).

internal import CSodium

/// 64 random bits for log names, replica ids and so on.
///
/// randombytes_buf(3) uses getrandom(2) and cannot fail.
public func randomBits() -> UInt64 {
    var bits: UInt64 = 0
    unsafe withUnsafeMutableBytes(of: &bits) { bytes in
        unsafe randombytes_buf(bytes.baseAddress!, bytes.count)
    }
    return bits
}

/// Overwrites a secret so that the optimizer does not remove the write (sodium_memzero).
///
/// Only this copy is cleared. The argument must be the only owner of the bytes, or Swift copies
/// them first.
public func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { buffer in
        if let base = buffer.baseAddress { unsafe sodium_memzero(base, buffer.count) }
    }
    bytes.removeAll()
}
