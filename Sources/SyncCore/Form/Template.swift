// Texts with values: `${flavor} with ${topping}`.
//
// They are stored and sent unchanged. The program that shows them fills in the values (FORM.md,
// Types).

/// A parsed template. Its references are indexes of controls with a value.
public struct Template: Hashable, Sendable {
    /// As written.
    public let source: String
    /// The parts in order.
    public let parts: [Part]

    /// Text, or a reference.
    public enum Part: Hashable, Sendable {
        case text(String)
        /// The value of the control with the template: `${value}`.
        case ownValue
        /// Another control's value: `${id}`.
        case field(Int)
        /// The row of one component of wheels: `${id.component}`.
        case component(field: Int, component: Int)
    }

    /// The most references of a template. Each is looked up at every change.
    public static let referencesMax = 64
    /// The most bytes of the filled-in text; more is replaced by `…`.
    public static let renderedBytesMax = 16 << 10

    /// The text for a value that does not exist or must not be shown.
    public static let dash = "—"

    /// The referenced controls, ascending and distinct, without the control itself.
    public var references: [Int] {
        var found: Set<Int> = []
        for part in parts {
            switch part {
            case .field(let field), .component(let field, _): found.insert(field)
            case .text, .ownValue: break
            }
        }
        return found.sorted()
    }
}

extension Template {
    /// A template before its names are looked up.
    struct Raw {
        enum Part: Hashable {
            case text(String)
            case name(String)
        }
        /// The parts, up to the last name that a template may have.
        private(set) var parts: [Part] = []
        private(set) var names = 0

        /// Splits a text at `${name}`; `$${` means `${`. `nil` if a `${` is not closed.
        init?(_ source: String) {
            // Bytes, because all delimiters are ASCII and UTF-8 has no ASCII byte inside another
            // character.
            let bytes = Array(source.utf8)
            let (dollar, open) = (UInt8(ascii: "$"), UInt8(ascii: "{"))
            func byte(_ place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }
            var text: [UInt8] = []
            var place = 0
            while let first = byte(place) {
                if first == dollar, byte(place + 1) == dollar, byte(place + 2) == open {
                    text += [dollar, open]
                    place += 3
                } else if first == dollar, byte(place + 1) == open {
                    let name = place + 2
                    place = name
                    while let next = byte(place), next != UInt8(ascii: "}") { place += 1 }
                    guard place < bytes.count else { return nil }
                    names += 1
                    if names <= Template.referencesMax {
                        append(text)
                        parts.append(.name(String(decoding: bytes[name..<place], as: UTF8.self)))
                    }
                    text.removeAll(keepingCapacity: true)
                    place += 1
                } else {
                    text.append(first)
                    place += 1
                }
            }
            append(text)
        }

        private mutating func append(_ text: [UInt8]) {
            if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
        }
    }
}

extension FormDefinition {
    /// The text with values filled in, at most `Template.renderedBytesMax` long. `control` is the
    /// control with the template.
    public func render(
        _ template: Template, of control: Int, values: (Int) -> JSON
    ) -> String {
        var text = ""
        for part in template.parts {
            if text.utf8.count > Template.renderedBytesMax { break }
            switch part {
            case .text(let piece): text += piece
            case .ownValue: text += self.text(of: shown(control, values: values), control: control)
            case .field(let field):
                text += self.text(of: shown(field, values: values), control: field)
            case .component(let field, let component):
                text += rowText(of: shown(field, values: values), control: field, row: component)
            }
        }
        return text.cut(toBytes: Template.renderedBytesMax)
    }

    /// A value as text in a template: the label of the option, `—` for null, mixed and secure
    /// values, lists as `a, b`, and `— (invalid: x)` for what the control does not accept.
    public func text(of shown: ShownValue, control index: Int) -> String {
        if shown.isMixed || shown.value.isNull { return Template.dash }
        // Without a copy of the control, which retains each of its texts.
        switch types[index] {
        case .slider, .stepper, .gauge:
            guard !shown.isInvalid, case .number(let number) = shown.value else { break }
            return number.formatted(
                fractionDigits: controls[index].numberDomain?.fractionDigits ?? 0)
        default: break
        }
        let control = controls[index]
        let text =
            switch (control.kind, shown.value) {
            case (.picker(let picker), .array(let tags)):
                tags.map { Self.label(of: $0, in: picker.options) }.joined(separator: ", ")
            case (.picker(let picker), let tag): Self.label(of: tag, in: picker.options)
            case (.wheels(let wheels), .object(let rows)):
                wheels.components.indices.map { component in
                    let tag = rows[wheels.components[component].id] ?? .null
                    let options = wheels.rows(of: component, selection: rows)
                    return Self.label(of: tag, in: options)
                }.joined(separator: ", ")
            case (.button, let presses): Self.plainText(presses["presses"] ?? 0)
            case (_, .number(let number)):
                number.formatted(fractionDigits: control.numberDomain?.fractionDigits ?? 0)
            case (_, let value): Self.plainText(value)
            }
        return shown.isInvalid ? "\(Template.dash) (invalid: \(text))" : text
    }

    private func rowText(of shown: ShownValue, control: Int, row: Int) -> String {
        guard case .wheels(let wheels) = controls[control].kind,
            case .object(let rows) = shown.value, let tag = rows[wheels.components[row].id]
        else { return Template.dash }
        let options = wheels.rows(of: row, selection: rows)
        if options[tag] == nil, !tag.isNull {
            return "\(Template.dash) (invalid: \(Self.plainText(tag)))"
        }
        return Self.label(of: tag, in: options)
    }

    private static func label(of tag: JSON, in options: OptionList) -> String {
        options[tag]?.label ?? plainText(tag)
    }

    /// A value without a control: strings without quotation marks, lists as `a, b`.
    static func plainText(_ value: JSON) -> String {
        switch value {
        case .null: Template.dash
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): number.description
        case .string(let text): text
        case .array(let elements): elements.map(plainText).joined(separator: ", ")
        case .object(let object):
            object.members.map { plainText($0.value) }.joined(separator: ", ")
        }
    }
}
