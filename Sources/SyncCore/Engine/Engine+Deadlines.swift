// What happens at fixed times: see `Deadlines`.

extension Engine {
    /// Whether deadlines are met now. While the store takes no edits, and while the daemon stops,
    /// they wait: for the store, and for the next start.
    var meetsDeadlines: Bool { lifecycle == .serving && link.isHealthy }

    /// The most deadlines that are met before others have their turn, unless those of one form are
    /// more. Each takes some ten microseconds.
    static let deadlinesAtOnce = 500
    /// The pause after as many deadlines, for each (nanoseconds): the work and its commit take no
    /// more than half of the time.
    static let deadlinePause: UInt64 = 20_000

    /// Meets deadlines that are due, at the beginning of each event. If there are many, others have
    /// their turn before the next form.
    func meetDeadlines() {
        guard clocks.isDue(), meetsDeadlines else { return }
        let met = meetDeadlines(atMost: Self.deadlinesAtOnce)
        if met >= Self.deadlinesAtOnce {
            clocks.pauseDeadlines(nanoseconds: UInt64(met) * Self.deadlinePause)
        }
    }

    /// Meets deadlines that are due, form by form, until there were `most`. Returns their number.
    @discardableResult func meetDeadlines(atMost most: Int) -> Int {
        var met = 0
        while met < most, let holder = clocks.takeDeparted() { met += endLeases(of: holder) }
        while met < most, let due = clocks.takeDue() {
            met += due.names.count
            guard let form = registry.look(up: due.form), form.isEditable,
                form.failureReport == nil
            else { continue }
            if due.names.contains(Self.everyLease) { met += form.working.cells.count / 16 }
            let kinds = Dictionary(grouping: due.names, by: \.kind)
            for (kind, names) in kinds.sorted(by: { $0.key < $1.key }) {
                met += meet(kind, names.map(\.id), of: form)
            }
        }
        return met
    }

    /// Meets the deadlines of one kind in a form, which are due together. Returns how much more
    /// work that was, as a number of deadlines.
    private func meet(_ kind: String, _ ids: [String], of form: LiveForm) -> Int {
        switch kind {
        case Self.leaseKind: endLeases(ids, of: form)
        case Self.runsDeadline.kind: return serveRuns(of: form)
        case Proposal.kind: expireProposals(ids, of: form)
        case Self.progressDeadline.kind: tellProgress(of: form)
        default: log(.error, "a deadline of \(form.name) that nothing knows: \(kind) \(ids)")
        }
        return 0
    }
}
