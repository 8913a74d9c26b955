// Converts views to a definition, once, in the order of the views.
//
// Ids: a control has the id of the property that it is bound to; a second control over the same
// property, and one over none, has the id that `.id` gives it or one made of its label. Then the
// rules of forms check the definition and report each issue with its place.

internal import SyncCore
internal import Synchronization
internal import TerminalUI

/// A control that is being converted.
struct ControlDraft {
    let type: ControlType
    var label = LabelParts()
    /// The property that it shows.
    var binding: (any FieldIdentity)?
    /// The properties that it shows together.
    var sources: [any FieldIdentity] = []
    /// The name of the list that a form file has for several properties, and of the id.
    var members: [(String, JSON)] = []
    var listeners: [@Sendable (String) -> FieldListener] = []
    /// The id to take where neither a property nor `.id` gives one.
    var id: String?

    init(_ type: ControlType, _ label: LabelParts = LabelParts()) {
        self.type = type
        self.label = label
    }

    mutating func set(_ name: String, _ value: JSON?) {
        if let value { members.append((name, value)) }
    }
}

/// A definition that is being made.
struct FormLowering {
    private struct Part {
        /// `nil` for controls outside of a section.
        var members: [(String, JSON)]?
        var fields: [JSON] = []
    }

    let name: String
    private var form: [(String, JSON)] = []
    private var parts: [Part] = []
    /// The ids that are taken, by their environment variables, which must differ too.
    private var ids = Set(Control.reservedIDs.map { Control.environmentKey(of: $0) })
    private var owned: Set<String> = []
    private var issues: [FormIssue] = []
    private var isInForm = false
    private var isInSection = false
    private(set) var listeners: [FieldListener] = []
    /// The styles of each control, for a program that shows the form itself.
    private(set) var styles: [String: [@Sendable (inout StyleEnvironment) -> Void]] = [:]
    /// What a terminal does not show, without duplicates.
    private(set) var notes: [String] = []
    var attachments: [@Sendable (FormAttachment) -> Void] = []

    init(name: String) {
        self.name = name
    }

    /// An issue at the control or section that is being made.
    mutating func issue(_ message: String, expected: String) {
        issues.append(FormIssue(path: place, message: message, expected: expected))
    }

    /// The section of the next control, and its number there.
    private var place: [PathStep] {
        guard let part = parts.last else { return [.key("fields"), .index(0)] }
        let isNew = !isInSection && part.members != nil
        let field: [PathStep] = [.key("fields"), .index(isNew ? 0 : part.fields.count)]
        if parts.count == 1, part.members == nil { return field }
        return [.key("sections"), .index(isNew ? parts.count : parts.count - 1)] + field
    }

    /// What a body is, made while reads of shared values are noticed.
    mutating func body<Body>(of owner: Any.Type, _ make: () -> Body) -> Body {
        let reads = BodyReads()
        let body = BodyReads.$current.withValue(reads, operation: make)
        for name in reads.names {
            issue(
                "the body of \(owner) read \"\(name)\"; it will not follow",
                expected: "$\(name), or .visible(when:)")
        }
        return body
    }

    /// Adds a note once: a part of the declaration that is not shown.
    mutating func note(_ note: String) {
        if !notes.contains(note) { notes.append(note) }
    }

    mutating func add(_ view: some View, _ environment: ViewEnvironment) {
        if let primitive = view as? any PrimitiveView {
            primitive.lower(into: &self, environment)
        } else {
            let values = EnvironmentValues(environment)
            let made = EnvironmentValues.$current.withValue(values) {
                body(of: type(of: view)) { view.body }
            }
            add(made, environment)
        }
    }

    mutating func listen(
        to field: any FieldIdentity, _ listener: @Sendable (String) -> FieldListener
    ) {
        listeners.append(listener(idOf(field)))
    }

    // MARK: Containers

    mutating func addForm(_ members: [(String, JSON)], _ body: (inout FormLowering) -> Void) {
        if isInForm {
            issue("a form is inside another form", expected: "one form")
            return body(&self)
        }
        isInForm = true
        form = members
        body(&self)
    }

    /// Whether the next view is inside a section.
    var standsInSection: Bool { isInSection }

    mutating func addSection(_ members: [(String, JSON)], _ body: (inout FormLowering) -> Void) {
        if isInSection {
            issue("a section is inside another section", expected: "sections side by side")
        }
        parts.append(Part(members: members))
        isInSection = true
        body(&self)
        isInSection = false
    }

    // MARK: Controls

    mutating func add(_ draft: ControlDraft, _ environment: ViewEnvironment) {
        var draft = draft
        if let constant = draft.binding, constant.isConstant {
            draft.binding = nil
            draft.set("default", constant.declaredDefault)
            draft.set("readOnly", true)
        }
        let (id, binds) = identity(of: draft, environment)
        ids.insert(Control.environmentKey(of: id))
        var members: [(String, JSON)] = [
            ("id", .string(id)), ("type", .string(draft.type.rawValue)),
        ]
        members += draft.label.members(&self)
        members += draft.members
        if let binds { members.append(("binds", .string(binds))) }
        if !draft.sources.isEmpty {
            members.append(("sources", .array(draft.sources.map { .string(idOf($0)) })))
        }
        if binds == nil, let value = draft.binding?.declaredDefault, Self.takesDefault(draft.type),
            !value.isNull
        {
            members.append(("default", value))
        }
        addEnvironment(environment, draft.type, to: &members)
        append(.object(JSONObject(members)))
        if !environment.styleChanges.isEmpty { styles[id] = environment.styleChanges }
        for listener in draft.listeners { listeners.append(listener(id)) }
        if let submit = environment.submit, draft.type == .text || draft.type == .secure {
            listeners.append(FieldListener(field: id, kind: .change { _, _ in submit() }))
        }
    }

