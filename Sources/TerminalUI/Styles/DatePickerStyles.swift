// Date pickers: in one line, as a month's calendar, as wheels.

public import SyncCore

/// A date picker.
public struct DatePickerStyleConfiguration: Sendable {
    public var label: ControlLabel
    public var mode: DateMode
    /// `nil` if there is none, or if the value is mixed or invalid.
    public var value: DateValue?
    /// The text for a value that is not a date.
    public var invalidText: String?
    public var min: DateValue?
    public var max: DateValue?
    public var minuteInterval: Int
    /// An IANA name, shown beside the value.
    public var zone: String?
    /// The part that the keys turn, by its place in `mode.parts`.
    public var part: Int
    /// What is typed into that part so far.
    public var typing: String?
    /// What was typed or pasted and is not set, in place of the value.
    public var draft: String?
    /// The month that a calendar shows, if it is not the value's.
    public var month: YearMonth?
    /// The highlighted day of a calendar.
    public var cursor: CivilDate?
    /// Marked in a calendar; this library has no clock.
    public var today: CivilDate?
    public var state: ControlState
    public var environment: StyleEnvironment

    /// A date picker.
    public init(
        label: ControlLabel, mode: DateMode, value: DateValue?, min: DateValue? = nil,
        max: DateValue? = nil, minuteInterval: Int = 1, zone: String? = nil, part: Int = 0,
        state: ControlState = ControlState(), environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.mode = mode
        self.value = value
        self.min = min
        self.max = max
        self.minuteInterval = Swift.max(1, minuteInterval)
        self.zone = zone
        self.part = part
        self.state = state
        self.environment = environment
    }

    /// The parts in the order in which they are written.
    public var parts: [DatePart] { mode.parts(minuteInterval: minuteInterval) }

    /// The day of a value that has one.
    public var day: CivilDate? {
        switch value {
        case .date(let date): date
        case .dateAndTime(let moment): moment.date
        default: nil
        }
    }

    /// The placeholder for a missing value.
    public var placeholder: StyledText {
        let roles = environment.roles
        let dash = environment.glyphs.dash
        if state.isMixed { return StyledText(ControlWords.mixed(dash), roles.dim) }
        if let invalidText {
            let hasDash = invalidText.hasPrefix(Template.dash)
            return StyledText(
                hasDash ? invalidText : "\(dash) \(ControlWords.invalid(invalidText))", roles.error)
        }
        return StyledText("\(dash) \(ControlWords.noDate)", roles.dim)
    }

    /// The draft on the ground of the input.
    func field(of draft: String, columns: Int) -> Framed {
        let roles = environment.roles
        let style = state.isFocused ? roles.fieldFocused : roles.field
        return filledField(StyledText(draft, style).truncated(), style, columns: columns)
    }

    /// Whether a day is within the bounds.
    public func allows(_ day: CivilDate) -> Bool {
        func date(_ value: DateValue?) -> CivilDate? {
            switch value {
            case .date(let date): date
            case .dateAndTime(let moment): moment.date
            default: nil
            }
        }
        if let first = date(min), day < first { return false }
        if let last = date(max), last < day { return false }
        return true
    }
}

/// The date in one line; the part that the keys turn is filled.
public struct CompactDatePickerStyle: DatePickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        LabeledRow(configuration.label, configuration.state, configuration.environment) {
            Self.line(configuration, configuration.parts)
        }
    }

    /// The text before a part.
    private static func mark(before part: DatePart, _ mode: DateMode) -> String {
        switch part {
        case .year: ""
        case .month, .day: "-"
        case .hour: mode == .dateAndTime ? "  " : ""
        case .minute: mode == .countdown ? " h " : ":"
        case .second: " min "
        }
    }

    /// Some parts of the value in one line.
    static func line(_ configuration: Configuration, _ parts: [DatePart]) -> any Block {
        let environment = configuration.environment
        let roles = environment.roles
        let state = configuration.state
        if let draft = configuration.draft {
            return configuration.field(of: draft, columns: environment.inputColumns)
        }
        guard let value = configuration.value, !state.isMixed else {
            return configuration.placeholder
        }
        let field = state.isDimmed ? roles.faint(in: roles.field) : roles.field
        var blocks: [any Block] = [StyledText(" ", field)]
        for part in parts {
            let before = mark(before: part, configuration.mode)
            if part != parts.first, !before.isEmpty { blocks.append(StyledText(before, field)) }
            let index = configuration.parts.firstIndex(of: part) ?? 0
            let isActive = state.isFocused && state.isEditable && index == configuration.part
            let text =
                isActive ? configuration.typing ?? value.text(of: part) : value.text(of: part)
            let padded = DisplayWidth.padded(text, to: part == .year ? 4 : 2)
            let block = StyledText(padded, isActive ? roles.selection : field)
            let drawn = isActive ? AnyBlock(CursorBlock(content: block)) : AnyBlock(block)
            blocks.append(state.isEditable ? Target(.part(index), drawn) : drawn)
        }
        if configuration.mode == .countdown {
            blocks.append(StyledText(parts.last == .second ? " s" : " min", field))
        }
        blocks.append(StyledText("  ", field))
        let dim = roles.faint(in: field)
        if let day = configuration.day, parts.contains(.day) {
            let name = CalendarMonth.weekdayNames[day.weekday - 1]
            blocks.append(StyledText(name + " ", dim))
        }
        if let zone = configuration.zone {
            // The last part of `America/New_York` tells enough where there is no more space.
            let city = zone.split(separator: "/").last.map(String.init) ?? zone
            blocks.append(FittingText([zone, city].map { StyledText($0 + " ", dim) }))
        }
        return Framed(
            columns: environment.inputColumns, .leading,
            Filled(field, Row(blocks, spacing: 0)))
    }
}

