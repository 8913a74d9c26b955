// Whether a control can ever have a value: a condition that never holds would be waited for without
// end.
//
// What is judged is the definition of now. What depends on other controls is not judged.

internal import FormFile
internal import SyncCore

/// Judges the values that are waited for.
struct PossibleValue {
    private let field: FieldOutline
    private let form: FormOutline

    init(_ field: FieldOutline, _ form: FormOutline) {
        self.field = field
        self.form = form
    }

    /// The value as the control holds it, or why it never does.
    func check(_ value: JSON, _ text: String) throws(Failure) -> JSON {
        switch field.kind {
        case .secure: throw .secretIsNotCompared(field.id)
        case .picker:
            for tag in value.arrayValue ?? [value] {
                if tag.isNull, field.isOptional { continue }
                try Self.check(tag, among: field.options)
            }
            return value
        case .slider, .stepper, .gauge, .date, .text:
            return field.isRoot ? try admitted(value, text) : value
        default: return value
        }
    }

    /// A tag that is one of the options.
    static func check(_ tag: JSON, among options: [OptionOutline]) throws(Failure) {
        if options.contains(where: { $0.tag == tag }) { return }
        throw .notOption(ValueText.scalar(tag), options.map { ValueText.scalar($0.tag) })
    }

    private func admitted(_ value: JSON, _ text: String) throws(Failure) -> JSON {
        guard
            let definition = try? FormDefinition.parse(
                form.json, limits: FormLimits(), compile: RegularExpression.compiler),
            let index = definition.index(of: field.id)
        else { return value }
        let stored: JSON
        do throws(InvalidValue) {
            stored = try definition.admit(value, control: index) { _ in .null }
        } catch {
            throw Failure(.data, Wording.refusal(error.message, expected: error.expected))
        }
        if value.numberValue != nil, stored != value {
            throw .notValue(text, of: field, definition.expectedDescription(of: index))
        }
        return stored
    }
}
