internal import SyncCore
internal import Synchronization

/// The calls of one listener that wait.
///
/// The memory of a slow closure is bounded: beyond `changesWaitingMax`, a change is merged into the
/// last one that waits, as for a reader of events.
final class ListenerBacklog: Sendable {
    private struct State {
        var changes: [(old: FieldState?, new: FieldState)] = []
        var presses = 0
        var isEdited: Bool?
    }

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: Whether the listener needs one more call; otherwise the change was merged.
    func add(_ old: FieldState?, _ new: FieldState) -> Bool {
        state.withLock { state in
            guard state.changes.count >= changesWaitingMax else {
                state.changes.append((old, new))
                return true
            }
            state.changes[state.changes.count - 1].new = new
            return false
        }
    }

    /// The oldest change that waits.
    func takeChange() -> (old: FieldState?, new: FieldState)? {
        state.withLock { $0.changes.isEmpty ? nil : $0.changes.removeFirst() }
    }

    /// Adds presses.
    ///
    /// - Returns: How many calls the listener needs: one for each press, as long as not too many
    ///   wait.
    func add(presses: Int64) -> Int {
        state.withLock { state in
            let told = min(Int(clamping: presses), pressesWaitingMax - state.presses)
            state.presses += told
            return told
        }
    }

    /// A call for a press begins.
    func takePress() { state.withLock { $0.presses -= 1 } }

    /// Notes whether the control has somebody's focus.
    ///
    /// - Returns: Whether the listener needs one more call; otherwise the call that waits gets the
    ///   newest state.
    func set(isEdited: Bool) -> Bool {
        state.withLock { state in
            defer { state.isEdited = isEdited }
            return state.isEdited == nil
        }
    }

    /// The newest state that the listener does not know.
    func takeEditing() -> Bool? {
        state.withLock { state in
            defer { state.isEdited = nil }
            return state.isEdited
        }
    }
}

/// The most presses that wait for one closure: as many as one transaction may have.
let pressesWaitingMax = Limits().changesMax
