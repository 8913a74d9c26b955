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
                json, limits: .received, compile: RegularExpression.compiler)
        else { return nil }
        self.definition = definition
    }

    /// The values that labels show: made once for all labels.
    static func values(_ fields: [NamedField]) -> [String: JSON] {
        // The core only asks whether a secret is set.
        fields.byID.mapValues { state in state.isSecretSet.map { JSON.bool($0) } ?? state.value }
    }

    /// A label's text; `values` are those of all fields of the form.
    func text(of id: String, _ values: [String: JSON]) -> String? {
        guard let index = definition.index(of: id) else { return nil }
        return definition.displayText(of: index) { control in
            values[definition.controls[control].id] ?? .null
        }
    }
}
