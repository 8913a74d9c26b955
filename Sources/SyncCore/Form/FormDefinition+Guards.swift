// Which guarded controls a change asks for approval of (FORM.md, Two pairs of eyes): pure functions
// of the values before and after it.

extension FormDefinition {
    /// The guarded controls that a change of this control may ask for approval of: itself, those
    /// that it shows or writes, and those whose `when` refers to it.
    package func guards(concerning control: Int) -> [Int] {
        guards(concerning: touched(byChanging: control))
    }

    /// The same for changes of several controls, with those that show them.
    func guards(concerning touched: Few<Int>) -> [Int] {
        guards.filter { touched.contains(sorted: $0) || isWatched($0, touched) }
    }

    private func touched(byChanging control: Int) -> Few<Int> {
        withDependents(Few(targets[control].sortedDistinct()))
    }

    /// Whether a change of these controls can make the `when` of a guard true.
    func isWatched(_ index: Int, _ touched: Few<Int>) -> Bool {
        guard let rule = controls[index].approval, let when = rule.when else { return false }
        return when.asksForCompletion || rule.references.contains { touched.contains(sorted: $0) }
    }

    /// Whether a change of this control makes the `when` of a guard neither true nor false.
    func isDecided(of index: Int, byChanging control: Int) -> Bool {
        !isWatched(index, touched(byChanging: control))
    }

    /// The guarded controls that a change asks for approval of, ascending. `touched` are the
    /// changed controls and those that show them; `isChanged` says whether what a control stores
    /// differs.
    func guardsMet(
        touched: Few<Int>, _ before: ConditionEvaluator, _ after: ConditionEvaluator,
        isChanged: (Int) -> Bool
    ) -> [Int] {
        guards.filter { index in
            guard let rule = controls[index].approval else { return false }
            let isChanged = touched.contains(sorted: index) && isChanged(index)
            guard isChanged || isWatched(index, touched) else { return false }
            guard rule.when.map(after.holds) ?? true else { return false }
            return isChanged || !(rule.when.map(before.holds) ?? true)
        }
    }

    /// The guarded controls that an edit of this control asks for approval of, as far as a client
    /// knows from stored values; the daemon decides. Ascending; a press always changes its button.
    public func guardsMet(
        byChanging control: Int, from before: (Int) -> JSON, to after: (Int) -> JSON
    ) -> [Int] {
        if guards.isEmpty { return [] }
        return withoutActuallyEscaping(before) { before in
            withoutActuallyEscaping(after) { after in
                guardsMet(
                    touched: touched(byChanging: control),
                    ConditionEvaluator(self, values: before),
                    ConditionEvaluator(self, values: after)
                ) { types[$0] == .button || before($0) != after($0) }
            }
        }
    }

    /// The controls that decide whether these guards apply, ascending and without buttons, whose
    /// presses nobody takes back.
    func controlsDeciding(_ guards: [Int]) -> [Int] {
        let rules = guards.compactMap { controls[$0].approval }
        var found = Set(rules.lazy.flatMap(\.references))
        if rules.contains(where: { $0.when?.asksForCompletion ?? false }) {
            found.formUnion(required)
        }
        return found.filter { types[$0] != .button }.sorted()
    }
}
