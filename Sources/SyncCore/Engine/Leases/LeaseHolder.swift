/// A connection that holds leases (`while: connection`), and what is known of it.
///
///     connected ──no frame for 30 s──▶ silent ──30 s more──▶ (its leases end)
///       ▲  │                             │
///       │  └────────a frame──────────────┘
///       │  └──disconnected──▶ gone ──30 s──▶ (its leases end)
///       └──────resume───────────┘
///
/// After a start of the daemon all holders are gone. Confined to the loop.
final class LeaseHolder {
    /// The most milliseconds without a frame: a holder sends `ping` at least each ten seconds.
    static let silenceMaxMilliseconds: Int64 = 30_000
    /// Milliseconds in which a holder that is gone may come back: `reclaimSeconds`.
    static let reclaimMilliseconds: Int64 = 30_000

    /// When its last frame came (milliseconds of the steady clock).
    var lastFrame: Int64
    /// When its connection ended; `nil` while it is there.
    private(set) var goneAt: Int64?
    /// The forms of its leases.
    var forms: Set<FormKey> = []

    init(at now: Int64, isGone: Bool = false) {
        lastFrame = now
        goneAt = isGone ? now : nil
    }

    /// Its connection has ended.
    func leave(at now: Int64) { goneAt = now }

    /// When its leases end, if nothing is heard of it until then.
    var end: Int64 {
        let silent = lastFrame &+ Self.silenceMaxMilliseconds
        return min(goneAt ?? silent, silent) &+ Self.reclaimMilliseconds
    }
}

extension LiveForm {
    /// When a lease ends, as far as is known now.
    func leaseEnd(_ lease: Lease) -> Deadlines.Time {
        switch lease.end {
        case .after(let steady, _): .steady(steady)
        case .at(let wall): .wall(wall)
        // A lease that nobody holds, because an undo brought it back later, is over.
        case .connection: .steady(leaseHolders[lease.id]?.end ?? .min)
        }
    }
}
