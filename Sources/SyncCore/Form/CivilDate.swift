// Dates and times of the calendar: without time zones and leap seconds, not points in time.
//
// The calendar is the proleptic Gregorian calendar of ISO 8601, years 0001 to 9999. Day counts
// follow Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (`days_from_civil`).

/// A day: `2026-11-21`.
public struct CivilDate: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1…9999.
    public let year: Int
    /// 1…12.
    public let month: Int
    /// 1…31.
    public let day: Int

    /// The day; `nil` if it does not exist.
    public init?(year: Int, month: Int, day: Int) {
        guard let inMonth = YearMonth(year: year, month: month), day >= 1, day <= inMonth.days
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Parses exactly `YYYY-MM-DD`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == Digits.hyphen, bytes[7] == Digits.hyphen,
            let year = Digits.number(bytes[0..<4]), let month = Digits.number(bytes[5..<7]),
            let day = Digits.number(bytes[8..<10])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day that is this many days after 1970-01-01; `nil` outside the years 0001 to 9999.
    public init?(daysSince1970 days: Int) {
        guard days >= -719_162, days <= 2_932_896 else { return nil }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days after 1970-01-01.
    public var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The day of the week: 1 is Monday, 7 is Sunday (ISO 8601).
    public var weekday: Int {
        let days = daysSince1970 + 3
        return ((days % 7) + 7) % 7 + 1
    }

    /// The month of the day.
    public var yearMonth: YearMonth { YearMonth(unchecked: year, month) }

    /// The day this many days later; `nil` outside the years 0001 to 9999.
    public func adding(days: Int) -> CivilDate? {
        let (sum, overflow) = daysSince1970.addingReportingOverflow(days)
        return overflow ? nil : CivilDate(daysSince1970: sum)
    }

    /// The same day this many months later, or the last day of a shorter month; `nil` outside the
    /// years 0001 to 9999.
    public func adding(months: Int) -> CivilDate? {
        yearMonth.adding(months: months).flatMap {
            CivilDate(year: $0.year, month: $0.month, day: Swift.min(day, $0.days))
        }
    }

    /// Earlier days first.
    public static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// `YYYY-MM-DD`.
    public var description: String {
        yearMonth.description + "-" + Digits.text(day, width: 2)
    }
}

/// A month: `2026-11`.
public struct YearMonth: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 1…9999.
    public let year: Int
    /// 1…12.
    public let month: Int

    /// The month; `nil` if it does not exist.
    public init?(year: Int, month: Int) {
        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        self.init(unchecked: year, month)
    }

    /// Parses exactly `YYYY-MM`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[4] == Digits.hyphen,
            let year = Digits.number(bytes[0..<4]), let month = Digits.number(bytes[5..<7])
        else { return nil }
        self.init(year: year, month: month)
    }

    init(unchecked year: Int, _ month: Int) {
        self.year = year
        self.month = month
    }

    /// The number of days in the month.
    public var days: Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }

    /// The month this many months later; `nil` outside the years 0001 to 9999.
    public func adding(months: Int) -> YearMonth? {
        let (sum, overflow) = (year * 12 + month - 1).addingReportingOverflow(months)
        guard !overflow, sum >= 12 else { return nil }
        return YearMonth(year: sum / 12, month: sum % 12 + 1)
    }

    /// Earlier months first.
    public static func < (left: YearMonth, right: YearMonth) -> Bool {
        (left.year, left.month) < (right.year, right.month)
    }

    /// `YYYY-MM`.
    public var description: String {
        Digits.text(year, width: 4) + "-" + Digits.text(month, width: 2)
    }
}

/// A time of day: `14:30`.
public struct CivilTime: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 0…23.
    public let hour: Int
    /// 0…59.
    public let minute: Int

    /// The time; `nil` if it does not exist.
    public init?(hour: Int, minute: Int) {
        guard (0...23).contains(hour), (0...59).contains(minute) else { return nil }
        self.hour = hour
        self.minute = minute
    }

    /// Parses exactly `HH:MM`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == Digits.colon, let hour = Digits.number(bytes[0..<2]),
            let minute = Digits.number(bytes[3..<5])
        else { return nil }
        self.init(hour: hour, minute: minute)
    }

    /// The time this many minutes after midnight, modulo a day.
    public init(minutesAfterMidnight minutes: Int) {
        let within = ((minutes % 1440) + 1440) % 1440
        hour = within / 60
        minute = within % 60
    }

    /// Earlier times first.
    public static func < (left: CivilTime, right: CivilTime) -> Bool {
        (left.hour, left.minute) < (right.hour, right.minute)
    }

    /// `HH:MM`.
    public var description: String {
        Digits.text(hour, width: 2) + ":" + Digits.text(minute, width: 2)
    }
}

/// A day and a time: `2026-11-21T14:30`.
public struct CivilDateTime: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let date: CivilDate
    public let time: CivilTime

    /// That time on that day.
    public init(date: CivilDate, time: CivilTime) {
        self.date = date
        self.time = time
    }

    /// Parses exactly `YYYY-MM-DDTHH:MM`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[10] == UInt8(ascii: "T"),
            let date = CivilDate(String(decoding: bytes[..<10], as: UTF8.self)),
            let time = CivilTime(String(decoding: bytes[11...], as: UTF8.self))
        else { return nil }
        self.init(date: date, time: time)
    }

    /// Earlier times first.
    public static func < (left: CivilDateTime, right: CivilDateTime) -> Bool {
        left.date != right.date ? left.date < right.date : left.time < right.time
    }

    /// `YYYY-MM-DDTHH:MM`.
    public var description: String { date.description + "T" + time.description }
}

/// Decimal digits of fixed width.
private enum Digits {
    static let hyphen = UInt8(ascii: "-")
    static let colon = UInt8(ascii: ":")

    static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    static func text(_ number: Int, width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
