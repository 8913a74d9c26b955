// The values of a date control, by mode.

/// What a date control selects.
public enum DateMode: String, Hashable, Sendable, CaseIterable {
    case date, time, dateAndTime, countdown, yearAndMonth

    /// The format of a value, for sentences.
    public var inWords: String {
        switch self {
        case .date: "a date such as 2026-11-21"
        case .time: "a time such as 14:30"
        case .dateAndTime: "a date and time such as 2026-11-21T14:30"
        case .countdown: "whole seconds from 0 to \(DateValue.countdownMax)"
        case .yearAndMonth: "a month such as 2026-11"
        }
    }

    /// The kind of value, for error messages.
    var noun: String {
        switch self {
        case .date: "real date"
        case .time: "real time"
        case .dateAndTime: "real date and time"
        case .countdown: "countdown in seconds"
        case .yearAndMonth: "real month"
        }
    }

    /// Whether `minuteInterval` applies.
    public var hasMinutes: Bool {
        switch self {
        case .time, .dateAndTime, .countdown: true
        case .date, .yearAndMonth: false
        }
    }
}

/// A value of a date control. Values of one mode are ordered; values of different modes are not.
public enum DateValue: Hashable, Sendable {
    case date(CivilDate)
    case time(CivilTime)
    case dateAndTime(CivilDateTime)
    /// Seconds.
    case countdown(Int)
    case yearAndMonth(YearMonth)

    /// The longest countdown in seconds: 23:59:59, as in UIDatePicker.
    public static let countdownMax = 86_399

    /// The value in `json`; `nil` if it is not a value of that mode.
    public init?(_ json: JSON, mode: DateMode) {
        switch (mode, json) {
        case (.countdown, .number(let number)):
            guard let seconds = number.integer, seconds >= 0, seconds <= Self.countdownMax else {
                return nil
            }
            self = .countdown(Int(seconds))
        case (.date, .string(let text)):
            guard let value = CivilDate(text) else { return nil }
            self = .date(value)
        case (.time, .string(let text)):
            guard let value = CivilTime(text) else { return nil }
            self = .time(value)
        case (.dateAndTime, .string(let text)):
            guard let value = CivilDateTime(text) else { return nil }
            self = .dateAndTime(value)
        case (.yearAndMonth, .string(let text)):
            guard let value = YearMonth(text) else { return nil }
            self = .yearAndMonth(value)
        default: return nil
        }
    }

    /// The value as stored.
    public var json: JSON {
        switch self {
        case .date(let value): .string(value.description)
        case .time(let value): .string(value.description)
        case .dateAndTime(let value): .string(value.description)
        case .countdown(let seconds): .integer(seconds)
        case .yearAndMonth(let value): .string(value.description)
        }
    }

    /// Whether it is before `other`; `false` for values of different modes.
    public func isBefore(_ other: DateValue) -> Bool {
        switch (self, other) {
        case (.date(let left), .date(let right)): left < right
        case (.time(let left), .time(let right)): left < right
        case (.dateAndTime(let left), .dateAndTime(let right)): left < right
        case (.countdown(let left), .countdown(let right)): left < right
        case (.yearAndMonth(let left), .yearAndMonth(let right)): left < right
        default: false
        }
    }

    /// Whether its minutes are a multiple of `minutes`.
    public func isOnInterval(minutes: Int) -> Bool {
        switch self {
        case .time(let time): time.minute % minutes == 0
        case .dateAndTime(let moment): moment.time.minute % minutes == 0
        case .countdown(let seconds): minutes == 1 || seconds % (minutes * 60) == 0
        case .date, .yearAndMonth: true
        }
    }
}
