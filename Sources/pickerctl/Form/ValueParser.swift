// Converts text to the JSON value of a control. The control's type decides, never the format of the
// text.
//
// | control | text | value |
// | --- | --- | --- |
// | picker | a tag | the tag with its type; empty or `null` if optional |
// | picker, multiple | tags with commas, or a JSON array; empty for none | array |
// | wheels | a JSON object of some components; `FIELD.COMPONENT=TAG` for one | object |
// | toggle | true, false, on, off, yes, no, 1, 0 | boolean |
// | slider, stepper, gauge | a decimal number | number |
// | date | as in FORM.md; a countdown in seconds; empty or `null` for none | string, number |
// | text, secure | anything | string |
//
// The daemon checks whether the value is in the control's domain.

internal import SyncCore

/// Parses values for controls.
enum ValueParser {
    /// A whole value of a control.
    static func value(_ text: String, for field: FieldOutline) throws(Failure) -> JSON {
        switch field.kind {
        case .picker where field.isMultiple: return .array(try tags(text, for: field))
        case .picker: return try tag(text, among: field.options, isOptional: field.isOptional)
        case .wheels:
            guard let json = try? JSON(parsing: text), json.objectValue != nil else {
                throw .notValue(text, of: field, "a JSON object, or \(field.id).COMPONENT=TAG")
            }
            return json
        case .toggle: return .bool(try flag(text, for: field))
        case .slider, .stepper, .gauge:
            guard let number = number(text) else { throw .notValue(text, of: field, "a number") }
            return .number(number)
        case .date:
            if text.isEmpty || text == "null" { return .null }
            guard field.isCountdown else { return .string(text) }
            guard let number = number(text) else {
                throw .notValue(text, of: field, "a number of seconds")
            }
            return .number(number)
        case .text, .secure, nil: return .string(text)
        case .button:
            throw .isButton(field.id, name: field.name)
        case .label:
            throw .isLabel(field.id)
        }
    }

    /// One component of wheels.
    static func component(
        _ text: String, _ component: String, of field: FieldOutline
    ) throws(Failure) -> JSON {
        guard field.kind == .wheels else {
            throw .noComponents(field.id, write: "\(field.id)=\(text)")
        }
        guard let found = field.components.first(where: { $0.id.isSameBytes(as: component) }) else {
            throw .noComponent(component, field.id, among: field.components.map(\.id))
        }
        return .members((component, try tag(text, among: found.options, isOptional: false)))
    }

    /// The tags of a picker with `multiple`.
    static func tags(_ text: String, for field: FieldOutline) throws(Failure) -> [JSON] {
        if text.isEmpty { return [] }
        if text.hasPrefix("["), let json = try? JSON(parsing: text), let tags = json.arrayValue {
            return tags
        }
        // A tag may contain a comma itself, so the whole text is tried first.
        if let whole = field.options.first(where: { ValueText.scalar($0.tag) == text }) {
            return [whole.tag]
        }
        var result: [JSON] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let trimmed = part.drop { $0 == " " }
            result.append(try tag(String(trimmed), among: field.options, isOptional: false))
        }
        return result
    }

    /// The matching option's tag; otherwise the text in the type of the tags, so that the daemon
    /// rejects it with a message.
    private static func tag(
        _ text: String, among options: [OptionOutline], isOptional: Bool
    ) throws(Failure) -> JSON {
        if let option = options.first(where: { ValueText.scalar($0.tag).isSameBytes(as: text) }) {
            return option.tag
        }
        if isOptional, text.isEmpty || text == "null" { return .null }
        switch options.first?.tag {
        case .number: return number(text).map { .number($0) } ?? .string(text)
        case .bool: return flags[text].map { .bool($0) } ?? .string(text)
        default: return .string(text)
        }
    }

    /// The increment of `FIELD+=N`, negated for `FIELD-=N`.
    static func increment(
        _ text: String, negated: Bool, for field: FieldOutline
    ) throws(Failure) -> DecimalNumber {
        guard let number = number(text), let result = negated ? number.negated : number else {
            throw .notValue(text, of: field, "a number to \(negated ? "subtract" : "add")")
        }
        return result
    }

    /// A decimal number: JSON's syntax, and also a leading plus, or a point at the start or end.
    static func number(_ text: String) -> DecimalNumber? {
        var text = text[...]
        let isNegative = text.first == "-"
        if isNegative || text.first == "+" { text = text.dropFirst() }
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "+-.eE".utf8.contains(byte)
        }
        guard isPlain, text.contains(where: \.isNumber), text.first != "-", text.first != "+" else {
            return nil
        }
        while text.count > 1, text.first == "0", text.dropFirst().first?.isNumber == true {
            text = text.dropFirst()
        }
        if text.first == "." { text = "0" + text }
        if text.last == "." { text = text.dropLast() }
        return (try? JSON(parsing: (isNegative ? "-" : "") + text))?.numberValue
    }

    private static let flags: [String: Bool] = [
        "true": true, "on": true, "yes": true, "1": true,
        "false": false, "off": false, "no": false, "0": false,
    ]

    private static func flag(_ text: String, for field: FieldOutline) throws(Failure) -> Bool {
        guard let flag = flags[text.lowercased()] else {
            throw .notValue(text, of: field, "true or false")
        }
        return flag
    }
}
