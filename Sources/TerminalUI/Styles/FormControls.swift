// Converts a form's controls to views.
//
// What a form knows of a control comes from its definition and its shown value; the caller adds the
// state of the interaction (cursor, filter, typed text, open menus) to the result.

public import SyncCore

extension ControlState {
    /// The state of a form's control, as its definition and its value have it.
    ///
    /// `canAdminister` says whether locked controls may be set. Whether the control is disabled
    /// depends on conditions, so it is a parameter.
    public init(
        _ control: Control, field: FieldState, isDisabled: Bool, canAdminister: Bool,
        isFocused: Bool = false
    ) {
        let availability: Availability =
            isDisabled
            ? .disabled
            : control.isLocked && !canAdminister
                ? .locked : control.isReadOnly ? .readOnly : .editable
        self.init(
            isFocused: isFocused, availability: availability,
            validity: field.isMissing ? .missing : .valid, isMixed: field.isMixed)
        if field.isInvalid { validity = .invalid("not a value that it takes any more") }
    }
}

extension StyleEnvironment {
    /// The environment with a column for labels that suits these: as wide as the widest, within
    /// bounds that leave enough space for the controls.
    public func fittingLabels(_ labels: some Sequence<ControlLabel>) -> StyleEnvironment {
        var widest = 0
        for label in labels { widest = max(widest, label.text(.plain, self).columns) }
        return with { $0.labelColumns = min(max(widest, 14), 24) }
    }

    /// The environment of a form's control: with its effective style, unless that is automatic.
    public func styled(for control: Control) -> StyleEnvironment {
        styled(control.effectiveStyle, for: control.type)
    }
}

extension SliderStyleConfiguration {
    /// The configuration of a form's slider; `nil` if it has not both bounds.
    public init?(
        _ control: Control, _ slider: SliderAttributes, value: JSON, valueText: String,
        state: ControlState
    ) {
        guard let range = TrackRange(slider.domain) else { return nil }
        self.init(
            label: ControlLabel(control), value: value.numberValue, range: range,
            valueText: valueText, minLabel: slider.minLabel, maxLabel: slider.maxLabel,
            ticks: Self.ticks(slider.ticks, domain: slider.domain), state: state)
    }
}

extension GaugeStyleConfiguration {
    /// The configuration of a form's gauge; `nil` if it has not both bounds.
    public init?(
        _ control: Control, _ gauge: GaugeAttributes, value: JSON, valueText: String,
        state: ControlState
    ) {
        guard let range = TrackRange(gauge.domain) else { return nil }
        self.init(
            label: ControlLabel(control), value: value.numberValue, range: range,
            valueText: valueText, minLabel: gauge.minLabel, maxLabel: gauge.maxLabel,
            thresholds: gauge.thresholds, state: state)
    }
}

extension DatePickerStyleConfiguration {
    /// The configuration of a form's date picker.
    public init(_ control: Control, _ date: DateAttributes, value: JSON, state: ControlState) {
        self.init(
            label: ControlLabel(control), mode: date.mode,
            value: DateValue(value, mode: date.mode), min: date.min, max: date.max,
            minuteInterval: date.minuteInterval, zone: date.zone, state: state)
        if self.value == nil, let text = value.stringValue { invalidText = text }
    }
}

extension StepperView {
    /// A form's stepper. With `wraps` it has no ends, and without a value both buttons are enabled.
    public init(
        _ control: Control, _ stepper: StepperAttributes, value: JSON, valueText: String?,
        state: ControlState
    ) {
        let number = value.numberValue
        func isBelow(_ bound: DecimalNumber?) -> Bool {
            guard let number, let bound, !stepper.wraps else { return true }
            return number < bound
        }
        func isAbove(_ bound: DecimalNumber?) -> Bool {
            guard let number, let bound, !stepper.wraps else { return true }
            return bound < number
        }
        self.init(
            label: ControlLabel(control), valueText: valueText,
            canDecrement: isAbove(stepper.domain.min), canIncrement: isBelow(stepper.domain.max),
            state: state)
    }
}

extension WheelsView {
    /// A form's wheels, with the rows that are in force for the value.
    public init(
        _ control: Control, _ wheels: WheelsAttributes, value: JSON, active: Int = 0,
        state: ControlState
    ) {
        let selection = value.objectValue ?? JSONObject()
        let components = wheels.components.indices.map { index in
            let component = wheels.components[index]
            let rows = wheels.rows(of: index, selection: selection)
            return Component(
                label: component.label, width: component.width, options: rows.options,
                selected: selection[component.id].flatMap { rows.index(of: $0) })
        }
        self.init(
            label: ControlLabel(control), components: components, active: active, state: state)
    }
}

extension PrimitiveButtonStyleConfiguration {
    /// The configuration of a form's button.
    public init(_ control: Control, _ button: ButtonAttributes, phase: Phase, state: ControlState) {
        self.init(
            label: ControlLabel(control), role: button.role, confirm: button.confirm, phase: phase,
            state: state)
    }
}
