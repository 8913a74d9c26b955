// From a JSON tree to a definition: every rule of FORM.md, and each violation with its path.
//
// There are three passes, so that a control may refer to a later one: first each control by itself
// (FormParser+Control.swift, +Kinds, +Options), then references (+References, +Bindings), then
// checks that need complete domains (defaults and sizes, FormParser+Defaults.swift). Later passes
// skip a control that is invalid, because it has its issue already.

extension FormDefinition {
    /// The definition in `json`.
    ///
    /// - Parameters:
    ///   - limits: limits of the daemon, or of the file checker.
    ///   - previous: a definition whose lists of options are used again where `json` has the same.
    ///     The result does not depend on it.
    ///   - base: a definition from which `json` differs in the fields with these indexes alone. The
    ///     result is the same without it, and takes more time.
    ///   - compile: compiles a text's `pattern`.
    /// - Throws: all errors in the order in which they were found, at most `FormParser.issuesMax`.
    public static func parse(
        _ json: JSON, limits: FormLimits, reusing previous: FormDefinition? = nil,
        over base: (definition: FormDefinition, fields: [Int])? = nil,
        compile: @escaping PatternCompiler
    ) throws(FormIssues) -> FormDefinition {
        var parser = FormParser(limits: limits, previous: previous, compile: compile)
        parser.base = base
        let form = parser.parse(json)
        guard let form, parser.issues.isEmpty else { throw FormIssues(parser.issues) }
        return form
    }
}

/// A place in a form, for issues. Places share the steps before their last one, because most places
/// are never reported.
struct Place {
    /// The steps before the last one, from the last to the first.
    private indirect enum Steps {
        case none
        case some(PathStep, before: Steps)
    }

    private var before = Steps.none
    /// `nil` at the root.
    private var last: PathStep?

    init() {}

    private init(_ before: Steps, _ last: PathStep) {
        self.before = before
        self.last = last
    }

    private var steps: Steps { last.map { .some($0, before: before) } ?? .none }

    var path: [PathStep] {
        var path: [PathStep] = []
        var rest = steps
        while case .some(let step, let before) = rest {
            path.append(step)
            rest = before
        }
        return path.reversed()
    }

    func at(_ step: PathStep) -> Place { Place(steps, step) }

    /// The places of the first `count` elements of an array at this place.
    func elements(_ count: Int) -> some Collection<Place> {
        let steps = steps
        return (0..<count).lazy.map { Place(steps, .index($0)) }
    }
}

/// An object and its path.
struct Members {
    let object: JSONObject
    let place: Place
    /// A bit for each length that a name has. Most names that are looked up are missing, and few of
    /// those are as long as one that is there.
    private let lengths: UInt64

    init(object: JSONObject, place: Place) {
        self.object = object
        self.place = place
        var lengths: UInt64 = 0
        for index in object.members.indices { lengths |= Self.bit(of: object.members[index].name) }
        self.lengths = lengths
    }

    subscript(name: String) -> JSON? {
        lengths & Self.bit(of: name) == 0 ? nil : object[name]
    }

    func place(of name: String) -> Place { place.at(.key(name)) }

    private static func bit(of name: String) -> UInt64 { 1 &<< UInt64(min(name.utf8.count, 63)) }
}

struct FormParser {
    /// The most issues, because nobody reads more and an answer has to contain them.
    static let issuesMax = 200
    /// The most issues with a suggestion. A search for similar names takes time, which a hostile
    /// form must not cause.
    static let suggestionsMax = 8
    /// The most options that are looked up in the options of another control, for `binds` and
    /// `sources`. One control with many options may be bound many times.
    static let comparisonsMax = 500_000

    let limits: FormLimits
    /// A definition that was valid before.
    let previous: FormDefinition?
    /// A valid definition, and the fields in which the parsed one differs from it.
    var base: (definition: FormDefinition, fields: [Int])?
    let compile: PatternCompiler
    var issues: [FormIssue] = []
    var suggestions = 0
    var optionCount = 0
    var principalCount = 0
    /// Whether the form says `message: required`, for all of its controls.
    var formNeedsMessage = false
    /// Whether a text takes so long to compare that nothing else is read.
    var hasTooManyMarks = false
    /// Bytes of the patterns so far, compiled.
    var patternBytes = 0

