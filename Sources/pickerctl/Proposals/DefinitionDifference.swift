// What a proposed definition changes, in lines.

internal import SyncCore

/// The differences between two definitions of a form, a line each:
///
///     added: note
///     removed: region
///     traffic.max: 100 → 50
///     environment.options: + qa, - staging
///
/// Controls that only moved are not listed.
struct DefinitionDifference {
    private(set) var lines: [String] = []
    private let arrow: String

    /// The longest value in a line, in characters.
    private static let charactersMax = 60

    /// - Parameter arrow: between what was and what will be.
    init(from old: JSON, to new: JSON, arrow: String = "→") {
        self.arrow = arrow
        compare(old, new, path: "", leavingOut: ["form", "fields", "sections", "$schema"])
        let (before, after) = (FormOutline(old), FormOutline(new))
        var kept: Set<String> = []
        for field in after.fields {
            let was = field.json["was"]?.stringValue
            let origin = before[field.id] ?? was.flatMap { before[$0] }
            guard let origin else {
                lines.append("added: \(field.id)")
                continue
            }
            kept.insert(origin.id)
            if origin.id != field.id { lines.append("renamed: \(origin.id) \(arrow) \(field.id)") }
            compare(
                origin.json, field.json, path: "\(field.id).", leavingOut: ["id", "was", "options"])
            compare(options: origin.json["options"], field.json["options"], of: field.id)
        }
        for field in before.fields where !kept.contains(field.id) {
            lines.append("removed: \(field.id)")
        }
    }

    /// The differences of the options of a control.
    init(options old: JSON?, to new: JSON, of field: String, arrow: String = "→") {
        self.arrow = arrow
        compare(options: old, new, of: field)
    }

    private mutating func compare(
        _ old: JSON, _ new: JSON, path: String, leavingOut: Set<String>
    ) {
        func members(_ json: JSON) -> [(name: String, value: JSON)] {
            (json.objectValue?.members ?? []).map { ($0.name, $0.value) }
                .filter { !leavingOut.contains($0.name) }
        }
        for (name, value) in members(old) where new[name] != value {
            if let next = new[name], value.objectValue != nil, next.objectValue != nil {
                compare(value, next, path: "\(path)\(name).", leavingOut: [])
                continue
            }
            lines.append("\(path)\(name): \(Self.text(value)) \(arrow) \(Self.text(new[name]))")
        }
        for (name, value) in members(new) where old[name] == nil {
            lines.append("\(path)\(name): \(Self.text(nil)) \(arrow) \(Self.text(value))")
        }
    }

    /// Options by their tags; another label or colour of one is `~`.
    private mutating func compare(options old: JSON?, _ new: JSON?, of field: String) {
        guard old != new else { return }
        let (before, after) = (Self.options(old), Self.options(new))
        func byTag(_ options: [(tag: JSON, json: JSON)]) -> [JSON: JSON] {
            Dictionary(options.map { ($0.tag, $0.json) }) { $1 }
        }
        let (left, right) = (byTag(before), byTag(after))
        var parts = after.filter { left[$0.tag] == nil }.map { "+ \(Self.text($0.tag))" }
        parts += before.filter { right[$0.tag] == nil }.map { "- \(Self.text($0.tag))" }
        parts += after.filter { option in
            left[option.tag].map { $0 != option.json } ?? false
        }.map { "~ \(Self.text($0.tag))" }
        if parts.isEmpty { parts = ["another order"] }
        let shown = parts.prefix(Self.optionsMax).joined(separator: ", ")
        let more = parts.count - Self.optionsMax
        lines.append("\(field).options: \(shown)\(more > 0 ? " and \(more) more" : "")")
    }

    /// The most options that a line names.
    private static let optionsMax = 8

    /// The options of a list, those of its sections too.
    private static func options(_ list: JSON?) -> [(tag: JSON, json: JSON)] {
        (list?.arrayValue ?? []).flatMap { option in
            if let inside = option["options"] { return options(inside) }
            return [(option["tag"] ?? option, option)]
        }
    }

    private static func text(_ value: JSON?) -> String {
        guard let value else { return "none" }
        let text = value.stringValue ?? value.encodedText
        return text.count > charactersMax ? "\(text.prefix(charactersMax - 1))…" : text
    }
}

extension FormProposal {
    /// What it changes in a definition, a line each; empty for values.
    func definitionLines(in present: JSON, arrow: String = "→") -> [String] {
        switch content {
        case .values: []
        case .definition(let definition):
            DefinitionDifference(from: present, to: definition, arrow: arrow).lines
        case .options(let field, let options):
            DefinitionDifference(
                options: FormOutline(present)[field]?.json["options"], to: .array(options),
                of: field, arrow: arrow
            ).lines
        }
    }
}

extension [String] {
    /// The first of them, and how many more there are.
    func brief(_ most: Int) -> [String] {
        count <= most ? self : prefix(most - 1) + ["and \(count - most + 1) more"]
    }
}
