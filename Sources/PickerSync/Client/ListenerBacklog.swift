internal import SyncCore
internal import Synchronization

/// What one listener is still to be told.
///
/// A closure that is slower than the daemon costs a bounded amount of memory: beyond
/// `changesWaitingMax`, a change is folded into the last one that waits, as for a reader of events.
final class ListenerBacklog: Sendable {
    private struct State {
        var changes: [(old: FieldState?, new: FieldState)] = []
        var presses = 0
        var isEdited: Bool?
    }

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: Whether the listener is to be called once more; otherwise it was folded.
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
    /// - Returns: How many of them the listener is to be told: all, as long as not too many wait.
    func add(presses: Int64) -> Int {
        state.withLock { state in
            let told = min(Int(clamping: presses), pressesWaitingMax - state.presses)
            state.presses += told
            return told
        }
    }

    /// A press is told now.
    func takePress() { state.withLock { $0.presses -= 1 } }

    /// Notes whether somebody has the control in their hand.
    ///
    /// - Returns: Whether the listener is to be called once more; otherwise it is told the newest
    ///   state with the call that waits.
    func set(isEdited: Bool) -> Bool {
        state.withLock { state in
            defer { state.isEdited = isEdited }
            return state.isEdited == nil
        }
    }

    /// The newest state that was not told.
    func takeEditing() -> Bool? {
        state.withLock { state in
            defer { state.isEdited = nil }
            return state.isEdited
        }
    }
}

/// How many presses wait for one closure at most: as many as one transaction may have.
let pressesWaitingMax = Limits().changesMax