    var sections: [FormSection] = []
    /// The fields as written, in document order. Their indexes are those of the controls.
    var fields: [Members] = []
    var sectionOfField: [Int] = []
    /// Conditions of sections, checked when all controls are known.
    var sectionConditions: [(section: Int, condition: JSON, place: Place)] = []
    /// The index of each field id, including invalid fields.
    var indexes = NameTable<Int>()
    /// The id of the field with a value of `was`, by that value.
    var successors: [String: String] = [:]
    /// The controls, also those that are not valid.
    var controls: [Control] = []
    /// Their types with their own attributes; `nil` for invalid ones. A control has so many
    /// attributes that each copy of it takes time.
    var kinds: [ControlKind?] = []
    /// The number of options that were looked up in the options of another control.
    var comparisons = 0
    /// The number of conditions and compared values so far.
    var conditionParts = 0
    /// Compares options of two pickers.
    var tagNumbers = TagNumbers()
    /// For each control the last one that named it as a source.
    var namedBy: [Int] = []

    init(limits: FormLimits, previous: FormDefinition?, compile: @escaping PatternCompiler) {
        self.limits = limits
        self.previous = previous
        self.compile = compile
    }

    mutating func parse(_ json: JSON) -> FormDefinition? {
        let expected = "form, title and fields or sections"
        if json.isNull {
            issue(Place(), "the form is empty", expected: expected)
            return nil
        }
        guard let form = object(json, at: Place(), expected: "an object of \(expected)") else {
            return nil
        }
        let text = json.encoded
        let bytes = text.count
        if bytes + Self.envelopeBytes > limits.frameBytesMax {
            issue(
                Place(), "the definition has \(bytes) bytes",
                expected: "at most \(limits.frameBytesMax - Self.envelopeBytes) bytes")
            return nil
        }
        if base == nil {
            var path: [PathStep] = []
            checkControls(json, at: &path)
            if hasTooManyMarks { return nil }
        }
        var parts = FormDefinition.Parts(json: json)
        parts.text = text
        parseTop(form, into: &parts)
        if let base {
            // Too many controls: that is an issue now, and the rest has no fields to look at.
            guard fields.count == base.definition.controls.count else { return nil }
            takeControls(of: base)
            if hasTooManyMarks { return nil }
        } else {
            collectIDs()
            controls.reserveCapacity(fields.count)
            kinds.reserveCapacity(fields.count)
            for index in fields.indices { addControl(at: index) }
        }
        for index in fields.indices { resolveReferences(of: index, form: parts) }
        resolveSectionConditions()
        resolveBindings()
        guard issues.isEmpty else {
            checkDefaultsApart(parts)
            return nil
        }
        parts.sections = sections
        parts.controls = controls
        parts.indexes = indexes
        return finished(&parts)
    }

    /// Bytes of a frame in addition to a definition or snapshot: names, versions, a context token.
    static let envelopeBytes = 6 << 10
}

// MARK: - The top level

extension FormParser {
    private static let topKeys: KnownNames = [
        "$schema", "form", "title", "subtitle", "help", "access", "styles", "labelAlignment",
        "message", "sections", "fields",
    ]
    private static let sectionKeys: KnownNames = [
        "title", "footer", "styles", "collapsed", "visibleWhen", "disabled", "fields",
    ]

    private mutating func parseTop(_ form: Members, into parts: inout FormDefinition.Parts) {
        checkKeys(form, Self.topKeys, owner: "a form")
        _ = string(form, "$schema")
        if let name = requiredString(form, "form") {
            if Self.isFormName(name) {
                parts.name = name
            } else {
                issue(
                    form.place(of: "form"),
                    "\(FormDefinition.quoted(.string(name))) is not a form name",
                    expected: "1 to 63 of a-z, 0-9 and -, the first not a -")
            }
        }
        parts.title = string(form, "title")
        parts.subtitle = string(form, "subtitle")
        parts.help = string(form, "help")
        parts.styles = styles(form)
        parts.labelAlignment =
            choice(form, "labelAlignment", among: LabelAlignment.allCases) ?? .leading
        formNeedsMessage = needsMessage(form)
        parts.access = formAccess(form)
        switch (form["sections"], form["fields"]) {
        case (.some(let sections), nil):
            let place = form.place(of: "sections")
            for (json, place) in elements(sections, at: place) { parseSection(json, at: place) }
            checkNotEmpty(sections, at: place, of: "section")
        case (nil, .some(let fields)):
            sections.append(FormSection())
            collectFields(fields, at: form.place(of: "fields"))
        case (.some, .some):
            issue(
                form.place(of: "fields"), "the form has sections and fields",
                expected: "either sections or fields")
        case (nil, nil):
            issue(form.place, "the form has no controls", expected: "sections or fields")
        }
        if fields.count > limits.fieldsMax {
            issue(
                form.place, "the form has \(fields.count) controls",
                expected: "at most \(limits.fieldsMax)")
            fields.removeLast(fields.count - limits.fieldsMax)
        }
    }

