/// The contents of a form's controls after the writes of one transaction.
struct WrittenContents {
    private let form: LiveForm
    /// The contents of the written controls, those with silent writes included.
    private var written = IndexTable<CellContent>()

    /// The contents of a form before the first write.
    init(over form: LiveForm) {
        self.form = form
    }

    /// Whether nothing was written.
    var isEmpty: Bool { written.isEmpty }

    /// The value of a control's store.
    func value(_ index: Int) -> JSON {
        guard let place = written.place(of: index) else {
            return form.working.cells[index].value
        }
        return written.value(at: place).value
    }

    /// The content of a control.
    subscript(index: Int) -> CellContent {
        guard let place = written.place(of: index) else {
            return form.working.cells[index].content
        }
        return written.value(at: place)
    }

    /// Whether a control was written.
    func has(_ index: Int) -> Bool { written.place(of: index) != nil }

    /// Replaces the content of a control.
    mutating func set(_ content: consuming CellContent, of index: Int) {
        written.set(content, at: index)
    }
}
