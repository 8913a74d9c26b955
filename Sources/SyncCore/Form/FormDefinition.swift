// A definition of a form: parsed once, then accessed by index.
//
// Invariants: everything has been checked (no unknown references, no cycles, defaults in their
// domains, sizes within the limits). Indexes are dense and in document order.

/// A form's definition.
///
/// It is a class, so that all users of the form share the current one.
public final class FormDefinition: Sendable {
    /// The definition as written, with its short forms.
    public let json: JSON
    /// The form's name.
    public let name: String
    public let title: String?
    public let subtitle: String?
    public let help: String?
    public let access: FormAccess
    public let styles: ContainerStyles
    /// Where labels end that are beside their controls.
    public let labelAlignment: LabelAlignment
    /// The sections in order. A form without sections has one without a title.
    public let sections: [FormSection]
    /// The controls in document order.
    public let controls: [Control]

    /// For each control, the other controls, ascending, whose shown value derives from its value,
    /// by `binds`, by `sources` or by a template, directly or indirectly.
    public let dependents: [[Int]]
    /// For each control, the controls, ascending, whose `enabledWhen` or `visibleWhen` (or whose
    /// section's) refers to it. `complete` is not counted: see `completionDependents`.
    public let conditionDependents: [[Int]]
    /// The controls, ascending, with a condition that contains `complete`.
    public let completionDependents: [Int]
    /// For each control, the controls, ascending, that an edit of it writes: itself, the root of
    /// its binding, or the roots of all its sources.
    public let targets: [[Int]]
    /// The required controls, ascending.
    public let required: [Int]
    /// The buttons with `runs`, ascending.
    public let runButtons: [Int]
    /// The controls with `approval`, ascending.
    public let guards: [Int]
    /// The type of each control, so that reading it does not copy the attributes.
    let types: [ControlType]
    /// Whether each control is a toggle that stores its value.
    let storesFlag: [Bool]
    /// Whether anyone may set each control, without a message and at any time that it is enabled.
    let isOpen: [Bool]

    /// The longest printable ASCII that each control accepts whatever it says; negative for other
    /// controls than texts without a pattern.
    let plainTextMax: [Int]

    /// The definition as JSON text: encoded once for the store, the notifications and the readers.
    let text: [UInt8]
    /// The most bytes of a snapshot of all fields.
    public let snapshotBytesMax: Int

    let indexes: NameTable<Int>

    init(_ parts: Parts, graph: DependencyGraph) {
        json = parts.json
        name = parts.name
        title = parts.title
        subtitle = parts.subtitle
        help = parts.help
        access = parts.access
        styles = parts.styles
        labelAlignment = parts.labelAlignment
        sections = parts.sections
        controls = parts.controls
        dependents = graph.dependents
        conditionDependents = graph.conditionDependents
        completionDependents = graph.completionDependents
        text = parts.text
        snapshotBytesMax = parts.snapshotBytesMax
        // By index: a control has so many attributes that each copy of it takes time.
        var targets: [[Int]] = []
        var types: [ControlType] = []
        var storesFlag: [Bool] = []
        var isClosed: [Bool] = []
        var plainTextMax: [Int] = []
        var required: [Int] = []
        var runButtons: [Int] = []
        var guards: [Int] = []
        targets.reserveCapacity(controls.count)
        types.reserveCapacity(controls.count)
        storesFlag.reserveCapacity(controls.count)
        isClosed.reserveCapacity(controls.count)
        plainTextMax.reserveCapacity(controls.count)
        let (reads, writes) = (access.read.isForAnyone, access.write.isForAnyone)
        for index in controls.indices {
            let type = controls[index].type
            var isFlag = false
            switch controls[index].storage {
            case .own(let kind):
                if case .register = kind { isFlag = type == .toggle }
                targets.append([index])
            case .binds, .sources: targets.append(controls[index].storageRoots)
            case .none: targets.append([])
            }
            types.append(type)
            plainTextMax.append(type == .text ? controls[index].kind.plainTextMax : -1)
            storesFlag.append(isFlag)
            let mayWrite = controls[index].access[.write]?.isForAnyone ?? writes
            isClosed.append(
                !reads || !mayWrite || controls[index].isLocked || controls[index].needsMessage)
            if controls[index].isRequired { required.append(index) }
            if controls[index].runs != nil { runButtons.append(index) }
            if controls[index].approval != nil { guards.append(index) }
        }
        self.targets = targets
        self.types = types
        self.storesFlag = storesFlag
        self.plainTextMax = plainTextMax
        isOpen = targets.indices.map { index in
            !isClosed[index] && targets[index].allSatisfy { !isClosed[$0] }
        }
        self.required = required
        self.runButtons = runButtons
        self.guards = guards
        indexes = parts.indexes
    }

    /// The results of the parser.
    struct Parts {
        var json: JSON
        var name = ""
        var title: String?
        var subtitle: String?
        var help: String?
        var access = FormAccess()
        var styles = ContainerStyles()
        var labelAlignment = LabelAlignment.leading
        var sections: [FormSection] = []
        var controls: [Control] = []
        var text: [UInt8] = []
        var snapshotBytesMax = 0
        /// The index of each control by its id.
        var indexes = NameTable<Int>()
    }

    /// The index of the control `id`; `nil` if there is none.
    public func index(of id: String) -> Int? { indexes[id] }

    /// The index of the control whose id has these bytes.
    func index(of id: UnsafeBufferPointer<UInt8>) -> Int? { indexes[id] }

    /// The ids that are most similar to an unknown one, for an error's `data.similar`.
    public func idsSimilar(to id: String) -> [String] {
        Similar.names(to: id, among: controls.map(\.id))
    }
}

/// A section of a form.
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
