// Days and times as Foundation has them. A `Date` is a moment, and which day and hour a moment is
// depends on the zone: every conversion names one.

public import Foundation
public import PickerSync

/// The calendar of the civil dates (ISO 8601) in a zone.
private func calendar(in zone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
}

extension CivilDateTime {
    /// The day and the minute that a moment is in a zone; what is below a minute is left out.
    ///
    /// - Returns: `nil` where the year is not within 1…9999.
    public init?(_ moment: Date, in zone: TimeZone = .current) {
        let parts = calendar(in: zone).dateComponents(
            [.era, .year, .month, .day, .hour, .minute], from: moment)
        guard parts.era == 1, let year = parts.year, let month = parts.month, let day = parts.day,
            let hour = parts.hour, let minute = parts.minute,
            let date = CivilDate(year: year, month: month, day: day),
            let time = CivilTime(hour: hour, minute: minute)
        else { return nil }
        self.init(date: date, time: time)
    }

    /// The day and the minute that it is now in a zone.
    public static func now(in zone: TimeZone = .current) -> CivilDateTime {
        guard let now = CivilDateTime(Date(), in: zone) else {
            preconditionFailure("the clock shows a year that is not within 1...9999")
        }
        return now
    }

    /// The moment when clocks in a zone show this.
    ///
    /// - Returns: of two such moments, as when clocks are set back, the first; `nil` where there is
    ///   none, as when clocks are set forward.
    public func moment(in zone: TimeZone = .current) -> Date? {
        let parts = DateComponents(
            year: date.year, month: date.month, day: date.day, hour: time.hour,
            minute: time.minute)
        guard let moment = calendar(in: zone).date(from: parts),
            CivilDateTime(moment, in: zone) == self
        else { return nil }
        return moment
    }
}

extension CivilDate {
    /// The day that a moment is in a zone.
    ///
    /// - Returns: `nil` where the year is not within 1…9999.
    public init?(_ moment: Date, in zone: TimeZone = .current) {
        guard let civil = CivilDateTime(moment, in: zone) else { return nil }
        self = civil.date
    }

    /// The day that it is now in a zone.
    public static func today(in zone: TimeZone = .current) -> CivilDate {
        CivilDateTime.now(in: zone).date
    }

    /// The first moment of the day in a zone.
    ///
    /// - Returns: `nil` where the zone left the whole day out.
    public func start(in zone: TimeZone = .current) -> Date? {
        let calendar = calendar(in: zone)
        // Noon, since some zones set their clocks forward at midnight.
        let noon = DateComponents(year: year, month: month, day: day, hour: 12)
        guard let moment = calendar.date(from: noon), CivilDate(moment, in: zone) == self
        else { return nil }
        return calendar.startOfDay(for: moment)
    }
}

extension CivilTime {
    /// The hour and the minute that a moment is in a zone.
    ///
    /// - Returns: `nil` where the year is not within 1…9999.
    public init?(_ moment: Date, in zone: TimeZone = .current) {
        guard let civil = CivilDateTime(moment, in: zone) else { return nil }
        self = civil.time
    }
}

extension YearMonth {
    /// The month that a moment is in, in a zone.
    ///
    /// - Returns: `nil` where the year is not within 1…9999.
    public init?(_ moment: Date, in zone: TimeZone = .current) {
        guard let civil = CivilDateTime(moment, in: zone) else { return nil }
        self = civil.date.yearMonth
    }
}

extension Timestamp {
    /// The moment, which needs no zone.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

/// A `Date` cannot be a value of a form: in two time zones it would be two days.
@available(
    *, unavailable,
    message: """
        a Date is a moment, which is another day in another zone: declare CivilDate, CivilTime or \
        CivilDateTime, and convert with CivilDateTime(date, in: zone)
        """
)
extension Date: DateMoment {
    /// Unavailable.
    public init?(fieldValue: JSON) { preconditionFailure("unavailable") }
    /// Unavailable.
    public var fieldValue: JSON { preconditionFailure("unavailable") }
    /// Unavailable.
    public static var displayedComponents: DatePickerComponents {
        preconditionFailure("unavailable")
    }
    /// Unavailable.
    public static var modeName: String { preconditionFailure("unavailable") }
}
