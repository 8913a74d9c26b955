// A control of the form as a view of TerminalUI: its configuration filled from the model.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The states that all controls share.
    func state(_ index: Int) -> ControlState {
        let field = mirror.definition.controls[index].id
        let shown = shown(index)
        var state = ControlState(
            isFocused: focusedField == field && (page == .form || page == .keys))
        state.availability = availability(index)
        state.isMixed = shown.isMixed
        if let problem = problems[field] {
            state.validity = .invalid(problem)
        } else if shown.isMissing, activeEdit?.field != field, leftEmpty.contains(field) {
            state.validity = .missing
        } else if shown.isInvalid, activeEdit?.field != field {
            state.validity = .invalid("this value is not valid any more; choose another")
        }
        state.reason = reason(index)
        state.held = waiting(field)
        if let other = mirror.others.first(where: { $0.focus == field && $0.draft != nil }),
            let draft = other.draft
        {
            state.ghost = PeerValue(
                value: draft, text: mirror.text(draft, of: index), by: other.peer)
        }
        state.flash = flashes[field]?.peer
        let ghost = state.ghost?.by
        state.peers = mirror.others.filter { other in
            other.focus == field && other.peer != ghost && other.peer != state.flash
        }.map(\.peer)
        return state
    }

    private func availability(_ index: Int) -> ControlState.Availability {
        let isReadOnly = mirror.definition.controls[index].isReadOnly
        switch mirror.definition.controls[index].kind {
        // Reading is their normal use, so there is no mark.
        case .gauge where isReadOnly, .label: return .editable
        default: break
        }
        if mirror.link == .deleted || !mirror.isEnabled(index) { return .disabled }
        if isReadOnly { return .readOnly }
        return mirror.definition.controls[index].isLocked ? .locked : .editable
    }

    /// The value in words, including one that is being edited.
    func valueText(_ index: Int) -> String {
        guard let activeEdit, activeEdit.field == mirror.definition.controls[index].id else {
            return mirror.text(index)
        }
        let definition = mirror.definition
        let value = shown(index).value
        let targets = definition.targets[index]
        return definition.displayText(of: index) {
            targets.contains($0) ? value : mirror.stored($0)
        }
    }

    /// The view of a control.
    func view(_ index: Int, _ environment: StyleEnvironment) -> any Block {
        let control = mirror.definition.controls[index]
        let environment = environment.styled(style(index), for: control.type)
        let cards = activeEdit?.field == control.id ? [] : conflict(index)
        if !cards.isEmpty {
            return ConflictView(
                label: ControlLabel(control), cards: cards, choice: chosenCard(index),
                state: state(index)
            ).block(in: environment)
        }
        return controlView(index, environment).block(in: environment)
    }

    /// The note below a control about its typed text or its draft.
    private func notes(_ field: String, _ environment: StyleEnvironment) -> [StyledText] {
        let roles = environment.roles
        let glyphs = environment.glyphs
        if activeEdit?.field == field {
            guard hasCapsLock, isTypingSecret else { return [] }
            return [StyledText("Caps Lock is on", roles.warning).truncated()]
        }
        if let text = keptText(field) {
            return [
                StyledText("\(glyphs.held) not sent: ", roles.warning).appending(text, roles.text)
                    .truncated()
            ]
        }
        guard let draft = drafts[field], problems[field] == nil else { return [] }
        return [
            StyledText("\(glyphs.held) unsaved: ", roles.warning)
                .appending(Self.brief(draft.text), roles.text)
        ]
    }

    /// A button for a row of buttons; its question is drawn below the row.
    func button(
        _ index: Int, _ environment: StyleEnvironment
    ) -> (owner: String, view: ButtonView) {
        let control = mirror.definition.controls[index]
        var state = state(index)
        state.notes = notes(control.id, environment)
        guard case .button(let button) = control.kind else {
            preconditionFailure("a row of buttons has only buttons")
        }
        let isPressed = pressed?.field == control.id
        let view = ButtonView(
            PrimitiveButtonStyleConfiguration(
                label: ControlLabel(control), role: button.role,
                confirm: Self.question(of: button, control), phase: isPressed ? .pressed : .idle,
                state: state))
        return (control.id, view)
    }

    /// The columns of a stepper's value at its bounds, so that the buttons stay where they are.
    private func valueColumns(_ index: Int, _ domain: NumberDomain) -> Int {
        [domain.min, domain.max].compactMap { $0 }
            .map { DisplayWidth.columns(of: mirror.text(.number($0), of: index)) }.max() ?? 5
    }

    func controlView(_ index: Int, _ environment: StyleEnvironment) -> any ControlView {
        let control = mirror.definition.controls[index]
        let label = ControlLabel(control)
        var state = state(index)
        state.notes = notes(control.id, environment)
        let value = shown(index)
        switch control.kind {
        case .picker(let picker): return pickerView(index, picker, state, environment)
        case .wheels(let wheels):
            return WheelsView(
                label: label, components: components(wheels, value.value),
                active: parts[control.id] ?? 0, state: state)
        case .toggle:
            return ToggleView(
                ToggleStyleConfiguration(
                    label: label, isOn: value.value.boolValue ?? false, state: state))
        case .slider(let slider): return sliderView(index, slider, label, state)
        case .stepper(let stepper):
            let number = value.value.numberValue
            var view = StepperView(
                label: label, valueText: number == nil ? nil : valueText(index), state: state)
            view.typing = typing(control.id)
            view.valueColumns = valueColumns(index, stepper.domain)
            if let number, !stepper.wraps {
                view.canDecrement = stepper.domain.min.map { number > $0 } ?? true
                view.canIncrement = stepper.domain.max.map { number < $0 } ?? true
            }
            return view
        case .date(let date): return dateView(index, date, label, state)
        case .text(let text): return textView(index, text, label, state, environment.glyphs)
        case .secure(let secure):
            return SecureView(
                label: label, isSet: mirror.state(control.id)?.isSecretSet ?? false,
                editor: typing(control.id), prompt: secure.prompt, state: state)
        case .gauge(let gauge):
            return GaugeView(
                GaugeStyleConfiguration(
                    label: label, value: value.value.numberValue,
                    range: TrackRange(gauge.domain)
                        ?? TrackRange(min: .zero, max: DecimalNumber(1)),
                    valueText: valueText(index), minLabel: gauge.minLabel,
                    maxLabel: gauge.maxLabel, thresholds: gauge.thresholds, state: state))
        case .button(let button):
            return ButtonView(
                PrimitiveButtonStyleConfiguration(
                    label: label, role: button.role,
                    confirm: Self.question(of: button, control),
                    phase: phase(control.id), state: state))
        case .label:
            return LabelView(
                label: control.label == nil ? nil : label, text: mirror.text(index), state: state)
        }
    }

    private func phase(_ field: String) -> PrimitiveButtonStyleConfiguration.Phase {
        if let activeEdit, activeEdit.field == field, case .confirm(let onConfirm) = activeEdit.kind
        {
            return .confirming(onConfirm: onConfirm)
        }
        return pressed?.field == field ? .pressed : .idle
    }

    /// The text that is typed into a control, if any.
    private func typing(_ field: String) -> TextEditor? {
        guard let activeEdit, activeEdit.field == field else { return nil }
        switch activeEdit.kind {
        case .text(let editor), .number(let editor): return editor
        default: return nil
        }
    }

    private func pickerView(
        _ index: Int, _ picker: PickerAttributes, _ state: ControlState,
        _ environment: StyleEnvironment
    ) -> PickerView {
        let control = mirror.definition.controls[index]
        var configuration = PickerStyleConfiguration(
            control, picker, value: shown(index), valueText: valueText(index), state: state,
            environment: environment)
        if let template = picker.currentValueLabel {
            configuration.currentValue = mirror.definition.render(
                template, of: index, values: mirror.stored)
        }
        if state.isFocused, shape(index) == .lines || picker.isMultiple {
            configuration.cursor = cursor(index)
        }
        if let activeEdit, activeEdit.field == control.id, case .list(let list) = activeEdit.kind {
            let floats = mode == .form && style(index) == .menu
            configuration.presentation = floats ? .floating(list) : .open(list)
        }
        return PickerView(configuration)
    }

    /// The list of a menu that lies over the form; `nil` if the control's style has none.
    func menu(_ index: Int, _ list: OpenList, _ environment: StyleEnvironment) -> MenuBox? {
        let control = mirror.definition.controls[index]
        guard case .picker(let picker) = control.kind, style(index) == .menu else { return nil }
        let environment = environment.styled(.menu, for: control.type)
        let view = pickerView(index, picker, state(index), environment)
        return MenuBox(view.configuration, list)
    }

    private func components(_ wheels: WheelsAttributes, _ value: JSON) -> [WheelsView.Component] {
        let rows = value.objectValue ?? JSONObject()
        return wheels.components.indices.map { number in
            let component = wheels.components[number]
            let options = wheels.rows(of: number, selection: rows)
            return WheelsView.Component(
                label: component.label, width: component.width, options: options.options,
                selected: rows[component.id].flatMap { options.index(of: $0) })
        }
    }

    private func sliderView(
        _ index: Int, _ slider: SliderAttributes, _ label: ControlLabel, _ state: ControlState
    ) -> SliderView {
        let control = mirror.definition.controls[index]
        var configuration = SliderStyleConfiguration(
            label: label, value: shown(index).value.numberValue,
            range: TrackRange(slider.domain) ?? TrackRange(min: .zero, max: DecimalNumber(1)),
            valueText: valueText(index), minLabel: slider.minLabel, maxLabel: slider.maxLabel,
            ticks: SliderStyleConfiguration.ticks(slider.ticks, domain: slider.domain),
            state: state)
        configuration.typing = typing(control.id)
        return SliderView(configuration)
    }

    private func textView(
        _ index: Int, _ text: TextAttributes, _ label: ControlLabel, _ state: ControlState,
        _ glyphs: Glyphs
    ) -> TextView {
        let control = mirror.definition.controls[index]
        let typed = typing(control.id)
        let linesMax = max(3, min(6, size.lines - 6))
        let present = TextEditor(
            shown(index).value.stringValue ?? "", isMultiline: text.isMultiline,
            maxLength: text.maxLength)
        // A draft stays in the input field; the note below shows the current value.
        return TextView(
            label: label, editor: typed ?? drafts[control.id] ?? present, prompt: text.prompt,
            isEditing: typed != nil, linesMax: linesMax, state: state)
    }

    private func dateView(
        _ index: Int, _ date: DateAttributes, _ label: ControlLabel, _ state: ControlState
    ) -> DatePickerView {
        let control = mirror.definition.controls[index]
        let value = shown(index)
        var configuration = DatePickerStyleConfiguration(
            label: label, mode: date.mode, value: DateValue(value.value, mode: date.mode),
            min: date.min, max: date.max, minuteInterval: date.minuteInterval, zone: date.zone,
            part: parts[control.id] ?? 0, state: state)
        if configuration.value == nil, !value.value.isNull {
            configuration.invalidText = valueText(index)
        }
        configuration.today = around.today
        configuration.month = months[control.id]
        if let activeEdit, activeEdit.field == control.id {
            if case .part(let typed, _) = activeEdit.kind { configuration.typing = typed }
            if case .calendar(let day) = activeEdit.kind { configuration.cursor = day }
        }
        return DatePickerView(configuration)
    }
}
