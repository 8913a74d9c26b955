// The parts of a definition that commands need: ids, types and options.
//
// A definition is read leniently: the daemon has checked it, and a newer daemon may send more than
// this program knows. Values of unknown types are treated as text.

internal import SyncCore

/// One option of a picker or of a component.
struct OptionOutline {
    var tag: JSON
    var label: String
    var isDisabled: Bool
}

/// One component of wheels.
struct ComponentOutline {
    var id: String
    var options: [OptionOutline]
}

/// One control.
struct FieldOutline {
    /// The types of FORM.md.
    enum Kind: String, CaseIterable {
        case picker, wheels, toggle, slider, stepper, date, text, secure, gauge, button, label
    }

    var id: String
    var kind: Kind?
    /// The control's members as written.
    var json: JSON
    var options: [OptionOutline] = []
    var components: [ComponentOutline] = []
    var sectionTitle: String?
    /// The id as advice to the user has it: with the form, if the command has it so.
    var name: String

    var label: String { json["label"]?.stringValue ?? id }
    var isMultiple: Bool { json["multiple"]?.boolValue ?? false }
    var isOptional: Bool { json["optional"]?.boolValue ?? false }
    var isReadOnly: Bool { json["readOnly"]?.boolValue ?? false }
    var isCountdown: Bool { json["mode"]?.stringValue == "countdown" }
    /// Whether its value can be exported and imported: presets, environments.
    var holdsValue: Bool { kind != .button && kind != .label && kind != .secure }
    /// Whether it stores a value itself.
    var isRoot: Bool { json["binds"] == nil && json["sources"] == nil }

    /// The name as an environment variable: `PICKER_FLAVOR`.
    var variable: String { Self.variable(id) }

    /// The same for an id. Any byte that a variable's name cannot have is `_`: a daemon that lies
    /// about ids must not write commands into `eval "$(pickerctl get -o env)"`.
    static func variable(_ id: String) -> String {
        var name = "PICKER_"
        for byte in id.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "_"
            }
        }
        return name.uppercased()
    }
}

/// A form's controls in their order.
struct FormOutline {
    var id: String
    var title: String
    var json: JSON
    private(set) var fields: [FieldOutline]
    /// The index of each control by its id, which is ASCII.
    private var places: [String: Int] = [:]
    /// `FORM/`, if it must stand before the names of its fields.
    private let prefix: String

    init(_ definition: JSON, prefix: String = "") {
        self.prefix = prefix
        id = definition["form"]?.stringValue ?? ""
        title = definition["title"]?.stringValue ?? id
        json = definition
        fields = []
        for field in definition["fields"]?.arrayValue ?? [] { append(field, section: nil) }
        for section in definition["sections"]?.arrayValue ?? [] {
            let title = section["title"]?.stringValue
            for field in section["fields"]?.arrayValue ?? [] { append(field, section: title) }
        }
        inheritFromBindings()
    }

    subscript(id: String) -> FieldOutline? {
        places[id].map { fields[$0] }
    }

    private mutating func append(_ json: JSON, section: String?) {
        guard let id = json["id"]?.stringValue else { return }
        var field = FieldOutline(
            id: id, kind: json["type"]?.stringValue.flatMap(FieldOutline.Kind.init), json: json,
            name: prefix + id)
        field.options = Self.options(json["options"])
        field.sectionTitle = section
        for component in json["components"]?.arrayValue ?? [] {
            guard let id = component["id"]?.stringValue else { continue }
            var options = Self.options(component["options"])
            for more in json["optionsFor"]?.arrayValue ?? []
            where more["component"]?.stringValue == id {
                let known = options
                options += Self.options(more["options"]).filter { option in
                    !known.contains { $0.tag == option.tag }
                }
            }
            field.components.append(ComponentOutline(id: id, options: options))
        }
        if places[id] == nil { places[id] = fields.count }
        fields.append(field)
    }

    /// A control that binds another one inherits the attributes that it does not have itself.
    private mutating func inheritFromBindings() {
        for index in fields.indices
        where fields[index].kind == .picker && fields[index].options.isEmpty {
            var root = fields[index]
            // The daemon rejects cycles. A chain that is longer than this has no options here.
            for _ in 0..<Self.bindingsMax {
                guard let binds = root.json["binds"]?.stringValue, let next = self[binds] else {
                    break
                }
                root = next
            }
            fields[index].options = root.options
        }
    }

    /// Bindings that are followed one after another.
    private static let bindingsMax = 64

    static func options(_ json: JSON?) -> [OptionOutline] {
        var result: [OptionOutline] = []
        for option in json?.arrayValue ?? [] {
            if option["section"] != nil || option["options"] != nil {
                result += options(option["options"])
            } else if let tag = option["tag"] {
                result.append(
                    OptionOutline(
                        tag: tag, label: option["label"]?.stringValue ?? ValueText.scalar(tag),
                        isDisabled: option["disabled"]?.boolValue ?? false))
            } else if option.objectValue == nil {
                result.append(
                    OptionOutline(tag: option, label: ValueText.scalar(option), isDisabled: false))
            }
        }
        return result
    }
}
