// Home Assistant's helpers, which are similar to controls: input_boolean, input_select,
// input_number, input_text, input_datetime and input_button, as in its documentation.
//
// Invariant: a setting is imported, or a note says that it was not.

internal import FormFile
internal import SyncCore

/// Makes a form from Home Assistant's configuration.
struct HomeAssistantImport {
    private var maker = FormImport()
    private var fields: [JSON] = []
    /// The folder that `!include` is relative to.
    private let folder: String

    /// What could not be imported.
    var notes: [String] { maker.notes }

    /// An import from a file in that folder.
    init(folder: String) {
        self.folder = folder
    }

    /// Reads a Home Assistant file with its own tags (`!include`, `!secret`).
    static func read(_ path: String) throws(Failure) -> JSON {
        try InputFile.tree(path, limits: YAMLDocument.Limits(takesOwnTags: true))
    }

    /// The form of a whole configuration.yaml, a package, or a file of helpers.
    mutating func definition(_ form: String, _ configuration: JSON) throws(Failure) -> JSON {
        try collect(configuration)
        guard !fields.isEmpty else { throw .noHelpers }
        return .members(("form", .string(form)), ("fields", .array(fields)))
    }

    private mutating func collect(_ configuration: JSON) throws(Failure) {
        for (name, value) in configuration.objectValue?.members ?? [] {
            // `input_number garden:` is another group of the same kind.
            let domain = name.split(separator: " ").first.map(String.init) ?? name
            if let helper = HomeAssistantHelper(rawValue: domain) {
                let members = try included(value, name).objectValue?.members ?? []
                for (id, settings) in members { add(helper, id, settings) }
            } else if name == "homeassistant", let packages = value["packages"]?.objectValue {
                for (_, package) in packages.members {
                    try collect(try included(package, "packages"))
                }
            }
        }
    }

    /// A value, which may be in another file.
    private mutating func included(_ value: JSON, _ name: String) throws(Failure) -> JSON {
        guard let object = value.objectValue, object.members.count == 1,
            let tag = object.members.first, tag.name.hasPrefix("!")
        else { return value }
        guard tag.name == "!include", let file = tag.value.stringValue else {
            maker.note("\(name): \(tag.name) is not followed; give that file to import")
            return .null
        }
        return try Self.read(file.hasPrefix("/") ? file : "\(folder)/\(file)")
    }

    private mutating func add(_ helper: HomeAssistantHelper, _ name: String, _ settings: JSON) {
        guard let id = maker.id(name, orElse: "\(name)_\(helper.word)") else { return }
        let (field, notes) = helper.field(id, settings)
        for note in notes { maker.note("\(name): \(note)") }
        fields.append(.object(field))
    }
}

/// A kind of helper.
enum HomeAssistantHelper: String, CaseIterable {
    case flag = "input_boolean"
    case choice = "input_select"
    case number = "input_number"
    case text = "input_text"
    case moment = "input_datetime"
    case button = "input_button"

    /// The kind's own word: `select`.
    var word: Substring { rawValue.dropFirst(6) }

    /// The settings that are imported.
    private var known: Set<String> {
        switch self {
        case .flag: ["name", "initial"]
        case .choice: ["name", "initial", "options"]
        case .number: ["name", "initial", "min", "max", "step", "mode", "unit_of_measurement"]
        case .text: ["name", "initial", "min", "max", "pattern", "mode"]
        case .moment: ["name", "initial", "has_date", "has_time"]
        case .button: ["name"]
        }
    }

    /// One helper as a control, and what was not imported.
    func field(_ id: String, _ settings: JSON) -> (JSONObject, notes: [String]) {
        var field = JSONObject([("id", .string(id))])
        if let label = settings["name"]?.stringValue.flatMap(FormImport.line) {
            field["label"] = label
        }
        var notes: [String] = []
        for (name, _) in settings.objectValue?.members ?? [] where !known.contains(name) {
            notes.append("\(name) is left out: a form has no such thing")
        }
        switch self {
        case .flag:
            field["type"] = "toggle"
            field["default"] = settings["initial"].map(Self.flag)
        case .choice: choice(settings, &field)
        case .number: number(settings, &field)
        case .text: text(settings, &field, &notes)
        case .moment: moment(settings, &field, &notes)
        case .button: field["type"] = "button"
        }
        return (field, notes)
    }

