/// Writes ASCII to memory. The caller has checked that it is large enough.
struct TextPlace {
    /// Where the next byte goes.
    private(set) var place: UnsafeMutablePointer<UInt8>

    @inline(__always)
    init(_ place: UnsafeMutablePointer<UInt8>) {
        self.place = place
    }

    /// Writes a byte.
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
        while index > 0 {
            index &-= 1
            (place + index).initialize(to: UInt8(truncatingIfNeeded: rest % 10) &+ 0x30)
            rest /= 10
        }
        place += digits
    }

    /// Writes a number in lower hexadecimal digits without leading zeros: at most 16.
    mutating func put(hexadecimal number: UInt64) {
        let bits = Swift.max(1, UInt64.bitWidth - number.leadingZeroBitCount)
        let digits = (bits + 3) / 4
        var rest = number
        var index = digits
        while index > 0 {
            index &-= 1
            let digit = UInt8(truncatingIfNeeded: rest & 0xF)
            (place + index).initialize(to: digit &+ (digit < 10 ? 0x30 : 0x57))
            rest &>>= 4
        }
        place += digits
    }
}
