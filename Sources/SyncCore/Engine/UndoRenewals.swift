/// Which writes restored the values of earlier writes. An undo writes an earlier value again. From
/// then on, steps that name the earlier write must name the write of the undo.
///
/// Renewals of many revisions are composed newest first, so that each step of a journal is renewed
/// once and not once for each undo behind it.
struct UndoRenewals {
    private struct Key: Hashable {
        /// Of the field, in `fields`.
        let number: Int
        let component: String?
        /// `nil` stands for the default.
        let dot: Dot?
    }

    private var renewed: [Key: Dot] = [:]
    /// Numbers, so that an id, which may be long, is hashed once for each step.
    private var fields: [String: Int] = [:]
    /// The writes whose values were restored, and the range of their counters.
    private var dots: Set<Dot> = []
    private var counters: ClosedRange<UInt64>?

    init() {}

    /// The renewals of one transaction's steps, in the order of execution.
    init(_ steps: some BidirectionalCollection<UndoStep>) {
        addOlder(steps)
    }

    /// Adds the renewals of a transaction that is older than all added so far.
    mutating func addOlder(_ steps: some BidirectionalCollection<UndoStep>) {
        for step in steps.reversed() {
            for restoration in step.restorations.reversed() { addOlder(restoration) }
        }
    }

    private mutating func addOlder(_ restoration: UndoStep.Restoration) {
        let count = fields.count
        let number = fields[restoration.field, default: count]
        if number == count { fields[restoration.field] = count }
        func key(_ dot: Dot?) -> Key {
            Key(number: number, component: restoration.component, dot: dot)
        }
        let now = renewed[key(restoration.new)] ?? restoration.new
        if restoration.old.isEmpty { renewed[key(nil)] = now }
        for dot in restoration.old {
            renewed[key(dot)] = now
            dots.insert(dot)
            let (low, high) = (counters?.lowerBound ?? .max, counters?.upperBound ?? 0)
            counters = min(low, dot.counter)...max(high, dot.counter)
        }
    }

    /// Whether no value was restored.
    var isEmpty: Bool { renewed.isEmpty }

    /// The number of a field of which a value was restored.
    fileprivate func number(of field: String) -> Int? { fields[field] }

    /// The newest write that restored the value of `dot`; `dot` itself if there is none.
    fileprivate func newest(of dot: Dot, _ number: Int, component: String?) -> Dot {
        contains(dot) ? renewed[Key(number: number, component: component, dot: dot)] ?? dot : dot
    }

    /// The write that restored a field's default, if there is one.
    fileprivate func newestDefault(_ number: Int) -> Dot? {
        renewed[Key(number: number, component: nil, dot: nil)]
    }

    /// Whether a step may name a value that was restored. An undo looks at all steps of its user,
    /// and nearly all of them name other writes.
    func mayConcern(_ step: UndoStep) -> Bool {
        func contains(_ trace: UndoStep.Trace) -> Bool {
            self.contains(trace.dot)
                || trace.over.indices.contains { self.contains(trace.over[$0]) }
                || trace.others.contains { self.contains($0) }
        }
        return switch step.action {
        case .write(let trace, _), .assign(let trace, _, _), .tags(let trace, _, _, _):
            contains(trace)
        case .components(let components): components.contains { contains($0.trace) }
        case .increment(_, let base): base.map { self.contains($0) } ?? true
        }
    }

    private func contains(_ dot: Dot) -> Bool {
        guard let counters, counters.contains(dot.counter) else { return false }
        return dots.contains(dot)
    }
}

extension UndoStep {
    /// Replaces each write whose value was restored by the newest write that restored it.
    mutating func renew(by renewals: UndoRenewals) {
        guard renewals.mayConcern(self), let number = renewals.number(of: field) else { return }
        func renewed(_ trace: Trace, _ component: String? = nil) -> Trace {
            func renewed(_ dot: Dot) -> Dot {
                renewals.newest(of: dot, number, component: component)
            }
            var trace = trace
            trace.dot = renewed(trace.dot)
            trace.over = trace.over.mapped { renewed($0) }
            trace.others = trace.others.map { renewed($0) }
            return trace
        }
        switch action {
        case .write(let trace, let was): action = .write(renewed(trace), was: was)
        case .assign(let trace, let was, let to):
            action = .assign(renewed(trace), was: was, to: to)
        case .components(let components):
            // One write may set several components, and be restored in some of them only.
            action = .components(
                components.map { component in
                    var component = component
                    component.trace = renewed(component.trace, component.id)
                    return component
                })
        case .increment(let amount, nil):
            action = .increment(amount, base: renewals.newestDefault(number))
        case .increment(let amount, let base?):
            action = .increment(
                amount, base: renewals.newest(of: base, number, component: nil))
        case .tags(let trace, let added, let removed, let wasSet):
            action = .tags(renewed(trace), added: added, removed: removed, wasSet: wasSet)
        }
    }
}
