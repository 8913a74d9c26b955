// Values of a form in words.

internal import SyncCore
internal import TerminalUI

extension FormPresentation {
    /// Another value of the control in words.
    func text(_ value: JSON, of index: Int) -> String {
        if case .secure = definition.controls[index].kind { return Template.dash }
        if case .button = definition.controls[index].kind { return "pressed" }
        if let percent = definition.percent(value, index) { return percent }
        if let format = measure(index), !value.isNull {
            let targets = definition.targets[index]
            return definition.render(format, of: index) {
                targets.contains($0) ? value : stored($0)
            }
        }
        return definition.text(of: ShownValue(value), control: index)
    }

    /// The format of a number on a scale. It is short, such as a unit; other formats are sentences
    /// for the control's own place.
    private func measure(_ index: Int) -> Template? {
        switch definition.controls[index].kind {
        case .slider(let slider): slider.format
        case .gauge(let gauge): gauge.currentValueLabel
        default: nil
        }
    }

    /// The threshold that the value of a gauge has passed last, in words: `over 60`.
    func threshold(_ index: Int) -> String? {
        guard case .gauge(let gauge) = definition.controls[index].kind,
            let value = shown(index).value.numberValue,
            let passed = gauge.thresholds.last(where: { $0.from <= value })
        else { return nil }
        let text = text(.number(passed.from), of: index)
        return GaugeStyleConfiguration.Threshold(from: passed.from, tint: passed.tint, text: text)
            .words(at: value, text)
    }
}

extension FormDefinition {
    /// The value of a gauge from 0 to 1 without a format, as a percentage.
    func percent(_ value: @autoclosure () -> JSON, _ index: Int) -> String? {
        guard case .gauge(let gauge) = controls[index].kind,
            gauge.currentValueLabel == nil,
            gauge.domain.min == .zero, gauge.domain.max == DecimalNumber(1),
            let number = value().numberValue,
            let hundred = DecimalNumber(
                significand: Int128(number.significand), exponent: Int(number.exponent) + 2)
        else { return nil }
        return "\(hundred) %"
    }
}