/// A block with the real cursor.
struct CursorBlock: Block {
    var content: any Block

    func measure(width: Int) -> Size { content.measure(width: width) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        content.render(into: &canvas, in: rect)
        canvas.setCursor(rect.origin)
    }
}

/// A calendar of a month, and the time below it if the date has one.
public struct GraphicalDatePickerStyle: DatePickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let parts = configuration.parts
        guard parts.contains(.day) else {
            return CompactDatePickerStyle().makeBody(configuration: configuration)
        }
        let times = parts.filter { $0 == .hour || $0 == .minute }
        // The calendar shows it.
        var present = configuration
        present.draft = nil
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            if configuration.value == nil || configuration.state.isMixed {
                configuration.placeholder
            }
            CalendarBlock(configuration: configuration)
            if !times.isEmpty, configuration.value != nil, !configuration.state.isMixed {
                CompactDatePickerStyle.line(present, times)
            } else if let zone = configuration.zone {
                StyledText(zone, configuration.environment.roles.dim)
            }
        }
    }
}

/// The calendar itself: a title with arrows, the days of the week, six weeks with their numbers.
public struct CalendarBlock: Block {
    static let dayColumns = 4
    /// Columns of the week's number, which is left out if there is not enough space.
    static let weekColumns = 3
    public var configuration: DatePickerStyleConfiguration

    /// The month of a date picker.
    public init(configuration: DatePickerStyleConfiguration) {
        self.configuration = configuration
    }

    private var calendar: CalendarMonth? {
        let day = configuration.cursor ?? configuration.day ?? configuration.today
        let month = configuration.month ?? day?.yearMonth ?? YearMonth(year: 2000, month: 1)
        return month.map(CalendarMonth.init)
    }

    private static func weekColumns(in width: Int) -> Int {
        width >= weekColumns + 7 * dayColumns ? weekColumns : 0
    }

    public func measure(width: Int) -> Size {
        let columns = Self.weekColumns(in: width) + 7 * Self.dayColumns
        return Size(columns: min(width, columns), lines: 8)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        guard let calendar else { return }
        let environment = configuration.environment
        let roles = environment.roles
        let weekColumns = Self.weekColumns(in: rect.columns)
        let area = Rect(
            x: rect.x + weekColumns, y: rect.y, columns: 7 * Self.dayColumns, lines: rect.lines)
        if weekColumns > 0 {
            for (line, week) in calendar.weekNumbers.enumerated() {
                guard let week else { continue }
                canvas.write(
                    week < 10 ? " \(week)" : "\(week)",
                    at: Point(x: rect.x, y: rect.y + 2 + line), style: roles.border)
            }
        }
        let head = area.line(0)
        if let draft = configuration.draft {
            configuration.field(of: draft, columns: head.columns).render(into: &canvas, in: head)
        } else {
            title(calendar, in: head, &canvas)
        }
        for (column, name) in CalendarMonth.weekdayNames.enumerated() {
            let isWeekend = column > 4
            canvas.write(
                String(name.prefix(2)),
                at: Point(x: area.x + column * Self.dayColumns + 1, y: area.y + 1),
                style: isWeekend ? roles.dim.adding(.italic) : roles.dim.adding(.bold))
        }
        for (week, days) in calendar.weeks.enumerated() {
            for (column, day) in days.enumerated() {
                guard let day else { continue }
                let place = Rect(
                    x: area.x + column * Self.dayColumns, y: area.y + 2 + week,
                    columns: Self.dayColumns, lines: 1)
                draw(day, in: place, &canvas)
            }
        }
    }

