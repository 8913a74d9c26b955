// Converts a form's controls to views: in the live form, in a preview, and wherever else a form is
// drawn.
//
// Invariants: what a form knows of a control comes from its definition and its displayed value;
// what somebody does with it (cursor, filter, typed text) is a `ControlInteraction`, and its marks
// are a `ControlState`.

public import SyncCore

/// What somebody does with a control at this moment; the defaults mean nothing.
public struct ControlInteraction: Sendable {
    /// The highlighted option of a picker.
    public var cursor: Int?
    /// How far a picker is open.
    public var presentation = PickerStyleConfiguration.Presentation.closed
    /// The text or the number that is being typed.
    public var typing: TextEditor?
    /// What was typed and is not set: it stays in its control until it is mended or discarded.
    public var draft: TextEditor?
    /// Lines of a text that are visible at most.
    public var linesMax = 6
    /// The part of a date, or the wheel, that the keys change.
    public var part = 0
    /// What is typed into that part so far.
    public var typedPart: String?
    /// The month that a calendar shows, if it is not the value's.
    public var month: YearMonth?
    /// The highlighted day of a calendar.
    public var day: CivilDate?
    /// Marked in a calendar; this library has no clock.
    public var today: CivilDate?
    /// The state of a button's press.
    public var phase = PrimitiveButtonStyleConfiguration.Phase.idle
    /// Whether a secret is stored.
    public var isSecretSet = false

    /// Nothing.
    public init() {}
}

/// A value of a control in words: of one that is shown, or of a bound of its domain.
public typealias ValueWords = (JSON) -> String

extension ControlState {
    /// The state of a form's control, as its definition and its value have it.
    ///
    /// Whether the control is disabled depends on conditions, so it is a parameter. This runs for
    /// each control in each frame: a function borrows the control, an initializer would copy it.
    public static func of(
        _ control: Control, _ shown: ShownValue, isDisabled: Bool, isFocused: Bool = false
    ) -> ControlState {
        var state = ControlState(
            isFocused: isFocused, availability: availability(of: control, isDisabled: isDisabled),
            validity: shown.isMissing ? .missing : .valid, isMixed: shown.isMixed)
        if shown.isInvalid {
            state.validity = .invalid(ControlWords.noLongerValid)
        }
        return state
    }

    private static func availability(of control: Control, isDisabled: Bool) -> Availability {
        switch control.kind {
        // Reading is their normal use, so there is no mark.
        case .label: return .editable
        case .gauge where control.isReadOnly: return isDisabled ? .disabled : .editable
        default: break
        }
        if isDisabled { return .disabled }
        if control.isReadOnly { return .readOnly }
        return control.isLocked ? .locked : .editable
    }
}

extension FormDefinition {
    /// The label of a control.
    private func label(of index: Int) -> ControlLabel {
        ControlLabel(
            controls[index].title, subtitle: controls[index].subtitle,
            symbol: controls[index].symbol, isRequired: controls[index].isRequired)
    }

    /// A control as a view.
    ///
    /// - Parameters:
    ///   - index: the control's place.
    ///   - shown: its value.
    ///   - text: its value in words.
    ///   - state: what all controls have in common.
    ///   - interaction: what somebody does with it.
    ///   - words: other values of the control in words.
    public func view(
        of index: Int, _ shown: ShownValue, text: String, _ state: ControlState,
        _ interaction: ControlInteraction = ControlInteraction(), words: ValueWords
    ) -> any ControlView {
        let label = label(of: index)
        // No copy of the control, because a copy retains each of its texts.
        switch controls[index].kind {
        case .picker(let picker):
            return PickerView(
                PickerStyleConfiguration(
                    controls[index], picker, value: shown, valueText: text, state, interaction))
        case .wheels(let wheels):
            return WheelsView(
                controls[index], wheels, value: shown.value, active: interaction.part, state: state)
        case .toggle:
            return ToggleView(
                ToggleStyleConfiguration(
                    label: label, isOn: shown.value.boolValue ?? false, state: state))
        case .slider(let slider):
            var configuration = SliderStyleConfiguration(
                controls[index], slider, value: shown.value, valueText: text, state: state)
            configuration.typing = interaction.typing ?? interaction.draft
            configuration.isTyping = interaction.typing != nil
            return SliderView(configuration)
        case .stepper(let stepper):
            var view = StepperView(
                stepper, label: label, value: shown.value, valueText: text, state: state,
                words: words)
            view.typing = interaction.typing ?? interaction.draft
            view.isTyping = interaction.typing != nil
            return view
        case .date(let date):
            var configuration = DatePickerStyleConfiguration(
                controls[index], date, value: shown.value, valueText: text, state: state)
            configuration.part = interaction.part
            configuration.typing = interaction.typedPart
            configuration.draft = interaction.draft?.text
            configuration.month = interaction.month
            configuration.cursor = interaction.day
            configuration.today = interaction.today
            return DatePickerView(configuration)
        case .text(let attributes):
            let present = TextEditor(
                shown.value.stringValue ?? "", isMultiline: attributes.isMultiline,
                maxLength: attributes.maxLength)
            return TextView(
                label: label, editor: interaction.typing ?? interaction.draft ?? present,
                prompt: attributes.prompt, isEditing: interaction.typing != nil,
                linesMax: interaction.linesMax, state: state)
        case .secure(let secure):
            return SecureView(
                label: label, isSet: interaction.isSecretSet, editor: interaction.typing,
                prompt: secure.prompt, state: state)
        case .gauge(let gauge):
            return GaugeView(
                GaugeStyleConfiguration(
                    controls[index], gauge, value: shown.value, valueText: text, state: state,
                    words: words))
        case .button(let button):
            return ButtonView(
                PrimitiveButtonStyleConfiguration(
                    controls[index], button, phase: interaction.phase, state: state))
        case .label:
            let isAlone = controls[index].label == nil
            return LabelView(label: isAlone ? nil : label, text: text, state: state)
        }
    }

