// Options that a program sets instead of a picker's while the daemon runs (`form.setOptions`).
//
// A form has two definitions: the *applied* one from the file, and the *current* one with run-time
// options. Run-time options stay after a restart and later applies, until that picker's options
// change in the file (FORM.md).

extension FormDefinition {
    /// The definition with the options of one picker replaced, checked like any other.
    ///
    /// A `default` that is not among the new options is left out, so that a script that lists
    /// branches need not know the default. It returns, from the applied definition, with options
    /// that contain it.
    ///
    /// - Parameter applied: the definition from the file.
    /// - Throws: an issue at the picker's path, or at its `options` for errors in those.
    public func settingOptions(
        of control: Int, to options: JSON, applied: JSON, limits: FormLimits,
        compile: @escaping PatternCompiler
    ) throws(FormIssues) -> FormDefinition {
        guard case .picker = controls[control].kind else {
            throw FormIssues([
                FormIssue(
                    path: path(of: control),
                    message: "\(controls[control].type.withArticle) has no options to set",
                    expected: "a picker")
            ])
        }
        let id = controls[control].id
        let written = Self.fields(of: applied).first { $0["id"]?.stringValue == id }?["default"]
        // Nearly every default that has to go is told by a look at the tags, which takes far less
        // than a form that is checked twice.
        let candidates: [JSON?] =
            if let written, Self.offers(written, among: options) { [written, nil] } else { [nil] }
        var refused: FormIssues?
        for candidate in candidates {
            let changed = Self.mappingFields(of: json) { field in
                guard field["id"]?.stringValue == id else { return field }
                var field = field
                field["options"] = options
                field["default"] = candidate
                return field
            }
            do {
                return try Self.parse(
                    changed, limits: limits, reusing: self, over: (self, [control]),
                    compile: compile)
            } catch {
                refused = error
                // Without a default it would be refused for the same reasons.
                let isDefault = error.issues.contains { $0.path.contains(.key("default")) }
                if !isDefault { break }
            }
        }
        throw refused ?? FormIssues([])
    }

    /// Whether a list of options has the tags of a default, as it is written.
    private static func offers(_ written: JSON, among options: JSON) -> Bool {
        // Tags are compared as in a list of options: integers are equal however they are written,
        // and texts beyond ASCII by canonical equivalence, which is left to the list itself.
        var texts: Set<String> = []
        var integers: Set<Int64> = []
        var others: Set<JSON> = []
        for tag in written.arrayValue ?? [written] {
            switch tag {
            case .null: continue
            case .string(let text):
                if text.utf8.allSatisfy({ $0 < 0x80 }) { texts.insert(text) }
            default:
                if let number = tag.integerValue {
                    integers.insert(number)
                } else {
                    others.insert(tag)
                }
            }
        }
        var isDone: Bool { texts.isEmpty && integers.isEmpty && others.isEmpty }
        func remove(_ tag: JSON) {
            if case .string(let text) = tag {
                if !texts.isEmpty { texts.remove(text) }
            } else if let number = tag.integerValue {
                if !integers.isEmpty { integers.remove(number) }
            } else if !others.isEmpty {
                others.remove(tag)
            }
        }
        func visit(_ options: [JSON]) {
            for option in options where !isDone {
                guard let object = option.objectValue else {
                    remove(option)
                    continue
                }
                if let tag = object["tag"] { remove(tag) }
                visit(object["options"]?.arrayValue ?? [])
            }
        }
        visit(options.arrayValue ?? [])
        return isDone
    }

