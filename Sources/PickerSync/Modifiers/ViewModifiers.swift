// Modifiers for all controls: each applies to every control inside the view.

internal import SyncCore

/// Which of several concurrent edits wins.
public enum ConflictPolicy: String, Hashable, Sendable {
    /// The newest; the others are in the history, and both authors are notified.
    case latest
    /// The newest, until somebody who saw all of them chooses.
    case ask
    /// The first; later ones are refused.
    case first
    /// On, for toggles: an emergency stop.
    case trueWins
    /// Off, for toggles: consent.
    case falseWins
}

extension View {
    private func setting(_ name: String, _ value: JSON) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.set(name, value) })
    }

    /// The id of a control that is bound to no property, or is the second one over its property.
    public func id(_ id: String) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.id = id })
    }

    /// The previous id of the control, so that it keeps its value.
    public func formerly(_ id: String) -> ModifiedView<Self> { setting("was", .string(id)) }

    /// Disables controls or options.
    public func disabled(_ isDisabled: Bool) -> ModifiedView<Self> {
        ModifiedView(
            content: self, modify: { $0.isDisabled = $0.isDisabled || isDisabled },
            modifyLabel: { $0.isDisabled = $0.isDisabled || isDisabled })
    }

    /// Disables controls while a condition holds.
    public func disabled(_ condition: FieldCondition) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.enabledWhen.append(!condition) })
    }

    /// Disables controls unless a condition holds.
    public func enabled(when condition: FieldCondition) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.enabledWhen.append(condition) })
    }

    /// Hides controls unless a condition holds; their values are kept.
    public func visible(when condition: FieldCondition) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.visibleWhen.append(condition) })
    }

    /// Controls that are not shown.
    public func hidden() -> ModifiedView<Self> { setting("hidden", true) }

    /// Controls that must not stay empty.
    public func required(_ isRequired: Bool = true) -> ModifiedView<Self> {
        setting("required", .bool(isRequired))
    }

    /// Makes controls read-only for people; programs can set them.
    public func readOnly(_ isReadOnly: Bool = true) -> ModifiedView<Self> {
        setting("readOnly", .bool(isReadOnly))
    }

    /// Makes controls writable only for an admin of the form.
    public func locked(_ isLocked: Bool = true) -> ModifiedView<Self> {
        setting("locked", .bool(isLocked))
    }

    /// What help shows for the control.
    public func help(_ text: String) -> ModifiedView<Self> { setting("help", .string(text)) }

    /// Which of several concurrent edits wins.
    public func onConflict(_ policy: ConflictPolicy) -> ModifiedView<Self> {
        setting("onConflict", .string(policy.rawValue))
    }

    /// The colour of an option.
    public func tint(_ color: Color?) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { _ in }, modifyLabel: { $0.color = color })
    }

    /// Runs an action when anybody has changed a property, with the old and the new value.
    ///
    /// - Parameters:
    ///   - binding: the property.
    ///   - initial: whether it also runs for the value at the time when the form is opened.
    ///   - action: called with the old and the new value.
    public func onChange<Value>(
        of binding: Binding<Value>, initial: Bool = false,
        _ action: @escaping @Sendable (_ oldValue: Value, _ newValue: Value) -> Void
    ) -> some View {
        ListeningView(content: self, field: binding.field) { id in
            FieldListener(
                field: id,
                kind: .change { old, new in
                    guard let now = Value(field: new) else { return }
                    let before = old.flatMap { Value(field: $0) }
                    if before != now { action(before ?? now, now) }
                }, isInitial: initial)
        }
    }

    /// Runs an action when anybody has changed a property.
    public func onChange<Value>(
        of binding: Binding<Value>, initial: Bool = false, _ action: @escaping @Sendable () -> Void
    ) -> some View {
        onChange(of: binding, initial: initial) { _, _ in action() }
    }
}

/// A view with a listener to a property that any control of the form may show.
struct ListeningView<Content: View>: PrimitiveView {
    let content: Content
    let field: any FieldIdentity
    let listener: @Sendable (String) -> FieldListener

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.listen(to: field, listener)
        form.add(content, environment)
    }
}
