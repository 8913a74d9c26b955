// What a transaction does to leases: see Lease.swift.

extension Transaction {
    /// Whether a control can have a lease: it stores one value.
    static func canLease(_ store: FieldStore?) -> Bool {
        switch store {
        case .register, .counter: true
        default: false
        }
    }

    /// What an edit of a control with `leaseMax` becomes: an increment a set of its result, because
    /// only a set value can end. `nil` if it stays what it is.
    func leased(_ edit: StoredEdit) -> StoredEdit? {
        guard case .increment(let difference, let result) = edit, difference != .zero
        else { return nil }
        return .set(.number(result))
    }

    /// The end of the lease that a write makes; `nil` if it makes none.
    func leaseEnd(of edit: StoredEdit, _ target: Int, _ cell: Cell) -> Lease.End? {
        if let lease { return lease }
        guard let longest = definition.controls[target].leaseMax,
            rare?.restoresLeases != true, case .set(let value) = edit
        else { return nil }
        // A set of the value beneath all leases ends them.
        let beneath = cell.content.beneath ?? definition.controls[target].defaultValue
        return value == beneath ? nil : .after(seconds: longest, from: reading)
    }

    /// The leases of a cell after the write `dot`.
    func leases(
        after edit: StoredEdit, _ end: Lease.End?, _ target: Int, before: CellContent,
        now cell: CellContent, _ dot: Dot, _ seen: Seen
    ) -> LeaseStack? {
        if let end {
            var value: JSON?
            if case .set(let set) = edit { value = set }
            let lease = Lease(
                id: ContextToken.render(dot), by: author, end: end, dot: dot, value: value)
            if let stack = before.leases { return stack.adding(lease) }
            return LeaseStack(base: before.beneath, over: current(before, target), [lease])
        }
        guard let stack = before.leases, cell.holds(stack.top) else { return nil }
        // An increment leaves the write of the lease in the store. If its author had seen that
        // write, the result is permanent; otherwise the lease remains.
        if case .increment = edit { return seen.covers(stack.top.dot) ? nil : stack }
        return stack
    }

    /// The writes of the value that is shown, as undo names them.
    private func current(_ cell: CellContent, _ target: Int) -> [Dot] {
        let policy = definition.controls[target].conflictPolicy
        return switch cell.store {
        case .register(let register):
            policy.current(register.siblings).map { Array(cell.undoneAs($0.dot)) } ?? []
        case .counter(let counter):
            policy.current(counter.bases).map { Array(cell.undoneAs($0.dot)) } ?? []
        default: []
        }
    }

    // MARK: - The end

    /// Ends the leases of a control that satisfy `isOver`, with `owner` as the author. Returns
    /// whether there were any.
    ///
    /// No edit is lost: values that are concurrent with a lease stay, and a later write by somebody
    /// who had seen the lease has already removed it.
    func endLeases(
        of target: Int, by owner: Author, _ isOver: (Lease) -> Bool
    ) -> Bool {
        var cell = content(target)
        guard let stack = cell.leases else { return false }
        var kept = stack.leases.filter { !isOver($0) }
        guard kept.count < stack.leases.count else { return false }
        author = owner
        for lease in stack.leases.dropLast() where isOver(lease) { cell.removeConcurrent(lease) }
        let top = stack.top
        if isOver(top), cell.holdsOnly(top), let dot = context.nextDot(for: owner.replica) {
            let value = definition.restored(
                stack.value(beneath: kept), cell.increments(on: top), target)
            put(value, dot, in: &cell, target)
            if !kept.isEmpty {
                kept[kept.count - 1].dot = dot
                kept[kept.count - 1].value = value
            }
            cell.leases = stack.with(kept)
            cell.forgetGoneSilentWrites()
            cell.resolve(target, of: definition)
            note(cell, target, dot)
            // An undo of the value before the lease then finds that value under the new dot.
            let over = stack.with(Array(stack.leases.dropLast()))?.top.dot
            let trace = UndoStep.Trace(dot: top.dot, over: over.map { [$0] } ?? stack.over)
            noteUndone(
                UndoStep(
                    field: definition.controls[target].id, action: .write(trace, was: nil)), target)
        } else {
            if isOver(top) {
                cell.removeConcurrent(top)
                kept = kept.filter(cell.holds)
            }
            cell.leases = stack.with(kept)
            cell.resolve(target, of: definition)
            noteLeases(cell, target)
        }
        noteEndOfLeases()
        return true
    }

