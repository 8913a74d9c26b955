// Commands of a form in lines: an answer that begins with a colon.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LineForm {
    mutating func command(_ text: String, _ commands: inout [LiveCommand]) {
        let words = text.split(separator: " ")
        let argument = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "q", "quit": leave(&commands)
        case "edit", "e": editOutside(&commands)
        case "undo", "u": model.sendTurn(isUndo: true, &commands)
        case "redo": model.perform(.redo, &commands)
        case "list", "l":
            list()
            repeatQuestion()
        case "who", "w":
            sayPeople()
            repeatQuestion()
        case "message", "m":
            model.nextMessage = argument.isEmpty ? nil : argument
            say(
                argument.isEmpty
                    ? LineWords.sentence(LiveWords.noNextMessage)
                    : LiveWords.nextMessage(argument).beginningWithCapital)
            repeatQuestion()
        case "why":
            guard let field = named(argument) else { return }
            model.openExplanation(of: field, &commands)
            if !model.isOnline { sayOutcome() }
        case "proposals", "p":
            sayProposals()
            repeatQuestion()
        case "approve", "refuse", "withdraw":
            if let vote = words.first.flatMap({ LiveModel.Vote(rawValue: String($0)) }) {
                askForVote(vote, argument)
            }
        case "reset": if let field = named(argument) { model.send(field, .reset, &commands) }
        case "clear": if let field = named(argument) { apply(.edit(.value("")), field, &commands) }
        case "choose":
            guard let index = model.focusedIndex else { return }
            let isOver = model.conflict(index).isEmpty
            guard !isOver, let number = Int(argument), offered.indices.contains(number - 1)
            else {
                return say(
                    LineWords.no(
                        isOver ? LineWords.noConflict : LineWords.number(upTo: offered.count)))
            }
            // The numbers are those that were printed, even if values have changed since.
            let field = model.presentation.definition.controls[index].id
            model.resolveConflict(field, offered[number - 1], context: offeredContext, &commands)
            ask(after: index)
        case "kept":
            guard let choice = KeptChoice(rawValue: argument), !model.kept.edits.isEmpty else {
                return sayKept()
            }
            model.decide(choice, &commands)
        case "back", "b": goBack()
        case "help", "h", nil:
            for line in LineWords.help.split(separator: "\n") { say(String(line)) }
            repeatQuestion()
        case let word?:
            guard let number = Int(word), definition.controls.indices.contains(number - 1) else {
                return say(LineWords.noCommand(word))
            }
            ask(.control(definition.controls[number - 1].id))
        }
    }

    /// The control that a command is about: by its title, its id or its number in the list; without
    /// any, the one that is asked.
    private mutating func named(_ text: String) -> String? {
        if text.isEmpty { return model.focusedField }
        let number = Int(text).map { $0 - 1 }
        let found = definition.controls.indices.first { index in
            let control = definition.controls[index]
            return index == number || control.id == text
                || control.title.lowercased() == text.lowercased()
        }
        guard let found else {
            say(LineWords.no(LineWords.noControl(text)))
            return nil
        }
        return definition.controls[found].id
    }

    /// Leaves the form. Waits for the last answers and reports edits that could not be sent.
    private mutating func leave(_ commands: inout [LiveCommand]) {
        guard model.mode == .form else { return commands.append(.quit(.notMet)) }
        let waiting = model.presentation.waitingEdits
        if !model.isOnline, waiting > 0, !asksToLeave {
            asksToLeave = true
            return say(LineWords.leave(waiting))
        }
        if model.isOnline { isFinished = true } else { commands.append(.quit(.done)) }
    }

    private mutating func editOutside(_ commands: inout [LiveCommand]) {
        model.activeEdit = nil
        model.editOutside(&commands)
        if commands.isEmpty { say(LineWords.onlyTexts) }
    }

    /// What is still asked, in one line.
    private mutating func repeatQuestion() {
        guard case .control(let field) = question, let index = model.presentation.index(field)
        else {
            return
        }
        say("\(state(index)). \(expects(index))")
    }

    /// Asks the question for the control that would have the focus in the screen form.
    mutating func askNearest() {
        guard let field = model.focusedField, let index = model.presentation.index(field),
            isAsked(index)
        else { return ask(after: -1) }
        ask(.control(field))
    }

    private mutating func goBack() {
        guard let index = model.focusedIndex,
            let before = definition.controls.indices.last(where: { $0 < index && isAsked($0) })
        else { return }
        ask(.control(definition.controls[before].id))
    }

    private mutating func list() {
        for index in definition.controls.indices where model.presentation.isVisible(index) {
            say("\(index + 1). \(state(index))")
        }
    }
}
