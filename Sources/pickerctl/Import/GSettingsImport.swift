// GSettings schemas as forms: every key of a supported type, with its range, choices, enum or
// flags, default, summary and description (GIO, "Settings schemas"; gschema.dtd).
//
// Invariant: a key becomes a control, or a note says why it did not.

internal import FormFile
internal import Glibc
internal import PickerClient
internal import SyncCore

/// Makes a form from a schema.
struct GSettingsImport {
    private var maker = FormImport()
    private var schemas: [XMLElement] = []
    /// Enums and flags by id: nicks in the order of the file.
    private var nicks: [String: [String]] = [:]
    /// The first schema of each id.
    private var schemaOfID: [String: XMLElement] = [:]
    /// Controls and options that still fit in the form: one enum may be that of many keys.
    private var controlsLeft = Limits().fieldsMax
    private var optionsLeft = Limits().optionsMax

    /// What could not be imported.
    var notes: [String] { maker.notes }

    /// The file of the schema `name`: a path, or the id of an installed schema.
    static func file(of name: String) throws(Failure) -> (path: String, id: String?) {
        if name.contains("/") || name.hasSuffix(".xml") { return (name, nil) }
        for folder in folders() {
            for file in names(in: folder) where file.hasSuffix(".gschema.xml") {
                let path = "\(folder)/\(file)"
                // A file that cannot be read is skipped.
                guard let bytes = try? FileReading.bytes(ofFile: path),
                    let root = try? XMLDocument.parse(bytes, name: path)
                else { continue }
                if root.all("schema").contains(where: { $0["id"] == name }) { return (path, name) }
            }
        }
        throw .noSchema(name)
    }

    /// The folders of schemas: $GSETTINGS_SCHEMA_DIR, then $XDG_DATA_DIRS (GIO's default source).
    private static func folders() -> [String] {
        let own = environmentVariable("GSETTINGS_SCHEMA_DIR")?.split(separator: ":") ?? []
        let data = environmentVariable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        return own.map(String.init)
            + data.split(separator: ":").map { "\($0)/glib-2.0/schemas" }
    }