    private func put(_ value: JSON?, _ dot: Dot, in cell: inout CellContent, _ target: Int) {
        let policy = definition.controls[target].conflictPolicy
        // Of somebody who has seen the lease on another host, and not its end, the write stays, as
        // it would on one host: it is later than the end, or by its policy the earliest one stays.
        func stampOfEnd(_ leased: HybridTimestamp?) -> HybridTimestamp {
            policy == .first ? stamp : leased?.next ?? stamp
        }
        switch cell.store {
        case .register(var register):
            register.write(
                Written(value: value, author: author), dot: dot,
                stamp: stampOfEnd(register.siblings.first?.stamp), seen: .present, policy: policy)
            cell.store = .register(register)
        case .counter(var counter):
            counter.set(
                value?.numberValue, author: author, dot: dot,
                stamp: stampOfEnd(counter.bases.first?.stamp), seen: .present, policy: policy)
            cell.store = .counter(counter)
        default: break
        }
    }

    // MARK: - Other changes

    /// The value becomes permanent. Returns whether there was a lease.
    func keep(_ target: Int) -> Bool {
        var cell = content(target)
        guard cell.leases != nil else { return false }
        cell.leases = nil
        noteLeases(cell, target)
        return true
    }

    /// Moves the end of the lease in force. Returns whether there is one.
    func moveEnd(of target: Int, to end: Lease.End) -> Bool {
        var cell = content(target)
        guard let stack = cell.leases else { return false }
        var leases = stack.leases
        leases[leases.count - 1].end = end
        cell.leases = stack.with(leases)
        noteLeases(cell, target)
        return true
    }

    // MARK: - Undo

    /// What an undo of a step restores: the leases that the edit had ended, except those whose time
    /// has come since, and the value that then applies.
    func restored(
        _ step: UndoStep, _ was: JSON?, _ target: Int
    ) -> (value: JSON?, leases: LeaseStack?) {
        guard let stack = step.leases else { return (was, nil) }
        let kept = stack.leases.filter { !isOver($0) }
        if kept.last?.id == stack.top.id { return (was, stack.with(kept)) }
        return (
            definition.restored(stack.value(beneath: kept), nil, target), stack.with(kept)
        )
    }

    /// Gives a control that was just written the leases that it had. The one in force names the
    /// write that holds its value.
    func restore(_ stack: LeaseStack, _ target: Int) {
        var cell = content(target)
        guard let last = lastWrite(of: target) else { return }
        var leases = stack.leases
        if !cell.holds(stack.top) {
            leases[leases.count - 1].dot = last.dot
        }
        cell.leases = stack.with(leases)
        replaceContent(cell, target)
    }

    private func isOver(_ lease: Lease) -> Bool {
        form.leaseEnd(lease).isReached(at: reading)
    }
}

extension Lease.End {
    /// The end after this many seconds.
    static func after(seconds: Int64, from now: Deadlines.Reading) -> Self {
        .after(steady: now.steady &+ seconds &* 1_000, shown: now.wall &+ seconds &* 1_000)
    }
}

extension Deadlines.Time {
    /// Whether the time has come.
    func isReached(at now: Deadlines.Reading) -> Bool {
        switch self {
        case .steady(let at): at <= now.steady
        case .wall(let at): at <= now.wall
        }
    }
}
