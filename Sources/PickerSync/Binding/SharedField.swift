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
    /// Takes the property's name for an id, unless it was given one.
    func take(name: String)
    /// The form was opened.
    func attach(_ session: FormSession)
    /// Whether a field shows a value of the type, or the property has one to fall back on.
    func canShow(_ field: FieldState) -> Bool
}

/// What a property, its copies and its bindings have in common.
final class SharedField<Value: SharedValue>: FieldIdentity {
    private struct State {
        var id: String?
        var session: FormSession?
        /// The declared value, then the last one that the daemon told and that is a `Value`.
        var last: Value?
        var initial: Value?
    }

    private let state: Mutex<State>

    init(id: String?, initial: Value?) {
        state = Mutex(State(id: id, session: nil, last: initial, initial: initial))
    }

    var id: String? { state.withLock { $0.id } }

    var declaredDefault: JSON? { state.withLock { $0.initial }?.fieldValue }

    var session: FormSession? { state.withLock { $0.session } }

    func take(name: String) {
        state.withLock { $0.id = $0.id ?? name }
    }

    func attach(_ session: FormSession) {
        state.withLock { $0.session = session }
    }

    func canShow(_ field: FieldState) -> Bool {
        Value(field: field) != nil || state.withLock { $0.last } != nil
    }

    var value: Value {
        let (session, id) = state.withLock { ($0.session, $0.id) }
        if let session, let id {
            if let draft = session.draft(of: id), let value = Value(fieldValue: draft) {
                return value
            }
            if let shown = session.read(id), let value = Value(field: shown) {
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
        let (session, id) = state.withLock { state in
            // Before the form is open this is an ordinary variable.
            if state.session == nil {
                state.last = value
                state.initial = value
            }
            return (state.session, state.id)
        }
        if let session, let id { session.write(id, .value(value.fieldValue)) }
    }
}
