// The form as plain lines and questions: for screen readers, dumb terminals, and answers that come
// from a pipe (charmbracelet/huh's accessible mode is the model).
//
// Invariants: each editable control is asked once, in the order of the form; an empty answer keeps
// the value; changes by others are printed as separate lines; no line depends on a position on the
// screen.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// Questions and answers about a form.
struct LineForm {
    /// The current question.
    enum Question: Equatable {
        case control(String)
        /// One wheel of several.
        case wheel(String, component: Int)
        /// The lines of a text so far.
        case lines(String, [String])
        /// All questions were asked.
        case command
    }

    var model: LiveModel
    /// Whether a person answers; only then a question is repeated.
    let isPerson: Bool
    private(set) var question = Question.command
    private(set) var output: [String] = []
    /// Why the form ended early.
    var failure: Failure?
    var isFinished = false
    /// The people whose presence was printed.
    var told: [LivePeer] = []
    private var asksToLeave = false
    /// The values of the conflict that were printed last, by number, and the context of that
    /// moment.
    private var offered: [JSON] = []
    private var offeredContext: String?
    /// The section whose title was printed last.
    private var titled: Int?

    init(_ model: LiveModel, isPerson: Bool) {
        self.model = model
        self.isPerson = isPerson
    }

    var definition: FormDefinition { model.mirror.definition }

    /// The lines since the last call.
    mutating func takeOutput() -> [String] {
        defer { output = [] }
        return output
    }

    mutating func say(_ text: String) { output.append(text.escapedForDisplay()) }

    // MARK: Asking

    /// The introduction and the first question.
    mutating func begin() {
        if model.mode == .form {
            say("Form: \(definition.title ?? definition.name)")
            if let subtitle = definition.subtitle { say(subtitle) }
            if isPerson { say("Enter keeps a value. :help lists what else can be typed.") }
        }
        ask(after: -1)
    }

    private func isAsked(_ index: Int) -> Bool {
        let control = definition.controls[index]
        if case .label = control.kind { return false }
        if control.isReadOnly || !model.mirror.isVisible(index) { return false }
        return model.mirror.isEnabled(index)
    }

    private mutating func ask(after index: Int) {
        if case .pick(let field, _) = model.mode {
            guard index < 0 else { return isFinished = true }
            return ask(.control(field))
        }
        var next = index + 1
        while next < definition.controls.count, !isAsked(next) {
            if model.mirror.isVisible(next) {
                sayTitle(of: definition.controls[next].section)
                say(state(next))
            }
            next += 1
        }
        guard next < definition.controls.count else {
            say("All questions are asked.")
            if !isPerson { isFinished = true }
            question = .command
            return
        }
        ask(.control(definition.controls[next].id))
    }

    private mutating func ask(_ next: Question) {
        question = next
        guard case .control(let field) = next, let index = model.mirror.index(field) else { return }
        model.focus = .control(field)
        let control = definition.controls[index]
        sayTitle(of: control.section)
        say("\(state(index)). \(expects(index))")
        for text in [control.subtitle, control.help] { if let text { say("  \(text)") } }
        let groups = Self.groups(of: control)
        for (number, option) in LiveModel.choices(of: control).enumerated() {
            if let title = groups[number] { say("  \(title):") }
            let subtitle = option.subtitle.map { ", \($0)" } ?? ""
            let out = option.isDisabled ? " (unavailable)" : ""
            let label = Self.spoken(option.label, option.symbolName)
            say("  \(number + 1). \(label)\(subtitle)\(out)")
        }
        sayConflict(index)
        if case .wheels = control.kind { askWheel(field, 0) }
    }

    /// The title of a section, printed once before the first of its controls.
    mutating func sayTitle(of section: Int) {
        guard model.mode == .form, section != titled else { return }
        titled = section
        if let title = definition.sections[section].title { say("Section: \(title)") }
    }

    /// The titles of a picker's groups of options, by the place in the list that each begins at;
    /// only looked up, never iterated.
    private static func groups(of control: Control) -> [Int: String] {
        guard case .picker(let picker) = control.kind else { return [:] }
        let none = LiveModel.choices(of: control).count - picker.options.options.count
        var titles: [Int: String] = [:]
        for group in picker.options.groups { titles[group.range.lowerBound + none] = group.title }
        return titles
    }

    private mutating func askWheel(_ field: String, _ component: Int) {
        guard let index = model.mirror.index(field),
            case .wheels(let wheels) = definition.controls[index].kind
        else { return }
        guard component < wheels.components.count else { return ask(after: index) }
        question = .wheel(field, component: component)
        let rows = model.mirror.shown(index).value.objectValue ?? JSONObject()
        let part = wheels.components[component]
        say("  \(part.label ?? part.id):")
        for (number, option) in wheels.rows(of: component, selection: rows).options.enumerated() {
            let isOn = rows[part.id] == option.tag ? " (now)" : ""
            say("    \(number + 1). \(option.label)\(isOn)")
        }
    }

