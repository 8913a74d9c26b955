// What a transaction says beside its edits.

public import SyncCore

/// When values end by themselves. Then the values before them come back, unless somebody has
/// changed them since.
public enum ValueEnd: Hashable, Sendable {
    /// After this time, from one second on; fractions of a second count as a whole one. Time in
    /// which the machine sleeps or is switched off counts.
    case after(Duration)
    /// At this moment by the clock of the daemon's machine.
    case at(Timestamp)

    var lease: LeaseEnd {
        switch self {
        case .at(let moment): return .until(moment)
        case .after(let duration):
            let (seconds, attoseconds) = duration.components
            return .seconds(attoseconds > 0 ? seconds + 1 : seconds)
        }
    }
}

/// A change of the end of a value that ends by itself: see
/// ``FormSession/changeEnd(of:_:message:)``.
public enum ValueEndChange: Hashable, Sendable {
    /// It ends then.
    case move(ValueEnd)
    /// It is permanent.
    case keep
    /// It ends now.
    case end
}

/// What a transaction says beside its edits.
struct EditTerms {
    var message: String?
    var end: ValueEnd?
    var guarded = GuardedEdit.refused
}

extension StateLease {
    /// A change of the end of a value.
    init(form: String, field: String, _ change: ValueEndChange, _ message: String?) {
        let action: Action =
            switch change {
            case .move(let end): .move(end.lease)
            case .keep: .keep
            case .end: .end
            }
        self.init(form: form, field: field, action, message: message)
    }
}
