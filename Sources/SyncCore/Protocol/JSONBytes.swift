// Bytes of JSON text, for those who read and write it.

/// The index of the first of eight bytes that is a control character, a quotation mark, a backslash
/// or not ASCII; `nil` if there is none.
///
/// The test for "a byte in the word is less than n" is from Anderson's Bit Twiddling Hacks. It may
/// report a byte above a true one falsely, but the lowest one that it reports is always true.
@inline(__always)
func firstSpecialByte(of word: UInt64) -> Int? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let slashes = word ^ (ones &* 0x5C)
    let special = (word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones) | word
    let found = special & (ones &* 0x80)
    return found == 0 ? nil : found.trailingZeroBitCount &>> 3
}

/// The value of a hexadecimal digit; `nil` for any other byte.
func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
}
