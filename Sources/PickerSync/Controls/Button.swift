// The button: everybody sees that it is pressed.

public import SyncCore

/// The purpose of a button: `.destructive` destroys something, `.cancel` changes nothing.
public typealias ButtonRole = ButtonAttributes.Role

/// A control that initiates an action. Any user can press it in any terminal; the action runs in
/// the program that declared it.
///
/// An action without parameters runs once for each press, in order, while the program follows the
/// form. It does not run for presses that are not in the daemon's log any more. An action that
/// takes an ``AssignedPress`` can take its time: the press has progress and an outcome.
public struct Button: PrimitiveView {
    private let parts: LabelParts
    private let role: ButtonRole?
    private let presses: Binding<Presses>?
    private let action: FieldListener.Kind
    private var question: String?
    private var rules: [(key: String, value: JSON)] = []

    private init(
        _ parts: LabelParts, _ role: ButtonRole?, _ presses: Binding<Presses>?,
        _ action: FieldListener.Kind
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
        self.init(LabelParts(title), role, presses, .press(action))
    }

    /// A button labelled by a string and a character.
    public init(
        _ title: String, image: Symbol, role: ButtonRole? = nil,
        presses: Binding<Presses>? = nil, action: @escaping @Sendable () -> Void = {}
    ) {
        self.init(LabelParts(title, image), role, presses, .press(action))
    }

    /// A button labelled by a string and the character that is most similar to a symbol of SwiftUI.
    public init(
        _ title: String, systemImage: String, role: ButtonRole? = nil,
        presses: Binding<Presses>? = nil, action: @escaping @Sendable () -> Void = {}
    ) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)), role, presses, .press(action))
    }

    /// A button with a label of views.
    public init(
        role: ButtonRole? = nil, presses: Binding<Presses>? = nil,
        action: @escaping @Sendable () -> Void, @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), role, presses, .press(action))
    }

    /// A button that answers: the action works on each press, and everybody who follows the form
    /// sees its progress and its outcome.
    ///
    ///     Button("Start") { press in
    ///         for (number, host) in hosts.enumerated() {
    ///             press.progress(Double(number) / Double(hosts.count), "copying to \(host)")
    ///             try await copy(to: host)
    ///         }
    ///     }
    ///
    /// The press is done when the action returns, and has failed when it throws; see
    /// ``AssignedPress``. A program works on one press of a form at a time, so further presses
    /// wait, unless ``runs(_:waitsFor:whenLost:timeout:handledAt:)`` says otherwise. If several
    /// programs have the form open, or run `pickerctl handle`, each press goes to one of them.
    ///
    /// - Parameters:
    ///   - title: the label.
    ///   - role: the purpose.
    ///   - presses: the property that counts the presses.
    ///   - action: works on a press that the daemon has given to this program.
    public init(
        _ title: String, role: ButtonRole? = nil, presses: Binding<Presses>? = nil,
        action: @escaping @Sendable (AssignedPress) async throws -> Void
    ) {
        self.init(LabelParts(title), role, presses, .run(action))
        rules = Self.rules(.queue)
    }

    /// A button that answers, with a label of views.
    public init(
        role: ButtonRole? = nil, presses: Binding<Presses>? = nil,
        action: @escaping @Sendable (AssignedPress) async throws -> Void,
        @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), role, presses, .run(action))
        rules = Self.rules(.queue)
    }

    /// The button whose presses have an outcome.
    ///
    /// A button whose action takes an ``AssignedPress`` has `.runs(.queue)` without this modifier.
    /// On another button, the presses are for another program, such as `pickerctl handle`.
    ///
    /// - Parameters:
    ///   - mode: what a press does while another one waits or runs.
    ///   - waitsFor: how long a press waits while no program handles the button: at most a day.
    ///   - whenLost: what becomes of a press whose program is gone: `.fail` works on each press at
    ///     most once, `.again` at least once.
    ///   - timeout: how long a press may run, from one second to 30 days; `nil` for any time.
    ///   - host: the host whose programs work on the presses of all hosts that share the form;
    ///     `nil`: each host works on its own.
    public func runs(
        _ mode: PressMode, waitsFor: Duration = .zero, whenLost: LostPress = .fail,
        timeout: Duration? = nil, handledAt host: String? = nil
    ) -> Self {
        var copy = self
        copy.rules = Self.rules(mode)
        if waitsFor != .zero { copy.rules.append(("waitsFor", waitsFor.formText)) }
        if whenLost != .fail { copy.rules.append(("whenLost", .string(whenLost.rawValue))) }
        if let timeout { copy.rules.append(("timeout", timeout.formText)) }
        if let host { copy.rules.append(("handledAt", .string(host))) }
        return copy
    }

    private static func rules(_ mode: PressMode) -> [(key: String, value: JSON)] {
        [("runs", .string(mode.rawValue))]
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
        for rule in rules { control.set(rule.key, rule.value) }
        let action = action
        control.listeners.append { FieldListener(field: $0, kind: action) }
        form.add(control, environment)
    }
}
