/// One transaction on a form: all its changes are valid and applied as one revision, or none is.
///
/// Each change is computed on the result of those before it. Only `finish` changes the form, so a
/// rejected transaction leaves no trace. A class, because each closure would copy all its parts.
final class Transaction {
    let form: LiveForm
    let definition: FormDefinition
    /// The author of the writes. When leases end, each field has an author of its own.
    var author: Author
    /// The present time, for leases.
    let reading: Deadlines.Reading
    let stamp: HybridTimestamp
    private(set) var context: CausalContext
    /// The cells of the written controls, those with silent writes included.
    private var cells = IndexTable<Cell>()
    /// Controls that were named, whose conditions are judged at the end.
    var named = Few<Int>()
    /// The controls that were written, in the order of their first writes.
    private(set) var written = IndexTable<LastWrite>()
    /// Controls with an edit that was concurrent with another; one may occur several times. After
    /// `finish` also those that derive from them, ascending and each once.
    var concurrent = Few<Int>()
    private(set) var dots = Few<Dot>()
    /// The author's connection. The author has seen what it wrote before.
    let connection: Connection?
    /// The number of values that may still be written or visited: see `Limits.valuesMax`.
    var valuesLeft: Int
    let valuesMax: Int
    /// Whether an edit that repeats the present value is a silent write. In an undo it has no
    /// effect.
    var allowsSilentWrites = true
    private(set) var rare: Rare?

    // MARK: The result, set by `finish`

    /// The new revision, or the present one if nothing changed.
    var revision: UInt64 = 0
    /// The fields whose stored value changed, and those that derive from them, ascending.
    var touched = Few<Int>()
    /// The fields with a silent write: only their stores changed, not what is read.
    var silent = Few<Int>()
    /// The cells of the touched fields before, with their shown values.
    var before = Few<Cell>()
    /// `nil` if nothing changed that is read.
    var record: RevisionRecord?
    /// New runs of buttons, and those that they replaced.
    var runs: [RunRow] = []
    /// The members of each touched field, as the notification tells them.
    var texts = Few<SharedBytes>()
    /// What other hosts are told of a shared form.
    var shared: SharedChange?

    /// What a transaction keeps about its writes to a control, apart from the resulting content.
    struct LastWrite {
        /// The last write that changed the control.
        var dot: Dot
        /// The sum of the increments; `nil` without one.
        var sum: DecimalNumber?
    }

    /// The parts that few transactions have. A class, because the end of each other transaction
    /// would visit all of them.
    final class Rare {
        /// The end of the values that are set; `nil` if they do not end by themselves.
        var lease: Lease.End?
        /// Whether an undo restores leases. Then `leaseMax` adds none.
        var restoresLeases = false
        /// Whether it ends leases, each field with an author of its own.
        fileprivate(set) var endsLeases = false
        /// Controls of which only the leases changed.
        fileprivate(set) var leased = Few<Int>()
        /// The first meetings of concurrent edits, for `state.explain`.
        var meetings: [RevisionRecord.Met] = []
        /// How it was approved, if it changes what is guarded.
        var approval: RevisionRecord.Approval?
        /// Presses of buttons with `runs`; `nil` without one.
        var runPresses: RunPresses?
        var runTerms = RunTerms()
        /// The step that an undo has executed last, by control.
        fileprivate(set) var undone = IndexTable<UndoStep>()
        /// Controls with a silent write; one may occur several times.
        fileprivate(set) var silent: [Int] = []
        /// Such controls after it, unless an earlier write has changed them.
        fileprivate var silentCells = IndexTable<Cell>()
    }

    init(
        _ form: LiveForm, author: Author, stamp: HybridTimestamp, reading: Deadlines.Reading,
        connection: Connection? = nil, valuesMax: Int = .max
    ) {
        self.form = form
        definition = form.working.definition
        self.author = author
        self.stamp = stamp
        self.reading = reading
        self.connection = connection
        self.valuesMax = valuesMax
        valuesLeft = valuesMax
        context = form.working.context
    }

