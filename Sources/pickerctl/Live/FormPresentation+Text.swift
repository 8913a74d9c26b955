// Values of a form in words.

internal import SyncCore

extension FormPresentation {
    /// Another value of the control in words.
    func text(_ value: JSON, of index: Int) -> String {
        if case .secure = definition.controls[index].kind { return Template.dash }
        if case .button = definition.controls[index].kind { return "pressed" }
        if let percent = percent(value, index) { return percent }
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

    /// The value of a gauge from 0 to 1 without a format, as a percentage.
    func percent(_ value: @autoclosure () -> JSON, _ index: Int) -> String? {
        guard case .gauge(let gauge) = definition.controls[index].kind,
            gauge.currentValueLabel == nil,
            gauge.domain.min == .zero, gauge.domain.max == DecimalNumber(1),
            let number = value().numberValue,
            let hundred = DecimalNumber(
                significand: Int128(number.significand), exponent: Int(number.exponent) + 2)
        else { return nil }
        return "\(hundred) %"
    }
}
