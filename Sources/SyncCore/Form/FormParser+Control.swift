// One control by itself: the attributes that all types have.

extension FormParser {
    /// Attributes of every control.
    static let commonKeys = [
        "id", "type", "label", "subtitle", "symbol", "symbolName", "help", "default", "required",
        "disabled", "readOnly", "locked", "hidden", "enabledWhen", "visibleWhen", "style",
        "onConflict", "access", "binds", "was", "message",
        "leaseMax", "approval", "breakGlass",
    ]

    /// The additional attributes of one type.
    static func ownKeys(of type: ControlType) -> [String] {
        switch type {
        case .picker:
            [
                "options", "optional", "currentValueLabel", "selectionEffect", "wheelItemHeight",
                "layout", "multiple", "sources",
            ]
        case .wheels: ["components", "optionsFor"]
        case .toggle: ["sources"]
        case .slider: ["min", "max", "step", "minLabel", "maxLabel", "ticks", "format"]
        case .stepper: ["min", "max", "step", "wraps", "format"]
        case .date: ["components", "mode", "min", "max", "minuteInterval", "zone"]
        case .text: ["prompt", "maxLength", "pattern", "multiline"]
        case .secure: ["prompt", "maxLength"]
        case .gauge: ["min", "max", "minLabel", "maxLabel", "currentValueLabel", "thresholds"]
        case .button: ["role", "confirm", "runs", "waitsFor", "whenLost", "timeout", "handledAt"]
        case .label: ["text"]
        }
    }

    /// All attributes of a control.
    private static let knownKeys = ControlType.allCases.reduce(into: [ControlType: KnownNames]()) {
        $0[$1] = KnownNames(commonKeys + ownKeys(of: $1))
    }

    /// Adds the control of a field, without references to other controls. It is not valid if it has
    /// no id or type, or if its attributes are not a valid domain. Even then all of it is checked,
    /// so that every error is reported.
    mutating func addControl(at index: Int) {
        let (control, isValid) = control(at: index)
        kinds.append(isValid ? control.kind : nil)
        controls.append(control)
    }

    /// Takes the controls of a valid definition, and reads the fields that differ from it.
    mutating func takeControls(of base: (definition: FormDefinition, fields: [Int])) {
        indexes = base.definition.indexes
        controls = base.definition.controls
        kinds.reserveCapacity(controls.count)
        for index in controls.indices {
            // As they are read, without what the later passes find.
            let kind = controls[index].kind
            controls[index].storage = Self.ownStorage(of: kind)
            controls[index].defaultValue = Self.implicitDefault(of: kind)
            controls[index].hasDefault = false
            optionCount += kind.optionLists.reduce(0) { $0 + $1.count }
            kinds.append(kind)
        }
        for index in base.fields {
            optionCount -= controls[index].options?.count ?? 0
            var path = fields[index].place.path
            checkControls(.object(fields[index].object), at: &path, inField: true)
            if hasTooManyMarks { return }
            let (control, isValid) = control(at: index)
            kinds[index] = isValid ? control.kind : nil
            controls[index] = control
        }
    }

    private mutating func control(at index: Int) -> (control: Control, isValid: Bool) {
        let field = fields[index]
        let id = requiredString(field, "id")
        if field["type"] == nil {
            issue(
                field.place, "type is missing",
                expected: Wording.oneOf(ControlType.allCases.map(\.rawValue)))
        }
        let type = choice(field, "type", among: ControlType.allCases)
        if let type { checkKeys(of: type, field) }
        let ownKind = type.flatMap { self.kind(of: $0, field) }
        // The common attributes do not depend on the kind, so they can be checked with any.
        let kind = ownKind ?? .toggle
        let section = sections[sectionOfField[index]]
        var control = Control(
            id: id ?? "", section: sectionOfField[index], kind: kind, access: controlAccess(field),
            storage: Self.ownStorage(of: kind), defaultValue: Self.implicitDefault(of: kind))
        control.label = string(field, "label")
        control.subtitle = string(field, "subtitle")
        control.symbol = symbol(field)
        control.symbolName = string(field, "symbolName")
        control.help = string(field, "help")
        control.isRequired = bool(field, "required") ?? false
        control.isDisabled = (bool(field, "disabled") ?? false) || section.isDisabled
        control.isReadOnly = bool(field, "readOnly") ?? (type == .gauge)
        control.isLocked = bool(field, "locked") ?? false
        control.isHidden = bool(field, "hidden") ?? false
        control.needsMessage = needsMessage(field) || formNeedsMessage
        control.leaseMax = type.flatMap { leaseMax(field, $0) }
        control.style = type.flatMap { self.style(field, "style", of: $0) }
        control.conflictPolicy = conflictPolicy(field, kind)
        control.was = formerID(field)
        return (control, id != nil && ownKind != nil)
    }

