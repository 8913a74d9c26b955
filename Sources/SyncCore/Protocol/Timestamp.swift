/// A point in time in the protocol: RFC 3339 in UTC with milliseconds, for example
/// `2026-11-21T10:18:51.000Z`.
///
/// It is stored as milliseconds since 1970-01-01T00:00:00Z, without leap seconds, as in POSIX. The
/// calendar is the proleptic Gregorian one.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch.
    public let milliseconds: Int64

    /// The time this many milliseconds after the epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Earlier is less.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    private static let millisecondsADay: Int64 = 86_400_000
    /// 0000-01-01T00:00:00.000Z, the first time in RFC 3339.
    public static let min = Timestamp(milliseconds: -62_167_219_200_000)
    /// 9999-12-31T23:59:59.999Z, the last time in RFC 3339.
    public static let max = Timestamp(milliseconds: 253_402_300_799_999)
}

// MARK: - Text

extension Timestamp: CustomStringConvertible {
    /// Bytes of the text, which always has the same length.
    public static let textBytes = 24

    /// The time as in RFC 3339; a time before `min` or after `max` is written as that.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textBytes) { buffer in
            write(to: buffer.baseAddress!)
            return Self.textBytes
        }
    }

    /// Writes the `textBytes` bytes of the description.
    func write(to place: UnsafeMutablePointer<UInt8>) {
        let moment = Swift.min(
            Swift.max(milliseconds, Self.min.milliseconds), Self.max.milliseconds)
        let day = moment.flooredDivision(by: Self.millisecondsADay)
        let time = UInt64(moment - day * Self.millisecondsADay)
        let date = Self.date(day: day)
        var text = TextPlace(place)
        func put(_ pair: UInt64, _ end: UInt8) {
            text.put(pair: pair)
            text.put(end)
        }
        text.put(pair: date.year / 100)
        put(date.year % 100, UInt8(ascii: "-"))
        put(date.month, UInt8(ascii: "-"))
        put(date.day, UInt8(ascii: "T"))
        put(time / 3_600_000, UInt8(ascii: ":"))
        put(time / 60_000 % 60, UInt8(ascii: ":"))
        put(time / 1000 % 60, UInt8(ascii: "."))
        text.put(UInt8(truncatingIfNeeded: time / 100 % 10) &+ 0x30)
        put(time % 100, UInt8(ascii: "Z"))
    }

    /// Parses RFC 3339 in UTC: `T` and `Z` in either case, and a fraction of any length, which is
    /// cut to milliseconds. `nil` for other text, invalid dates, leap seconds and offsets other
    /// than `Z`, `+00:00` and `-00:00`.
    public init?(_ text: String) {
        var text = text
        guard let parsed = text.withUTF8({ Self.parsed($0[...]) }) else { return nil }
        self = parsed
    }

    private static func parsed(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Timestamp? {
        var rest = text
        func number(_ digits: Int, in range: ClosedRange<Int64>) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<digits {
                guard let byte = rest.popFirst(), byte &- UInt8(ascii: "0") < 10 else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return range.contains(value) ? value : nil
        }
        func mark(_ marks: StaticString) -> Bool {
            guard let byte = rest.popFirst() else { return false }
            return UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
                .contains(byte)
        }
        guard let year = number(4, in: 0...9999), mark("-"),
            let month = number(2, in: 1...12), mark("-"),
            let day = number(2, in: 1...days(inMonth: month, of: year)), mark("Tt"),
            let hour = number(2, in: 0...23), mark(":"), let minute = number(2, in: 0...59),
            mark(":"), let second = number(2, in: 0...59)
        else { return nil }
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            var unit: Int64 = 100
            guard let first = rest.first, first &- UInt8(ascii: "0") < 10 else { return nil }
            while let byte = rest.first, byte &- UInt8(ascii: "0") < 10 {
                fraction += Int64(byte - UInt8(ascii: "0")) * unit
                unit /= 10
                rest.removeFirst()
            }
        }
        guard
            rest.elementsEqual("Z".utf8) || rest.elementsEqual("z".utf8)
                || rest.elementsEqual("+00:00".utf8) || rest.elementsEqual("-00:00".utf8)
        else { return nil }
        let seconds = (self.day(year: year, month: month, day: day) * 24 + hour) * 3600
        return Timestamp(milliseconds: (seconds + minute * 60 + second) * 1000 + fraction)
    }
}

// MARK: - Calendar

extension Timestamp {
    /// Days since 1970-01-01 of a date. Source: Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", days_from_civil; its years begin in March, so that the leap day is last.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.flooredDivision(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date this many days after 1970-01-01; not before the year -400. Source: Neri, Schneider,
    /// "Euclidean affine functions and their application to calendar algorithms", 2022, figure 12.
    private static func date(day: Int64) -> (year: UInt64, month: UInt64, day: UInt64) {
        // Years begin in March, and are counted from 400 years before the first one.
        let quarters = 4 * UInt64(day + 719_468 + 146_097) + 3
        let century = quarters / 146_097
        let product = 2_939_745 * (quarters % 146_097 | 3)
        let dayOfYear = (product & 0xFFFF_FFFF) / 2_939_745 / 4
        let month = 2141 * dayOfYear + 197_913
        let isNextYear: UInt64 = dayOfYear >= 306 ? 1 : 0
        return (
            100 * century + product >> 32 + isNextYear - 400, month >> 16 - 12 * isNextYear,
            (month & 0xFFFF) / 2141 + 1
        )
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Int64 {
    /// The quotient rounded towards minus infinity. `divisor` is positive.
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
