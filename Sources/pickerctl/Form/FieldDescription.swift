// A full description of a control: everything that is needed to write a `set` for it.

internal import SyncCore

/// A control and its state for `describe`.
struct FieldDescription {
    let field: FieldOutline
    let form: FormOutline
    let state: FieldState?
    /// The daemon's host, where forms are shared with others.
    let host: String?

    /// Attributes that are shown with their names, in this order.
    private static let attributes = [
        "min", "max", "step", "wraps", "minuteInterval", "components", "mode", "zone", "maxLength",
        "pattern", "multiline", "required", "optional", "onConflict", "binds", "sources",
        "enabledWhen", "visibleWhen", "confirm", "role", "runs", "waitsFor", "whenLost",
        "timeout", "handledAt", "format", "thresholds",
    ]

    /// Name and text of each line.
    var lines: [(name: String, text: String)] {
        var lines: [(String, String)] = [("type", type)]
        if let subtitle = field.json["subtitle"]?.stringValue { lines.append(("says", subtitle)) }
        if let help = field.json["help"]?.stringValue { lines.append(("help", help)) }
        for (place, option) in field.options.enumerated() {
            lines.append((place == 0 ? "options" : "", Self.option(option)))
        }
        for component in field.components {
            for (place, option) in component.options.enumerated() {
                lines.append((place == 0 ? component.id : "", Self.option(option)))
            }
        }
        for name in Self.attributes where name != "components" || field.kind != .wheels {
            if let value = field.json[name] { lines.append((name, ValueText.scalar(value))) }
        }
        for flag in ["disabled", "readOnly", "locked", "hidden"]
        where field.json[flag]?.boolValue == true {
            lines.append((flag, "true"))
        }
        if let value = field.json["default"], field.holdsValue {
            lines.append(("default", ValueText.short(value)))
        }
        if let state, field.kind != .label { lines += stateLines(state) }
        lines += access.map { ($0.verb, $0.principals.joined(separator: ", ")) }
        if let approval { lines.append(("approval", approval)) }
        if let usage { lines.append(("set with", usage)) }
        return lines
    }

    private var type: String {
        var type = field.kind?.rawValue ?? field.json["type"]?.stringValue ?? "unknown"
        if field.isMultiple { type += ", several" }
        if let style = field.json["style"]?.stringValue { type += " (\(style))" }
        return type
    }

    private static func option(_ option: OptionOutline) -> String {
        let tag = ValueText.scalar(option.tag)
        let label = option.label == tag ? "" : "  \(option.label)"
        return tag + label + (option.isDisabled ? "  (disabled)" : "")
    }

    /// Who must agree before it changes; `nil` if nobody must.
    private var approval: String? {
        guard let rule = field.json["approval"] else { return nil }
        let from = rule["from"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let text = "\(rule["count"]?.integerValue ?? 1) of \(from.joined(separator: ", "))"
        return text + (rule["when"].map { ", when \(ValueText.scalar($0))" } ?? "")
    }

    private func stateLines(_ state: FieldState) -> [(String, String)] {
        var lines = [("value", ValueText.short(state))]
        if state.isSet {
            var by = ValueText.author(state.by, on: host)
            if let tty = state.by?.tty { by += " on \(tty)" }
            if let client = state.by?.client { by += " with \(client)" }
            if let at = state.at { by += ", \(LocalTime.text(at))" }
            lines.append(("set by", "\(by), revision \(state.revision)"))
        } else {
            lines.append(("set by", "nobody: it follows its default"))
        }
        if state.isMissing { lines.append(("missing", "a value is required")) }
        for sibling in state.conflict {
            let at = sibling.at.map { ", \(LocalTime.text($0))" } ?? ""
            lines.append(
                (
                    "conflict",
                    ValueText.short(sibling.value)
                        + " by \(ValueText.author(sibling.by, on: host))\(at)"
                ))
        }
        return lines
    }

    /// Who may do what with it (FORM.md, Access).
    var access: [(verb: String, principals: [String])] {
        let verbs: [(String, String)] =
            switch field.kind {
            case .button: [("press", "anyone")]
            case .label: []
            case .secure: [("write", "anyone"), ("reveal", "owner")]
            default: [("write", "anyone")]
            }
        return verbs.map { verb, otherwise in
            let rule = field.json["access"]?[verb] ?? form.json["access"]?[verb]
            let names = rule?.arrayValue?.compactMap(\.stringValue) ?? [otherwise]
            return ("may \(verb)", field.json["locked"]?.boolValue == true ? ["admin"] : names)
        }
    }

    /// An example command.
    var usage: String? {
        let name = field.name
        let first = field.options.first { !$0.isDisabled }.map { ValueText.scalar($0.tag) }
        switch field.kind {
        case .picker where field.isMultiple: return "pickerctl set \(name)+=\(first ?? "TAG")"
        case .picker: return "pickerctl set \(name)=\(first ?? "TAG")"
        case .wheels:
            guard let component = field.components.first, let option = component.options.first
            else {
                return nil
            }
            return "pickerctl set \(name).\(component.id)=\(ValueText.scalar(option.tag))"
        case .toggle: return "pickerctl set \(name)=true, pickerctl toggle \(name)"
        case .slider, .stepper, .gauge:
            let low = field.json["min"].map(ValueText.scalar) ?? "1"
            let step = field.json["step"].map(ValueText.scalar) ?? "1"
            return "pickerctl set \(name)=\(low), pickerctl set \(name)+=\(step)"
        case .date:
            let value = field.json["default"] ?? field.json["min"]
            return "pickerctl set \(name)=\(value.map(ValueText.scalar) ?? dateExample)"
        case .text: return "pickerctl set \(name)='…'"
        case .secure: return "pickerctl set \(name)=-"
        case .button: return "pickerctl press \(name)"
        case .label, nil: return nil
        }
    }

    private var dateExample: String {
        switch field.json["mode"]?.stringValue {
        case "time": "14:30"
        case "dateAndTime": "2026-11-21T14:30"
        case "countdown": "300"
        case "yearAndMonth": "2026-11"
        default: "2026-11-21"
        }
    }

    /// For programs: the control's definition, its state, and the permissions.
    var json: JSON {
        var object = JSONObject([("field", .string(field.id)), ("definition", field.json)])
        if let state {
            var writer = JSONWriter()
            state.encode(into: &writer)
            object["state"] = try? JSON(parsing: writer.take())
        }
        if let section = field.sectionTitle { object["section"] = .string(section) }
        object["may"] = .object(
            JSONObject(
                access.map { verb, names in
                    (String(verb.dropFirst(4)), .array(names.map { .string($0) }))
                }))
        return .object(object)
    }
}