    private mutating func checkKeys(of type: ControlType, _ field: Members) {
        guard limits.refusesUnknownKeys, let known = Self.knownKeys[type] else { return }
        for index in field.object.members.indices {
            let name = field.object.members[index].name
            if known.contains(name) { continue }
            let owners = ControlType.allCases.filter {
                Self.ownKeys(of: $0).contains { $0.isSameBytes(as: name) }
            }
            if owners.isEmpty {
                unknownKey(name, in: field, known: known.all, owner: type.withArticle)
            } else {
                issue(
                    field.place(of: name),
                    "\(type.withArticle) has no \(FormDefinition.quoted(.string(name)))",
                    expected: "it only on: \(owners.map(\.rawValue).joined(separator: ", "))")
            }
        }
    }

    /// `leaseMax`: a duration. Only a control that stores one value can have it.
    private mutating func leaseMax(_ field: Members, _ type: ControlType) -> Int64? {
        guard let json = field["leaseMax"] else { return nil }
        let place = field.place(of: "leaseMax")
        let types: [ControlType] = [.picker, .toggle, .slider, .stepper, .gauge, .date, .text]
        let isShown = field["binds"] != nil || field["sources"] != nil
        guard types.contains(type), field["multiple"] != true, !isShown else {
            issue(
                place,
                isShown
                    ? "the value is stored by another control"
                    : "a value of \(type.withArticle) cannot end by itself",
                expected: "leaseMax on the control that stores one value")
            return nil
        }
        let seconds =
            json.stringValue.flatMap(DurationText.seconds) ?? json.integerValue.map { Double($0) }
        guard let seconds, seconds >= 1, seconds <= Double(LeaseEnd.secondsMax) else {
            issue(
                place, "\(FormDefinition.quoted(json)) is not a duration",
                expected: "from 1s to 3650d, such as 90min, 4h or 2d")
            return nil
        }
        return Int64(seconds)
    }

    /// `message: required`.
    mutating func needsMessage(_ members: Members) -> Bool {
        guard members["message"] != nil else { return false }
        return choice(members, "message", among: MessageRule.allCases) == .required
    }

    private mutating func formerID(_ field: Members) -> String? {
        guard let was = string(field, "was") else { return nil }
        if Self.isFieldID(was) { return was }
        issue(
            field.place(of: "was"), "\(FormDefinition.quoted(.string(was))) is not an id",
            expected: "the id that it had")
        return nil
    }

    private mutating func conflictPolicy(_ field: Members, _ kind: ControlKind) -> ConflictPolicy {
        let policies: [ConflictPolicy] =
            switch kind {
            case .toggle: ConflictPolicy.allCases
            case .picker(let picker) where picker.isMultiple: [.latest]
            case .secure: [.latest]
            case .button, .label: [.latest]
            default: [.latest, .ask, .first]
            }
        return choice(field, "onConflict", among: policies) ?? .latest
    }

    private static func ownStorage(of kind: ControlKind) -> Control.Storage {
        switch kind {
        case .picker(let picker): .own(picker.isMultiple ? .tags : .register)
        case .wheels: .own(.components)
        case .toggle, .date, .text: .own(.register)
        case .slider, .stepper, .gauge: .own(.counter)
        case .secure: .own(.sealed)
        case .button: .own(.presses)
        case .label: .none
        }
    }

    /// The value without `default` (FORM.md, Every control).
    private static func implicitDefault(of kind: ControlKind) -> JSON {
        switch kind {
        case .picker(let picker):
            if picker.isMultiple { return [] }
            if picker.isOptional { return .null }
            return picker.options.options[picker.options.firstEnabled].tag
        case .wheels(let wheels): return .object(wheels.completed(JSONObject()))
        case .toggle: return false
        case .slider(let slider): return .number(slider.domain.start)
        case .stepper(let stepper): return .number(stepper.domain.start)
        case .gauge(let gauge): return .number(gauge.domain.start)
        case .date, .secure, .label: return .null
        case .text: return ""
        case .button: return ["presses": 0]
        }
    }
}

extension NumberDomain {
    /// `min`, or else 0, or else the number nearest to 0.
    fileprivate var start: DecimalNumber { withPrecision(min ?? clamped(.zero)) }
}

private enum MessageRule: String, CaseIterable { case required }
