// Controls and forms: as much of docs/FORM.md as the model needs to predict every answer.
//
// Only the JSON parser is shared with the product.

import SyncCore

/// One control of a form.
struct StoryControl: Equatable {
    enum Kind: String, CaseIterable {
        case picker, multiple, toggle, stepper, slider, gauge, text, secure, wheels, date, button
        case label
    }

    /// The kind of store. A value is kept for another type of control only if it has the same kind.
    enum Store {
        case register, counter, tags, wheels, presses, secret
    }

    /// One component of wheels.
    struct Wheel: Equatable {
        var id: String
        var options: [String]
    }

    /// `enabledWhen`: another control, a toggle, has this value.
    struct Condition: Equatable {
        var field: String
        var value: Bool
    }

    var id: String
    var kind: Kind
    var options: [String] = []
    var disabledOptions: Set<String> = []
    /// Whether options have a label, which is the tag again.
    var hasLabels = false
    var isOptional = false
    var minimum = 0
    var maximum = 0
    var step = 1
    var wraps = false
    var maxLength: Int?
    var wheels: [Wheel] = []
    /// The default of the definition.
    var initial: JSON?
    var policy: String?
    var isRequired = false
    var isLocked = false
    var isDisabled = false
    /// Whether it is changed only with a message.
    var needsMessage = false
    var enabledWhen: Condition?
    /// Who must agree before it changes.
    var approval: StoryApproval?
    /// The users who may write; `nil`: those of the form.
    var writers: [String]?
    var binds: String?
    var sources: [String] = []
    var was: String?
    /// The fields in the text of a label.
    var shows: [String] = []
    /// `runs` and `waitsFor` of a button.
    var runs: String?
    var waitsFor: String?

    init(_ id: String, _ kind: Kind) {
        self.id = id
        self.kind = kind
    }

    /// The store of its value; `nil` for a control that shows other controls, and for labels.
    var store: Store? {
        if binds != nil || !sources.isEmpty { return nil }
        return switch kind {
        case .picker, .toggle, .text, .date: .register
        case .stepper, .slider, .gauge: .counter
        case .multiple: .tags
        case .wheels: .wheels
        case .button: .presses
        case .secure: .secret
        case .label: nil
        }
    }

    var typeName: String { kind == .multiple ? "picker" : kind.rawValue }
    var conflictPolicy: String { policy ?? "latest" }

    /// The value while it is not set.
    var defaultValue: JSON {
        if let initial { return initial }
        switch kind {
        case .picker:
            if isOptional { return .null }
            return options.first { !disabledOptions.contains($0) }.map { .string($0) } ?? .null
        case .multiple: return []
        case .toggle: return false
        case .stepper, .slider, .gauge: return .integer(minimum)
        case .text: return ""
        case .wheels:
            return .object(
                JSONObject(wheels.map { ($0.id, .string($0.options.first ?? "")) }))
        case .secure: return false
        case .button: return .object(JSONObject([("presses", 0)]))
        case .date, .label: return .null
        }
    }

    /// Whether a value is valid. Disabled options are.
    func accepts(_ value: JSON) -> Bool {
        switch (kind, value) {
        case (.picker, .null): isOptional
        case (.picker, .string(let tag)): options.contains(tag)
        case (.multiple, .array(let tags)):
            tags.allSatisfy { tag in tag.stringValue.map(options.contains) ?? false }
        case (.toggle, .bool): true
        case (.stepper, .number), (.slider, .number), (.gauge, .number):
            value.integerValue.map { (minimum...maximum).contains(Int($0)) } ?? false
        case (.text, .string(let text)):
            text.count <= maxLength ?? .max || value == defaultValue
        case (.wheels, .object(let rows)):
            wheels.allSatisfy { wheel in
                rows[wheel.id]?.stringValue.map(wheel.options.contains) ?? false
            }
        case (.date, .null): defaultValue.isNull
        case (.date, .string(let text)): Self.isDate(text)
        default: false
        }
    }

    var enabledOptions: [String] { options.filter { !disabledOptions.contains($0) } }

    /// Whether a value can be the default: disabled options cannot.
    func mayStart(as value: JSON) -> Bool {
        let tags = value.arrayValue ?? [value]
        return accepts(value)
            && !tags.contains { $0.stringValue.map(disabledOptions.contains) ?? false }
    }

