// A form as a terminal shows it before anybody has set a value: for its author, who wants to see it
// without a daemon.

public import SyncCore

/// The controls of a form with their defaults, in the styles of a terminal.
public struct FormPreview: ControlView {
    /// A change of the environment of one control: a program's own style.
    public typealias StyleChange = @Sendable (inout StyleEnvironment) -> Void

    private let definition: FormDefinition
    private let styles: [String: [StyleChange]]

    /// A preview.
    ///
    /// - Parameters:
    ///   - definition: the form.
    ///   - styles: by the control's id, the styles that a program gives it, the innermost last.
    public init(_ definition: FormDefinition, styles: [String: [StyleChange]] = [:]) {
        self.definition = definition
        self.styles = styles
    }

    private func value(_ index: Int) -> JSON { definition.controls[index].defaultValue }

    public func block(in environment: StyleEnvironment) -> any Block {
        let roles = environment.roles
        let visible = definition.controls.indices.filter {
            definition.isVisible($0, values: value)
        }
        let environment = environment.fittingLabels(
            visible.map { ControlLabel(definition.controls[$0]) })
        var blocks: [any Block] = [
            StyledText(definition.title ?? definition.name, roles.heading).truncated()
        ]
        func note(_ text: String?) {
            guard let text else { return }
            blocks.append(Padding(left: 2, StyledText(text, roles.dim)))
        }
        note(definition.subtitle)
        for section in definition.sections {
            let fields = section.fields.filter { visible.contains($0) }
            if fields.isEmpty { continue }
            blocks.append(StyledText(""))
            if let title = section.title {
                blocks.append(
                    TitledRule(
                        StyledText("  \(title)", roles.heading), style: roles.border,
                        glyphs: environment.glyphs))
            }
            for index in fields { blocks.append(block(of: index, in: environment)) }
            note(section.footer)
        }
        return Column(blocks)
    }

    /// One control; whether it is disabled depends on the defaults of others.
    private func block(of index: Int, in environment: StyleEnvironment) -> any Block {
        let control = definition.controls[index]
        var environment = environment.styled(for: control)
        for change in styles[control.id] ?? [] { change(&environment) }
        let shown = definition.shown(index, values: value)
        let state = ControlState(
            control,
            field: FieldState(
                value: shown.value, revision: 0, isSet: false, isMixed: shown.isMixed,
                isInvalid: shown.isInvalid, isMissing: shown.isMissing),
            isDisabled: !definition.isEnabled(index, values: value), canAdminister: false)
        return definition.view(
            of: index, shown, text: definition.displayText(of: index, values: value), state
        ).block(in: environment)
    }

    /// The preview as lines of text.
    ///
    /// - Parameters:
    ///   - columns: the width of the terminal.
    ///   - environment: the terminal's colours, marks and styles.
    ///   - hasStyle: whether colours and weights are written as control sequences.
    public func text(columns: Int, in environment: StyleEnvironment, hasStyle: Bool) -> String {
        let canvas = Canvas.drawing(AnyBlock(block(in: environment)), columns: max(1, columns))
        return canvas.buffer.text(
            depth: hasStyle ? environment.depth : nil, charset: environment.charset)
    }
}

extension FormDefinition {
    /// A control as a view that nobody edits.
    ///
    /// - Parameters:
    ///   - index: the control's place.
    ///   - shown: its value.
    ///   - text: its value in words.
    ///   - state: what all controls have in common.
    public func view(
        of index: Int, _ shown: ShownValue, text: String, _ state: ControlState
    ) -> any ControlView {
        let control = controls[index]
        let label = ControlLabel(control)
        switch control.kind {
        case .picker(let picker):
            return PickerView(
                PickerStyleConfiguration(
                    control, picker, value: shown, valueText: text, state: state,
                    environment: StyleEnvironment()))
        case .wheels(let wheels):
            return WheelsView(control, wheels, value: shown.value, state: state)
        case .toggle:
            return ToggleView(
                ToggleStyleConfiguration(
                    label: label, isOn: shown.value.boolValue ?? false, state: state))
        case .slider(let slider):
            guard
                let configuration = SliderStyleConfiguration(
                    control, slider, value: shown.value, valueText: text, state: state)
            else { break }
            return SliderView(configuration)
        case .stepper(let stepper):
            return StepperView(control, stepper, value: shown.value, valueText: text, state: state)
        case .date(let date):
            return DatePickerView(
                DatePickerStyleConfiguration(control, date, value: shown.value, state: state))
        case .text(let attributes):
            let editor = TextEditor(
                shown.value.stringValue ?? "", isMultiline: attributes.isMultiline,
                maxLength: attributes.maxLength)
            return TextView(label: label, editor: editor, prompt: attributes.prompt, state: state)
        case .secure(let secure):
            return SecureView(
                label: label, isSet: false, editor: nil, prompt: secure.prompt, state: state)
        case .gauge(let gauge):
            guard
                let configuration = GaugeStyleConfiguration(
                    control, gauge, value: shown.value, valueText: text, state: state)
            else { break }
            return GaugeView(configuration)
        case .button(let button):
            return ButtonView(
                PrimitiveButtonStyleConfiguration(control, button, phase: .idle, state: state))
        case .label: break
        }
        // A range without an end has no track.
        return LabelView(label: control.label == nil ? nil : label, text: text, state: state)
    }
}
