// Wheels: components, and rows that depend on other components.

extension FormParser {
    /// The components and rules of wheels; `nil`, with an issue, if they are not a valid domain.
    mutating func wheels(_ field: Members) -> ControlKind? {
        let count = issues.count
        for (name, bound) in [("components", Self.componentsMax), ("optionsFor", Self.rulesMax)] {
            guard let written = field[name]?.arrayValue, written.count > bound else { continue }
            issue(
                field.place(of: name), "there are \(written.count) of them",
                expected: "at most \(bound)")
            return nil
        }
        var components: [WheelComponent] = []
        if let json = field["components"] {
            let place = field.place(of: "components")
            for (element, place) in elements(json, at: place) {
                if let component = component(element, at: place, beside: components) {
                    components.append(component)
                }
            }
            if case .array(let written) = json, written.isEmpty {
                issue(place, "the list of components is empty", expected: "at least one component")
            }
        } else {
            issue(
                field.place, "components are missing",
                expected: "components: a list of {id, options}")
        }
        guard issues.count == count else { return nil }
        var wheels = WheelsAttributes(components: components, evaluationOrder: [])
        if let json = field["optionsFor"] {
            for (element, place) in elements(json, at: field.place(of: "optionsFor")) {
                rule(element, at: place, into: &wheels)
            }
        }
        guard issues.count == count else { return nil }
        checkConditions(of: wheels, field)
        guard let order = Self.evaluationOrder(of: wheels) else {
            issue(
                field.place(of: "optionsFor"),
                "the rows of components depend on each other in a cycle",
                expected: "rows that depend on no component whose rows depend on theirs")
            return nil
        }
        wheels.evaluationOrder = order
        return .wheels(wheels)
    }

    /// The most wheels; more do not fit on a screen.
    static let componentsMax = 64
    /// The most rules; each edit visits them.
    static let rulesMax = 1_000

    private mutating func component(
        _ json: JSON, at place: Place, beside others: [WheelComponent]
    ) -> WheelComponent? {
        guard let members = object(json, at: place, expected: "an object with id and options")
        else { return nil }
        checkKeys(members, ["id", "label", "width", "options"], owner: "a component")
        let label = string(members, "label")
        let width = integer(members, "width", in: 1...1000)
        let options = options(members, "options")
        guard let id = requiredString(members, "id"), let options else { return nil }
        if !Self.isFieldID(id) {
            issue(
                members.place(of: "id"), "\(FormDefinition.quoted(.string(id))) is not an id",
                expected: "a letter, then at most 62 letters, digits, - and _")
        } else if others.contains(where: { $0.id == id }) {
            issue(
                members.place(of: "id"), "there is a component \(id) already",
                expected: "an id of its own")
        }
        return WheelComponent(id: id, label: label, width: width, options: options, rules: [])
    }

    private mutating func rule(_ json: JSON, at place: Place, into wheels: inout WheelsAttributes) {
        guard
            let members = object(
                json, at: place, expected: "{component: a, when: {b: tag}, options: […]}")
        else { return }
        checkKeys(members, ["component", "when", "options"], owner: "a rule")
        var target: Int?
        if let id = requiredString(members, "component") {
            target = componentIndex(id, in: wheels, at: members.place(of: "component"))
        }
        var when: [(component: Int, tag: JSON)] = []
        if let json = members["when"] {
            let expected = "an object of component and tag"
            if let conditions = object(json, at: members.place(of: "when"), expected: expected) {
                for member in conditions.object.members {
                    let place = conditions.place(of: member.name)
                    if let other = componentIndex(member.name, in: wheels, at: place) {
                        when.append((other, member.value))
                    }
                }
                if conditions.object.isEmpty {
                    issue(conditions.place, "no condition", expected: expected)
                }
            }
        } else {
            issue(place, "when is missing", expected: "when: {b: tag}")
        }
        let known = target.map { wheels.components[$0].options }
        guard let options = options(members, "options", takingLabelsFrom: known), let target
        else { return }
        if let known, known.tagType != options.tagType {
            issue(
                members.place(of: "options"), "the tags are \(options.tagType.inWords) each",
                expected: "\(known.tagType.inWords) each, as in the component")
        }
        wheels.components[target].rules.append(WheelComponent.Rule(when: when, options: options))
    }

    private mutating func componentIndex(
        _ id: String, in wheels: WheelsAttributes, at place: Place
    ) -> Int? {
        if let index = wheels.index(of: id) { return index }
        let names = wheels.components.map(\.id)
        let similar = suggestion(for: id, among: names)
        issue(
            place, "no component \(FormDefinition.quoted(.string(id)))",
            expected: similar.map { Wording.didYouMean([$0]) } ?? Wording.oneOf(names))
        return nil
    }

    /// An issue for each condition on a row that its component never has.
    private mutating func checkConditions(of wheels: WheelsAttributes, _ field: Members) {
        guard let json = field["optionsFor"] else { return }
        for (rule, place) in elements(json, at: field.place(of: "optionsFor")) {
            for member in rule["when"]?.objectValue?.members ?? [] {
                guard let index = wheels.index(of: member.name) else { continue }
                let other = wheels.components[index]
                let lists = [other.options] + other.rules.map(\.options)
                if lists.contains(where: { $0.index(of: member.value) != nil }) { continue }
                issue(
                    place.at(.key("when")).at(.key(member.name)),
                    "\(FormDefinition.quoted(member.value)) is not a row of \(other.id)",
                    expected: "one of \(FormDefinition.list(other.options))")
            }
        }
    }

    /// Components after those that their rows depend on; `nil` if there is a cycle.
    private static func evaluationOrder(of wheels: WheelsAttributes) -> [Int]? {
        var order: [Int] = []
        var waiting = Array(wheels.components.indices)
        while !waiting.isEmpty {
            let ready = waiting.filter { index in
                wheels.components[index].rules.flatMap(\.when)
                    .allSatisfy { order.contains($0.component) }
            }
            if ready.isEmpty { return nil }
            order += ready
            waiting.removeAll { ready.contains($0) }
        }
        return order
    }
}
