/// The writes that restored the values of earlier ones. An undo writes earlier values again, and
/// steps that name the earlier writes name the undo's write from then on.
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

    /// None.
    init() {}

    /// Those of one transaction's steps, in the order in which they were done.
    init(_ steps: some BidirectionalCollection<UndoStep>) {
        addOlder(steps)
    }

    /// Adds those of a transaction that is older than all that were added before.
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

    /// Whether steps of a field are concerned.
    func concern(_ field: String) -> Bool { fields.contains(field) }

    /// The write that stands for another now.
    func newest(of dot: Dot, _ field: String, component: String?) -> Dot {
        renewed[Key(field: field, component: component, dot: dot)] ?? dot
    }

    /// The write that restored a field's default, if there is one.
    func newestDefault(_ field: String) -> Dot? {
        renewed[Key(field: field, component: nil, dot: nil)]
    }
}

extension UndoStep {
    /// Names the newest write in the place of each one whose value it restored.
    mutating func renew(by renewals: UndoRenewals) {
        guard renewals.concern(field) else { return }
        let field = field
        func renewed(_ trace: Trace, _ component: String? = nil) -> Trace {
            func renewed(_ dot: Dot) -> Dot {
                renewals.newest(of: dot, field, component: component)
            }
            var trace = trace
            trace.dot = renewed(trace.dot)
            trace.over = trace.over.map { renewed($0) }
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