    /// A newly applied definition with the run-time options that are still valid.
    ///
    /// Run-time options are valid if the picker has the same options in the new file as in the
    /// previous one. If the result is not a valid form (another control depends on options that do
    /// not exist), the file wins.
    ///
    /// - Parameters:
    ///   - file: the definition that is being applied.
    ///   - applied: the previous one.
    ///   - inForce: the previous one with run-time options.
    public static func keepingRuntimeOptions(
        file: FormDefinition, applied: JSON, inForce: FormDefinition, limits: FormLimits,
        compile: @escaping PatternCompiler
    ) -> FormDefinition {
        let before = writtenOptions(of: applied)
        let present = writtenOptions(of: inForce.json)
        var kept: [String: JSON] = [:]
        let written = writtenOptions(of: file.json)
        for index in file.controls.indices where file.types[index] == .picker {
            let id = file.controls[index].id
            let known = before[id] != nil ? id : file.controls[index].was ?? id
            guard let then = before[known], let now = present[known], then != now else { continue }
            if written[id] == then { kept[id] = now }
        }
        return merging(kept, into: file, reusing: inForce, limits: limits, compile: compile)
    }

    /// The run-time options of a picker; `nil` if it has those of the applied definition.
    func runtimeOptions(of id: String, over applied: JSON) -> JSON? {
        let present = Self.writtenOptions(of: json)[id]
        return present == Self.writtenOptions(of: applied)[id] ? nil : present
    }

    /// A definition with other options of some pickers, by id; the definition itself if the result
    /// is not valid.
    static func merging(
        _ kept: [String: JSON], into file: FormDefinition, reusing known: FormDefinition,
        limits: FormLimits, compile: @escaping PatternCompiler
    ) -> FormDefinition {
        let changed = kept.keys.compactMap(file.index(of:))
        if changed.isEmpty { return file }
        let offersAll = fields(of: file.json).allSatisfy { field in
            guard let id = field["id"]?.stringValue, let options = kept[id],
                let written = field["default"]
            else { return true }
            return offers(written, among: options)
        }
        for dropsDefaults in offersAll ? [false, true] : [true] {
            let merged = mappingFields(of: file.json) { field in
                guard let id = field["id"]?.stringValue, let options = kept[id] else {
                    return field
                }
                var field = field
                field["options"] = options
                if dropsDefaults { field["default"] = nil }
                return field
            }
            do {
                return try parse(
                    merged, limits: limits, reusing: known, over: (file, changed),
                    compile: compile)
            } catch {
                let isDefault = error.issues.contains { $0.path.contains(.key("default")) }
                if !isDefault { break }
            }
        }
        return file
    }

    /// The path of a control in the definition.
    public func path(of control: Int) -> [PathStep] {
        let section = controls[control].section
        let place = control - sections[section].fields.lowerBound
        if json["sections"] == nil { return [.key("fields"), .index(place)] }
        return [.key("sections"), .index(section), .key("fields"), .index(place)]
    }

    func written(_ control: Int) -> JSON? {
        let section = controls[control].section
        let container = json["sections"].map { $0.arrayValue?[section] } ?? json
        return container?["fields"]?.arrayValue?[control - sections[section].fields.lowerBound]
    }

    /// The options of each picker, as a definition is written.
    static func writtenOptions(of json: JSON) -> [String: JSON] {
        var found: [String: JSON] = [:]
        for field in fields(of: json) {
            if let id = field["id"]?.stringValue, let options = field["options"] {
                found[id] = options
            }
        }
        return found
    }

    /// The ids of the fields of a definition as written, which need not be valid.
    public static func fieldIDs(of json: JSON) -> Set<String> {
        Set(fields(of: json).compactMap { $0["id"]?.stringValue })
    }

    /// The fields as written, in document order.
    private static func fields(of json: JSON) -> [JSONObject] {
        let containers = json["sections"]?.arrayValue ?? [json]
        return containers.flatMap { $0["fields"]?.arrayValue ?? [] }.compactMap(\.objectValue)
    }

    private static func mappingFields(
        of json: JSON, _ change: (JSONObject) -> JSONObject
    ) -> JSON {
        func changed(_ container: JSON) -> JSON {
            guard var object = container.objectValue, let fields = object["fields"]?.arrayValue
            else { return container }
            object["fields"] = .array(
                fields.map { field in field.objectValue.map { .object(change($0)) } ?? field })
            return .object(object)
        }
        guard var object = json.objectValue, let sections = object["sections"]?.arrayValue else {
            return changed(json)
        }
        object["sections"] = .array(sections.map(changed))
        return .object(object)
    }
}
