// The question what to do with edits that were made for another store (see KeptEdits).

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// What the owner of kept edits can choose.
enum KeptChoice: String, CaseIterable, Equatable {
    case keep, apply, discard
}

extension LiveModel {
    /// Another replica answered. What refers to the earlier replica is cleared, and a value that is
    /// being edited is not set automatically any more.
    mutating func otherReplica() {
        ownEdits = OwnEdits()
        settled = [:]
        putAside = [:]
        flashes = [:]
        cards = nil
        activeEdit?.context = nil
        if case .value(let value, .some)? = activeEdit?.kind {
            activeEdit?.kind = .value(value, setsAt: nil)
        }
    }

    /// The first snapshot of another replica: the edit in progress gets its context.
    mutating func rebaseEdit() {
        guard let activeEdit, activeEdit.context == nil,
            let state = presentation.state(activeEdit.field)
        else { return }
        self.activeEdit?.context = presentation.context
        self.activeEdit?.revision = state.value == activeEdit.base.value ? state.revision : 0
    }

    /// A request was not sent, because another replica answers.
    mutating func keep(_ request: Request) {
        switch request {
        case .stateSet(let edit): _ = kept.keep(edit, ())
        default: say(LiveWords.notDone, isError: true)
        }
    }

    /// Sends an edit that was kept.
    mutating func submit(_ edit: StateSet, _ commands: inout [LiveCommand]) {
        let number = lastEdit + 1
        for change in edit.changes { try? presentation.edit(number, change) }
        request(.stateSet(edit), .kept(edit.changes.map(\.field)), &commands)
    }

    // MARK: The question

    /// The banner of kept edits.
    var keptBanner: String? {
        guard !kept.edits.isEmpty else { return nil }
        let key = LiveWords.toChoose(around.keys.name(of: .kept))
        return joined([LiveWords.kept(kept.edits.count), key])
    }

    /// The values of kept edits of a field, in words.
    func keptText(_ field: String) -> String? {
        guard !kept.edits.isEmpty, let index = presentation.index(field) else { return nil }
        if isSecret(field) {
            return kept.edits.contains { $0.fields.contains(field) } ? LiveWords.newSecret : nil
        }
        let texts = kept.edits.flatMap(\.edit.changes).filter { $0.field == field }.map { change in
            switch change.action {
            case .value(let value): return presentation.text(value, of: index)
            case .increment(let amount): return amount.description
            case .press: return LiveWords.pressed
            case .reset: return LiveWords.theDefault
            case .add(let tags): return "+ \(presentation.text(.array(tags), of: index))"
            case .remove(let tags): return "− \(presentation.text(.array(tags), of: index))"
            case .toggle, .move: return LiveWords.anotherValue
            }
        }
        return texts.last
    }

    mutating func askAboutKept() {
        if kept.edits.isEmpty { return say(LiveWords.nothingKept) }
        question = .kept(.keep)
    }

    func keptQuestion(_ choice: KeptChoice) -> WordsLook {
        let marks = KeptChoice.allCases.map {
            $0 == choice ? "[\($0.rawValue)]" : " \($0.rawValue) "
        }
        let what = LiveWords.count(kept.edits.count, "edit")
        let choices = "\(what): \(marks.joined(separator: " "))"
        return WordsLook("\(choices)  \(LiveWords.choice(choice))", choices, kind: .question)
    }

    mutating func keptKey(
        _ event: KeyEvent, _ choice: KeptChoice, _ commands: inout [LiveCommand]
    ) -> Bool {
        let all = KeptChoice.allCases
        let here = all.firstIndex(of: choice) ?? 0
        switch around.keys[event] {
        case .left?, .previous?: question = .kept(all[max(0, here - 1)])
        case .right?, .next?: question = .kept(all[min(all.count - 1, here + 1)])
        case .act?: decide(choice, &commands)
        case .escape?: break
        default: return false
        }
        return true
    }

    /// Carries out the owner's choice.
    mutating func decide(_ choice: KeptChoice, _ commands: inout [LiveCommand]) {
        let count = kept.edits.count
        switch choice {
        case .keep: say(LiveWords.keptForOther(count))
        case .discard:
            _ = kept.take()
            say(LiveWords.keptDiscarded(count))
        case .apply: applyKept(&commands)
        }
    }

    /// Sends the kept edits to the daemon that answers now, with the context of what is shown.
    private mutating func applyKept(_ commands: inout [LiveCommand]) {
        guard presentation.link != .deleted else {
            let why = LiveWords.noForm(presentation.form)
            return say(LiveWords.editsAreKept(why), isError: true)
        }
        for old in kept.take() {
            let missing = old.fields.filter { presentation.index($0) == nil }
            guard missing.isEmpty else {
                _ = kept.keep(old.edit, for: old.store, ())
                say(
                    LiveWords.editIsKept(without: missing.joined(separator: ", ")), isError: true)
                continue
            }
            submit(old.renewed(context: presentation.context), &commands)
        }
    }
}