    /// Controls as they are drawn: buttons that follow one another are side by side.
    public func rows(of visible: [Int]) -> [[Int]] {
        func isButton(_ index: Int?) -> Bool {
            guard let index, case .button = controls[index].kind else { return false }
            return true
        }
        var rows: [[Int]] = []
        for index in visible {
            if isButton(index), isButton(rows.last?.last) {
                rows[rows.count - 1].append(index)
            } else {
                rows.append([index])
            }
        }
        return rows
    }
}

extension ControlLabel {
    /// The columns of the label beside its control: a long subtitle is wrapped.
    public var columns: Int {
        let sign = (symbol == nil ? 0 : 2) + (isRequired ? 2 : 0)
        return max(
            DisplayWidth.columns(of: title) + sign,
            min(subtitle.map { DisplayWidth.columns(of: $0) } ?? 0, Self.subtitleMax))
    }

    /// Columns of a subtitle before it is wrapped.
    private static let subtitleMax = 18
}

extension StyleEnvironment {
    /// The environment with a label column of `columns`, within bounds that leave enough space for
    /// the controls.
    ///
    /// - Parameter alignment: where the labels end.
    public func fittingLabels(
        columns: Int, _ alignment: LabelAlignment = .leading
    ) -> StyleEnvironment {
        with {
            $0.labelColumns = min(max(columns, 14), 27)
            $0.labelAlignment = alignment
        }
    }
}

extension SliderStyleConfiguration {
    /// The configuration of a form's slider.
    init(
        _ control: Control, _ slider: SliderAttributes, value: JSON, valueText: String,
        state: ControlState
    ) {
        self.init(
            label: ControlLabel(control), value: value.numberValue,
            range: TrackRange(slider.domain) ?? .unit,
            valueText: valueText, minLabel: slider.minLabel, maxLabel: slider.maxLabel,
            ticks: Self.ticks(slider.ticks, domain: slider.domain), state: state)
    }
}

extension GaugeStyleConfiguration {
    /// The configuration of a form's gauge.
    init(
        _ control: Control, _ gauge: GaugeAttributes, value: JSON, valueText: String,
        state: ControlState, words: ValueWords
    ) {
        self.init(
            label: ControlLabel(control), value: value.numberValue,
            range: TrackRange(gauge.domain) ?? .unit, valueText: valueText,
            minLabel: gauge.minLabel, maxLabel: gauge.maxLabel,
            thresholds: gauge.thresholds.map {
                Threshold(from: $0.from, tint: $0.tint, text: words(.number($0.from)))
            }, state: state)
        valueColumns =
            [gauge.domain.min, gauge.domain.max].compactMap { $0 }
            .map { DisplayWidth.columns(of: words(.number($0))) }.max() ?? 0
    }
}

extension DatePickerStyleConfiguration {
    /// The configuration of a form's date picker.
    init(
        _ control: Control, _ date: DateAttributes, value: JSON, valueText: String,
        state: ControlState
    ) {
        self.init(
            label: ControlLabel(control), mode: date.mode,
            value: DateValue(value, mode: date.mode), min: date.min, max: date.max,
            minuteInterval: date.minuteInterval, zone: date.zone, state: state)
        if self.value == nil, !value.isNull { invalidText = valueText }
    }
}

extension StepperView {
    /// A form's stepper. With `wraps` it has no ends, and without a value both buttons are enabled.
    init(
        _ stepper: StepperAttributes, label: ControlLabel, value: JSON, valueText: String,
        state: ControlState, words: ValueWords
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
            label: label, valueText: number == nil ? nil : valueText,
            canDecrement: isAbove(stepper.domain.min), canIncrement: isBelow(stepper.domain.max),
            state: state)
        guard stepper.domain.min != nil || stepper.domain.max != nil else { return }
        func columns(_ end: DecimalNumber?) -> Int {
            end.map { DisplayWidth.columns(of: words(.number($0))) } ?? 0
        }
        valueColumns = max(columns(stepper.domain.min), columns(stepper.domain.max))
    }
}

extension WheelsView {
    /// A form's wheels, with the rows that are in force for the value.
    init(
        _ control: Control, _ wheels: WheelsAttributes, value: JSON, active: Int,
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
    init(_ control: Control, _ button: ButtonAttributes, phase: Phase, state: ControlState) {
        self.init(
            label: ControlLabel(control), role: button.role,
            confirm: button.question(titled: control.title), phase: phase, state: state)
    }
}

extension ButtonAttributes {
    /// What a button asks before it acts; `nil` if it acts at once.
    public func question(titled title: String) -> String? {
        confirm ?? (role == .destructive ? ControlWords.question(title) : nil)
    }
}
