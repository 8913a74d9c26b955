// What happens at fixed times: see `Deadlines`.

extension Engine {
    /// Whether deadlines are met now. While the store takes no edits, and while the daemon stops,
    /// they wait: for the store, and for the next start.
    var meetsDeadlines: Bool { lifecycle == .serving && link.isHealthy }

    /// Meets the deadlines that are due, at the beginning of each event.
    func meetDeadlines() {
        guard clocks.isDue(), meetsDeadlines else { return }
        var due: [FormKey: [String: [String]]] = [:]
        for name in clocks.takeDue() {
            due[name.form, default: [:]][name.name.kind, default: []].append(name.name.id)
        }
        for form in forms where form.isEditable && form.failureReport == nil {
            for (kind, ids) in (due[form.key] ?? [:]).sorted(by: { $0.key < $1.key }) {
                meet(kind, ids, of: form)
            }
        }
    }

    /// Meets the deadlines of one kind in a form, which are due together.
    private func meet(_ kind: String, _ ids: [String], of form: LiveForm) {
        switch kind {
        case Self.leaseKind: endLeases(ids, of: form)
        default: log(.error, "a deadline of \(form.name) that nothing knows: \(kind) \(ids)")
        }
    }
}
