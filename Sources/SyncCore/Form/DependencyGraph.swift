// Who derives from whom inside a form.

/// The edges between controls, turned round: from what is looked at to who looks.
struct DependencyGraph {
    private(set) var dependents: [[Int]]
    private(set) var conditionDependents: [[Int]]
    private(set) var completionDependents: [Int] = []

    init(controls: [Control], sections: [FormSection]) {
        dependents = Array(repeating: [], count: controls.count)
        conditionDependents = dependents
        var direct = dependents
        for (index, control) in controls.enumerated() {
            for other in Self.derivesFrom(control) where other != index {
                direct[other].append(index)
            }
            let conditions = [
                control.enabledWhen, control.visibleWhen, sections[control.section].visibleWhen,
            ].compactMap(\.self)
            for other in Set(conditions.flatMap(\.references)).sorted() {
                conditionDependents[other].append(index)
            }
            if conditions.contains(where: \.asksForCompletion) {
                completionDependents.append(index)
            }
        }
        for index in controls.indices where !direct[index].isEmpty {
            dependents[index] = Self.reachable(from: index, over: direct)
        }
    }

    /// The controls that the shown value of `control` is made of, each once.
    private static func derivesFrom(_ control: Control) -> [Int] {
        var found: Set<Int> = []
        switch control.storage {
        case .binds(let other): found.insert(other)
        case .sources(let sources): found.formUnion(sources)
        case .own, .none: break
        }
        for template in control.templates { found.formUnion(template.references) }
        return found.sorted()
    }

    private static func reachable(from start: Int, over edges: [[Int]]) -> [Int] {
        var found: Set<Int> = []
        var waiting = edges[start]
        while let next = waiting.popLast() {
            if next != start, found.insert(next).inserted { waiting += edges[next] }
        }
        return found.sorted()
    }
}

extension Control {
    /// The templates that it shows.
    var templates: [Template] {
        let found: [Template?] =
            switch kind {
            case .picker(let picker): [picker.currentValueLabel]
            case .slider(let slider): [slider.format]
            case .stepper(let stepper): [stepper.format]
            case .gauge(let gauge): [gauge.currentValueLabel]
            case .label(let template): [template]
            case .wheels, .toggle, .date, .text, .secure, .button: []
            }
        return found.compactMap(\.self)
    }
}
