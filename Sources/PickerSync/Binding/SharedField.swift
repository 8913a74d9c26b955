// The identity behind a @Shared property: its id, its session once the form is open, its own value
// until then.

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
    /// Takes the property's name for an id, unless it was given one.
    func take(name: String)
    /// The form was opened.
    ///
    /// - Parameter field: What it shows at first. It is kept: a later value that is none of the
    ///   type shows the last one that was.
    func attach(_ attachment: FormAttachment, showing field: FieldState?)
    /// Whether a field shows a value of the type, or the property has one to fall back on.
    func canShow(_ field: FieldState) -> Bool
}

/// What a property, its copies and its bindings have in common.
final class SharedField<Value: SharedValue>: FieldIdentity {
    private struct State {
        var id: String?
        var attachment: FormAttachment?
        /// The declared value, then the last one that the daemon told and that is a `Value`.
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
            // Before the form is open this is an ordinary variable.
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
