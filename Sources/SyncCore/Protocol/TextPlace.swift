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

    /// Writes a number in decimal digits without leading zeros: at most 20.
    @inline(__always)
    mutating func put(decimal number: UInt64) {
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, number >= bound {
            digits &+= 1
            bound = digits == 20 ? .max : bound &* 10
        }
        var rest = number
        var index = digits
        while index > 1 {
            index &-= 2
            Self.put(pair: rest % 100, at: place + index)
            rest /= 100
        }
        if index > 0 { place.initialize(to: UInt8(truncatingIfNeeded: rest) &+ 0x30) }
        place += digits
    }

    /// Writes the two digits of a number below 100.
    @inline(__always)
    mutating func put(pair number: UInt64) {
        Self.put(pair: number, at: place)
        place += 2
    }

    @inline(__always)
    private static func put(pair number: UInt64, at place: UnsafeMutablePointer<UInt8>) {
        let tens = (number &* 103) &>> 10
        let digits = 0x3030 &+ tens &+ (number &- tens &* 10) &<< 8
        UnsafeMutableRawPointer(place).storeBytes(
            of: UInt16(truncatingIfNeeded: digits).littleEndian, as: UInt16.self)
    }

    /// Writes a number in lower hexadecimal digits without leading zeros: at most 16.
    mutating func put(hexadecimal number: UInt64) {
        let bits = Swift.max(1, UInt64.bitWidth - number.leadingZeroBitCount)
        var digits = (bits + 3) / 4
        // The first digit is in the four highest bits.
        var rest = number &<< UInt64(UInt64.bitWidth - 4 * digits)
        while digits >= 8 {
            UnsafeMutableRawPointer(place).storeBytes(
                of: Self.digits(UInt32(truncatingIfNeeded: rest &>> 32)).littleEndian,
                as: UInt64.self)
            place += 8
            digits &-= 8
            rest &<<= 32
        }
        var text = Self.digits(UInt32(truncatingIfNeeded: rest &>> 32))
        if digits & 4 != 0 {
            UnsafeMutableRawPointer(place).storeBytes(
                of: UInt32(truncatingIfNeeded: text).littleEndian, as: UInt32.self)
            place += 4
            text &>>= 32
        }
        if digits & 2 != 0 {
            UnsafeMutableRawPointer(place).storeBytes(
                of: UInt16(truncatingIfNeeded: text).littleEndian, as: UInt16.self)
            place += 2
            text &>>= 16
        }
        if digits & 1 != 0 { put(UInt8(truncatingIfNeeded: text)) }
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