    /// A sentence with a control, its value and its problems.
    func state(_ index: Int) -> String {
        let control = definition.controls[index]
        if case .label = control.kind { return model.mirror.text(index) }
        var text = "\(Self.spoken(control.title, control.symbolName)): "
        let shown = model.mirror.shown(index)
        switch control.kind {
        case .toggle: text += shown.isMixed ? "mixed" : shown.value.boolValue == true ? "on" : "off"
        case .secure:
            text += model.mirror.state(control.id)?.isSecretSet == true ? "set" : "not set"
        case .button: text += "button"
        default:
            let value = model.mirror.text(index)
            text += shown.isMixed ? "mixed" : value.isEmpty ? "empty" : value
        }
        if shown.isMissing { text += ", required" }
        if control.isReadOnly { return text }
        if control.isLocked { text += ", locked" }
        if !model.mirror.isEnabled(index) { text += ", disabled now" }
        return text
    }

    /// A label with its symbol in words, if the words add information.
    private static func spoken(_ label: String, _ symbolName: String?) -> String {
        guard let symbolName, symbolName.lowercased() != label.lowercased() else { return label }
        return "\(label), \(symbolName)"
    }

    func expects(_ index: Int) -> String {
        switch definition.controls[index].kind {
        case .picker(let picker):
            return picker.isMultiple
                ? "Numbers with commas, or none:" : "A number of the list:"
        case .wheels: return "A number for each:"
        case .toggle: return "yes or no:"
        case .button(let button): return "\(button.confirm ?? "Press it?") yes or no:"
        case .text(let text) where text.isMultiline:
            return "Lines, and a line with a dot alone to end:"
        default: return "\(definition.expectedDescription(of: index).capitalizedFirst):"
        }
    }

    mutating func sayConflict(_ index: Int) {
        let picks = model.conflict(index)
        offered = picks.map(\.value)
        offeredContext = model.mirror.context
        guard !picks.isEmpty else { return }
        say("  Picked at the same time; :take and a number chooses one for everybody:")
        for (number, pick) in picks.enumerated() {
            let when = pick.when.map { " at \($0)" } ?? ""
            say("  \(number + 1). \(pick.text), by \(pick.by?.name ?? "you")\(when)")
        }
    }

    // MARK: Answers

    /// A line was typed.
    mutating func answer(_ line: String, _ commands: inout [LiveCommand]) {
        if case .lines(let field, let lines) = question {
            return collect(field, lines, line, &commands)
        }
        if line.hasPrefix("::") { return take(String(line.dropFirst()), &commands) }
        if line.hasPrefix(":") { return command(String(line.dropFirst()), &commands) }
        take(line, &commands)
    }

    private mutating func take(_ line: String, _ commands: inout [LiveCommand]) {
        switch question {
        case .command:
            if !line.isEmpty { say("Type :help, or :q to leave.") }
        case .lines: break
        case .wheel(let field, let component): takeRow(line, field, component, &commands)
        case .control(let field):
            guard let index = model.mirror.index(field) else { return ask(after: -1) }
            guard !line.isEmpty else { return keep(index, &commands) }
            if case .text(let text) = definition.controls[index].kind, text.isMultiline {
                return collect(field, [], line, &commands)
            }
            guard let action = LineAnswer.action(line, index, model) else {
                return refuse("\"\(line)\" is not an answer; expected \(expectation(index))")
            }
            apply(action, field, &commands)
        }
    }

    private func expectation(_ index: Int) -> String {
        switch definition.controls[index].kind {
        case .picker: return "a number of the list"
        case .toggle, .button: return "yes or no"
        default: break
        }
        return definition.expectedDescription(of: index)
    }

    private mutating func keep(_ index: Int, _ commands: inout [LiveCommand]) {
        if case .pick = model.mode { model.picked = model.mirror.shown(index).value }
        ask(after: index)
    }

    mutating func apply(
        _ action: LineAnswer.Action, _ field: String, _ commands: inout [LiveCommand]
    ) {
        guard let index = model.mirror.index(field) else { return }
        guard case .edit(let edit) = action else { return ask(after: index) }
        model.activeEdit = nil
        guard model.send(field, edit, &commands) else {
            return refuse(model.problems[field] ?? model.message?.text ?? "it was refused")
        }
        if model.mode == .form { ask(after: index) }
    }

