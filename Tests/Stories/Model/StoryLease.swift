// Values that end by themselves (docs/PROTOCOL.md). No lease of a story ends by time: a
// minute of the daemon's clock is not a minute of a story. Tests/SyncCoreTests has those.

import SyncCore

/// A lease of a field.
struct StoryLease: Equatable {
    var by: StoryAuthor
    /// When it ends, as readers are told; `nil` where the model does not know.
    var until: String?
    /// The write that holds its value.
    var write: Int
    var value: JSON?
}

/// The leases of a field over the value beneath them; the last one is in force.
struct StoryLeases: Equatable {
    var base: JSON?
    /// The writes of that value, as undo names them.
    var over: [Int]
    var stack: [StoryLease]

    /// A lease over the others. It replaces one of the same user.
    func adding(_ lease: StoryLease) -> Self {
        var result = self
        result.stack = stack.filter { $0.by.uid != lease.by.uid } + [lease]
        return result
    }

    /// The value beneath the lease in force.
    var beneath: JSON? { stack.count > 1 ? stack[stack.count - 2].value : base }
}

extension StoryContent {
    /// The sets of a control that can have a lease; `nil` for others.
    fileprivate var sets: [Int]? {
        switch self {
        case .register(let register): register.siblings.map(\.write)
        case .counter(let counter): counter.bases.siblings.map(\.write)
        default: nil
        }
    }

    var canLease: Bool { sets != nil }

    func holds(_ lease: StoryLease) -> Bool { sets?.contains(lease.write) ?? false }

    fileprivate func holdsOnly(_ lease: StoryLease) -> Bool { sets == [lease.write] }

    /// Without the write of a lease, beside which there are others.
    fileprivate func without(_ lease: StoryLease) -> StoryContent {
        switch self {
        case .register(var register):
            register.siblings.removeAll { $0.write == lease.write }
            return .register(register)
        case .counter(var counter):
            counter.bases.siblings.removeAll { $0.write == lease.write }
            counter.additions.removeAll { $0.base == lease.write }
            return .counter(counter)
        default: return self
        }
    }

    /// What was added to the value of a lease.
    fileprivate func sum(over lease: StoryLease) -> Int {
        guard case .counter(let counter) = self else { return 0 }
        return counter.sum(over: lease.write)
    }
}

extension StoryForm {
    /// The lease of a field as readers see it.
    func leaseJSON(_ id: String) -> JSON? {
        let targets = definition.targets(id)
        guard targets.count == 1, let leases = leases[targets[0]], let top = leases.stack.last,
            let control = definition.control(targets[0])
        else { return nil }
        let content = contents[control.id] ?? .nothing
        var then: JSON?
        if content.holds(top), !content.holdsOnly(top) {
            let rest = content.without(top).read(control)
            then = rest.isSet ? rest.value : nil
        } else {
            then = Self.restored(leases.beneath, content.sum(over: top), control)
        }
        var object = JSONObject([("by", top.by.json)])
        object["until"] = top.until.map { .string($0) }
        object["then"] = .object(
            JSONObject([then.map { ("value", $0) } ?? ("unset", JSON.bool(true))]))
        return .object(object)
    }

    /// A value that comes back, with what was added meanwhile.
    fileprivate static func restored(
        _ value: JSON?, _ sum: Int, _ control: StoryControl
    ) -> JSON? {
        let valid = value.flatMap { control.accepts($0) ? $0 : nil }
        if sum == 0 { return valid }
        let start = Int((valid ?? control.defaultValue).integerValue ?? 0)
        return .integer(max(control.minimum, min(control.maximum, start + sum)))
    }
}

extension StoryTransaction {
    /// The leases of a control after a write of it.
    mutating func renewLeases(
        after edit: Edit, _ control: StoryControl, _ old: StoryContent, _ write: Int,
        _ sight: StorySight
    ) {
        let id = control.id
        let before = form.leases[id]
        if let until = lease {
            let new = StoryLease(by: author, until: until.text, write: write, value: edit.value)
            if let before {
                form.leases[id] = before.adding(new)
            } else {
                let (value, isSet) = old.read(control)
                form.leases[id] = StoryLeases(
                    base: isSet ? value : nil, over: standing(old, control), stack: [new])
            }
            return
        }
        guard let before, let top = before.stack.last else { return }
        let now = form.contents[id] ?? .nothing
        var isKept = now.holds(top)
        if case .increment = edit { isKept = isKept && !sight.covers(top.write) }
        if !isKept { form.leases[id] = nil }
    }

