// `state.lease`, and the ends of leases: see Lease.swift.

extension Engine {
    /// The kind of the deadlines of leases. A field has one on each clock.
    static var leaseKind: String { "lease" }
    private static var wallSuffix: String { "@" }
    /// The deadline of a form in which a holder did not come back: all leases are looked at.
    static var everyLease: OngoingName { OngoingName(kind: leaseKind, id: "") }

    // MARK: - Ends

    /// Sets the deadlines of a field with leases.
    func armLeases(_ index: Int, of form: LiveForm) {
        guard let stack = form.working.cells[index].content.leases else { return }
        var (steady, wall): (Int64?, Int64?)
        for lease in stack.leases {
            switch form.leaseEnd(lease) {
            case .steady(let at): steady = min(steady ?? at, at)
            case .wall(let at): wall = min(wall ?? at, at)
            }
        }
        let id = form.working.definition.controls[index].id
        func name(_ id: String) -> Deadlines.Name {
            Deadlines.Name(form: form.key, name: OngoingName(kind: Self.leaseKind, id: id))
        }
        if let steady { clocks.deadlines.set(name(id), at: .steady(steady)) }
        if let wall { clocks.deadlines.set(name(id + Self.wallSuffix), at: .wall(wall)) }
    }

    /// Sets the deadlines of all leases of a form: after a start, another definition, or a failed
    /// batch.
    func armLeases(of form: LiveForm) {
        for index in form.working.cells.indices { armLeases(index, of: form) }
    }

    /// Ends the leases of fields whose deadlines have passed, as one revision. On a host that
    /// follows, an earlier lease stays: its end would be an edit that no other host hears of.
    func endLeases(_ names: [String], of form: LiveForm) {
        guard !follows(form) else { return }
        let definition = form.working.definition
        let isEvery = names.contains(Self.everyLease.id)
        let fields =
            isEvery
            ? Array(form.working.cells.indices)
            : names.compactMap { name in
                definition.index(
                    of: name.hasSuffix(Self.wallSuffix) ? String(name.dropLast()) : name)
            }
        let now = clocks.read()
        let began = scheduler.isContended ? stopwatch?() : nil
        var transaction: Transaction?
        for index in fields.sortedDistinct() {
            guard let stack = form.working.cells[index].content.leases else { continue }
            let isOver: (Lease) -> Bool = { form.leaseEnd($0).isReached(at: now) }
            if let over = stack.leases.last(where: isOver) {
                let owner = daemon(for: over.by)
                let ending =
                    transaction
                    ?? Transaction(form, author: owner, stamp: clocks.newStamp(), reading: now)
                _ = ending.endLeases(of: index, by: owner, isOver)
                transaction = ending
            } else if !isEvery {
                armLeases(index, of: form)
            }
        }
        guard let transaction else { return }
        transaction.finish(.ended, session: nil, undoes: nil, skipped: [])
        publish(transaction, nil)
        dropHolders(of: form)
        let payer = environment.accountUID(transaction.author.uid)
        if let account = scheduler.accounts[payer] { workEnded(began, account) }
    }

    // MARK: - Requests

    /// The end that a request asks for.
    func leaseEnd(_ wanted: LeaseEnd, _ path: String) throws(WireError) -> Lease.End {
        switch wanted {
        case .seconds(let seconds): return .after(seconds: seconds, from: clocks.read())
        case .connection: return .connection
        case .until(let moment):
            guard moment.milliseconds > now.wallMilliseconds else {
                throw WireError(
                    .invalidParams, "\(path) is over already; name a later moment", path: path,
                    expected: "a moment after \(Timestamp(milliseconds: now.wallMilliseconds))")
            }
            return .at(wall: moment.milliseconds)
        }
    }

