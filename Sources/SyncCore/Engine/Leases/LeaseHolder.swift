/// A connection that holds leases (`while: connection`), and when it was last heard from.
///
///     connected ──no frame for 30 s──▶ silent ──30 s more──▶ (its leases end)
///       ▲  │                             │
///       │  └────────a frame──────────────┘
///       │  └──disconnected──▶ gone ──30 s──▶ (its leases end)
///       └──────resume───────────┘
///
/// After the daemon starts, all holders are gone. Confined to the loop.
final class LeaseHolder {
    /// The most milliseconds without a frame: a holder sends `ping` at least every ten seconds.
    static let silenceMaxMilliseconds: Int64 = 30_000
    /// Milliseconds in which a user may take over the leases of a holder that is gone (`resume`).
    static let reclaimMilliseconds: Int64 = 30_000

    /// When its last frame came (milliseconds of the steady clock).
    var lastFrame: Int64
    /// When its connection ended; `nil` while it is open.
    private(set) var goneAt: Int64?
    /// The forms of its leases.
    var forms: Set<FormKey> = []

    init(at now: Int64, isGone: Bool = false) {
        lastFrame = now
        goneAt = isGone ? now : nil
    }

    /// Its connection has ended.
    func leave(at now: Int64) { goneAt = now }

    /// When its leases end if no frame arrives until then.
    var end: Int64 {
        let silent = lastFrame &+ Self.silenceMaxMilliseconds
        return min(goneAt ?? silent, silent) &+ Self.reclaimMilliseconds
    }
}

extension LiveForm {
    /// When a lease ends, as of now.
    func leaseEnd(_ lease: Lease) -> Deadlines.Time {
        switch lease.end {
        case .after(let steady, _): .steady(steady)
        case .at(let wall): .wall(wall)
        // If an undo restores a lease whose holder was forgotten, the lease has ended.
        case .connection: .steady(leaseHolders[lease.id]?.end ?? .min)
        }
    }
}
