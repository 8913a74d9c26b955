// The picker: one of several options, by tag.

internal import SyncCore

/// A control for selecting one of several values, or any number of them if the selection is a set.
///
///     Picker("Flavor", selection: $flavor) {
///         Text("Chocolate").tag(Flavor.chocolate)
///         Text("Vanilla").tag(Flavor.vanilla)
///     }
///
/// Tags are of the selection's type, and so are the ids of a ``ForEach`` without tags; anything
/// else does not compile. An optional selection takes tags of the wrapped type, and may be empty.
public struct Picker<SelectionValue: PickerSelection>: PrimitiveView {
    private let parts: LabelParts
    private let bindings: [Binding<SelectionValue>]
    /// Whether it has a collection of properties, even with one element.
    private let isCollection: Bool
    private let options: PickerOptions<SelectionValue.Tag>
    private let currentValueLabel: LabelParts?

    init(
        _ parts: LabelParts, _ bindings: [Binding<SelectionValue>], _ isCollection: Bool,
        _ options: PickerOptions<SelectionValue.Tag>, _ currentValueLabel: LabelParts?
    ) {
        self.parts = parts
        self.bindings = bindings
        self.isCollection = isCollection
        self.options = options
        self.currentValueLabel = currentValueLabel
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.picker, parts)
        if isCollection {
            control.sources = bindings.map(\.field)
        } else {
            control.binding = bindings.first?.field
        }
        control.set("options", options.json(&form))
        switch SelectionValue.selectionCount {
        case .one: break
        case .oneOrNone: control.set("optional", true)
        case .any: control.set("multiple", true)
        }
        control.set("currentValueLabel", currentValueLabel?.template(&form))
        form.add(control, environment)
    }
}
