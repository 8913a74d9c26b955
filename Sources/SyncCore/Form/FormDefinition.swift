// A form as it was applied: parsed once, then read by index.
//
// Always holds: everything in it has been checked (no dangling reference, no circle, defaults in
// their domains, sizes within the limits); indexes are dense and in document order.

/// A form's definition.
///
/// A class because everybody who handles the form shares the one that is in force.
public final class FormDefinition: Sendable {
    /// The definition as it was written, shorthand kept.
    public let json: JSON
    /// The form's name.
    public let name: String
    public let title: String?
    public let subtitle: String?
    public let help: String?
    public let access: FormAccess
    public let styles: ContainerStyles
    /// The sections in order; one without a title for a form that has none.
    public let sections: [FormSection]
    /// The controls in document order.
    public let controls: [Control]

    /// For each control the others, ascending, whose shown value derives from its value: by
    /// `binds`, by `sources` or by a template, through any number of steps.
    public let dependents: [[Int]]
    /// For each control the controls, ascending, whose `enabledWhen` or `visibleWhen` (or whose
    /// section's) looks at it. `complete` is not counted: see `completionDependents`.
    public let conditionDependents: [[Int]]
    /// The controls, ascending, with a condition that asks for `complete`.
    public let completionDependents: [Int]
    /// For each control the ones, ascending, that an edit of it writes to: itself, or the root of
    /// its binding, or all of its sources' roots.
    public let targets: [[Int]]
    /// The controls that are required, ascending.
    public let required: [Int]
    /// The type of each control: a look at it is no copy of the control's attributes.
    let types: [ControlType]

    /// Bytes of the definition as JSON text.
    public let definitionBytes: Int
    /// Bytes that a snapshot of all fields takes at most.
    public let snapshotBytesMax: Int

    // Ids are ASCII, so canonical equivalence and bytes differ for the looked-up name alone, and
    // `index(of:)` compares bytes.
    private let indexes: [String: Int]

    init(_ parts: Parts, graph: DependencyGraph) {
        json = parts.json
        name = parts.name
        title = parts.title
        subtitle = parts.subtitle
        help = parts.help
        access = parts.access
        styles = parts.styles
        sections = parts.sections
        controls = parts.controls
        targets = parts.controls.enumerated().map { index, control in
            switch control.storage {
            case .own: [index]
            case .binds, .sources: control.storageRoots
            case .none: []
            }
        }
        dependents = graph.dependents
        conditionDependents = graph.conditionDependents
        completionDependents = graph.completionDependents
        types = parts.controls.map(\.type)
        required = parts.controls.indices.filter { parts.controls[$0].isRequired }
        definitionBytes = parts.definitionBytes
        snapshotBytesMax = parts.snapshotBytesMax
        indexes = Dictionary(
            parts.controls.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first }
        )
    }

    /// What the parser found.
    struct Parts {
        var json: JSON
        var name = ""
        var title: String?
        var subtitle: String?
        var help: String?
        var access = FormAccess()
        var styles = ContainerStyles()
        var sections: [FormSection] = []
        var controls: [Control] = []
        var definitionBytes = 0
        var snapshotBytesMax = 0
    }

    /// The index of the control `id`; `nil` where there is none.
    public func index(of id: String) -> Int? {
        guard let index = indexes[id], controls[index].id.isSameBytes(as: id) else { return nil }
        return index
    }

    /// The ids nearest to one that is not there, nearest first, for an error's `data.similar`.
    public func idsSimilar(to id: String) -> [String] {
        Similar.names(to: id, among: controls.map(\.id))
    }
}

/// A part of a form with a title.
public struct FormSection: Sendable {
    public internal(set) var title: String?
    public internal(set) var footer: String?
    public internal(set) var styles = ContainerStyles()
    public internal(set) var isCollapsed = false
    public internal(set) var isDisabled = false
    public internal(set) var visibleWhen: Condition?
    /// The indexes of its controls.
    public internal(set) var fields: Range<Int> = 0..<0
}
