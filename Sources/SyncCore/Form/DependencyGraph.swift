// Which controls derive from which.
//
// Storage has been resolved before (a binding refers to the control that stores the value), so a
// path has at most one storage edge and one template edge: templates show values, never other
// templates.

/// The edges between controls, from a source to the controls that show it.
struct DependencyGraph {
    private(set) var dependents: [[Int]]
    private(set) var conditionDependents: [[Int]]
    private(set) var completionDependents: [Int] = []

    /// The edges; `nil` if there are more than `edgesMax`.
    init?(controls: [Control], sections: [FormSection], edgesMax: Int) {
        var edges = 0
        var byStorage: [[Int]] = Array(repeating: [], count: controls.count)
        var byTemplate = byStorage
        conditionDependents = byStorage
        dependents = byStorage
        // Once for each section: its condition may be long, and its controls many.
        let ofSections = sections.map { $0.visibleWhen?.references ?? [] }
        let areAsking = sections.map { $0.visibleWhen?.asksForCompletion ?? false }
        // By index: a control has so many attributes that each copy of it takes time.
        for index in controls.indices {
            for root in controls[index].storageRoots { byStorage[root].append(index) }
            if let template = controls[index].kind.template {
                for other in template.references where other != index {
                    byTemplate[other].append(index)
                }
            }
            let section = controls[index].section
            var looksAt = ofSections[section]
            var isAsking = areAsking[section]
            if controls[index].enabledWhen != nil || controls[index].visibleWhen != nil {
                for condition in [controls[index].enabledWhen, controls[index].visibleWhen] {
                    looksAt += condition?.references ?? []
                    isAsking = isAsking || condition?.asksForCompletion ?? false
                }
                looksAt = looksAt.sortedDistinct()
            }
            edges += looksAt.count
            if edges > edgesMax { return nil }
            for other in looksAt { conditionDependents[other].append(index) }
            if isAsking { completionDependents.append(index) }
        }
        let hasTemplates = byTemplate.contains { !$0.isEmpty }
        for index in controls.indices {
            var found = byStorage[index]
            if hasTemplates {
                found += byTemplate[index]
                for shows in byStorage[index] { found += byTemplate[shows] }
            }
            if found.isEmpty { continue }
            // Counted with duplicates, because each of them costs time.
            edges += found.count
            if edges > edgesMax { return nil }
            dependents[index] = found.sortedDistinct().filter { $0 != index }
        }
    }
}

extension Control {
    /// The other controls that store its value.
    var storageRoots: [Int] {
        switch storage {
        case .binds(let other): [other]
        case .sources(let others): others
        case .own, .none: []
        }
    }
}

extension ControlKind {
    /// The template of a control's text.
    var template: Template? {
        switch self {
        case .picker(let picker): picker.currentValueLabel
        case .slider(let slider): slider.format
        case .stepper(let stepper): stepper.format
        case .gauge(let gauge): gauge.currentValueLabel
        case .label(let template): template
        case .wheels, .toggle, .date, .text, .secure, .button: nil
        }
    }
}
