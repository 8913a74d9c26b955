// The identity of a @Shared property: its id, its attachment when the form is open, its own value
// before.

internal import SyncCore
internal import Synchronization

/// A shared property without the type of its value.
protocol FieldIdentity: AnyObject, Sendable {
    /// The id in the form; `nil` before the form gave it one.
    var id: String? { get }
    /// The control's default, where one was declared.
    var declaredDefault: JSON? { get }
    /// Whether it is a constant value and not a property.
    var isConstant: Bool { get }
    /// Uses the name of the property as the id, if it has none.
    func take(name: String)
    /// The form was opened.
    ///
    /// - Parameter field: The initial state. If a later value does not fit the type, the property
    ///   shows the last one that did.
    func attach(_ attachment: FormAttachment, showing field: FieldState?)
    /// Whether the value of a field fits the type, or the property has another value to show.
    func canShow(_ field: FieldState) -> Bool
}

/// The state that a property shares with its copies and bindings.
final class SharedField<Value: SharedValue>: FieldIdentity {
    private struct State {
        var id: String?
        var attachment: FormAttachment?
        /// The declared value, then the daemon's last value that fits the type.
        var last: Value?
        var initial: Value?
    }

    private let state: Mutex<State>
    let isConstant: Bool

    init(id: String?, initial: Value?, isConstant: Bool = false) {
        self.isConstant = isConstant
        state = Mutex(State(id: id, attachment: nil, last: initial, initial: initial))
    }

    var id: String? { state.withLock { $0.id } }

    var declaredDefault: JSON? { state.withLock { $0.initial }?.fieldValue }

    var attachment: FormAttachment? { state.withLock { $0.attachment } }

    func take(name: String) {
        state.withLock { $0.id = $0.id ?? name }
    }

    func attach(_ attachment: FormAttachment, showing field: FieldState?) {
        let value = field.flatMap { Value(field: $0) }
        state.withLock { state in
            state.attachment = attachment
            state.last = value ?? state.last
        }
    }

    func canShow(_ field: FieldState) -> Bool {
        Value(field: field) != nil || state.withLock { $0.last } != nil
    }

    var value: Value {
        if let reads = BodyReads.current { reads.add(id ?? "a property") }
        let (attachment, id) = state.withLock { ($0.attachment, $0.id) }
        if let attachment, let id {
            if let draft = attachment.draft(of: id), let value = Value(fieldValue: draft) {
                return value
            }
            if let shown = attachment.read(id), let value = Value(field: shown) {
                state.withLock { $0.last = value }
                return value
            }
        }
        guard let last = state.withLock({ $0.last }) else {
            preconditionFailure(
                "@Shared \(id ?? "property") has no value yet: open its form, or give it one")
        }
        return last
    }

    func set(_ value: Value) {
        if isConstant { return }
        let (attachment, id) = state.withLock { state in
            // Before the form is open, the property is an ordinary variable.
            if state.attachment == nil {
                state.last = value
                state.initial = value
            }
            return (state.attachment, state.id)
        }
        if let attachment, let id { attachment.write(id, .value(value.fieldValue)) }
    }

    /// Sends an edit that is not awaited; before the form is open it changes the variable.
    func edit(_ action: Change.Action, _ change: (Value) -> Value?) {
        let (attachment, id) = state.withLock { state in
            if state.attachment == nil, let value = state.last, let new = change(value) {
                state.last = new
                state.initial = new
            }
            return (state.attachment, state.id)
        }
        if let attachment, let id { attachment.write(id, action) }
    }

    /// Sends an edit and waits for its answer.
    func perform(_ action: Change.Action, _ timeout: Duration?) async throws(FormError) {
        guard let attachment, let id else { throw .notOpen }
        try await attachment.perform(id, action, timeout: timeout)
    }
}
