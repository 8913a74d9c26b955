// Silent writes (docs/CAUSALITY.md): an edit that sets the present value again replaces the writes of
// this value. It makes no revision, and nobody is notified.

import SyncCore

/// The writes that a silent write repeats.
struct StoryRepeat {
    /// A write, and the part of a control that it changed.
    struct Place: Hashable {
        var write: Int
        /// The component of wheels, or the tag; empty for other controls.
        var part = ""
    }

    /// The writes that undo takes it for: those before it, if the same user made them; else itself.
    var undoneAs: [Int]
    /// A reader who has seen these sees nothing new.
    var of: [Int]
}

extension StoryForm {
    /// The writes that undo takes a write for.
    func undoneAs(_ write: Int, _ part: String = "") -> [Int] {
        repeats[StoryRepeat.Place(write: write, part: part)]?.undoneAs ?? [write]
    }

    fileprivate func repeated(_ write: Int, _ part: String = "") -> [Int] {
        repeats[StoryRepeat.Place(write: write, part: part)]?.of ?? [write]
    }
}

extension StoryTransaction {
    /// Whether all present writes of a control are covered.
    func hasSeen(_ id: String, _ covers: (Int) -> Bool) -> Bool {
        hasSeen(id) { write, _ in covers(write) }
    }

    /// Whether somebody has seen the present value. A silent write that repeats what they have seen
    /// does not count.
    func isCurrent(_ id: String, _ sight: StorySight) -> Bool {
        hasSeen(id) { write, part in
            sight.covers(write) || form.repeated(write, part).allSatisfy(sight.covers)
        }
    }

    private func hasSeen(_ id: String, _ covers: (Int, String) -> Bool) -> Bool {
        switch form.contents[id] ?? .nothing {
        case .register(let register): register.siblings.allSatisfy { covers($0.write, "") }
        case .counter(let counter):
            counter.bases.siblings.allSatisfy { covers($0.write, "") }
                && counter.additions.allSatisfy { covers($0.last, "") }
        case .tags(let tags):
            tags.additions.allSatisfy { tag, writes in writes.allSatisfy { covers($0, tag) } }
                && tags.marks.allSatisfy { covers($0, "") }
        case .wheels(let wheels):
            wheels.allSatisfy { id, register in
                register.siblings.allSatisfy { covers($0.write, id) }
            }
        case .presses(_, let newest): newest.allSatisfy { covers($0, "") }
        case .secret(_, let last): last.map { covers($0, "") } ?? true
        case .nothing: true
        }
    }

    /// Writes the value that a control has already. Not under `first`: later edits would be refused,
    /// and their authors could not know why.
    mutating func repeatPresent(
        _ edit: Edit, _ control: StoryControl, _ content: StoryContent
    ) {
        let policy = control.conflictPolicy
        guard !isUndo, policy != "first" else { return }
        let write = form.writes + 1
        switch (edit, content) {
        case (.set(let list), .tags(var tags)):
            let names = (list.arrayValue ?? []).compactMap(\.stringValue)
            if names.isEmpty { return }
            repeatTags(names, of: &tags, control, write)
            keep(.tags(tags), control, write)
        case (.add(_, let again), .tags(var tags)):
            if again.isEmpty { return }
            repeatTags(again, of: &tags, control, write)
            keep(.tags(tags), control, write)
        // The transaction itself has written this control.
        case _ where written.contains(control.id) || repeated.contains(control.id): return
        case (.set(let value), .register(var register)):
            note(register.siblings.map(\.write), "", control, write)
            _ = register.write(value, as: write, by: author, .everything, policy)
            keep(.register(register), control, write)
        case (.set(let value), .counter(var counter)):
            repeatNumber(counter, control, write)
            _ = counter.set(value, as: write, by: author, .everything, policy)
            keep(.counter(counter), control, write)
        case (.rows(let rows), .wheels(var wheels)):
            if rows.isEmpty { return }
            for (id, tag) in rows {
                note((wheels[id]?.siblings ?? []).map(\.write), id, control, write)
                _ = wheels[id]?.write(tag, as: write, by: author, .everything, policy)
            }
            keep(.wheels(wheels), control, write)
        default: return
        }
        repeated.insert(control.id)
    }

    /// Adds tags that are in a set already.
    mutating func repeatTags(
        _ names: [String], of tags: inout StoryTags, _ control: StoryControl, _ write: Int
    ) {
        for tag in Set(names) {
            guard let additions = tags.additions[tag] else { continue }
            note(additions.sorted(), tag, control, write)
            tags.additions[tag] = [write]
        }
    }

    /// A number repeats the set before it and the newest increments on that.
    private mutating func repeatNumber(
        _ counter: StoryCounter, _ control: StoryControl, _ write: Int
    ) {
        let base = counter.bases.standing(control.conflictPolicy)?.write
        var old = base.map { form.repeated($0) } ?? []
        let additions = counter.additions.map(\.last)
        if !additions.isEmpty { old = Array(old.prefix(1)) }
        note(base.map { form.undoneAs($0) } ?? [], old + additions, "", control, write)
    }

    private mutating func note(
        _ writes: [Int], _ part: String, _ control: StoryControl, _ write: Int
    ) {
        note(
            writes.flatMap { form.undoneAs($0, part) }, writes.flatMap { form.repeated($0, part) },
            part, control, write)
    }

    private mutating func note(
        _ undoneAs: [Int], _ old: [Int], _ part: String, _ control: StoryControl, _ write: Int
    ) {
        let isOwn = !undoneAs.isEmpty && undoneAs.allSatisfy(newWrites.contains)
        let isSameUser = form.touches[control.id]?.by.uid == author.uid
        form.repeats[StoryRepeat.Place(write: write, part: part)] = StoryRepeat(
            undoneAs: isOwn || isSameUser ? undoneAs : [write], of: old)
    }
}
