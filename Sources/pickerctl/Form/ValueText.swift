// A value as text, for `get`, environment variables and `watch`. `ValueParser` is the inverse for
// every control that can be set.

internal import SyncCore

/// Values as text.
enum ValueText {
    /// The plain value. A string unchanged, null as an empty text, a list as tags with commas (as
    /// JSON if a tag contains a comma), wheels as JSON.
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

    /// A tag, number or boolean as text; other values as JSON.
    static func scalar(_ value: JSON) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): number.description
        case .array, .object: value.encodedText
        }
    }

    /// A field in a sentence: `—` for no value, flags in brackets.
    static func short(_ state: FieldState) -> String {
        if let isSet = state.isSecretSet { return isSet ? "(secret)" : "—" }
        if state.isMixed { return "— (mixed)" }
        let text = state.value.isNull ? "—" : bare(state.value)
        if state.isInvalid { return "— (invalid: \(text))" }
        return text.isEmpty ? short(state.value) : text
    }

    /// A value in a sentence.
    static func short(_ value: JSON) -> String {
        if value.isNull || value.arrayValue?.isEmpty ?? false { return "—" }
        let text = bare(value)
        return text.isEmpty ? "\"\"" : text
    }

    /// Quoted for a POSIX shell: in single quotes, with `'\''` for a quote.
    static func shellQuoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''")
            + "'"
    }

    /// A word of a shell command: quoted only if it has to be.
    static func shellWord(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: ".,:/@%+=-_".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : shellQuoted(text)
    }

    /// The author for people: the login name, with the host if it is not the daemon's.
    static func author(_ author: WireAuthor?, on host: String?) -> String {
        author?.name(on: host) ?? "the form"
    }
}
