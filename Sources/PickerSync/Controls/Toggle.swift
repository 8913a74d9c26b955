// The toggle: on or off.

internal import SyncCore

/// A control that toggles between on and off states.
public struct Toggle: PrimitiveView {
    private let parts: LabelParts
    private let bindings: [Binding<Bool>]
    private let isCollection: Bool

    private init(_ parts: LabelParts, _ bindings: [Binding<Bool>], isCollection: Bool) {
        self.parts = parts
        self.bindings = bindings
        self.isCollection = isCollection
    }

    /// A toggle labelled by a string.
    public init(_ title: String, isOn: Binding<Bool>) {
        self.init(LabelParts(title), [isOn], isCollection: false)
    }

    /// A toggle labelled by a string and a character.
    public init(_ title: String, image: Symbol, isOn: Binding<Bool>) {
        self.init(LabelParts(title, image), [isOn], isCollection: false)
    }

    /// A toggle labelled by a string and the character that is most similar to a symbol of SwiftUI.
    public init(_ title: String, systemImage: String, isOn: Binding<Bool>) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)), [isOn], isCollection: false)
    }

    /// A toggle with a label of views, the second text its subtitle.
    public init(isOn: Binding<Bool>, @ViewBuilder label: () -> some View) {
        self.init(LabelParts(label()), [isOn], isCollection: false)
    }

    /// A toggle over several properties, labelled by a string: mixed while they differ.
    public init<Sources: RandomAccessCollection>(
        _ title: String, sources: Sources, isOn: KeyPath<Sources.Element, Binding<Bool>>
    ) {
        self.init(LabelParts(title), sources.map { $0[keyPath: isOn] }, isCollection: true)
    }

    /// A toggle over several properties with a label of views: mixed while they differ.
    public init<Sources: RandomAccessCollection>(
        sources: Sources, isOn: KeyPath<Sources.Element, Binding<Bool>>,
        @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), sources.map { $0[keyPath: isOn] }, isCollection: true)
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.toggle, parts)
        if isCollection {
            control.sources = bindings.map(\.field)
        } else {
            control.binding = bindings.first?.field
        }
        form.add(control, environment)
    }
}
