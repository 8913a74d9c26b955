// Converts a typed answer to an edit.

internal import SyncCore

/// Reads the answers of `LineForm`.
enum LineAnswer {
    /// The meaning of an answer.
    enum Action {
        case edit(Change.Action)
        /// No: nothing is done.
        case nothing
    }

    /// The edit that a line means; `nil` if it means none.
    static func action(_ line: String, _ index: Int, _ model: LiveModel) -> Action? {
        let control = model.presentation.definition.controls[index]
        switch control.kind {
        case .picker(let picker):
            let options = LiveModel.choices(of: control)
            guard picker.isMultiple else {
                return option(line, options).map { .edit(.value($0)) }
            }
            return tags(line, options).map { .edit(.value(.array($0))) }
        case .toggle: return flag(line).map { .edit(.value(.bool($0))) }
        case .button: return flag(line).map { $0 ? .edit(.press) : .nothing }
        case .slider, .gauge:
            return ValueParser.number(line).map { .edit(.value(.number($0))) }
        case .stepper(let stepper):
            let width = stepper.domain.step ?? DecimalNumber(1)
            if line == "+" { return .edit(.increment(width)) }
            if line == "-" { return width.negated.map { .edit(.increment($0)) } }
            return ValueParser.number(line).map { .edit(.value(.number($0))) }
        case .date(let date):
            if line == "none" { return .edit(.value(.null)) }
            if date.mode == .countdown {
                return ValueParser.number(line).map { .edit(.value(.number($0))) }
            }
            return .edit(.value(.string(line)))
        case .text, .secure: return .edit(.value(.string(line)))
        case .wheels, .label: return nil
        }
    }

    /// An option by its number in the list, its label or its tag.
    static func option(_ line: String, _ options: [PickerOption]) -> JSON? {
        if let number = Int(line), options.indices.contains(number - 1) {
            return options[number - 1].tag
        }
        let wanted = line.lowercased()
        return options.first { option in
            option.label.lowercased() == wanted || ValueText.scalar(option.tag) == line
        }?.tag
    }

    private static func tags(_ line: String, _ options: [PickerOption]) -> [JSON]? {
        if line.lowercased() == "none" { return [] }
        var tags: [JSON] = []
        for part in line.split(whereSeparator: { $0 == "," || $0 == " " }) {
            guard let tag = option(String(part), options) else { return nil }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return tags
    }

    private static func flag(_ line: String) -> Bool? {
        switch line.lowercased() {
        case "y", "yes", "on", "true", "1": true
        case "n", "no", "off", "false", "0": false
        default: nil
        }
    }
}
