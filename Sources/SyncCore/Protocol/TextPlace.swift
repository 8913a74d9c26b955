/// Writes ASCII to memory. The caller has checked that it is large enough.
struct TextPlace {
    /// Where the next byte goes.
    private(set) var place: UnsafeMutablePointer<UInt8>

    @inline(__always)
    init(_ place: UnsafeMutablePointer<UInt8>) {
        self.place = place
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        place.initialize(to: byte)
        place += 1
    }

    /// Writes a number in decimal digits without leading zeros: at most 20. It may also change the
    /// bytes behind them, eight bytes in all.
    @inline(__always)
    mutating func put(decimal number: UInt64) {
        var last = number
        if number >= Self.eightDigits {
            putStart(of: number / Self.eightDigits)
            last = number % Self.eightDigits
        }
        let digits = Self.digits(decimal: last)
        let zeros =
            number >= Self.eightDigits ? 0 : Swift.min(7, digits.trailingZeroBitCount / 8)
        put((digits | 0x3030_3030_3030_3030) &>> UInt64(8 * zeros), 8 &- zeros)
    }

    private static var eightDigits: UInt64 { 100_000_000 }

    /// The digits before the last eight: rare.
    @inline(never)
    private mutating func putStart(of number: UInt64) { put(decimal: number) }

    /// Writes eight bytes, the lowest first, of which `count` stay.
    @inline(__always)
    private mutating func put(_ bytes: UInt64, _ count: Int) {
        UnsafeMutableRawPointer(place).storeBytes(of: bytes.littleEndian, as: UInt64.self)
        place += count
    }

    /// The eight decimal digits of a number of so many, the first one in the lowest byte.
    @inline(__always)
    private static func digits(decimal number: UInt64) -> UInt64 {
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = (halves &* 10_486) &>> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (halves &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
        return tens | (pairs &- tens &* 10) &<< 8
    }

    /// Writes the two digits of a number below 100.
    @inline(__always)
    mutating func put(pair number: UInt64) {
        let tens = (number &* 103) &>> 10
        let digits = 0x3030 &+ tens &+ (number &- tens &* 10) &<< 8
        UnsafeMutableRawPointer(place).storeBytes(
            of: UInt16(truncatingIfNeeded: digits).littleEndian, as: UInt16.self)
        place += 2
    }

    /// Writes a number in lower hexadecimal digits without leading zeros: at most 16. It may also
    /// change the bytes behind them, 16 bytes in all.
    @inline(__always)
    mutating func put(hexadecimal number: UInt64) {
        let digits = Swift.max(1, (UInt64.bitWidth + 3 - number.leadingZeroBitCount) / 4)
        // The first digit is in the four highest bits.
        let high = number &<< UInt64(UInt64.bitWidth - 4 * digits)
        let start = place
        put(Self.digits(UInt32(truncatingIfNeeded: high &>> 32)), 8)
        put(Self.digits(UInt32(truncatingIfNeeded: high)), 8)
        place = start + digits
    }

    /// Writes the 16 lower hexadecimal digits of a number.
    mutating func put(word number: UInt64) {
        put(Self.digits(UInt32(truncatingIfNeeded: number &>> 32)), 8)
        put(Self.digits(UInt32(truncatingIfNeeded: number)), 8)
    }

    /// The eight hexadecimal digits of a number as ASCII, the first one in the lowest byte.
    private static func digits(_ number: UInt32) -> UInt64 {
        var nibbles = UInt64(number)
        nibbles = (nibbles | nibbles &<< 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles &<< 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles &<< 4) & 0x0F0F_0F0F_0F0F_0F0F
        // One in each byte that needs a letter.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).byteSwapped
    }
}
