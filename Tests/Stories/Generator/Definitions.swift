// Definitions of forms, and changes of them.

import SeededRandom
import SyncCore

/// Makes definitions.
struct DefinitionMaker {
    var random: StoryRandom

    private static let tags = ["mint", "lime", "fig", "kiwi", "plum"]
    private static let ids = [
        "flavor", "hue", "days", "lamp", "alarm", "both", "count", "heat", "level", "note", "pin",
        "when", "day", "go", "run", "sum", "seat",
    ]

    /// A new form.
    mutating func create(_ name: String) -> StoryDefinition {
        var ids = Self.ids.filter { _ in random.chance(55) }
        if ids.isEmpty { ids = ["flavor", "count"] }
        var definition = StoryDefinition(
            name: name, title: random.chance(50) ? random.pick(["Order", "Lights"]) : nil,
            controls: ids.map { control($0) })
        if random.chance(40) { definition.access = access() }
        definition.needsMessage = random.chance(6)
        return settled(definition)
    }

    /// The form with a few changes.
    mutating func change(_ definition: StoryDefinition) -> StoryDefinition {
        var new = definition
        for place in new.controls.indices { new.controls[place].was = nil }
        for _ in 0..<random.below(3) + 1 {
            let place = random.below(new.controls.count)
            switch random.below(9) {
            case 0:
                let left = Self.ids.filter { new.control($0) == nil }
                if let id = left.randomElement(using: &random.generator) {
                    new.controls.append(control(id))
                }
            case 1: if new.controls.count > 1 { new.controls.remove(at: place) }
            case 2: new.controls[place] = control(new.controls[place].id)
            case 3: rename(&new, place)
            case 4: retype(&new.controls[place])
            case 5 where random.chance(30): new.needsMessage.toggle()
            case 5: new.access = random.chance(50) ? [:] : access()
            case 6 where random.chance(30):
                new.labelAlignment = random.pick(["leading", "trailing", nil])
            case 6: new.title = random.chance(50) ? random.pick(["Order", "Lights", "Desk"]) : nil
            case 7: new.controls.shuffle(using: &random.generator)
            default: decorate(&new.controls[place])
            }
        }
        return settled(new)
    }

    /// A definition that is not valid.
    mutating func broken(_ name: String) -> StoryDefinition {
        var definition = create(name)
        switch random.below(3) {
        case 0: definition.controls.append(definition.controls[0])
        case 1:
            var picker = StoryControl("bare", .picker)
            picker.initial = "mint"
            definition.controls.append(picker)
        default:
            var control = StoryControl("lost", .toggle)
            control.initial = "mint"
            definition.controls.append(control)
        }
        return definition
    }

    mutating func options() -> (tags: [String], disabled: Set<String>) {
        var tags = Self.tags.shuffled(using: &random.generator).prefix(random.below(3) + 2)
        if random.chance(30) { tags.append("a \"b\" é") }
        return (Array(tags), random.chance(20) ? [tags[0]] : [])
    }

    private mutating func access() -> [String: [String]] {
        var result: [String: [String]] = [:]
        for action in ["read", "write", "press", "reveal", "handle", "admin"]
        where random.chance(35) {
            result[action] = random.pick([
                ["anyone"], ["owner"], ["user:alice"], ["uid:1001"], ["user:bob", "owner"], [],
            ])
        }
        return result
    }

    private mutating func rename(_ definition: inout StoryDefinition, _ place: Int) {
        let old = definition.controls[place].id
        let new = old.hasSuffix("2") ? String(old.dropLast()) : old + "2"
        guard definition.control(new) == nil else { return }
        definition.controls[place].id = new
        definition.controls[place].was = old
        for other in definition.controls.indices {
            func renamed(_ id: String) -> String { id == old ? new : id }
            let control = definition.controls[other]
            definition.controls[other].binds = control.binds.map(renamed)
            definition.controls[other].sources = control.sources.map(renamed)
            definition.controls[other].shows = control.shows.map(renamed)
            definition.controls[other].approval?.when = control.approval?.when.map {
                StoryControl.Condition(field: renamed($0.field), value: $0.value)
            }
            definition.controls[other].enabledWhen = control.enabledWhen.map {
                StoryControl.Condition(field: renamed($0.field), value: $0.value)
            }
        }
    }

    /// Another type for the same control, with the same kind of store or another.
    private mutating func retype(_ control: inout StoryControl) {
        guard control.binds == nil, control.sources.isEmpty else { return }
        let id = control.id
        let was = control.was
        let example = random.pick(["flavor", "note", "count", "level", "heat", "lamp", "day"])
        control = self.control(example)
        control.id = id
        control.was = was
    }

    private mutating func decorate(_ control: inout StoryControl) {
        switch random.below(8) {
        case 7: control.approval = random.chance(40) ? nil : approval()
        case 6: control.needsMessage.toggle()
        case 0: control.isRequired.toggle()
        case 1: control.isDisabled.toggle()
        case 2: control.isLocked.toggle()
        case 3:
            control.writers = random.chance(50) ? nil : random.pick([["user:alice"], ["owner"]])
        case 4:
            control.enabledWhen =
                control.id == "lamp" || random.chance(40)
                ? nil : StoryControl.Condition(field: "lamp", value: random.chance(70))
        default: if control.hasOptions { (control.options, control.disabledOptions) = options() }
        }
        if control.kind == .label { control = self.control("sum") }
    }

