/// One transaction on a form: all its changes are valid and applied as one revision, or none is.
///
/// Each change is computed on the result of those before it. Only `finish` changes the form, so a
/// rejected transaction leaves no trace. A class, because each closure would copy all its parts.
final class Transaction {
    let form: LiveForm
    /// The working state of the form.
    let state: FormState
    /// The author of the writes. When leases end, each field has an author of its own.
    var author: Author
    /// The present time, for leases.
    let reading: Deadlines.Reading
    let stamp: HybridTimestamp
    private(set) var context: CausalContext
    /// The written controls, those with silent writes included.
    private var writes = IndexTable<Write>()
    /// Controls that were named, whose conditions are judged at the end.
    var named = Few<Int>()
    /// The controls that were written, in the order of their first writes.
    private(set) var written = Few<Int>()
    private(set) var dots = DotRun()
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
    /// The cells of the touched fields before, with their shown values.
    var before = Few<Cell>()
    /// `nil` if nothing changed that is read.
    var record: RevisionRecord?
    /// The members of each touched field, as the notification tells them.
    var texts = Few<SharedBytes>()
    /// What other hosts are told of a shared form.
    var shared: SharedChange?

    /// What a transaction keeps about its writes to a control.
    struct Write {
        /// The control with the changes so far.
        var cell: Cell
        /// The last write that changed it; `nil` if only its leases changed, or nothing that is
        /// read.
        var dot: Dot?
        /// The sum of the increments; `nil` without one.
        var sum: DecimalNumber?
    }

    /// The parts that few transactions have. A class, because the end of each other transaction
    /// would visit all of them.
    final class Rare {
        /// Controls with an edit that was concurrent with another; one may occur several times.
        /// After `finish` also those that derive from them, ascending and each once.
        var concurrent = Few<Int>()
        /// The fields that only have silent writes: their stores changed, not what is read. Set by
        /// `finish`.
        var onlySilent = Few<Int>()
        /// New runs of buttons, and those that they replaced. Set by `finish`.
        var runs: [RunRow] = []
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
        state = form.working
        self.author = author
        self.stamp = stamp
        self.reading = reading
        self.connection = connection
        self.valuesMax = valuesMax
        valuesLeft = valuesMax
        context = state.context
    }

    var definition: FormDefinition { state.definition }

    /// The cell of a control, with the changes so far.
    func cell(_ index: Int) -> Cell {
        guard let place = writes.place(of: index) else { return state.cells[index] }
        return writes.with(place) { $0.cell }
    }

    /// The value of a control's store, with the changes so far.
    func value(_ index: Int) -> JSON { cell(index).value }

    /// The content of a control, with the changes so far.
    func content(_ index: Int) -> CellContent { cell(index).content }

    func isWritten(_ target: Int) -> Bool { writes.place(of: target) != nil }

    /// Whether the write is part of this transaction.
    func isOwn(_ dot: Dot) -> Bool { dots.contains(dot) }

    /// The cell of a control before the first write that changed it.
    func cellBefore(_ target: Int) -> Cell {
        guard let rare, let place = rare.silentCells.place(of: target) else {
            return state.cells[target]
        }
        return rare.silentCells.with(place) { $0 }
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

    /// Controls with an edit that was concurrent with another: see `Rare`.
    var concurrent: Few<Int> {
        get { rare?.concurrent ?? Few() }
        set { if !newValue.isEmpty || rare != nil { rareOrNew.concurrent = newValue } }
    }

    /// The fields that only have silent writes.
    var silent: Few<Int> {
        get { rare?.onlySilent ?? Few() }
        set { if !newValue.isEmpty || rare != nil { rareOrNew.onlySilent = newValue } }
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
        keep(dot)
        var isFirst = true
        if let place = writes.place(of: target) {
            writes.change(place) { write in
                isFirst = write.dot == nil
                write.cell = cell
                write.dot = dot
            }
        } else {
            writes.set(Write(cell: cell, dot: dot), at: target)
        }
        if isFirst { written.append(target) }
    }

    /// The last write that changed a control, and the sum of its increments; `nil` if none did.
    func lastWrite(of target: Int) -> (dot: Dot, sum: DecimalNumber?)? {
        guard let place = writes.place(of: target) else { return nil }
        return writes.with(place) { write in write.dot.map { ($0, write.sum) } }
    }

    /// Adds an increment to the sum of a control that was written.
    func noteSum(_ difference: DecimalNumber, _ target: Int) {
        guard let place = writes.place(of: target) else { return }
        writes.change(place) { $0.sum = $0.sum.flatMap { $0.adding(difference) } ?? difference }
    }

    /// Records the content of a control of which only the leases changed.
    func noteLeases(_ content: consuming CellContent, _ target: Int) {
        replaceContent(content, target)
        rareOrNew.leased.append(target)
    }

    /// Replaces the content of a control.
    func replaceContent(_ content: consuming CellContent, _ target: Int) {
        replace(newCell(content, target), target)
    }

    func noteEndOfLeases() { rareOrNew.endsLeases = true }

    /// Records that an undo has executed a step of a control.
    func noteUndone(_ step: UndoStep, _ target: Int) {
        rareOrNew.undone.set(step, at: target)
    }

    /// Records the content of a control after the silent write `dot`.
    func noteSilent(_ content: consuming CellContent, _ target: Int, _ dot: Dot) {
        let cell = newCell(content, target)
        keep(dot)
        replace(cell, target)
        rareOrNew.silent.append(target)
        if lastWrite(of: target) == nil { rareOrNew.silentCells.set(cell, at: target) }
    }

    /// A cell of the next revision, by the present author.
    func newCell(_ content: consuming CellContent, _ target: Int) -> Cell {
        Cell(
            content, revision: state.revision + 1, at: stamp.milliseconds, by: author,
            runs: state.cells[target].runs)
    }

    private func keep(_ dot: Dot) {
        context.insert(dot)
        dots.append(dot)
    }

    /// Replaces the cell of a control, without a write that changes it.
    private func replace(_ cell: Cell, _ target: Int) {
        guard let place = writes.place(of: target) else {
            return writes.set(Write(cell: cell), at: target)
        }
        writes.change(place) { $0.cell = cell }
    }
}

/// The writes of a transaction: those of one replica that follow each other.
struct DotRun: RandomAccessCollection {
    private var head = Dot(ReplicaID(id: 0, epoch: 0), 0)
    private(set) var count = 0

    var startIndex: Int { 0 }

    var endIndex: Int { count }

    subscript(place: Int) -> Dot { Dot(head.replica, head.counter + UInt64(place)) }

    func contains(_ dot: Dot) -> Bool {
        dot.replica == head.replica && dot.counter >= head.counter
            && dot.counter - head.counter < UInt64(count)
    }

    mutating func append(_ dot: Dot) {
        if count == 0 { head = dot }
        count += 1
        precondition(self[count - 1] == dot, "the writes of a transaction follow each other")
    }
}
