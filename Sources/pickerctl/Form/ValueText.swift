// A value as text: what `get` prints, what an environment variable holds, what a line of `watch`
// shows. `ValueParser` reads it back: the two are each other's inverse for every control that can
// be set.

internal import SyncCore

/// Values as text.
enum ValueText {
    /// The bare value. A string stands for itself, null for nothing, a list is its tags with
    /// commas between (as JSON where a tag has a comma itself), wheels are JSON.
    static func bare(_ value: JSON) -> String {
        switch value {
        case .array(let elements):
            let texts = elements.map(scalar)
            let needsJSON = texts.contains { $0.isEmpty || $0.contains(",") || $0.hasPrefix("[") }
            return needsJSON ? value.encodedText : texts.joined(separator: ",")
        case .object(let object) where object.count == 1 && object["presses"] != nil:
            return scalar(object["presses"] ?? .null)
        default: return scalar(value)
        }
    }

    /// A tag, number or flag as text; what is no scalar as JSON.
    static func scalar(_ value: JSON) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): number.description
        case .array, .object: value.encodedText
        }
    }

    /// A field for a person within a sentence: `—` for nothing, what is odd in brackets.
    static func short(_ state: FieldState) -> String {
        if let isSet = state.isSecretSet { return isSet ? "(secret)" : "—" }
        if state.isMixed { return "— (mixed)" }
        let text = state.value.isNull ? "—" : bare(state.value)
        if state.isInvalid { return "— (invalid: \(text))" }
        return text.isEmpty ? short(state.value) : text
    }

    /// A value for a person within a sentence.
    static func short(_ value: JSON) -> String {
        if value.isNull || value.arrayValue?.isEmpty ?? false { return "—" }
        let text = bare(value)
        return text.isEmpty ? "\"\"" : text
    }

    /// Quoted for a POSIX shell: single quotes around everything, `'\''` for a quote.
    static func shellQuoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''")
            + "'"
    }

    /// Who wrote, for a person: the login name, and how they came.
    static func author(_ author: WireAuthor?) -> String { author?.user ?? "the form" }
}
