// The selection of a DatePicker. A date has no time zone; the type says which parts it has.

public import SyncCore

/// What a ``DatePicker`` selects: a day, a time, both, a month, or a span.
///
/// | type | people pick |
/// | --- | --- |
/// | `CivilDate` | a day |
/// | `CivilTime` | an hour and a minute |
/// | `CivilDateTime` | both |
/// | `YearMonth` | a month |
/// | `Duration` | a countdown of whole seconds, below a day |
///
/// An `Optional` may be empty. Foundation's `Date` is a point in time. To select one, choose a time
/// zone and convert its components to one of these types.
public protocol DateSelection: SharedValue {
    /// The type of the bounds.
    associatedtype Moment: DateMoment
}

/// A ``DateSelection`` that is not optional.
public protocol DateMoment: DateSelection, Comparable where Moment == Self {
    /// What people pick, as SwiftUI names it; empty for a month and a countdown.
    static var displayedComponents: DatePickerComponents { get }

    /// `mode` of a form file.
    static var modeName: String { get }
}

/// The parts of a date that a ``DatePicker`` shows.
public struct DatePickerComponents: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// A set by its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Day, month and year.
    public static let date = DatePickerComponents(rawValue: 1)
    /// Hour and minute.
    public static let hourAndMinute = DatePickerComponents(rawValue: 2)
}

extension DateMoment where Self: CustomStringConvertible {
    /// The text of the date as a form file writes it.
    public var fieldValue: JSON { .string(description) }
}

extension CivilDate: DateMoment {
    /// `2026-11-21`.
    public init?(fieldValue: JSON) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }

    /// A day alone.
    public static var displayedComponents: DatePickerComponents { .date }

    /// `date`.
    public static var modeName: String { "date" }
}

extension CivilTime: DateMoment {
    /// `14:30`.
    public init?(fieldValue: JSON) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }

    /// A time alone.
    public static var displayedComponents: DatePickerComponents { .hourAndMinute }

    /// `time`.
    public static var modeName: String { "time" }
}

extension CivilDateTime: DateMoment {
    /// `2026-11-21T14:30`.
    public init?(fieldValue: JSON) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }

    /// Day and time.
    public static var displayedComponents: DatePickerComponents { [.date, .hourAndMinute] }

    /// `dateAndTime`.
    public static var modeName: String { "dateAndTime" }
}

extension YearMonth: DateMoment {
    /// `2026-11`.
    public init?(fieldValue: JSON) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }

    /// None of SwiftUI's.
    public static var displayedComponents: DatePickerComponents { [] }

    /// `yearAndMonth`.
    public static var modeName: String { "yearAndMonth" }
}

extension Duration: DateMoment {
    /// Whole seconds.
    public init?(fieldValue: JSON) {
        guard let seconds = fieldValue.integerValue else { return nil }
        self = .seconds(seconds)
    }

    /// Whole seconds, what is below one left out.
    public var fieldValue: JSON { .integer(components.seconds) }

    /// None of SwiftUI's.
    public static var displayedComponents: DatePickerComponents { [] }

    /// `countdown`.
    public static var modeName: String { "countdown" }
}

extension Optional: DateSelection where Wrapped: DateMoment {
    /// The bounds are of the wrapped type.
    public typealias Moment = Wrapped
}