    private static func takesDefault(_ type: ControlType) -> Bool {
        switch type {
        case .secure, .button, .label: false
        default: true
        }
    }

    private mutating func append(_ field: JSON) {
        if !isInSection, parts.last?.members != nil || parts.isEmpty {
            parts.append(Part(members: nil))
        }
        parts[parts.count - 1].fields.append(field)
    }

    private mutating func idOf(_ field: any FieldIdentity) -> String {
        if let id = field.id { return id }
        issue(
            "a control is bound to a property of another declaration",
            expected: "a @Shared property of the form itself")
        return "unknown"
    }

    private mutating func identity(
        of draft: ControlDraft, _ environment: ViewEnvironment
    ) -> (id: String, binds: String?) {
        guard let binding = draft.binding else {
            if let id = environment.id ?? draft.id { return (id, nil) }
            return (unused(slug(draft) ?? draft.type.rawValue), nil)
        }
        let own = idOf(binding)
        if environment.id == nil || environment.id == own, owned.insert(own).inserted {
            return (own, nil)
        }
        return (environment.id ?? unused(slug(draft) ?? own), own)
    }

    private func unused(_ id: String) -> String {
        if !ids.contains(Control.environmentKey(of: id)) { return id }
        var number = 2
        while ids.contains(Control.environmentKey(of: "\(id)\(number)")) { number += 1 }
        return "\(id)\(number)"
    }

    /// `All fruit` is `allFruit`. Where a title has no letter of ASCII to make an id of, an id has
    /// to be given: one made of the place would move when a control is put before it.
    private mutating func slug(_ draft: ControlDraft) -> String? {
        let title = draft.label.texts.first?.words ?? ""
        let id = Self.slug(draft)
        if id == nil, !title.isEmpty {
            issue(
                "no id can be made of the label \"\(title)\"",
                expected: ".id(\"...\") on the control")
        }
        return id
    }

    private static func slug(_ draft: ControlDraft) -> String? {
        guard let title = draft.label.texts.first?.words else { return nil }
        var id = ""
        var isWordStart = false
        for scalar in title.unicodeScalars {
            let isLetter = scalar.isASCII && scalar.properties.isAlphabetic
            let isDigit = ("0"..."9").contains(scalar)
            guard isLetter || isDigit && !id.isEmpty else {
                isWordStart = !id.isEmpty
                continue
            }
            let letter = String(scalar)
            id += id.isEmpty ? letter.lowercased() : isWordStart ? letter.uppercased() : letter
            isWordStart = false
        }
        return id.isEmpty ? nil : String(id.prefix(63))
    }

    private mutating func addEnvironment(
        _ environment: ViewEnvironment, _ type: ControlType, to members: inout [(String, JSON)]
    ) {
        if let style = environment.styles[type.rawValue] {
            members.append(("style", .string(style)))
        }
        if type == .picker {
            if let effect = environment.selectionEffect {
                members.append(("selectionEffect", effect))
            }
            if environment.isHorizontal == true { members.append(("layout", "horizontal")) }
            if let height = environment.wheelItemHeight {
                members.append(("wheelItemHeight", .integer(height)))
            }
        }
        if environment.isDisabled { members.append(("disabled", true)) }
        for (name, conditions) in [
            ("enabledWhen", environment.enabledWhen), ("visibleWhen", environment.visibleWhen),
        ] where !conditions.isEmpty {
            let json = FieldCondition.all(conditions).json
            members.append((name, json))
        }
        for (name, value) in environment.attributes {
            members.removeAll { $0.0 == name }
            members.append((name, value))
        }
    }

    // MARK: The end

    /// The definition, checked by the rules of forms. Issues of the declaration and of the form are
    /// reported together.
    func finished() throws(FormIssues) -> JSON {
        let json = definition
        do throws(FormIssues) {
            // The daemon compiles patterns; here every pattern is accepted.
            _ = try FormDefinition.parse(json, limits: FormLimits()) { _ in
                .success(PatternMatcher { _ in true })
            }
        } catch {
            throw FormIssues(issues + error.issues)
        }
        guard issues.isEmpty else { throw FormIssues(issues) }
        return json
    }

    private var definition: JSON {
        var members = [("form", JSON.string(name))] + form
        if parts.count == 1, parts[0].members == nil {
            members.append(("fields", .array(parts[0].fields)))
        } else {
            let sections = parts.map { part in
                JSON.object(
                    JSONObject((part.members ?? []) + [("fields", .array(part.fields))]))
            }
            members.append(("sections", .array(sections)))
        }
        return .object(JSONObject(members))
    }
}

/// The shared values that a body reads while it is made.
final class BodyReads: Sendable {
    @TaskLocal static var current: BodyReads?

    private let read = Mutex<[String]>([])

    var names: [String] { read.withLock { $0 } }

    func add(_ name: String) {
        read.withLock { if !$0.contains(name) { $0.append(name) } }
    }
}