    private func title(_ calendar: CalendarMonth, in head: Rect, _ canvas: inout Canvas) {
        let environment = configuration.environment
        Framed(
            columns: head.columns, .center, StyledText(calendar.title, environment.roles.heading)
        )
        .render(into: &canvas, in: head)
        arrow(environment.glyphs.back, -1, Point(x: head.x + 1, y: head.y), &canvas)
        arrow(environment.glyphs.chevron, 1, Point(x: head.maxX - 2, y: head.y), &canvas)
    }

    private func arrow(_ glyph: String, _ months: Int, _ point: Point, _ canvas: inout Canvas) {
        let roles = configuration.environment.roles
        canvas.write(
            glyph, at: point, style: configuration.state.isFocused ? roles.accent : roles.dim)
        if configuration.state.isEditable {
            canvas.addRegion(
                Rect(x: point.x - 1, y: point.y, columns: 3, lines: 1),
                .action(.turn(months: months)))
        }
    }

    private func draw(_ day: CivilDate, in place: Rect, _ canvas: inout Canvas) {
        let environment = configuration.environment
        let roles = environment.roles
        let state = configuration.state
        let isAllowed = configuration.allows(day)
        let digits = day.day < 10 ? " \(day.day)" : "\(day.day)"
        let isToday = day == configuration.today
        let isWeekend = day.weekday > 5
        var style = isAllowed && !state.isDimmed && !isWeekend ? roles.text : roles.dim
        if isToday { style = style.adding(.underline) }
        var text = StyledText(" ")
            .appending(digits, isAllowed ? style : style.adding(.strikethrough))
            .appending(isToday ? environment.glyphs.between : " ", roles.text)
        if day == configuration.day, !state.isMixed {
            let pill = Pill(environment, state)
            text = pill.left + StyledText(digits, pill.inside) + pill.right
        }
        let isCursor = state.isFocused && day == (configuration.cursor ?? configuration.day)
        if isCursor, day != configuration.day {
            text = StyledText(environment.glyphs.back, roles.accent)
                .appending(digits, roles.accent.adding(.underline))
                .appending(environment.glyphs.chevron, roles.accent)
        }
        text.render(into: &canvas, in: place)
        if isCursor { canvas.setCursor(Point(x: place.x + 1, y: place.y)) }
        if state.isEditable, isAllowed { canvas.addRegion(place, .action(.day(day))) }
    }
}

/// A wheel for each part.
public struct WheelDatePickerStyle: DatePickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let environment = configuration.environment
        let state = configuration.state
        guard let value = configuration.value, !state.isMixed else {
            return LabeledRow(
                configuration.label, state, environment, configuration.placeholder)
        }
        let wheels = configuration.parts.enumerated().map { number, part -> Wheel in
            let rows = (-1...1).map { row(value, part, $0, number, configuration) }
            return Wheel(
                rows: rows,
                columns: part == .month
                    ? 9 : configuration.mode == .countdown || part == .year ? 4 : 2,
                isActive: state.isFocused && number == configuration.part, state: state,
                environment: environment)
        }
        let baseline = wheels.first?.pickedLine ?? 0
        return LabeledRow(configuration.label, state, environment, baseline: baseline) {
            if let draft = configuration.draft {
                let field = configuration.field(of: draft, columns: environment.inputColumns)
                // As high as wheels, so that nothing moves.
                Padding(top: baseline, bottom: baseline, field)
            } else {
                Flow(wheels, spacing: 1)
            }
            if let zone = configuration.zone { StyledText(zone, environment.roles.dim) }
        }
    }

    private func row(
        _ value: DateValue, _ part: DatePart, _ offset: Int, _ number: Int,
        _ configuration: Configuration
    ) -> WheelRow? {
        guard
            let turned = value.turned(
                part, by: offset, minuteInterval: configuration.minuteInterval)
        else { return nil }
        let isAllowed = turned.clamped(min: configuration.min, max: configuration.max) == turned
        if offset != 0, !isAllowed { return nil }
        return WheelRow(
            label: label(turned, part, configuration.mode),
            action: .row(part: number, tag: turned.json))
    }

    private func label(_ value: DateValue, _ part: DatePart, _ mode: DateMode) -> String {
        let unit =
            switch (mode, part) {
            case (.countdown, .hour): " h"
            case (.countdown, .minute): " m"
            case (.countdown, .second): " s"
            default: ""
            }
        if part == .month { return CalendarMonth.monthNames[value.number(of: .month) - 1] }
        return value.text(of: part) + unit
    }
}

/// A date picker in the style of its environment.
public struct DatePickerView: ControlView {
    public var configuration: DatePickerStyleConfiguration

    /// A date picker; the configuration's environment is replaced by that of the container.
    public init(_ configuration: DatePickerStyleConfiguration) {
        self.configuration = configuration
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return framed(
            configuration.state, environment,
            AnyBlock(environment.datePickerStyle.makeBody(configuration: configuration)))
    }
}
