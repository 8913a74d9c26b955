// The result of a transaction.

extension Transaction {
    /// The result of a transaction. It is a class, because each closure that uses it would copy all
    /// its parts.
    final class Outcome {
        /// The new revision, or the present one if nothing changed.
        let revision: UInt64
        /// The fields whose stored value changed, and those that derive from them, ascending.
        let touched: Few<Int>
        /// The fields with a silent write: only their stores changed, not what is read.
        let silent: Few<Int>
        /// The dots that were issued.
        let dots: Few<Dot>
        /// The cells of the touched fields before, with their shown values.
        let before: Few<Cell>
        /// Touched fields with an edit that was concurrent with another, ascending.
        let concurrent: Few<Int>
        let record: RevisionRecord?
        /// New runs of buttons, and those that they replaced.
        let runs: [RunRow]
        /// The members of each touched field, as the notification tells them.
        var texts = Few<FieldText>()
        /// What other hosts are told of a shared form.
        let shared: SharedChange?

        init(
            revision: UInt64, touched: Few<Int> = Few(), silent: Few<Int> = Few(),
            dots: Few<Dot> = Few(), before: Few<Cell> = Few(), concurrent: Few<Int> = Few(),
            record: RevisionRecord? = nil, runs: [RunRow] = [], shared: SharedChange? = nil
        ) {
            self.shared = shared
            self.revision = revision
            self.touched = touched
            self.silent = silent
            self.dots = dots
            self.before = before
            self.concurrent = concurrent
            self.record = record
            self.runs = runs
        }

        /// The last press of a button with `runs`, or of the one that it binds.
        func press(of index: Int, _ definition: FormDefinition) -> Dot? {
            if runs.isEmpty { return nil }
            guard let root = definition.targets[index].first else { return nil }
            let id = definition.controls[root].id
            return runs.last { $0.field == id && !$0.run.state.isFinal }?.run.press
        }

        /// The members of a field in the notification; `nil` if it was not touched.
        func text(of index: Int) -> FieldText? {
            touched.index(ofSorted: index).map { texts.element($0) }
        }
    }
}