    /// The files of a folder, sorted: opendir(3).
    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            found.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) {
                        String(cString: $0)
                    }
                })
        }
        return found.sorted()
    }

    /// Reads a file of schemas, and the enums of its folder.
    mutating func read(_ path: String) throws(Failure) {
        let root = try Self.root(path)
        guard root.name == "schemalist" else { throw .noSchemas(path) }
        schemas = root.all("schema")
        for schema in schemas {
            guard let id = schema["id"], schemaOfID[id] == nil else { continue }
            schemaOfID[id] = schema
        }
        gather(root)
        let folder =
            path.contains("/")
            ? String(
                path.prefix { _ in true }.dropLast(
                    path.split(separator: "/", omittingEmptySubsequences: false).last?.count ?? 0))
            : "./"
        for name in Self.names(in: folder) where name.hasSuffix(".enums.xml") {
            gather(try Self.root(folder + name))
        }
    }

    private static func root(_ path: String) throws(Failure) -> XMLElement {
        do throws(FileIssues) {
            return try XMLDocument.parse(try FileReading.bytes(ofFile: path), name: path)
        } catch {
            let isUnread = error.issues.first?.position == nil
            throw .file(isUnread ? .noInput : .data, error.issues[0])
        }
    }

    private mutating func gather(_ root: XMLElement) {
        for element in root.all("enum") + root.all("flags") {
            guard let id = element["id"], nicks[id] == nil else { continue }
            nicks[id] = element.all("value").compactMap { $0["nick"] }
        }
    }

    /// The form of one schema, or of all schemas in the file.
    mutating func definition(_ form: String, schema id: String?) throws(Failure) -> JSON {
        let chosen = id.map { id in schemas.filter { $0["id"] == id } } ?? schemas
        let isOne = chosen.count == 1
        let ids = Set(chosen.compactMap { $0["id"] })
        var sections: [JSON] = []
        for schema in chosen {
            if controlsLeft == 0 {
                maker.note(
                    "the form is full: what follows \(Limits().fieldsMax) controls is left out")
                break
            }
            let fields = keys(of: schema).prefix(controlsLeft).compactMap { field($0, in: schema) }
            controlsLeft -= fields.count
            guard !fields.isEmpty else { continue }
            let title: [(String, JSON)] = isOne ? [] : [("title", .string(schema["id"] ?? ""))]
            sections.append(.object(JSONObject(title + [("fields", .array(fields))])))
            for child in schema.all("child") {
                let name = child["schema"] ?? child["name"] ?? ""
                if !ids.contains(name) {
                    maker.note("child schema \(name) is left out; import it on its own")
                }
            }
        }
        guard !sections.isEmpty else { throw .noKey }
        return .members(
            ("form", .string(form)), ("title", .string((isOne ? chosen[0]["id"] : nil) ?? form)),
            ("sections", .array(sections)))
    }

    /// The keys of a schema, after those of the schema that it extends, with its overrides.
    private func keys(of schema: XMLElement, depth: Int = 0) -> [(XMLElement, String?)] {
        var keys: [(XMLElement, String?)] = []
        if let base = schema["extends"], depth < 8, let parent = schemaOfID[base] {
            var overrides: [String: String] = [:]
            for override in schema.all("override") {
                guard let name = override["name"], overrides[name] == nil else { continue }
                overrides[name] = override.text
            }
            keys = self.keys(of: parent, depth: depth + 1).map { key, value in
                (key, key["name"].flatMap { overrides[$0] } ?? value)
            }
        }
        return keys + schema.all("key").map { ($0, nil) }
    }

    private mutating func field(_ key: (XMLElement, String?), in schema: XMLElement) -> JSON? {
        let (element, override) = key
        let name = element["name"] ?? ""
        let written = (override ?? element.first("default")?.text ?? "")
        let value = GVariantText.value(written)
        guard let domain = domain(element, name, value) else { return nil }
        // A duplicate name is distinguished by its schema.
        let schemaWord = schema["id"]?.split(separator: ".").last.map(String.init) ?? "schema"
        guard let id = maker.id(name, orElse: "\(schemaWord)-\(name)") else { return nil }
        var field = JSONObject([("id", .string(id))])
        field["type"] = domain["type"]
        if let summary = element.first("summary").flatMap({ FormImport.line($0.text) }) {
            field["label"] = summary
        }
        if let help = element.first("description").flatMap({ FormImport.line($0.text) }) {
            field["help"] = help
        }
        for (name, value) in domain.members where name != "type" { field[name] = value }
        return .object(field)
    }

    /// Type, bounds, options and default of a key; `nil` with a note if no control supports it.
    private mutating func domain(
        _ key: XMLElement, _ name: String, _ value: JSON?
    ) -> JSONObject? {
        if let id = key["enum"] { return picker(nicks[id], name, id, value, isMultiple: false) }
        if let id = key["flags"] { return picker(nicks[id], name, id, value, isMultiple: true) }
        let type = key["type"] ?? ""
        switch type {
        case "b": return JSONObject([("type", "toggle"), ("default", value ?? false)])
        case "y", "n", "q", "i", "u", "x", "t", "d": return number(key, type, name, value)
        case "s", "o", "g":
            let choices = key.first("choices")?.all("choice").compactMap { $0["value"] }
            if let choices { return picker(choices, name, name, value, isMultiple: false) }
            var domain = JSONObject([("type", "text")])
            guard let text = value?.stringValue, !text.isEmpty else { return domain }
            if text.contains("\n") { domain["multiline"] = true }
            domain["default"] = .string(text)
            return domain
        default:
            maker.note("\(name) is left out: no control holds a value of type \(type)")
            return nil
        }
    }

    private mutating func picker(
        _ tags: [String]?, _ name: String, _ id: String, _ value: JSON?, isMultiple: Bool
    ) -> JSONObject? {
        guard let tags, !tags.isEmpty else {
            maker.note("\(name) is left out: \(id) is not an enum or flags of this file")
            return nil
        }
        guard tags.count <= optionsLeft else {
            maker.note(
                "\(name) is left out: the form would have more than \(Limits().optionsMax) options")
            return nil
        }
        optionsLeft -= tags.count
        // Tags are unchanged, and so are labels, because users know these nicks from gsettings.
        let options = tags.map { JSON.members(("tag", .string($0)), ("label", .string($0))) }
        var domain = JSONObject([("type", "picker")])
        if isMultiple { domain["multiple"] = true }
        domain["options"] = .array(options)
        domain["default"] = value
        return domain
    }

    /// The bounds of GVariant's types, limited to integers that a form represents exactly.
    private static func bounds(_ type: String) -> (min: Int64, max: Int64)? {
        switch type {
        case "y": (0, 255)
        case "n": (-32_768, 32_767)
        case "q": (0, 65_535)
        case "i": (-2_147_483_648, 2_147_483_647)
        case "u": (0, 4_294_967_295)
        case "x": (.min, .max)
        case "t": (0, .max)
        default: nil
        }
    }

    private mutating func number(
        _ key: XMLElement, _ type: String, _ name: String, _ value: JSON?
    ) -> JSONObject {
        var domain = JSONObject()
        let range = key.first("range")
        let least = range?["min"].flatMap(GVariantText.value)
        let most = range?["max"].flatMap(GVariantText.value)
        // A number with both bounds becomes a slider, otherwise a stepper.
        domain["type"] = least != nil && most != nil ? "slider" : "stepper"
        let bounds = Self.bounds(type)
        domain["min"] = least ?? bounds.map { .integer($0.min) }
        domain["max"] = most ?? bounds.map { .integer($0.max) }
        if type == "d" {
            if domain["type"] == "stepper" { domain["step"] = .number(Self.hundredth) }
        } else {
            domain["step"] = 1
        }
        domain["default"] = value
        return domain
    }

    private static let hundredth = DecimalNumber(significand: 1, exponent: -2) ?? .zero
}
