// The patterns of what other hosts wrote, matched before it is joined.
//
// A join cannot be refused for what its texts cost, as an edit can: then hosts would not agree. So
// the matches are made beforehand, in as many turns as they need, and the join finds them made.

/// A text that a join may have to match.
struct PatternCheck {
    let matcher: PatternMatcher
    let text: String
}

extension Engine {
    /// The texts of an item, and those that they meet, by the patterns that they may have then.
    func patternChecks(of item: SharedItem) -> [PatternCheck] {
        let state = form(named: item.form)?.working
        let theirs = item.fields
        var checks: [PatternCheck] = []
        let own = state?.controlsByStore ?? [:]
        func add(
            _ definition: FormDefinition, _ storeIDs: [String], _ indexes: some Sequence<Int>
        ) {
            for index in indexes {
                guard case .text(let text) = definition.controls[index].kind,
                    let matcher = text.pattern?.matcher
                else { continue }
                let key = CausalForm.Key(storeIDs[index], .register)
                let known =
                    own[key].flatMap { state?.cells[$0].store } ?? state?.shared?.hidden[key]
                for store in [theirs[key], known] {
                    guard case .register(let register)? = store else { continue }
                    for sibling in register.siblings {
                        guard let text = sibling.payload.value?.stringValue else { continue }
                        checks.append(PatternCheck(matcher: matcher, text: text))
                    }
                }
            }
        }
        if let state, let shared = state.shared {
            add(state.definition, shared.storeIDs, theirs.compactMap { own[$0.key] }.sorted())
        }
        if let said = SharedDefinition(in: item.registers),
            let file = try? FormDefinition.parse(
                said.file, limits: .accepted, reusing: state?.definition,
                compile: workspace.compile)
        {
            add(file, said.storeIDs(of: file), file.controls.indices)
        }
        return checks
    }

    /// Matches the texts of the item that is joined next.
    ///
    /// - Returns: whether all are; if not, it is called again.
    func matchPatterns(_ fleet: FleetLink, until isLong: () -> Bool) -> Bool {
        guard case .shared(let shared, var checks)? = fleet.joining?.item, !checks.isEmpty else {
            return true
        }
        let meter = workspace.patternMeter
        meter.remembers = true
        let used = meter.used
        while !checks.isEmpty, meter.used - used < configuration.limits.patternStepsMax, !isLong() {
            let check = checks.removeLast()
            _ = check.matcher.matches(check.text)
        }
        meter.remembers = false
        fleet.joining?.item = .shared(shared, checks)
        return checks.isEmpty
    }
}

extension SharedItem {
    /// The stores of the definition's registers that are in it.
    fileprivate var registers: [CausalForm.Field] {
        fields.filter { SharedDefinition.isRegister($0.key) }
    }
}
