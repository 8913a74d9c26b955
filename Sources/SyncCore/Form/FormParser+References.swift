// References to other controls: conditions and templates.

extension FormParser {
    /// Resolves the references of a control, and sets its style.
    mutating func resolveReferences(of index: Int, form: FormDefinition.Parts) {
        guard let type = kinds[index]?.type else { return }
        let field = fields[index]
        if let json = field["enabledWhen"] {
            controls[index].enabledWhen = condition(json, at: field.place(of: "enabledWhen"))
        }
        if let json = field["visibleWhen"] {
            controls[index].visibleWhen = condition(json, at: field.place(of: "visibleWhen"))
        }
        controls[index].approval = approval(field, type)
        let section = controls[index].section
        controls[index].effectiveStyle =
            controls[index].style ?? sections[section].styles[type] ?? form.styles[type]
            ?? .automatic
        let was = controls[index].was
        if let was, indexes[was] != nil {
            issue(
                field.place(of: "was"), "there is a control \(was) in the form",
                expected: "the id of a control that is gone")
        } else if let was {
            if let other = successors[was] {
                issue(
                    field.place(of: "was"), "\(other) was \(was) already",
                    expected: "another id, or none")
            } else {
                successors[was] = controls[index].id
            }
        }
        resolveTemplates(of: index, field)
    }

    mutating func resolveSectionConditions() {
        for (section, json, place) in sectionConditions {
            sections[section].visibleWhen = condition(json, at: place)
        }
    }

    /// The index of the control named at a place; otherwise an issue.
    mutating func control(named id: String, at place: @autoclosure () -> Place) -> Int? {
        if let index = indexes[id] { return index }
        // An issue that is not reported takes no time.
        guard issues.count < Self.issuesMax else { return nil }
        let canSuggest = suggestions < Self.suggestionsMax
        let names = canSuggest ? fields.compactMap { $0["id"]?.stringValue } : []
        let similar = suggestion(for: id, among: names)
        issue(
            place(), "no control \(FormDefinition.quoted(.string(id)))",
            expected: similar.map { Wording.didYouMean([$0]) } ?? "the id of a control of the form")
        return nil
    }

    // MARK: Templates

    private mutating func resolveTemplates(of index: Int, _ field: Members) {
        switch kinds[index] {
        case .picker(var picker):
            resolve(&picker.currentValueLabel, field, "currentValueLabel")
            controls[index].kind = .picker(picker)
        case .slider(var slider):
            resolve(&slider.format, field, "format")
            controls[index].kind = .slider(slider)
        case .stepper(var stepper):
            resolve(&stepper.format, field, "format")
            controls[index].kind = .stepper(stepper)
        case .gauge(var gauge):
            resolve(&gauge.currentValueLabel, field, "currentValueLabel")
            controls[index].kind = .gauge(gauge)
        case .label(let template):
            var resolved: Template? = template
            resolve(&resolved, field, "text", hasValue: false)
            controls[index].kind = .label(resolved ?? template)
        case .wheels, .toggle, .date, .text, .secure, .button, nil: break
        }
    }

