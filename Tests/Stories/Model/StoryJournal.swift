// Undo and redo (docs/PROTOCOL.md).

import SyncCore

/// How one edit of one field is undone, while its value is still the present one.
struct StoryUndo: Equatable {
    /// A write, the writes that it replaced, and those that it restored if it is an undo itself.
    struct Trace: Equatable {
        var write: Int
        var over: [Int] = []
        var restores: [Int]?
        /// The transaction's earlier writes of the same tags.
        var others: [Int] = []
    }

    struct Row: Equatable {
        var id: String
        var trace: Trace
        var was: JSON?
    }

    enum Action: Equatable {
        case write(Trace, was: JSON?)
        case wheels([Row])
        case assign(Trace, was: Int?, to: Int?)
        case increment(Int, base: Int?)
        case tags(Trace, added: [String], removed: [String], wasSet: Bool)
    }

    /// Writes of a field, or of one component, that another write restored.
    struct Restoration {
        var field: String
        var component: String?
        var old: [Int]
        var new: Int
    }

    var field: String
    var action: Action
    /// The leases that the edit ended.
    var leases: StoryLeases?

    /// Whether there is nothing to undo: the sum of the increments is 0.
    var isIdle: Bool { if case .increment(0, _) = action { true } else { false } }

    /// The writes that it replaced.
    func over(_ component: String?) -> [Int] {
        switch action {
        case .write(let trace, _), .assign(let trace, _, _), .tags(let trace, _, _, _): trace.over
        case .wheels(let rows): rows.first { $0.id == component }?.trace.over ?? []
        case .increment: []
        }
    }

    var restorations: [Restoration] {
        func one(_ trace: Trace, _ component: String?) -> [Restoration] {
            guard let old = trace.restores else { return [] }
            return [Restoration(field: field, component: component, old: old, new: trace.write)]
        }
        return switch action {
        case .write(let trace, _), .assign(let trace, _, _), .tags(let trace, _, _, _):
            one(trace, nil)
        case .wheels(let rows): rows.flatMap { one($0.trace, $0.id) }
        case .increment: []
        }
    }

    /// Notes that this undo of `step` restored what `step` had replaced.
    mutating func restores(what step: StoryUndo) {
        switch action {
        case .write(var trace, let was):
            trace.restores = step.over(nil)
            action = .write(trace, was: was)
        case .assign(var trace, let was, let to):
            trace.restores = step.over(nil)
            action = .assign(trace, was: was, to: to)
        case .wheels(var rows):
            for place in rows.indices { rows[place].trace.restores = step.over(rows[place].id) }
            action = .wheels(rows)
        case .tags(var trace, let added, let removed, let wasSet):
            if !added.isEmpty { trace.restores = step.over(nil) }
            action = .tags(trace, added: added, removed: removed, wasSet: wasSet)
        case .increment: break
        }
    }

    /// Replaces restored writes by the write that restored them.
    mutating func note(_ restoration: Restoration) {
        guard field == restoration.field else { return }
        func renewed(_ write: Int) -> Int {
            restoration.old.contains(write) ? restoration.new : write
        }
        func renewed(_ trace: Trace) -> Trace {
            Trace(
                write: renewed(trace.write), over: trace.over.map { renewed($0) },
                restores: trace.restores, others: trace.others.map { renewed($0) })
        }
        switch action {
        case .write(let trace, let was): action = .write(renewed(trace), was: was)
        case .assign(let trace, let was, let to):
            action = .assign(renewed(trace), was: was, to: to)
        case .wheels(let rows):
            action = .wheels(
                rows.map { row in
                    guard row.id == restoration.component else { return row }
                    return Row(id: row.id, trace: renewed(row.trace), was: row.was)
                })
        case .increment(let amount, nil):
            if restoration.old.isEmpty { action = .increment(amount, base: restoration.new) }
        case .increment(let amount, let base?):
            action = .increment(amount, base: renewed(base))
        case .tags(let trace, let added, let removed, let wasSet):
            action = .tags(renewed(trace), added: added, removed: removed, wasSet: wasSet)
        }
    }
}

/// The owner of a transaction.
struct StoryOwner: Equatable {
    var uid: Int
    var session: String?

    /// Without a session, all transactions of the user; otherwise those of the session.
    func includes(_ other: Self) -> Bool {
        uid == other.uid && (session == nil || session == other.session)
    }
}

/// The transactions of a form that can be undone or redone.
struct StoryJournal {
    enum Kind: String { case set, undo, redo, lease, ended }

    struct Entry {
        var revision: Int
        var owner: StoryOwner
        var kind: Kind
        var steps: [StoryUndo]
        /// Fields that were overwritten when somebody tried to undo them. They are not tried again
        /// before a restart. No revision stores this.
        var tried: Set<String> = []
    }

    /// Oldest first.
    private(set) var entries: [Entry] = []
    /// A commit failed. The daemon has read the journal from the store if an edit of this form was
    /// in it; of several requests that failed, no answer says which were.
    var mayBeReadAgain = false

    /// Adds a transaction.
    mutating func append(
        _ kind: Kind, revision: Int, owner: StoryOwner, steps: [StoryUndo]
    ) {
        for restoration in steps.flatMap(\.restorations) {
            for place in entries.indices {
                for step in entries[place].steps.indices {
                    entries[place].steps[step].note(restoration)
                }
            }
        }
        // After an edit, its owner cannot redo.
        if kind == .set { entries.removeAll { $0.kind == .undo && owner.includes($0.owner) } }
        if steps.isEmpty { return }
        entries.append(Entry(revision: revision, owner: owner, kind: kind, steps: steps))
    }

    /// Removes the steps of a transaction that are undone or redone now.
    mutating func consume(_ entry: Entry) {
        let fields = entry.steps.map(\.field)
        guard let place = entries.lastIndex(where: { $0.revision == entry.revision }) else {
            return
        }
        entries[place].steps.removeAll { fields.contains($0.field) }
        if entries[place].steps.isEmpty { entries.remove(at: place) }
    }

    /// Notes fields of a transaction that were overwritten when somebody tried to undo them.
    mutating func giveUp(_ revision: Int, fields: [String]) {
        guard let place = entries.lastIndex(where: { $0.revision == revision }) else { return }
        entries[place].tried.formUnion(fields)
    }

    /// The daemon reads the journal from the store.
    mutating func restart() {
        mayBeReadAgain = false
        for place in entries.indices { entries[place].tried = [] }
    }

    /// A commit failed.
    mutating func commitFailed() {
        if entries.contains(where: { !$0.tried.isEmpty }) { mayBeReadAgain = true }
    }

    /// The next transaction to undo or redo, of `owner` or of anybody.
    func newest(isUndo: Bool, owner: StoryOwner?, field: String?) -> Entry? {
        for entry in entries.reversed() where (entry.kind == .undo) != isUndo {
            if entry.kind == .ended {
                // The end of a lease is nobody's edit.
                guard field != nil, owner.map({ $0.uid == entry.owner.uid }) ?? true else {
                    continue
                }
            } else {
                guard owner?.includes(entry.owner) ?? true else { continue }
            }
            var left = entry
            left.steps.removeAll { entry.tried.contains($0.field) }
            if left.steps.isEmpty { continue }
            guard let field else { return left }
            var cut = left
            cut.steps = left.steps.filter { $0.field == field }
            if !cut.steps.isEmpty { return cut }
        }
        return nil
    }
}
