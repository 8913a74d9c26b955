/// One transaction on a form: all its changes are valid and applied as one revision, or none is.
///
/// Each change is computed on the result of those before it. Only `finish` changes the form, so a
/// rejected transaction leaves no trace.
struct Transaction {
    let form: LiveForm
    let definition: FormDefinition
    /// The author of the writes. When leases end, each field has an author of its own.
    var author: Author
    /// The present time, for leases.
    let reading: Deadlines.Reading
    let stamp: HybridTimestamp
    private(set) var context: CausalContext
    /// What the written controls hold now, those with silent writes included.
    let contents: WrittenContents
    /// Controls that were named, whose conditions are judged at the end.
    var named = Few<Int>()
    /// The controls that were written, in the order of their first writes.
    private(set) var written = IndexTable<LastWrite>()
    /// Controls with an edit that was concurrent with another; one may occur several times.
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
    /// What few transactions have; `nil` for the others.
    private(set) var rare: Rare?

    /// What a transaction keeps about its writes to a control, apart from the resulting content.
    struct LastWrite {
        /// The last write that changed the control.
        var dot: Dot
        /// The sum of the increments; `nil` without one.
        var sum: DecimalNumber?
    }

    /// The parts that few transactions have. A class, because each copy and each end of another
    /// transaction would visit all of them.
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
        connection: Connection? = nil, valuesMax: Int = .max,
        contents: WrittenContents = WrittenContents()
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
        self.contents = contents
        contents.begin(over: form)
    }

    /// The value of a control's store, with the changes so far.
    func value(_ index: Int) -> JSON { contents.value(index) }

    /// The content of a control, with the changes so far.
    func content(_ index: Int) -> CellContent { contents[index] }

    /// Whether a control was written in this transaction.
    func isWritten(_ target: Int) -> Bool { contents.has(target) }

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
        mutating get {
            if let rare { return rare }
            let made = Rare()
            rare = made
            return made
        }
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
    mutating func note(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        keep(cell(content, target), target, dot)
        if let place = written.place(of: target) {
            var last = written.value(at: place)
            last.dot = dot
            written.replace(place, by: last)
        } else {
            written.set(LastWrite(dot: dot), at: target)
        }
    }

    /// Adds an increment to the sum of a control that was written.
    mutating func noteSum(_ difference: DecimalNumber, _ target: Int) {
        guard let place = written.place(of: target) else { return }
        var last = written.value(at: place)
        last.sum = last.sum.flatMap { $0.adding(difference) } ?? difference
        written.replace(place, by: last)
    }

    /// Records the content of a control of which only the leases changed.
    mutating func noteLeases(_ content: consuming CellContent, _ target: Int) {
        replaceContent(content, target)
        rareOrNew.leased.append(target)
    }

    /// Replaces the content of a control that was written.
    mutating func replaceContent(_ content: consuming CellContent, _ target: Int) {
        contents.set(cell(content, target), of: target)
    }

    /// Leases of a control were ended.
    mutating func noteEndOfLeases() { rareOrNew.endsLeases = true }

    /// Records that an undo has executed a step of a control.
    mutating func noteUndone(_ step: UndoStep, _ target: Int) {
        rareOrNew.undone.set(step, at: target)
    }

    /// Records the content of a control after the silent write `dot`.
    mutating func noteSilent(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        let cell = cell(content, target)
        keep(cell, target, dot)
        rareOrNew.silent.append(target)
        if written.place(of: target) == nil { rareOrNew.silentCells.set(cell, at: target) }
    }

    /// A cell of the next revision, by the present author.
    private func cell(_ content: consuming CellContent, _ target: Int) -> Cell {
        let state = form.working
        return Cell(
            content, revision: state.revision + 1, at: stamp.milliseconds, by: author,
            runs: state.cells[target].runs)
    }

    private mutating func keep(_ cell: Cell, _ target: Int, _ dot: Dot) {
        context.insert(dot)
        dots.append(dot)
        contents.set(cell, of: target)
    }
}
