// The parts of dates, which keys and wheels change, and the month of a calendar.
//
// Invariants: the result is a valid date of the same mode, within the given bounds. A part wraps
// without changing others, as in UIDatePicker: minute 59 becomes 0, and the hour does not change.

public import SyncCore

/// A part of a date or time.
public enum DatePart: Hashable, Sendable {
    case year, month, day, hour, minute, second
}

extension DateMode {
    /// The parts of a value, in the order in which they are written.
    public func parts(minuteInterval: Int = 1) -> [DatePart] {
        switch self {
        case .date: [.year, .month, .day]
        case .time: [.hour, .minute]
        case .dateAndTime: [.year, .month, .day, .hour, .minute]
        case .countdown: minuteInterval > 1 ? [.hour, .minute] : [.hour, .minute, .second]
        case .yearAndMonth: [.year, .month]
        }
    }
}

extension DateValue {
    /// The mode that it is a value of.
    public var mode: DateMode {
        switch self {
        case .date: .date
        case .time: .time
        case .dateAndTime: .dateAndTime
        case .countdown: .countdown
        case .yearAndMonth: .yearAndMonth
        }
    }

    /// The number of a part; 0 for a part that it does not have.
    public func number(of part: DatePart) -> Int {
        switch (self, part) {
        case (.date(let date), _): Self.number(date, part)
        case (.dateAndTime(let moment), .hour): moment.time.hour
        case (.dateAndTime(let moment), .minute): moment.time.minute
        case (.dateAndTime(let moment), _): Self.number(moment.date, part)
        case (.time(let time), .hour): time.hour
        case (.time(let time), .minute): time.minute
        case (.yearAndMonth(let month), .year): month.year
        case (.yearAndMonth(let month), .month): month.month
        case (.countdown(let seconds), .hour): seconds / 3600
        case (.countdown(let seconds), .minute): seconds / 60 % 60
        case (.countdown(let seconds), .second): seconds % 60
        default: 0
        }
    }

    private static func number(_ date: CivilDate, _ part: DatePart) -> Int {
        switch part {
        case .year: date.year
        case .month: date.month
        case .day: date.day
        default: 0
        }
    }

    /// The value with a part set; days are cut to what the month has. `nil` if there is no such
    /// value.
    public func setting(_ part: DatePart, to number: Int) -> DateValue? {
        guard mode.parts().contains(part) else { return nil }
        switch self {
        case .date(let date): return Self.setting(date, part, number).map { .date($0) }
        case .time(let time): return Self.setting(time, part, number).map { .time($0) }
        case .dateAndTime(let moment):
            switch part {
            case .hour, .minute:
                return Self.setting(moment.time, part, number).map {
                    .dateAndTime(CivilDateTime(date: moment.date, time: $0))
                }
            default:
                return Self.setting(moment.date, part, number).map {
                    .dateAndTime(CivilDateTime(date: $0, time: moment.time))
                }
            }
        case .yearAndMonth(let month):
            let year = part == .year ? number : month.year
            return YearMonth(year: year, month: part == .month ? number : month.month)
                .map { .yearAndMonth($0) }
        case .countdown:
            guard (0..<(part == .hour ? 24 : 60)).contains(number) else { return nil }
            let parts = [DatePart.hour, .minute, .second].map {
                $0 == part ? number : self.number(of: $0)
            }
            return .countdown(parts[0] * 3600 + parts[1] * 60 + parts[2])
        }
    }

    private static func setting(_ date: CivilDate, _ part: DatePart, _ number: Int) -> CivilDate? {
        let year = part == .year ? number : date.year
        let month = part == .month ? number : date.month
        guard let days = YearMonth(year: year, month: month)?.days else { return nil }
        let day = part == .day ? number : min(date.day, days)
        return CivilDate(year: year, month: month, day: day)
    }

    private static func setting(_ time: CivilTime, _ part: DatePart, _ number: Int) -> CivilTime? {
        CivilTime(
            hour: part == .hour ? number : time.hour,
            minute: part == .minute ? number : time.minute)
    }

    /// The range of a part.
    func cycle(of part: DatePart) -> ClosedRange<Int> {
        switch part {
        case .year: return 1...9999
        case .month: return 1...12
        case .day:
            let month = YearMonth(year: number(of: .year), month: number(of: .month))
            return 1...(month?.days ?? 31)
        case .hour: return 0...23
        case .minute, .second: return 0...59
        }
    }

    /// The value with a part changed by a number of rows; minutes change by the interval. Years
    /// stop at the ends, other parts wrap.
    public func turned(
        _ part: DatePart, by rows: Int, minuteInterval: Int = 1, min: DateValue? = nil,
        max: DateValue? = nil
    ) -> DateValue? {
        let cycle = cycle(of: part)
        let step = part == .minute ? Swift.max(1, minuteInterval) : 1
        let (way, overflow) = rows.multipliedReportingOverflow(by: step)
        if overflow { return nil }
        let here = number(of: part) - cycle.lowerBound
        let onGrid = here - here % step
        let (sum, tooFar) = onGrid.addingReportingOverflow(way)
        if tooFar { return nil }
        var number = sum
        if part == .year {
            if !(0..<cycle.count).contains(sum) { return nil }
        } else {
            number = ((sum % cycle.count) + cycle.count) % cycle.count
        }
        return setting(part, to: number + cycle.lowerBound)?.clamped(min: min, max: max)
    }

    /// The value, or the bound that it exceeds.
    public func clamped(min: DateValue?, max: DateValue?) -> DateValue {
        if let min, isBefore(min) { return min }
        if let max, max.isBefore(self) { return max }
        return self
    }

    /// The text of a part.
    public func text(of part: DatePart) -> String {
        let digits = String(number(of: part))
        let width = part == .year ? 4 : 2
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}

/// The weeks of a month, Mondays first (ISO 8601).
public struct CalendarMonth: Hashable, Sendable {
    public let month: YearMonth

    /// The calendar of a month.
    public init(_ month: YearMonth) { self.month = month }

    public static let weekdayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    public static let monthNames = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Name and year: `November 2026`.
    public var title: String { "\(Self.monthNames[month.month - 1]) \(month.year)" }

    /// The numbers of these six weeks (ISO 8601); `nil` for a week without a day of the month.
    public var weekNumbers: [Int?] {
        weeks.map { days in days.lazy.compactMap { $0 }.first?.isoWeek }
    }

    /// Six weeks, so that a calendar does not change its height; days of other months are `nil`.
    public var weeks: [[CivilDate?]] {
        guard let first = CivilDate(year: month.year, month: month.month, day: 1) else { return [] }
        let blanks = first.weekday - 1
        return (0..<6).map { week in
            (0..<7).map { day in
                CivilDate(
                    year: month.year, month: month.month, day: week * 7 + day - blanks + 1)
            }
        }
    }
}

extension CivilDate {
    /// The number of its week: weeks begin on Monday, and the first one of a year contains the
    /// fourth of January (ISO 8601).
    var isoWeek: Int? {
        // A week belongs to the year of its Thursday.
        guard let thursday = adding(days: 4 - weekday),
            let first = CivilDate(year: thursday.year, month: 1, day: 1)
        else { return nil }
        return (thursday.daysSince1970 - first.daysSince1970) / 7 + 1
    }
}