    /// Whether it is a date as the generator makes them.
    static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, text.utf8.count == 10, let month = Int(parts[1]),
            let day = Int(parts[2])
        else { return false }
        return (1...12).contains(month) && (1...28).contains(day)
    }

    // MARK: - As a definition

    var json: JSON {
        var object = JSONObject([("id", .string(id)), ("type", .string(typeName))])
        switch kind {
        case .picker, .multiple: describeOptions(in: &object)
        case .stepper, .slider, .gauge:
            object["min"] = .integer(minimum)
            object["max"] = .integer(maximum)
            if kind != .gauge, step != 1 || kind == .slider { object["step"] = .integer(step) }
            if wraps { object["wraps"] = true }
        case .text: object["maxLength"] = maxLength.map { .integer($0) }
        case .wheels:
            object["components"] = .array(
                wheels.map { wheel in
                    .object(
                        JSONObject([
                            ("id", .string(wheel.id)),
                            ("options", .array(wheel.options.map { .string($0) })),
                        ]))
                })
        case .date: object["mode"] = "date"
        case .label:
            object["text"] = .string("now " + shows.map { "${\($0)}" }.joined(separator: ", "))
        case .button:
            object["runs"] = runs.map { .string($0) }
            object["waitsFor"] = waitsFor.map { .string($0) }
        case .toggle, .secure: break
        }
        object["default"] = initial
        object["onConflict"] = policy.map { .string($0) }
        if isRequired { object["required"] = true }
        if isLocked { object["locked"] = true }
        if isDisabled { object["disabled"] = true }
        if needsMessage { object["message"] = "required" }
        object["enabledWhen"] = enabledWhen.map {
            .object(JSONObject([($0.field, .bool($0.value))]))
        }
        object["approval"] = approval?.json
        object["breakGlass"] = approval?.breakGlass.map { .array($0.map { .string($0) }) }
        object["access"] = writers.map {
            .object(JSONObject([("write", .array($0.map { .string($0) }))]))
        }
        object["binds"] = binds.map { .string($0) }
        if !sources.isEmpty { object["sources"] = .array(sources.map { .string($0) }) }
        object["was"] = was.map { .string($0) }
        return .object(object)
    }

    private func describeOptions(in object: inout JSONObject) {
        if kind == .multiple { object["multiple"] = true }
        if isOptional { object["optional"] = true }
        object["options"] = .array(optionsJSON)
    }

    /// The options as JSON.
    var optionsJSON: [JSON] {
        options.map { tag in
            var option = JSONObject([("tag", .string(tag))])
            if hasLabels { option["label"] = .string(tag) }
            if disabledOptions.contains(tag) { option["disabled"] = true }
            return option.count == 1 ? .string(tag) : .object(option)
        }
    }
}

/// The definition of a form.
struct StoryDefinition: Equatable {
    var name: String
    var title: String?
    var controls: [StoryControl]
    /// Whether each of its controls is changed only with a message.
    var needsMessage = false
    /// Where its labels are, as its file says.
    var labelAlignment: String?
    /// The access rules of the form.
    var access: [String: [String]] = [:]

    func control(_ id: String) -> StoryControl? { controls.first { $0.id == id } }

    func place(_ id: String) -> Int { controls.firstIndex { $0.id == id } ?? .max }

    /// The controls that store what a control shows, in the order of the form.
    func targets(_ id: String) -> [String] {
        guard let control = control(id) else { return [] }
        if let other = control.binds { return targets(other) }
        if !control.sources.isEmpty {
            return Set(control.sources.flatMap(targets)).sorted { place($0) < place($1) }
        }
        return control.store == nil ? [] : [id]
    }

    /// Whether an edit of a control needs a message.
    func needsMessage(_ id: String) -> Bool {
        needsMessage || ([id] + targets(id)).contains { control($0)?.needsMessage ?? false }
    }

    /// These controls and all controls that show them, in the order of the form.
    func withDependents(_ ids: Set<String>) -> [String] {
        let shown = controls.filter { control in
            ids.contains(control.id)
                || (control.kind != .label && !ids.isDisjoint(with: targets(control.id)))
        }.map(\.id)
        return controls.map(\.id).filter { id in
            shown.contains(id) || !(control(id)?.shows ?? []).allSatisfy { !shown.contains($0) }
        }
    }

    var json: JSON {
        var object = JSONObject([("form", .string(name))])
        object["title"] = title.map { .string($0) }
        object["labelAlignment"] = labelAlignment.map { .string($0) }
        if needsMessage { object["message"] = "required" }
        if !access.isEmpty {
            object["access"] = .object(
                JSONObject(
                    access.sorted { $0.key < $1.key }.map { name, who in
                        (name, .array(who.map { .string($0) }))
                    }))
        }
        object["fields"] = .array(controls.map(\.json))
        return .object(object)
    }

    /// Whether it is valid, as far as the generator makes definitions that are not.
    var isValid: Bool {
        let former = controls.compactMap(\.was)
        guard Set(controls.map(\.id)).count == controls.count, !controls.isEmpty,
            Set(former).count == former.count, former.allSatisfy({ control($0) == nil })
        else { return false }
        return controls.allSatisfy { control in
            if control.kind == .picker || control.kind == .multiple {
                guard !control.options.isEmpty, Set(control.options).count == control.options.count
                else { return false }
            }
            if let initial = control.initial, !control.mayStart(as: initial) { return false }
            if let other = control.binds {
                guard let root = self.control(other), root.kind == control.kind,
                    control.enabledOptions.allSatisfy(root.enabledOptions.contains)
                else { return false }
            }
            if control.approval != nil, control.store == nil || control.kind == .secure {
                return false
            }
            if let when = control.approval?.when, self.control(when.field)?.kind != .toggle {
                return false
            }
            let references = control.sources + control.shows + [control.enabledWhen?.field ?? ""]
            return references.allSatisfy { $0.isEmpty || self.control($0) != nil }
        }
    }
}