    /// Rejects a lease of a change that can have none.
    func requireLeasable(
        _ action: Change.Action, _ control: Int, _ form: LiveForm
    ) throws(WireError) {
        let definition = form.working.definition
        let targets = definition.targets[control]
        let canLease =
            !targets.isEmpty
            && targets.allSatisfy { Transaction.canLease(form.working.cells[$0].store) }
        let control = definition.controls[control]
        var why: String?
        if !canLease {
            why = "\(control.id) is \(control.type.withArticle), whose value cannot end by itself"
            if control.isMultiple { why = "\(control.id) has several tags, which cannot end" }
        } else {
            switch action {
            case .value, .toggle, .move, .reset: break
            case .increment: why = "an increment of \(control.id) cannot end; set its value"
            case .press, .add, .remove: why = "only a set of \(control.id) can end by itself"
            }
        }
        guard let why else { return }
        throw WireError(
            .invalidParams, why, form: form.name, field: control.id, path: "lease",
            expected: "a change with value, toggle, move or reset")
    }

    /// Rejects an end beyond `leaseMax`.
    func requireLeaseMax(
        _ end: Lease.End?, _ controls: some Sequence<Int>, _ form: LiveForm
    ) throws(WireError) {
        let definition = form.working.definition
        let now = clocks.read()
        for target in controls {
            guard let longest = definition.controls[target].leaseMax else { continue }
            let isShort =
                switch end {
                case .after(let steady, _): steady <= now.steady &+ longest &* 1_000
                case .at(let wall): wall <= now.wall &+ longest &* 1_000
                case .connection: true
                case nil: false
                }
            if isShort { continue }
            let id = definition.controls[target].id
            throw .limit(
                "leaseMax", max: longest,
                "a value of \(id) lasts at most \(DurationText.text(seconds: longest))",
                form: form.name, field: id)
        }
    }

