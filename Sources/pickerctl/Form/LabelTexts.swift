// What labels show: templates travel as written and are rendered by whoever shows them (FORM.md,
// Types).

internal import FormFile
internal import SyncCore

/// Renders a form's labels from the values that they name.
struct LabelTexts {
    private let definition: FormDefinition

    /// The labels of a definition as the daemon sends it; `nil` where it says more than we know.
    init?(_ json: JSON) {
        guard
            let definition = try? FormDefinition.parse(
                json, limits: FormLimits(), compile: RegularExpression.compiler)
        else { return nil }
        self.definition = definition
    }

    /// A label's text; `fields` are all fields of the form.
    func text(of id: String, _ fields: [NamedField]) -> String? {
        guard let index = definition.index(of: id) else { return nil }
        var values: [String: JSON] = [:]
        for field in fields {
            // The core asks of a secret only whether there is one.
            values[field.id] = field.state.isSecretSet.map { .bool($0) } ?? field.state.value
        }
        return definition.displayText(of: index) { control in
            values[definition.controls[control].id] ?? .null
        }
    }
}