    private mutating func resolve(
        _ template: inout Template?, _ field: Members, _ name: String, hasValue: Bool = true
    ) {
        guard let source = template?.source else { return }
        let place = field.place(of: name)
        guard let raw = Template.Raw(source) else {
            issue(place, "a ${ is not closed", expected: "${id}, or $${ for a plain ${")
            return
        }
        guard raw.names <= Template.referencesMax else {
            issue(
                place, "the template names \(raw.names) values",
                expected: "at most \(Template.referencesMax)")
            return
        }
        var parts: [Template.Part] = []
        for part in raw.parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .name("value") where hasValue: parts.append(.ownValue)
            case .name(let name):
                if let part = self.part(named: name, at: place) { parts.append(part) }
            }
        }
        template = Template(source: source, parts: parts)
    }

    private mutating func part(named name: String, at place: Place) -> Template.Part? {
        guard let operand = operand(named: name, at: place) else { return nil }
        if let component = operand.component {
            return .component(field: operand.field, component: component)
        }
        return .field(operand.field)
    }

    /// The operand `id` or `id.component`; otherwise an issue.
    private mutating func operand(
        named name: String, at place: Place
    ) -> Condition.Operand? {
        let point = name.utf8.firstIndex(of: UInt8(ascii: "."))
        let head = point.map { String(name[..<$0]) } ?? name
        guard let index = control(named: head, at: place), let kind = kinds[index] else {
            return nil
        }
        if case .label = kind {
            issue(place, "\(head) is a label", expected: "a control that has a value")
            return nil
        }
        guard let point else { return Condition.Operand(field: index) }
        guard case .wheels(let wheels) = kind else {
            issue(place, "\(kind.type.withArticle) has no components", expected: head)
            return nil
        }
        let id = String(name[name.utf8.index(after: point)...])
        if let component = wheels.index(of: id) {
            return Condition.Operand(field: index, component: component)
        }
        issue(
            place,
            "\(head) has no component \(FormDefinition.quoted(.string(id)))",
            expected: Wording.oneOf(wheels.components.map(\.id)))
        return nil
    }

    // MARK: Conditions

    private static let combinations = ["all", "any", "none"]
    private static let operators: KnownNames = ["in", "not", "atLeast", "atMost"]
    private static let conditionExpected = "complete, or an object such as {flavor: chocolate}"

    mutating func condition(_ json: JSON, at place: Place, depth: Int = 0) -> Condition? {
        if depth > limits.conditionDepthMax {
            issue(
                place, "conditions are nested too deep",
                expected: "at most \(limits.conditionDepthMax) levels")
            return nil
        }
        guard mayAddConditionParts(1, at: place) else { return nil }
        if json == .string("complete") { return .complete }
        guard let members = object(json, at: place, expected: Self.conditionExpected) else {
            return nil
        }
        if members.object.isEmpty {
            issue(place, "the condition is empty", expected: Self.conditionExpected)
        }
        var parts: [Condition] = []
        for member in members.object.members {
            let place = members.place(of: member.name)
            if let part = clause(member.name, member.value, at: place, depth: depth) {
                parts.append(part)
            }
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    /// Counts parts of conditions. Beyond the limit there is one issue, and nothing more is read.
    private mutating func mayAddConditionParts(_ count: Int, at place: Place) -> Bool {
        let isWithin = conditionParts <= limits.conditionPartsMax
        conditionParts += count
        if conditionParts <= limits.conditionPartsMax { return true }
        if isWithin {
            issue(
                place, "the form has more than \(limits.conditionPartsMax) conditions",
                expected: "at most \(limits.conditionPartsMax), each compared value counted")
        }
        return false
    }

    private mutating func clause(
        _ name: String, _ json: JSON, at place: Place, depth: Int
    ) -> Condition? {
        // A control may have the id `all`. Then a list shows that the combination is meant.
        let isCombination = Self.combinations.contains { $0.isSameBytes(as: name) }
        if isCombination, json.arrayValue != nil || indexes[name] == nil {
            var list: [Condition] = []
            if case .array(let written) = json {
                list.reserveCapacity(min(written.count, limits.conditionPartsMax))
                for (element, place) in zip(written, place.elements(written.count)) {
                    // After too many conditions nothing more is read.
                    if conditionParts > limits.conditionPartsMax { break }
                    if let part = condition(element, at: place, depth: depth + 1) {
                        list.append(part)
                    }
                }
            } else {
                _ = elements(json, at: place)
            }
            switch name {
            case "all": return .all(list)
            case "any": return .any(list)
            default: return .none(list)
            }
        }
        guard let operand = operand(named: name, at: place),
            let kind = kinds[operand.field]
        else { return nil }
        if case .wheels(let wheels) = kind, operand.component == nil {
            issue(
                place, "\(name) has several values",
                expected: wheels.components.map { "\(name).\($0.id)" }.joined(separator: ", "))
            return nil
        }
        return .field(operand, comparisons(json, at: place, with: operand))
    }

    private mutating func comparisons(
        _ json: JSON, at place: Place, with operand: Condition.Operand
    ) -> [Condition.Comparison] {
        guard case .object(let object) = json else {
            guard mayAddConditionParts(json.arrayValue?.count ?? 0, at: place) else { return [] }
            checkOperand(json, at: place, with: operand)
            return [.equals(json)]
        }
        let members = Members(object: object, place: place)
        checkKeys(members, Self.operators, owner: "a comparison")
        if object.isEmpty {
            issue(place, "the comparison is empty", expected: "in, not, atLeast or atMost")
        }
        var comparisons: [Condition.Comparison] = []
        if let json = members["in"] {
            let list = elements(json, at: members.place(of: "in"))
            guard mayAddConditionParts(list.count, at: place) else { return [] }
            for (element, place) in list { checkOperand(element, at: place, with: operand) }
            comparisons.append(.isIn(list.map(\.0)))
        }
        if let json = members["not"] {
            guard mayAddConditionParts(json.arrayValue?.count ?? 0, at: place) else { return [] }
            checkOperand(json, at: members.place(of: "not"), with: operand)
            comparisons.append(.not(json))
        }
        for name in ["atLeast", "atMost"] {
            guard let json = members[name] else { continue }
            checkBound(json, at: members.place(of: name), with: operand)
            comparisons.append(name == "atLeast" ? .atLeast(json) : .atMost(json))
        }
        return comparisons
    }

    /// An issue if a value can never equal the control's value because of its type. The tags of a
    /// picker may change while the daemon runs, so they are not checked.
    private mutating func checkOperand(
        _ json: JSON, at place: Place, with operand: Condition.Operand
    ) {
        guard let kind = kinds[operand.field] else { return }
        let expected: String
        let fits: Bool
        switch kind {
        case .picker(let picker):
            expected = "\(picker.options.tagType.inWords), or null"
            let tags = picker.isMultiple ? json.arrayValue ?? [json] : [json]
            fits = tags.allSatisfy { $0.isNull || TagType(of: $0) == picker.options.tagType }
        case .wheels(let wheels):
            let type = operand.component.map { wheels.components[$0].options.tagType } ?? .string
            expected = type.inWords
            fits = TagType(of: json) == type
        case .toggle:
            expected = "true or false"
            fits = json.boolValue != nil
        case .slider, .stepper, .gauge, .button:
            expected = "a number"
            fits = json.numberValue != nil
        case .date(let date):
            expected = "\(date.mode.inWords), or null"
            fits = json.isNull || DateValue(json, mode: date.mode) != nil
        case .text, .secure:
            expected = "a string"
            fits = json.stringValue != nil
        case .label: return
        }
        if !fits {
            issue(place, "found \(FormDefinition.quoted(json))", expected: expected)
        }
    }

    private mutating func checkBound(
        _ json: JSON, at place: Place, with operand: Condition.Operand
    ) {
        guard let kind = kinds[operand.field] else { return }
        var expected = "a number"
        var fits = json.numberValue != nil
        switch kind {
        case .slider, .stepper, .gauge, .button: break
        case .date(let date):
            expected = date.mode.inWords
            fits = DateValue(json, mode: date.mode) != nil
        case .picker(let picker) where picker.options.tagType == .integer && !picker.isMultiple:
            break
        case .picker, .wheels, .toggle, .text, .secure, .label:
            issue(
                place, "the values of \(controls[operand.field].id) have no order",
                expected: "in or not, or a control of numbers or dates")
            return
        }
        if !fits {
            issue(place, "found \(FormDefinition.quoted(json))", expected: expected)
        }
    }
}