    private mutating func parseSection(_ json: JSON, at place: Place) {
        guard let members = object(json, at: place, expected: "an object with fields") else {
            return
        }
        checkKeys(members, Self.sectionKeys, owner: "a section")
        var section = FormSection()
        section.title = string(members, "title")
        section.footer = string(members, "footer")
        section.styles = styles(members)
        section.isCollapsed = bool(members, "collapsed") ?? false
        section.isDisabled = bool(members, "disabled") ?? false
        if let condition = members["visibleWhen"] {
            sectionConditions.append(
                (sections.count, condition, members.place(of: "visibleWhen")))
        }
        sections.append(section)
        if let fields = members["fields"] {
            collectFields(fields, at: members.place(of: "fields"))
        } else {
            // Wrong indentation can split a section in two.
            issue(place, "fields are missing", expected: "fields: a list of controls")
        }
    }

    private mutating func collectFields(_ json: JSON, at place: Place) {
        let first = fields.count
        for (field, place) in elements(json, at: place) {
            guard let members = object(field, at: place, expected: "an object with id and type")
            else { continue }
            fields.append(members)
            sectionOfField.append(sections.count - 1)
        }
        sections[sections.count - 1].fields = first..<fields.count
        checkNotEmpty(json, at: place, of: "control")
    }

    private mutating func styles(_ members: Members) -> ContainerStyles {
        var styles = ContainerStyles()
        guard let json = members["styles"],
            let written = object(
                json, at: members.place(of: "styles"), expected: "an object of type and style")
        else { return styles }
        let types = ControlType.allCases.filter { ControlStyle.styles(for: $0).count > 1 }
        checkKeys(written, KnownNames(types.map(\.rawValue)), owner: "styles")
        for type in types where written[type.rawValue] != nil {
            styles[type] = style(written, type.rawValue, of: type)
        }
        return styles
    }

    /// `[a-z0-9][a-z0-9-]{0,62}`.
    static func isFormName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= 63, first != UInt8(ascii: "-") else {
            return false
        }
        return bytes.allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// `[A-Za-z][A-Za-z0-9_-]{0,62}`.
    static func isFieldID(_ id: String) -> Bool {
        guard let first = id.utf8.first, id.utf8.count <= 63, isLetter(first) else { return false }
        var id = id
        return id.withUTF8 { bytes in
            bytes.allSatisfy {
                isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
        }
    }

    private static func isLower(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }
}

extension String {
    /// Whether the string can be the name of a form (FORM.md, File).
    public var isFormName: Bool { FormParser.isFormName(self) }
}

// MARK: - Ids

extension FormParser {
    private mutating func collectIDs() {
        var byEnvironment: [String: String] = [:]
        byEnvironment.reserveCapacity(fields.count)
        var known: [(String, Int)] = []
        known.reserveCapacity(fields.count)
        // Ids that are the same variable as another id before them.
        var doubles: Set<String> = []
        for id in Control.reservedIDs { byEnvironment[Control.environmentKey(of: id)] = "" }
        for (index, field) in fields.enumerated() {
            guard case .string(let id)? = field["id"] else { continue }
            let place = field.place(of: "id")
            guard Self.isFieldID(id) else {
                issue(
                    place, "\(FormDefinition.quoted(.string(id))) is not an id",
                    expected: "a letter, then at most 62 letters, digits, - and _")
                continue
            }
            let key = Control.environmentKey(of: id)
            let other = byEnvironment.updateValue(id, forKey: key)
            let isKnown = other == id || doubles.contains(id)
            if isKnown {
                issue(place, "there is a control \(id) already", expected: "an id of its own")
            } else if let other, other.isEmpty {
                issue(
                    place, "\(id) is reserved: PICKER_\(key) has another meaning",
                    expected: "an id other than \(Control.reservedIDs.joined(separator: ", "))")
            } else if let other {
                issue(
                    place, "\(id) and \(other) are the same environment variable PICKER_\(key)",
                    expected: "an id that differs in letters or digits")
            }
            if let other { byEnvironment[key] = other }
            if isKnown { continue }
            known.append((id, index))
            if other != nil { doubles.insert(id) }
        }
        indexes = NameTable(known)
    }
}
