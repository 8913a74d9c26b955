// Checks whether a control can ever have a value, because a condition that is never true would be
// waited for forever.
//
// It uses the current definition and ignores everything that depends on other controls.

internal import FormFile
internal import SyncCore

/// Checks the values of conditions.
struct PossibleValue {
    private let field: FieldOutline
    private let form: FormOutline

    init(_ field: FieldOutline, _ form: FormOutline) {
        self.field = field
        self.form = form
    }

    /// The value in the form in which the control stores it; throws if the control cannot have it.
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

    /// A tag of one of the options.
    static func check(_ tag: JSON, among options: [OptionOutline]) throws(Failure) {
        if options.contains(where: { $0.tag == tag }) { return }
        throw .notOption(ValueText.scalar(tag), options.map { ValueText.scalar($0.tag) })
    }

    private func admitted(_ value: JSON, _ text: String) throws(Failure) -> JSON {
        guard
            let definition = try? FormDefinition.parse(
                form.json, limits: .received, compile: RegularExpression.compiler),
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