    /// Home Assistant uses YAML 1.1, where these words are booleans (yaml.org/type/bool.html).
    private static func flag(_ json: JSON) -> JSON {
        switch json.stringValue?.lowercased() {
        case "on", "yes", "y", "true": true
        case "off", "no", "n", "false": false
        default: json
        }
    }

    /// Options are texts in Home Assistant, even if they look like numbers.
    private func choice(_ settings: JSON, _ field: inout JSONObject) {
        field["type"] = "picker"
        var tags: [JSON] = []
        for option in settings["options"]?.arrayValue ?? [] {
            let tag = JSON.string(ValueText.bare(option))
            if !tags.contains(tag) { tags.append(tag) }
        }
        field["options"] = .array(tags.map { .members(("tag", $0), ("label", $0)) })
        field["default"] = settings["initial"].map { .string(ValueText.bare($0)) }
    }

    private func number(_ settings: JSON, _ field: inout JSONObject) {
        field["type"] = settings["mode"]?.stringValue == "box" ? "stepper" : "slider"
        field["min"] = settings["min"]
        field["max"] = settings["max"]
        field["step"] = settings["step"] ?? 1
        if let unit = settings["unit_of_measurement"]?.stringValue.flatMap(FormImport.line),
            let text = unit.stringValue
        {
            field["format"] = .string("${value} " + Self.escaped(text))
        }
        field["default"] = settings["initial"]
    }

    /// A text in a template, escaped so that it does not begin a reference.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "${", omittingEmptySubsequences: false).joined(separator: "$${")
    }

    private func text(_ settings: JSON, _ field: inout JSONObject, _ notes: inout [String]) {
        let isSecret = settings["mode"]?.stringValue == "password"
        field["type"] = isSecret ? "secure" : "text"
        // 100 by default.
        field["maxLength"] = settings["max"] ?? 100
        var pattern = settings["pattern"]?.stringValue
        if let least = settings["min"]?.integerValue, least > 0 {
            pattern = "(?=(?s:.{\(least)}))" + (pattern ?? "(?s:.*)")
            // A pattern would reject the empty text of a new field.
            if settings["initial"] == nil {
                pattern = "(?:\(pattern ?? ""))?"
            }
        }
        guard !isSecret else {
            if pattern != nil { notes.append("min and pattern are left out of a secret") }
            if settings["initial"] != nil {
                notes.append("initial is left out: a form file does not contain secrets")
            }
            return
        }
        if let pattern { field["pattern"] = .string(pattern) }
        field["default"] = settings["initial"].map { .string(ValueText.bare($0)) }
    }

    private func moment(_ settings: JSON, _ field: inout JSONObject, _ notes: inout [String]) {
        let hasTime = settings["has_time"].map(Self.flag)?.boolValue ?? false
        let hasDate = settings["has_date"].map(Self.flag)?.boolValue ?? !hasTime
        field["type"] = "date"
        field["mode"] = hasDate && hasTime ? "dateAndTime" : hasTime ? "time" : "date"
        guard let initial = settings["initial"]?.stringValue else { return }
        let parts = initial.split { $0 == " " || $0 == "T" }
        let date = parts.first { $0.contains("-") }
        let time = parts.first { $0.contains(":") }.map { $0.split(separator: ":") }
        if time?.count == 3, time?.last != "00" {
            notes.append("the seconds of initial are left out: times have minutes")
        }
        let clock = time.map { $0.prefix(2).joined(separator: ":") } ?? "00:00"
        switch (hasDate, hasTime, date) {
        case (true, true, let date?): field["default"] = .string("\(date)T\(clock)")
        case (true, false, let date?): field["default"] = .string(String(date))
        case (false, true, _) where time != nil: field["default"] = .string(clock)
        default: notes.append("initial \"\(initial)\" is left out: it has not what it should have")
        }
    }
}
