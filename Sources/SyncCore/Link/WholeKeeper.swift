// When somebody must write a whole, so that nothing is lost when the log forgets.
//
// The rule: of each form there is a whole younger than `ageMax / 2` whose context covers what this
// host knew `ageMax / 8` ago. It is looked at every hour, after a start, and after the log was read
// again from its beginning. A start knows no whole: the log may have lost what it acknowledged
// before this host has read that, which nobody can tell. Where the rule does not apply, or hosts
// disagree, or one waits for a whole, a host waits up to five seconds, looks again, as another has
// perhaps written one, and writes one. There is no lock: two wholes are one too many, and no harm.
//
//              due                           5 s, still due
//   covered ───────────▶ waiting(until) ──────────────────────▶ written ───▶ covered
//      ▲                       │ another's whole came
//      └───────────────────────┘

/// Knows for each form what the log could give to a host that has nothing.
package struct WholeKeeper: Sendable {
    private struct Form {
        /// When the newest whole was written, in milliseconds since 1970, and what it covers.
        var wholes: [(milliseconds: Int64, context: CausalContext)] = []
        /// What this host knew between `ageMax / 8` and `ageMax / 4` ago, and what comes next.
        var knewThen: (milliseconds: Int64, context: CausalContext)?
        var knewLater: (milliseconds: Int64, context: CausalContext)?
        var writesAt: UInt64?
        /// Why a whole is written even if the rule applies.
        var demand: WholeReason?
        /// Another's whole that covers this does as well.
        var isMet: CausalContext?

        /// Whether the rule applies.
        func isKept(ageMax: Int64, wall: Int64) -> Bool {
            // What was learned in this run only counts once it is old enough.
            let knew = knewThen?.context ?? CausalContext()
            return wholes.contains {
                wall - $0.milliseconds < ageMax / 2 && knew.isSubset(of: $0.context)
            }
        }
    }

    /// How often the rule is looked at, in nanoseconds: an hour.
    static let period: UInt64 = 3_600_000_000_000
    /// The longest wait for another's whole, in nanoseconds.
    static let patience: UInt64 = 5_000_000_000
    /// The newest wholes of a form that are remembered.
    private static let wholesMax = 8

    private var forms: [String: Form] = [:]
    /// When the rule is looked at next, in nanoseconds.
    private var looksAt: UInt64?
    /// No `writesAt` of a form is earlier.
    private var writesAt = UInt64.max

    /// Nothing is known.
    package init() {}

    /// When something must be done, in nanoseconds.
    package var deadline: UInt64? {
        let deadline = min(looksAt ?? .max, writesAt)
        return deadline == .max ? nil : deadline
    }

    /// A whole of a form is in the log, of this host or another.
    package mutating func saw(_ form: String, covering context: CausalContext, at moment: Int64) {
        var wholes = forms[form, default: Form()].wholes
        wholes.removeAll { $0.milliseconds <= moment && $0.context.isSubset(of: context) }
        wholes.append((moment, context))
        forms[form, default: Form()].wholes = wholes.suffix(Self.wholesMax)
        if forms[form]?.isMet?.isSubset(of: context) ?? false {
            forms[form]?.demand = nil
            forms[form]?.writesAt = nil
            forms[form]?.isMet = nil
        }
    }

    /// Whether the log has a whole of a form that covers this.
    func has(_ form: String, covering context: CausalContext) -> Bool {
        forms[form]?.wholes.contains { context.isSubset(of: $0.context) } ?? false
    }

    /// Looks at the rule for each form, and says when to write what it misses. Forms that are not
    /// here any more are forgotten, unless a whole of them is still due.
    ///
    /// - Parameter ageMax: how long the stream keeps a message, in milliseconds.
    package mutating func look(
        at shared: [(form: String, context: CausalContext)], ageMax: Int64, wall: Int64,
        random: () -> UInt64, now: UInt64
    ) {
        looksAt = now + Self.period
        let here = Set(shared.lazy.map(\.form))
        forms = forms.filter { $0.value.writesAt != nil || here.contains($0.key) }
        for (name, context) in shared {
            var form = forms[name, default: Form()]
            let step = ageMax / 8
            if let later = form.knewLater, wall - later.milliseconds >= step {
                form.knewThen = later
                form.knewLater = nil
            }
            if form.knewLater == nil { form.knewLater = (wall, context) }
            if form.writesAt == nil, !form.isKept(ageMax: ageMax, wall: wall) {
                let time = now + random() % (Self.patience + 1)
                form.writesAt = time
                writesAt = min(writesAt, time)
            }
            forms[name] = form
        }
    }

    /// A whole is due soon, whatever the log has.
    ///
    /// - Parameter covering: Another host's whole that covers this does as well; `nil`: none does.
    package mutating func demand(
        _ form: String, _ why: WholeReason, covering: CausalContext? = nil,
        random: () -> UInt64, now: UInt64
    ) {
        let time = now + random() % (Self.patience + 1)
        if covering != nil, let known = forms[form], known.demand != nil, known.isMet == nil {
            // What no other host's whole can do stays due.
            forms[form]?.writesAt = min(known.writesAt ?? time, time)
            writesAt = min(writesAt, time)
            return
        }
        demand(form, why, at: time)
        forms[form]?.isMet = covering
    }

    mutating func demand(_ form: String, _ why: WholeReason, at time: UInt64) {
        forms[form, default: Form()].demand = why
        forms[form, default: Form()].writesAt = time
        writesAt = min(writesAt, time)
        forms[form]?.isMet = nil
    }

    /// The forms whose wholes this host writes now: no other host has, in the meantime.
    package mutating func due(
        ageMax: Int64, wall: Int64, now: UInt64
    ) -> [(form: String, why: WholeReason)] {
        var due: [(form: String, why: WholeReason)] = []
        for name in forms.keys.sorted() {
            guard var form = forms[name], let at = form.writesAt, at <= now else { continue }
            if let why = form.demand {
                due.append((name, why))
            } else if !form.isKept(ageMax: ageMax, wall: wall) {
                due.append((name, .due))
            }
            form.writesAt = nil
            form.demand = nil
            form.isMet = nil
            forms[name] = form
        }
        writesAt = forms.values.compactMap(\.writesAt).min() ?? .max
        return due
    }

    /// The log is another one, or has forgotten: no whole is known to be in it.
    package mutating func forgetWholes() {
        for name in forms.keys { forms[name]?.wholes = [] }
        looksAt = nil
    }

    func mustLook(at now: UInt64) -> Bool { looksAt.map { $0 <= now } ?? true }
}