    private mutating func takeRow(
        _ line: String, _ field: String, _ component: Int, _ commands: inout [LiveCommand]
    ) {
        guard let index = model.mirror.index(field),
            case .wheels(let wheels) = definition.controls[index].kind
        else { return ask(after: -1) }
        if !line.isEmpty {
            let rows = model.mirror.shown(index).value.objectValue ?? JSONObject()
            let options = wheels.rows(of: component, selection: rows).options
            guard let tag = LineAnswer.option(line, options) else {
                return refuse("\"\(line)\" is not in the list")
            }
            let value = JSON.members((wheels.components[component].id, tag))
            guard model.send(field, .value(value), &commands) else {
                return refuse(model.problems[field] ?? "it was refused")
            }
        }
        askWheel(field, component + 1)
    }

    private mutating func collect(
        _ field: String, _ lines: [String], _ line: String, _ commands: inout [LiveCommand]
    ) {
        guard line == "." else { return question = .lines(field, lines + [line]) }
        question = .control(field)
        apply(.edit(.value(.string(lines.joined(separator: "\n")))), field, &commands)
    }

    /// Standard input ended.
    mutating func inputEnded(_ commands: inout [LiveCommand]) {
        if case .lines(let field, let lines) = question {
            collect(field, lines, ".", &commands)
        }
        if case .pick(let field, _) = model.mode, model.picked == nil, model.purposes.isEmpty,
            let index = model.mirror.index(field)
        {
            model.picked = model.mirror.shown(index).value
        }
        if !isPerson, model.mode == .form, !isFinished, let index = model.focusedIndex {
            show(after: index)
        }
        isFinished = true
    }

    mutating func refuse(_ why: String) {
        if isPerson { say("No: \(why)") } else { failure = Failure(.data, why) }
    }

    // MARK: Commands

    private mutating func command(_ text: String, _ commands: inout [LiveCommand]) {
        let words = text.split(separator: " ")
        let argument = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "q", "quit": leave(&commands)
        case "edit", "e": editOutside(&commands)
        case "undo", "u": model.perform(.undo, &commands)
        case "redo": model.perform(.redo, &commands)
        case "list", "l":
            list()
            repeatQuestion()
        case "who", "w":
            sayPeople()
            repeatQuestion()
        case "reset": if let field = model.focusedField { model.send(field, .reset, &commands) }
        case "clear":
            if let field = model.focusedField { apply(.edit(.value("")), field, &commands) }
        case "take":
            guard let index = model.focusedIndex else { return }
            let isOver = model.conflict(index).isEmpty
            guard !isOver, let number = Int(argument), offered.indices.contains(number - 1)
            else {
                return say(
                    isOver
                        ? "No: there is no conflict here."
                        : "No: a number from 1 to \(offered.count), as in :take 1.")
            }
            // The numbers are those that were printed, even if values have changed since.
            let field = model.mirror.definition.controls[index].id
            model.settle(field, offered[number - 1], context: offeredContext, &commands)
            ask(after: index)
        case "kept":
            guard let choice = KeptChoice(rawValue: argument), !model.kept.isEmpty else {
                return sayKept()
            }
            model.decide(choice, &commands)
        case "back", "b": goBack()
        case "help", "h", nil:
            say("Enter: keep. :q leave, :list all values, :N go to number N of the list,")
            say(":back, :undo, :redo, :who, :reset, :clear a text, :edit it in $EDITOR,")
            say(":take N of a conflict.")
            say("A text that begins with a colon is typed with two.")
            repeatQuestion()
        case let word?:
            guard let number = Int(word), definition.controls.indices.contains(number - 1) else {
                return say("No command \(word); :help lists them.")
            }
            ask(.control(definition.controls[number - 1].id))
        }
    }

    /// Leaves the form. Waits for the last answers and reports edits that could not be sent.
    private mutating func leave(_ commands: inout [LiveCommand]) {
        guard model.mode == .form else { return commands.append(.quit(.notMet)) }
        let waiting = model.mirror.waitingEdits
        if !model.isOnline, waiting > 0, !asksToLeave {
            asksToLeave = true
            let what = waiting == 1 ? "1 edit waits" : "\(waiting) edits wait"
            return say("\(what) for the daemon; :q again leaves without.")
        }
        if model.isOnline { isFinished = true } else { commands.append(.quit(.done)) }
    }

    private mutating func editOutside(_ commands: inout [LiveCommand]) {
        model.activeEdit = nil
        model.editOutside(&commands)
        if commands.isEmpty { say("Only a text is edited in $EDITOR.") }
    }

    /// What is still asked, in one line.
    private mutating func repeatQuestion() {
        guard case .control(let field) = question, let index = model.mirror.index(field) else {
            return
        }
        say("\(state(index)). \(expects(index))")
    }

    /// Asks the question for the control that would have the focus in the screen form.
    mutating func askNearest() {
        guard let field = model.focusedField, let index = model.mirror.index(field),
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
        for index in definition.controls.indices where model.mirror.isVisible(index) {
            say("\(index + 1). \(state(index))")
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
