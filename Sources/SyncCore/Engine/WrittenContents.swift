/// The cells of a form's controls after the writes of one transaction.
///
/// A class: as a value, it would be copied for each value that a closure asks it for.
final class WrittenContents {
    private var form: LiveForm?
    /// The cells of the written controls, those with silent writes included.
    private var written = IndexTable<Cell>()

    /// Has the cells of a form, without any write.
    func begin(over form: LiveForm) {
        self.form = form
        written = IndexTable()
    }

    /// Forgets the form and the writes.
    func end() {
        form = nil
        written = IndexTable()
    }

    /// The cell of a control.
    func cell(_ index: Int) -> Cell {
        if let place = written.place(of: index) { return written.value(at: place) }
        guard let form else { preconditionFailure("a transaction is over a form") }
        return form.working.cells[index]
    }

    /// The value of a control's store.
    func value(_ index: Int) -> JSON { cell(index).value }

    /// The content of a control.
    subscript(index: Int) -> CellContent { cell(index).content }

    /// Whether a control was written.
    func has(_ index: Int) -> Bool { written.place(of: index) != nil }

    /// Replaces the cell of a control.
    func set(_ cell: Cell, of index: Int) { written.set(cell, at: index) }
}
