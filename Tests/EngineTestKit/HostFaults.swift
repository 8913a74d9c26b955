// Intended errors of a host, to show that a search for errors finds them.

internal import SyncCore

/// What an `EngineHost` does wrong.
public struct HostFaults: OptionSet, Sendable {
    public let rawValue: Int

    /// The faults with these bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Batches are reported as durable one commit too early.
    public static let answersBeforeCommit = HostFaults(rawValue: 1)
    /// The last field of each batch is left out.
    public static let losesIncrement = HostFaults(rawValue: 2)
    /// One revision is not sent to a client.
    public static let skipsRevision = HostFaults(rawValue: 4)
    /// Changes are sent only to the first connection.
    public static let tellsOneSubscriberOnly = HostFaults(rawValue: 8)
    /// The epoch is kept after a stop that may have lost published revisions.
    public static let reusesDots = HostFaults(rawValue: 16)

    /// No change is sent to anybody.
    public static let withholdsChanges = HostFaults(rawValue: 32)

    /// Whether a frame is withheld from a client.
    func swallow(_ text: String, for id: ConnectionID) -> Bool {
        guard !isEmpty, text.contains(#""method":"state.changed""#) else { return false }
        if contains(.withholdsChanges) { return true }
        if contains(.tellsOneSubscriberOnly), id.number > 1 { return true }
        return contains(.skipsRevision) && text.contains(#""revision":7,"#)
    }
}

extension Batch {
    /// The batch of a store that forgets a field.
    var withoutItsLastField: Batch {
        var batch = self
        let place = batch.operations.lastIndex { operation in
            if case .putField = operation { true } else { false }
        }
        if let place { batch.operations.remove(at: place) }
        return batch
    }
}
