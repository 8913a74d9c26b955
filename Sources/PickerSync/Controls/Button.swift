// The button: everybody sees that it is pressed.

public import SyncCore

/// The purpose of a button: `.destructive` destroys something, `.cancel` changes nothing.
public typealias ButtonRole = ButtonAttributes.Role

/// A control that initiates an action. Any user can press it in any terminal; the action runs in
/// the program that declared it.
///
/// The action runs once for each press, in order, while the program follows the form. It does not
/// run for presses that are not in the daemon's log any more.
public struct Button: PrimitiveView {
    private let parts: LabelParts
    private let role: ButtonRole?
    private let presses: Binding<Presses>?
    private let action: @Sendable () -> Void
    private var question: String?

    private init(
        _ parts: LabelParts, _ role: ButtonRole?, _ presses: Binding<Presses>?,
        _ action: @escaping @Sendable () -> Void
    ) {
        self.parts = parts
        self.role = role
        self.presses = presses
        self.action = action
    }

    /// A button labelled by a string.
    ///
    /// - Parameters:
    ///   - title: the label.
    ///   - role: the purpose.
    ///   - presses: the property that counts the presses.
    ///   - action: called once for each press.
    public init(
        _ title: String, role: ButtonRole? = nil, presses: Binding<Presses>? = nil,
        action: @escaping @Sendable () -> Void = {}
    ) {
        self.init(LabelParts(title), role, presses, action)
    }

    /// A button labelled by a string and a character.
    public init(
        _ title: String, image: Symbol, role: ButtonRole? = nil,
        presses: Binding<Presses>? = nil, action: @escaping @Sendable () -> Void = {}
    ) {
        self.init(LabelParts(title, image), role, presses, action)
    }

    /// A button labelled by a string and the character that is most similar to a symbol of SwiftUI.
    public init(
        _ title: String, systemImage: String, role: ButtonRole? = nil,
        presses: Binding<Presses>? = nil, action: @escaping @Sendable () -> Void = {}
    ) {
        self.init(LabelParts(title, Symbol(systemName: systemImage)), role, presses, action)
    }

    /// A button with a label of views.
    public init(
        role: ButtonRole? = nil, presses: Binding<Presses>? = nil,
        action: @escaping @Sendable () -> Void, @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), role, presses, action)
    }

    /// The button that asks a question before it is pressed.
    public func confirm(_ question: String) -> Self {
        var copy = self
        copy.question = question
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.button, parts)
        control.binding = presses?.field
        control.set("role", role.map { .string($0.rawValue) })
        control.set("confirm", question.map { .string($0) })
        let action = action
        control.listeners.append { FieldListener(field: $0, kind: .press(action)) }
        form.add(control, environment)
    }
}
