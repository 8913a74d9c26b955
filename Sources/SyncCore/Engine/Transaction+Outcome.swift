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
        let changes: Few<Change>
        let record: RevisionRecord?
        /// New runs of buttons, and those that they replaced.
        let runs: [RunRow]

        init(
            revision: UInt64, touched: Few<Int> = Few(), silent: Few<Int> = Few(),
            dots: Few<Dot> = Few(), changes: Few<Change> = Few(), record: RevisionRecord? = nil,
            runs: [RunRow] = []
        ) {
            self.revision = revision
            self.touched = touched
            self.silent = silent
            self.dots = dots
            self.changes = changes
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

        /// The change of one field.
        struct Change {
            /// The members of the Field, as JSON text.
            var text: [UInt8]
            /// The value before; `nil` if it is not shown (a secret).
            var was: JSON?
        }

        /// The members of a field's notification; `nil` if it was not touched.
        func text(of index: Int) -> [UInt8]? {
            touched.index(ofSorted: index).map { changes.element($0).text }
        }
    }
}
