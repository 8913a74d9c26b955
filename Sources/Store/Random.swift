/// Random numbers from the kernel (libsodium).

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
