/// Holds changes back until nothing has changed for a while, and folds those of one field.
///
///     quiet --offer--> gathering(until) --offer--> gathering(later) --due--> quiet, all handed out
struct Debouncer {
    /// How long nothing must change, in nanoseconds; 0 lets everything through at once.
    let span: UInt64
    private var held: [WatchedChange] = []
    /// When what is held is due, in monotonic nanoseconds.
    private(set) var deadline: UInt64?

    init(span: UInt64) {
        self.span = span
    }

    /// Takes a change; hands it straight out where there is nothing to wait for.
    mutating func offer(_ change: WatchedChange, at now: UInt64) -> [WatchedChange] {
        if span == 0 { return [change] }
        if let place = held.firstIndex(where: { $0.field == change.field }) {
            held.append(change.folding(held.remove(at: place)))
        } else {
            held.append(change)
        }
        let (due, overflow) = now.addingReportingOverflow(span)
        deadline = overflow ? .max : due
        return []
    }

    /// What is due, in the order of each field's last change.
    mutating func due(at now: UInt64) -> [WatchedChange] {
        guard let deadline, now >= deadline else { return [] }
        self.deadline = nil
        defer { held = [] }
        return held
    }
}