    /// The cell of a control, with the changes so far.
    func cell(_ index: Int) -> Cell {
        cells.place(of: index).map { cells.value(at: $0) } ?? form.working.cells[index]
    }

    /// The value of a control's store, with the changes so far.
    func value(_ index: Int) -> JSON { cell(index).value }

    /// The content of a control, with the changes so far.
    func content(_ index: Int) -> CellContent { cell(index).content }

    func isWritten(_ target: Int) -> Bool { cells.place(of: target) != nil }

    /// Whether the write is part of this transaction.
    func isOwn(_ dot: Dot) -> Bool {
        guard let first = dots.first else { return false }
        return dot.replica == first.replica && dot.counter >= first.counter
    }

    /// The cell of a control before the first write that changed it.
    func cellBefore(_ target: Int) -> Cell {
        guard let rare, let place = rare.silentCells.place(of: target) else {
            return form.working.cells[target]
        }
        return rare.silentCells.value(at: place)
    }
}

// MARK: - Rare parts

extension Transaction {
    /// The rare parts, made when the first of them is needed.
    var rareOrNew: Rare {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
    }

    /// The end of the values that are set; `nil` if they do not end by themselves.
    var lease: Lease.End? {
        get { rare?.lease }
        set { if newValue != nil || rare != nil { rareOrNew.lease = newValue } }
    }

    /// How it was approved, if it changes what is guarded.
    var approval: RevisionRecord.Approval? {
        get { rare?.approval }
        set { if newValue != nil || rare != nil { rareOrNew.approval = newValue } }
    }
}

// MARK: - What was written

extension Transaction {
    /// Records the content of a control after the write `dot`.
    func note(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        note(newCell(content, target), target, dot)
    }

    /// Records the cell of a control after the write `dot`.
    func note(_ cell: Cell, _ target: Int, _ dot: Dot) {
        keep(cell, target, dot)
        if let place = written.place(of: target) {
            var last = written.value(at: place)
            last.dot = dot
            written.replace(place, by: last)
        } else {
            written.set(LastWrite(dot: dot), at: target)
        }
    }

    /// Adds an increment to the sum of a control that was written.
    func noteSum(_ difference: DecimalNumber, _ target: Int) {
        guard let place = written.place(of: target) else { return }
        var last = written.value(at: place)
        last.sum = last.sum.flatMap { $0.adding(difference) } ?? difference
        written.replace(place, by: last)
    }

    /// Records the content of a control of which only the leases changed.
    func noteLeases(_ content: consuming CellContent, _ target: Int) {
        replaceContent(content, target)
        rareOrNew.leased.append(target)
    }

    /// Replaces the content of a control that was written.
    func replaceContent(_ content: consuming CellContent, _ target: Int) {
        cells.set(newCell(content, target), at: target)
    }

    func noteEndOfLeases() { rareOrNew.endsLeases = true }

    /// Records that an undo has executed a step of a control.
    func noteUndone(_ step: UndoStep, _ target: Int) {
        rareOrNew.undone.set(step, at: target)
    }

    /// Records the content of a control after the silent write `dot`.
    func noteSilent(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        let cell = newCell(content, target)
        keep(cell, target, dot)
        rareOrNew.silent.append(target)
        if written.place(of: target) == nil { rareOrNew.silentCells.set(cell, at: target) }
    }

    /// A cell of the next revision, by the present author.
    func newCell(_ content: consuming CellContent, _ target: Int) -> Cell {
        let state = form.working
        return Cell(
            content, revision: state.revision + 1, at: stamp.milliseconds, by: author,
            runs: state.cells[target].runs)
    }

    private func keep(_ cell: Cell, _ target: Int, _ dot: Dot) {
        context.insert(dot)
        dots.append(dot)
        cells.set(cell, at: target)
    }
}