    func stateLease(_ params: StateLease, _ call: PendingCall) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        let state = form.working
        let definition = state.definition
        try require(.read, form, state, nil, call.peer)
        try requireWritable(form)
        let control = try index(of: params.field, form, state)
        try requireEdit(.reset, form, state, control, call.peer)
        try requireLeasable(.reset, control, form)
        let targets = definition.targets[control].filter { state.cells[$0].content.leases != nil }
        guard !targets.isEmpty else {
            if try passOn(params, control, form, call) { return }
            throw noLease(
                control, form, "has no lease, or its lease has ended; set its value with one")
        }
        let transaction = begin(form, call)
        var kind = RevisionRecord.Kind.lease
        switch params.action {
        case .resume(let id): return try resume(id, targets, control, form, call)
        case .end:
            kind = .ended
            for target in targets {
                let top = state.cells[target].content.leases?.top.id
                _ = transaction.endLeases(of: target, by: transaction.author) { $0.id == top }
            }
        case .keep:
            try requireSettable(params.message, [control], transaction, form)
            try requireLeaseMax(nil, targets, form)
            for target in targets { _ = transaction.keep(target) }
        case .move(let wanted):
            let end = try leaseEnd(wanted, "until")
            let isLater = targets.contains { target in
                guard let now = state.cells[target].content.leases?.top.end.shown else {
                    return true
                }
                return end.shown.map { $0 > now } ?? true
            }
            if isLater {
                try requireSettable(params.message, [control], transaction, form)
                try requireLeaseMax(end, targets, form)
            }
            for target in targets { _ = transaction.moveEnd(of: target, to: end) }
        }
        // Who may write the field may end its lease; keeping it takes what setting the value takes.
        if kind != .ended {
            try requireApproval(transaction, "propose the value with its new end")
        }
        finish(
            transaction, kind, named: Few([control]), seen: CausalContext(), skipped: nil,
            undoes: nil, message: params.message, call)
    }

    /// Checks what a set requires apart from permission: a message, and a control that is enabled.
    /// Extending a lease requires the same.
    private func requireSettable(
        _ message: String?, _ controls: Few<Int>, _ transaction: Transaction, _ form: LiveForm
    ) throws(WireError) {
        for control in controls {
            try requireMessage(message, form.working.definition, control, form)
        }
        try transaction.checkEnabled(controls)
    }

    /// The error of a request about a lease that is not there, with how and by whom it ended.
    private func noLease(_ control: Int, _ form: LiveForm, _ sentence: String) -> WireError {
        let cell = form.working.cells[control]
        let id = form.working.definition.controls[control].id
        return .over(
            "lease", cell.by.map { $0.client == "pickersyncd" ? "ended" : "changed" },
            by: cell.by?.user, at: cell.by.map { _ in Timestamp(milliseconds: cell.at) },
            "\(id) \(sentence)", form: form.name, field: id)
    }

    // MARK: - Holders

    /// A connection takes over a lease that another connection of the same user held.
    private func resume(
        _ id: String, _ targets: [Int], _ control: Int, _ form: LiveForm, _ call: PendingCall
    ) throws(WireError) {
        let state = form.working
        let found = targets.first { target in
            state.cells[target].content.leases?.leases.contains { $0.id.isSameBytes(as: id) }
                ?? false
        }
        guard let found,
            let lease = state.cells[found].content.leases?.leases.first(where: {
                $0.id.isSameBytes(as: id)
            }), lease.end == .connection
        else { throw noLease(control, form, "has no such lease any more; read it again") }
        guard lease.by.uid == call.connection.peer.uid else {
            throw WireError(
                .forbidden,
                "the lease is \(lease.by.user.escapedForDisplay())'s; set a value of your own",
                form: form.name, field: state.definition.controls[control].id)
        }
        hold(lease, of: form, call.connection)
        tidyHolders(of: form)
        armLeases(found, of: form)
        answerEdit(call, of: form) { form.encode(control, of: state, into: &$0) }
    }

    func hold(_ lease: Lease, of form: LiveForm, _ connection: Connection) {
        let holder = connection.makeLeaseHolder(at: clocks.steadyMilliseconds())
        holder.hold(form.key) { registry.look(up: $0) != nil }
        form.leaseHolders[lease.id] = holder
    }

    /// A connection that may hold leases has ended. Its user has some time to take them over.
    func startReclaimTime(of connection: Connection) {
        if let holder = connection.leaseHolder { clocks.depart(holder) }
    }

    /// The leases of a holder whose user did not take them over are due. Returns the number of
    /// their forms.
    func endLeases(of holder: LeaseHolder) -> Int {
        for form in holder.forms where registry.look(up: form) != nil {
            clocks.deadlines.set(
                Deadlines.Name(form: form, name: Self.everyLease), at: .steady(.min))
        }
        return holder.forms.count
    }

    /// Forgets the holders of leases that have ended, if there are many.
    func tidyHolders(of form: LiveForm) {
        if form.leaseHolders.wantsTidying { dropHolders(of: form) }
    }

    /// Forgets the holders of leases that have ended.
    private func dropHolders(of form: LiveForm) {
        guard !form.leaseHolders.isEmpty else { return }
        form.leaseHolders.tidy(
            present: Set(
                form.working.cells.flatMap { $0.content.leases?.leases.map(\.id) ?? [] }))
    }

    /// Of some leases the holder is not known: of all after a start, and after a failed batch of
    /// those that it had replaced. Each user has some time to take theirs over.
    func restoreHolders(of form: LiveForm) {
        let gone = LeaseHolder(at: clocks.steadyMilliseconds(), isGone: true)
        for cell in form.working.cells {
            for lease in cell.content.leases?.leases ?? []
            where lease.end == .connection && form.leaseHolders[lease.id] == nil {
                form.leaseHolders[lease.id] = gone
            }
        }
    }
}

extension LiveForm {
    /// The result of a request about a lease: its field as it is in a state of the form.
    func encode(_ control: Int?, of state: FormState, into writer: inout JSONWriter) {
        SetResult.encode(
            stateStart, revision: Revision(clamping: state.revision), skipped: nil, into: &writer
        ) { writer in
            writer.token(CausalContext())
        } fields: { writer in
            guard let control else { return }
            writer.field(state.definition.controls[control].id, members: state.text(control))
        }
    }
}
