// Texts with values in them: `${flavor} with ${topping}`.
//
// They travel as written and are rendered by whoever shows them (FORM.md, Types).

/// A parsed template. Its references are indexes of controls that have a value.
public struct Template: Hashable, Sendable {
    /// As written.
    public let source: String
    /// Its parts in order.
    public let parts: [Part]

    /// A piece of text, or a place for one.
    public enum Part: Hashable, Sendable {
        case text(String)
        /// The value of the control that the template belongs to: `${value}`.
        case ownValue
        /// Another control's value: `${id}`.
        case field(Int)
        /// The row of one wheel: `${id.component}`.
        case component(field: Int, component: Int)
    }

    /// Values that a template may name: each is looked up and shown again with every change.
    public static let referencesMax = 64
    /// Bytes that a template is rendered to at most; more is cut off with `…`.
    public static let renderedBytesMax = 16 << 10

    /// What is shown for a value that is not there or must not be shown.
    public static let dash = "—"

    /// The controls that it looks at, each once, ascending; its own is not counted.
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
        var parts: [Part] = []

        /// Splits a text at `${name}`; `$${` stands for `${`. `nil` where a `${` is not closed.
        init?(_ source: String) {
            var text = ""
            var rest = source.unicodeScalars[...]
            while let scalar = rest.first {
                if rest.starts(with: "$${".unicodeScalars) {
                    text += "${"
                    rest = rest.dropFirst(3)
                } else if rest.starts(with: "${".unicodeScalars) {
                    guard let close = rest.firstIndex(of: "}") else { return nil }
                    if !text.isEmpty { parts.append(.text(text)) }
                    text = ""
                    parts.append(.name(String(rest[..<close].dropFirst(2))))
                    rest = rest[rest.index(after: close)...]
                } else {
                    text.unicodeScalars.append(scalar)
                    rest = rest.dropFirst()
                }
            }
            if !text.isEmpty { parts.append(.text(text)) }
        }
    }
}

extension FormDefinition {
    /// The template's text with values filled in, cut off at `Template.renderedBytesMax`; `control`
    /// is the one that it belongs to.
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

    /// A value as a template shows it: the option's label for its tag, `—` for null, mixed and
    /// secure, lists as `a, b`, and `— (invalid: x)` for what the control does not take.
    public func text(of shown: ShownValue, control index: Int) -> String {
        if shown.isMixed || shown.value.isNull { return Template.dash }
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

    /// A value without a control's help: strings bare, lists as `a, b`.
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

extension String {
    /// The beginning that takes so many bytes at most, with `…` where something is missing. Cut
    /// between characters of Unicode, not between clusters, of which one may be the whole text.
    fileprivate func cut(toBytes bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: bytesMax - 3)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}
