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
    /// The forms of its leases, also of some that have ended.
    private(set) var forms: Set<FormKey> = []
    private var tidyAt = 64

    init(at now: Int64, isGone: Bool = false) {
        lastFrame = now
        goneAt = isGone ? now : nil
    }

    /// It holds a lease of a form from now on. Forms that are gone are forgotten, now and then.
    func hold(_ form: FormKey, isThere: (FormKey) -> Bool) {
        forms.insert(form)
        guard forms.count >= tidyAt else { return }
        forms = forms.filter(isThere)
        tidyAt = max(64, 2 * forms.count)
    }

    /// Its connection has ended.
    func leave(at now: Int64) { goneAt = now }

    /// When its leases end if no frame arrives until then.
    var end: Int64 {
        let silent = lastFrame &+ Self.silenceMaxMilliseconds
        return min(goneAt ?? silent, silent) &+ Self.reclaimMilliseconds
    }
}

/// Who holds the leases of a form, by the names of the leases.
///
/// An undo can bring back a lease that another one replaced, so those are known for some time as
/// well: the newest of holders that are still there.
struct LeaseHolders {
    /// The most leases that are known although they are not in force and not suspended.
    static let replacedMax = 1_000

    private var entries: [String: (holder: LeaseHolder, number: UInt64)] = [:]
    private var next: UInt64 = 0
    /// The number of entries at which `tidy` is worth its work.
    private var tidyAt = 2 * LeaseHolders.replacedMax

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// Whether there are so many that some should be forgotten.
    var wantsTidying: Bool { entries.count >= tidyAt }

    subscript(id: String) -> LeaseHolder? {
        get { entries[id]?.holder }
        set {
            entries[id] = newValue.map { ($0, next) }
            next += 1
        }
    }

    /// Forgets who held leases that cannot come back.
    ///
    /// - Parameter present: The leases that are in force or suspended.
    mutating func tidy(present: Set<String>) {
        let replaced = entries.filter { !present.contains($0.key) }
        var kept = replaced.filter { $0.value.holder.goneAt == nil }
        if kept.count > Self.replacedMax {
            let numbers = kept.values.map(\.number).sorted(by: >)
            kept = kept.filter { $0.value.number >= numbers[Self.replacedMax - 1] }
        }
        for id in replaced.keys where kept[id] == nil { entries[id] = nil }
        tidyAt = 2 * max(entries.count, Self.replacedMax)
    }
}

extension LiveForm {
    func leaseEnd(_ lease: Lease) -> Deadlines.Time {
        switch lease.end {
        case .after(let steady, _): .steady(steady)
        case .at(let wall): .wall(wall)
        // If an undo restores a lease whose holder was forgotten, the lease has ended.
        case .connection: .steady(leaseHolders[lease.id]?.end ?? .min)
        }
    }
}
