/// The contents of a form's controls after the writes of one transaction.
///
/// A class: as a value, it would be copied for each value that a closure asks it for.
final class WrittenContents {
    private var form: LiveForm?
    /// The contents of the written controls, those with silent writes included.
    private var written = IndexTable<CellContent>()

    /// Has the contents of a form, without any write.
    func begin(over form: LiveForm) {
        self.form = form
        written = IndexTable()
    }

    /// Forgets the form and the writes.
    func end() {
        form = nil
        written = IndexTable()
    }

    private var cells: [Cell] { form?.working.cells ?? [] }

    /// The value of a control's store.
    func value(_ index: Int) -> JSON {
        guard let place = written.place(of: index) else {
            return cells[index].value
        }
        return written.value(at: place).value
    }

    /// The content of a control.
    subscript(index: Int) -> CellContent {
        guard let place = written.place(of: index) else {
            return cells[index].content
        }
        return written.value(at: place)
    }

    /// Whether a control was written.
    func has(_ index: Int) -> Bool { written.place(of: index) != nil }

    /// Replaces the content of a control.
    func set(_ content: consuming CellContent, of index: Int) {
        written.set(content, at: index)
    }
}