    /// Leaves out references to controls that do not exist, and values that are not valid.
    private func settled(_ definition: StoryDefinition) -> StoryDefinition {
        var result = definition
        for _ in 0..<3 {
            for place in result.controls.indices {
                var control = result.controls[place]
                if let was = control.was, result.control(was) != nil { control.was = nil }
                if let condition = control.enabledWhen,
                    result.control(condition.field)?.kind != .toggle
                        || condition.field == control.id || !control.sources.isEmpty
                {
                    control.enabledWhen = nil
                }
                if control.store == nil || control.kind == .secure { control.approval = nil }
                if let when = control.approval?.when, result.control(when.field)?.kind != .toggle {
                    control.approval?.when = nil
                }
                if let other = control.binds.flatMap(result.control) {
                    control.kind = other.kind
                    control.takeOptions(of: other)
                    control.isOptional = other.isOptional
                    control.policy = nil
                    control.initial = nil
                    if !other.hasOptions || other.binds != nil { control.binds = "nobody" }
                }
                control.sources = control.sources.filter { result.control($0)?.kind == .toggle }
                control.shows = control.shows.filter { id in
                    result.control(id).map { $0.kind != .label } ?? false
                }
                if let initial = control.initial, !control.mayStart(as: initial) {
                    control.initial = nil
                }
                result.controls[place] = control
            }
            let present = result
            result.controls.removeAll { control in
                control.binds.map { present.control($0) == nil } ?? false
                    || control.id.hasPrefix("both") && control.sources.count < 2
                    || control.kind == .label && control.shows.isEmpty
            }
        }
        if result.controls.isEmpty { result.controls = [StoryControl("lamp", .toggle)] }
        return result
    }

    private mutating func approval() -> StoryApproval {
        var rule = StoryApproval(
            from: random.pick([["anyone"], ["anyone"], ["owner", "user:alice", "user:bob"]]),
            count: random.pick([1, 1, 2]))
        if random.chance(40) {
            rule.when = StoryControl.Condition(
                field: random.pick(["lamp", "alarm"]), value: random.chance(70))
        }
        if random.chance(60) { rule.breakGlass = random.pick([["anyone"], ["owner"], []]) }
        return rule
    }

    // MARK: - Controls

    /// A control with this name and random attributes.
    private mutating func control(_ id: String) -> StoryControl {
        var control: StoryControl
        switch id.hasSuffix("2") ? String(id.dropLast()) : id {
        case "flavor", "seat":
            control = StoryControl(id, .picker)
            (control.options, control.disabledOptions) = options()
            control.isOptional = random.chance(25)
            control.policy = id == "seat" ? "first" : random.pick([nil, "ask", "latest"])
            if random.chance(30) { control.initial = .string(control.options[1]) }
            control.isRequired = random.chance(20)
        case "hue":
            control = StoryControl(id, .picker)
            control.binds = "flavor"
        case "days":
            control = StoryControl(id, .multiple)
            (control.options, control.disabledOptions) = options()
            if random.chance(40) { control.initial = [.string(control.options[1])] }
            control.isRequired = random.chance(20)
        case "lamp", "alarm":
            control = StoryControl(id, .toggle)
            control.policy = random.pick([nil, "ask", "trueWins", "falseWins"])
            if random.chance(30) { control.initial = true }
        case "both":
            control = StoryControl(id, .toggle)
            control.sources = ["lamp", "alarm"]
        case "count":
            control = StoryControl(id, .stepper)
            control.minimum = random.pick([0, -5])
            control.maximum = random.pick([5, 12])
            control.wraps = random.chance(25)
            control.policy = random.pick([nil, "ask"])
            if random.chance(40) { control.initial = 2 }
        case "heat":
            control = StoryControl(id, .gauge)
            control.maximum = random.pick([10, 100])
        case "level":
            control = StoryControl(id, .slider)
            control.maximum = random.pick([20, 40])
            control.step = 5
        case "note":
            control = StoryControl(id, .text)
            control.maxLength = random.pick([nil, 4, 8])
            control.policy = random.pick([nil, "ask", "first"])
            control.isRequired = random.chance(30)
        case "pin": control = StoryControl(id, .secure)
        case "when":
            control = StoryControl(id, .wheels)
            control.wheels = [
                StoryControl.Wheel(id: "month", options: ["jan", "feb", "mar"]),
                StoryControl.Wheel(
                    id: "year", options: random.pick([["26", "27"], ["27", "28"]])),
            ]
            control.policy = random.pick([nil, "ask"])
        case "day": control = StoryControl(id, .date)
        case "go", "run":
            control = StoryControl(id, .button)
            control.runs = random.pick([nil, "one", "queue", "queue", "latest"])
            if control.runs != nil, random.chance(60) { control.waitsFor = "1d" }
        default:
            control = StoryControl(id, .label)
            control.shows = ["flavor", "count", "hue"]
            return control
        }
        if random.chance(12) { decorate(&control) }
        if control.kind != .button, random.chance(10) { control.approval = approval() }
        return control
    }
}

/// Random choices.
struct StoryRandom {
    var generator: SplitMix64

    init(_ bits: UInt64) { generator = SplitMix64(seed: bits) }

    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<max(1, bound), using: &generator)
    }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
}
