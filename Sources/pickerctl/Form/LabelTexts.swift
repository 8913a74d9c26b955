// The texts of labels: the daemon sends templates unchanged, and clients fill in the values
// (FORM.md, Types).

internal import FormFile
internal import SyncCore

/// Fills in a form's labels.
struct LabelTexts {
    private let definition: FormDefinition

    /// The labels of a definition from the daemon; `nil` if this program cannot parse it.
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
            // The core only asks whether a secret is set.
            values[field.id] = field.state.isSecretSet.map { .bool($0) } ?? field.state.value
        }
        return definition.displayText(of: index) { control in
            values[definition.controls[control].id] ?? .null
        }
    }
}
