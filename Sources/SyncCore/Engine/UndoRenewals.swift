/// Which writes restored the values of earlier writes. An undo writes an earlier value again. From
/// then on, steps that name the earlier write must name the write of the undo.
///
/// Renewals of many revisions are composed newest first, so that each step of a journal is renewed
/// once and not once for each undo behind it.
struct UndoRenewals {
    private struct Key: Hashable {
        let field: String
        /// Of a component of wheels.
        let component: String?
        /// `nil` stands for the default.
        let dot: Dot?
    }

    private var renewed: [Key: Dot] = [:]
    private var fields: Set<String> = []

    /// No renewals.
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
        fields.insert(restoration.field)
        func key(_ dot: Dot?) -> Key {
            Key(field: restoration.field, component: restoration.component, dot: dot)
        }
        let now = renewed[key(restoration.new)] ?? restoration.new
        if restoration.old.isEmpty { renewed[key(nil)] = now }
        for dot in restoration.old { renewed[key(dot)] = now }
    }

    /// Whether no value was restored.
    var isEmpty: Bool { renewed.isEmpty }

    /// Whether a value of the field was restored.
    func contains(_ field: String) -> Bool { fields.contains(field) }

    /// The newest write that restored the value of `dot`; `dot` itself if there is none.
    func newest(of dot: Dot, _ field: String, component: String?) -> Dot {
        renewed[Key(field: field, component: component, dot: dot)] ?? dot
    }

    /// The write that restored a field's default, if there is one.
    func newestDefault(_ field: String) -> Dot? {
        renewed[Key(field: field, component: nil, dot: nil)]
    }
}

extension UndoStep {
    /// Replaces each write whose value was restored by the newest write that restored it.
    mutating func renew(by renewals: UndoRenewals) {
        guard renewals.contains(field) else { return }
        let field = field
        func renewed(_ trace: Trace, _ component: String? = nil) -> Trace {
            func renewed(_ dot: Dot) -> Dot {
                renewals.newest(of: dot, field, component: component)
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
            action = .increment(amount, base: renewals.newestDefault(field))
        case .increment(let amount, let base?):
            action = .increment(
                amount, base: renewals.newest(of: base, field, component: nil))
        case .tags(let trace, let added, let removed, let wasSet):
            action = .tags(renewed(trace), added: added, removed: removed, wasSet: wasSet)
        }
    }
}