    private func standing(_ content: StoryContent, _ control: StoryControl) -> [Int] {
        let standing: Int? =
            switch content {
            case .register(let register): register.standing(control.conflictPolicy)?.write
            case .counter(let counter): counter.bases.standing(control.conflictPolicy)?.write
            default: nil
            }
        return standing.map { form.undoneAs($0) } ?? []
    }

    /// Ends the lease in force.
    mutating func endLease(_ control: StoryControl) {
        let id = control.id
        guard var leases = form.leases[id], let top = leases.stack.popLast() else { return }
        let content = form.contents[id] ?? .nothing
        guard content.holdsOnly(top) else {
            leases.stack = leases.stack.filter(content.without(top).holds)
            form.leases[id] = leases.stack.isEmpty ? nil : leases
            return noteLeases(control, content.without(top))
        }
        let value = StoryForm.restored(
            leases.stack.last?.value ?? (leases.stack.isEmpty ? leases.base : nil),
            content.sum(over: top), control)
        let write = form.writes + 1
        var new = content
        switch content {
        case .register(var register):
            _ = register.write(
                value, as: write, by: author, .everything, control.conflictPolicy)
            new = .register(register)
        case .counter(var counter):
            _ = counter.set(value, as: write, by: author, .everything, control.conflictPolicy)
            new = .counter(counter)
        default: break
        }
        let over = leases.stack.last.map { [$0.write] } ?? leases.over
        if let place = leases.stack.indices.last {
            leases.stack[place].write = write
            leases.stack[place].value = value
        }
        note(new, control, write)
        form.leases[id] = leases.stack.isEmpty ? nil : leases
        noteStep(control, write)
        guard let place = steps.firstIndex(where: { $0.field == id }) else { return }
        steps[place].leases = nil
        steps[place].restores(
            what: StoryUndo(
                field: id, action: .write(StoryUndo.Trace(write: top.write, over: over), was: nil)))
    }
}

extension StoryModel {
    mutating func changeLease(_ request: StoryRequest, _ peer: StoryPeer) throws -> Outcome {
        let place = try find(request)
        try require("read", place, peer.user)
        let form = forms[place]
        let id = request["field"]?.stringValue ?? ""
        try requireField(id, place)
        try requireEdit(
            .object(JSONObject([("field", .string(id)), ("reset", true)])), place, peer.user)
        let all = form.definition.targets(id)
        guard !all.isEmpty, all.allSatisfy({ form.contents[$0]?.canLease ?? false }) else {
            throw StoryRefusal("invalidParams", form: form.name, field: id)
        }
        let targets = all.filter { form.leases[$0] != nil }
        guard !targets.isEmpty else { throw StoryRefusal("conflict", form: form.name, field: id) }
        var transaction = StoryTransaction(form, by: peer.author)
        transaction.named.append(id)
        let controls = targets.compactMap(form.definition.control)
        if request["resume"] != nil {
            throw StoryRefusal("conflict", form: form.name, field: id)
        }
        let until = request["until"]?.stringValue
        let isLater =
            until.map { until in
                targets.contains {
                    StoryLeaseEnd(until).text ?? "" > form.leases[$0]?.stack.last?.until ?? ""
                }
            } ?? false
        if request["keep"] != nil || isLater {
            guard request["message"] != nil || !form.definition.needsMessage(id) else {
                throw StoryRefusal("invalidParams", form: form.name, field: id)
            }
            guard form.isEnabled(id) else {
                throw StoryRefusal("disabled", form: form.name, field: id)
            }
        }
        for control in controls {
            if request["end"] != nil {
                transaction.endLease(control)
            } else if let until {
                let last = (form.leases[control.id]?.stack.count ?? 0) - 1
                transaction.form.leases[control.id]?.stack[last].until = StoryLeaseEnd(until).text
                transaction.noteLeases(control, form.contents[control.id] ?? .nothing)
            } else {
                transaction.form.leases[control.id] = nil
                transaction.noteLeases(control, form.contents[control.id] ?? .nothing)
            }
        }
        if request["end"] == nil { try requireApproval(transaction, form) }
        return finish(
            transaction, place, request["end"] == nil ? .lease : .ended, peer, said: StoryWrites(),
            skipped: nil, message: request["message"])
    }
}

/// The end of a lease in a request.
struct StoryLeaseEnd: Equatable {
    /// As readers are told it; `nil` where the model does not know it.
    var text: String?

    /// Of a `until` with whole seconds.
    init(_ until: String?) { text = until.map { String($0.dropLast()) + ".000Z" } }
}
