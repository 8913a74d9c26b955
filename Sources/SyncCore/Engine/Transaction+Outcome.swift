// What a transaction came to.

extension Transaction {
    /// What a transaction came to. A class, as each closure that looks at it would copy all its
    /// parts: 2,300 of the 51,500 instructions of a set.
    final class Outcome {
        /// The new revision; that of before where nothing changed.
        let revision: UInt64
        /// The fields whose stored value changed, and those that derive from them, ascending.
        let touched: Few<Int>
        /// The fields with a silent write: their stores changed, and nothing that is read.
        let affirmed: Few<Int>
        /// The dots that were issued.
        let dots: Few<Dot>
        let changes: Few<Change>
        let record: RevisionRecord?

        init(
            revision: UInt64, touched: Few<Int> = Few(), affirmed: Few<Int> = Few(),
            dots: Few<Dot> = Few(), changes: Few<Change> = Few(), record: RevisionRecord? = nil
        ) {
            self.revision = revision
            self.touched = touched
            self.affirmed = affirmed
            self.dots = dots
            self.changes = changes
            self.record = record
        }

        /// What became of a touched field.
        struct Change {
            /// The members of the Field, as JSON text.
            var text: [UInt8]
            /// The value that stood before; `nil` where it is not told (a secret).
            var was: JSON?
        }

        /// What is told of a field; `nil` for one that was not touched.
        func text(of index: Int) -> [UInt8]? {
            touched.index(ofSorted: index).map { changes[$0].text }
        }
    }
}
