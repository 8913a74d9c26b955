// Values that change step by step, and numbers and dates that are typed.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// Changes the value by one step. It is a draft that everybody sees, and it is set when no key
    /// is pressed for a while.
    mutating func turn(_ step: Int, _ commands: inout [LiveCommand]) {
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        guard mayEdit(control.id) else { return }
        if case .stepper(let stepper) = control.kind, mode == .form {
            // Steps of several people add up, so each step is sent as an increment.
            if activeEdit?.field == control.id { commitEdit(&commands) }
            let width = stepper.domain.step ?? DecimalNumber(1)
            if let amount = step < 0 ? width.negated : width {
                send(control.id, .increment(amount), isReadLater: true, &commands)
            }
            return
        }
        // A step from the stored date would lose the one that was typed and refused.
        if case .date = control.kind, activeEdit == nil, drafts[control.id] != nil { return }
        guard let next = turned(index, by: step) else { return }
        turnTo(control.id, next)
    }

    /// Starts editing a value. An edit that was started explicitly lasts until it is ended
    /// explicitly.
    mutating func turnTo(_ field: String, _ value: JSON) {
        var setsAt: UInt64? = mode == .form ? now &+ Span.autoSet : nil
        if let activeEdit, activeEdit.field == field {
            switch activeEdit.kind {
            case .value(_, setsAt: nil), .part: setsAt = nil
            default: break
            }
        }
        take(field, .value(value, setsAt: setsAt))
    }

    /// The value one step further; `nil` at an end.
    private func turned(_ index: Int, by step: Int) -> JSON? {
        let control = presentation.definition.controls[index]
        let value = shown(index).value
        switch control.kind {
        case .picker(let picker):
            return picker.isMultiple ? nil : turnedOption(Self.choices(of: control), value, step)
        case .toggle: return .bool(step > 0)
        case .slider(let slider): return turnedNumber(slider.domain, value, step)
        case .stepper(let stepper):
            let width = stepper.domain.step ?? DecimalNumber(1)
            guard let amount = step < 0 ? width.negated : width,
                let sum = (value.numberValue ?? .zero).adding(amount)
            else { return nil }
            return .number(stepper.domain.withPrecision(stepper.domain.clamped(sum)))
        case .gauge(let gauge): return turnedNumber(gauge.domain, value, step)
        case .wheels(let wheels): return turnedWheel(wheels, control.id, value, step)
        case .date(let date):
            guard let present = DateValue(value, mode: date.mode) else {
                return startOfDate(date).json
            }
            let list = date.mode.parts(minuteInterval: date.minuteInterval)
            let part = list[min(parts[control.id] ?? 0, list.count - 1)]
            return present.turned(
                part, by: step, minuteInterval: date.minuteInterval, min: date.min, max: date.max)?
                .json
        case .text, .secure, .button, .label: return nil
        }
    }

    private func turnedOption(_ options: [PickerOption], _ value: JSON, _ step: Int) -> JSON? {
        var place = options.firstIndex { $0.tag == value } ?? (step > 0 ? -1 : options.count)
        place += step
        while options.indices.contains(place), options[place].isDisabled { place += step }
        return options.indices.contains(place) ? options[place].tag : nil
    }

    private func turnedNumber(_ domain: NumberDomain, _ value: JSON, _ step: Int) -> JSON? {
        let present = value.numberValue ?? domain.min ?? .zero
        if let width = domain.step {
            guard let amount = step < 0 ? width.negated : width,
                let sum = present.adding(amount)
            else { return nil }
            return domain.snapped(domain.clamped(sum), step < 0 ? .down : .up).map { .number($0) }
        }
        guard let range = TrackRange(domain) else { return nil }
        let place = range.position(of: present, last: 20) + step
        return range.value(at: place, last: 20).map { .number(domain.withPrecision($0)) }
    }

    private func turnedWheel(
        _ wheels: WheelsAttributes, _ field: String, _ value: JSON, _ step: Int
    ) -> JSON? {
        guard let rows = value.objectValue else { return nil }
        let component = min(parts[field] ?? 0, wheels.components.count - 1)
        let options = wheels.rows(of: component, selection: rows).options
        let id = wheels.components[component].id
        guard let tag = turnedOption(options, rows[id] ?? .null, step) else { return nil }
        return turnedWheel(wheels, value, component, to: tag)
    }

    /// The value with one wheel at a row.
    func turnedWheel(
        _ wheels: WheelsAttributes, _ value: JSON, _ component: Int, to tag: JSON
    ) -> JSON? {
        guard var rows = value.objectValue else { return nil }
        rows[wheels.components[component].id] = tag
        // Dependent wheels move to their first row if their current row no longer exists.
        for other in wheels.evaluationOrder where other != component {
            let list = wheels.rows(of: other, selection: rows)
            let otherID = wheels.components[other].id
            if list.index(of: rows[otherID] ?? .null) == nil {
                rows[otherID] = list.options[list.firstEnabled].tag
            }
        }
        return .object(rows)
    }

    /// Moves to the minimum or the maximum.
    mutating func toEnd(_ direction: Int) {
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        if let domain = control.numberDomain, let end = direction < 0 ? domain.min : domain.max {
            return turnTo(control.id, .number(end))
        }
        var next = turned(index, by: direction)
        var steps = 0
        while let value = next, steps < 1_000, case .picker = control.kind {
            turnTo(control.id, value)
            next = turned(index, by: direction)
            steps += 1
        }
    }

    // MARK: Typing numbers

    mutating func typeNumber(_ index: Int) {
        let control = presentation.definition.controls[index]
        guard mayEdit(control.id) else { return }
        if let draft = drafts[control.id] { return take(control.id, .number(draft)) }
        let number = shown(index).value.numberValue
        let text = number?.formatted(fractionDigits: control.numberDomain?.fractionDigits ?? 0)
        var editor = TextEditor(text ?? "")
        // The first typed character replaces the value.
        editor.selectAll()
        take(control.id, .number(editor))
    }

    // MARK: Dates

    /// The start value of an empty date.
    func startOfDate(_ date: DateAttributes) -> DateValue {
        let day =
            around.today ?? CivilDate(daysSince1970: 0) ?? CivilDate(year: 2000, month: 1, day: 1)
        let noon = CivilTime(minutesAfterMidnight: 720)
        let value: DateValue? =
            switch date.mode {
            case .date: day.map { .date($0) }
            case .time: .time(noon)
            case .dateAndTime: day.map { .dateAndTime(CivilDateTime(date: $0, time: noon)) }
            case .countdown: .countdown(60 * date.minuteInterval)
            case .yearAndMonth: day.map { .yearAndMonth($0.yearMonth) }
            }
        return (value ?? .countdown(0)).clamped(min: date.min, max: date.max)
    }

    static func day(of value: DateValue) -> CivilDate? {
        switch value {
        case .date(let day): day
        case .dateAndTime(let moment): moment.date
        case .time, .countdown, .yearAndMonth: nil
        }
    }

    /// Sets the day and keeps the time.
    mutating func pickDay(_ day: CivilDate, in field: String, _ commands: inout [LiveCommand]) {
        guard let index = presentation.index(field), let value = value(ofDay: day, index) else {
            return
        }
        if activeEdit?.field == field { return finish(.value(value), &commands) }
        send(field, .value(value), &commands)
    }

    /// The value of a date with another day, within its bounds.
    func value(ofDay day: CivilDate, _ index: Int) -> JSON? {
        guard case .date(let date) = presentation.definition.controls[index].kind else {
            return nil
        }
        let present = DateValue(shown(index).value, mode: date.mode) ?? startOfDate(date)
        let value: DateValue =
            if case .dateAndTime(let moment) = present {
                .dateAndTime(CivilDateTime(date: day, time: moment.time))
            } else {
                .date(day)
            }
        return value.clamped(min: date.min, max: date.max).json
    }

    /// Types a digit into the selected part of a date.
    mutating func typePart(_ digit: Int, _ index: Int) {
        let control = presentation.definition.controls[index]
        guard mayEdit(control.id), case .date(let date) = control.kind else { return }
        let list = date.mode.parts(minuteInterval: date.minuteInterval)
        let part = list[min(parts[control.id] ?? 0, list.count - 1)]
        var typed = ""
        var value = shown(index).value
        if let activeEdit, activeEdit.field == control.id,
            case .part(let text, let present) = activeEdit.kind
        {
            (typed, value) = (text, present)
        }
        if DateValue(value, mode: date.mode) == nil { value = startOfDate(date).json }
        typed += String(digit)
        take(control.id, .part(typed: typed, value))
        if typed.count >= (part == .year ? 4 : 2) { takePart(typed, value) }
    }

    /// Sets the part to the typed digits and selects the next part; `false` if there is no such
    /// month, day or time.
    @discardableResult
    mutating func takePart(_ typed: String, _ value: JSON) -> Bool {
        guard let activeEdit, let index = presentation.index(activeEdit.field),
            case .date(let date) = presentation.definition.controls[index].kind
        else { return false }
        let list = date.mode.parts(minuteInterval: date.minuteInterval)
        let place = min(parts[activeEdit.field] ?? 0, list.count - 1)
        guard let number = Int(typed),
            let next = DateValue(value, mode: date.mode)?.setting(list[place], to: number)
        else {
            keepRefused(
                part: typed, at: place, of: value, LiveWords.noPart("\(list[place])", typed))
            return false
        }
        problems[activeEdit.field] = nil
        self.activeEdit?.kind = .value(next.json, setsAt: nil)
        if place + 1 < list.count { parts[activeEdit.field] = place + 1 }
        return true
    }
}
