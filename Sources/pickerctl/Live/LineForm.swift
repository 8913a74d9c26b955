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
    var question = Question.command
    private(set) var output: [String] = []
    /// Why the form ended early.
    var failure: Failure?
    var isFinished = false
    /// The people whose presence was printed.
    var announced: [LivePeer] = []
    /// The hosts that were said to be away.
    var awayHosts: [String] = []
    /// The last quarter of each run that was printed, by press.
    var toldQuarters: [String: Int] = [:]
    /// The runs whose handlers were said to be away, by press.
    var toldAway: Set<String> = []
    var asksToLeave = false
    /// The values of the conflict that were printed last, by number, and the context of that
    /// moment.
    var offered: [JSON] = []
    var offeredContext: String?
    /// The section whose title was printed last.
    private var titled: Int?

    init(_ model: LiveModel, isPerson: Bool) {
        self.model = model
        self.isPerson = isPerson
    }

    var definition: FormDefinition { model.presentation.definition }

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
            say(LineWords.form(definition.title ?? definition.name))
            if let subtitle = definition.subtitle { say(subtitle) }
            if isPerson { say(LineWords.begin) }
        }
        ask(after: -1)
    }

    func isAsked(_ index: Int) -> Bool {
        let control = definition.controls[index]
        if case .label = control.kind { return false }
        if control.isReadOnly || !model.presentation.isVisible(index) { return false }
        return model.presentation.isEnabled(index)
    }

    mutating func ask(after index: Int) {
        if case .pick(let field, _) = model.mode {
            guard index < 0 else { return isFinished = true }
            return ask(.control(field))
        }
        var next = index + 1
        while next < definition.controls.count, !isAsked(next) {
            if model.presentation.isVisible(next) {
                sayTitle(of: definition.controls[next].section)
                say(state(next))
            }
            next += 1
        }
        guard next < definition.controls.count else {
            say(LineWords.end)
            if !isPerson { isFinished = true }
            question = .command
            return
        }
        ask(.control(definition.controls[next].id))
    }

    mutating func ask(_ next: Question) {
        question = next
        guard case .control(let field) = next, let index = model.presentation.index(field) else {
            return
        }
        model.focus = .control(field)
        let control = definition.controls[index]
        sayTitle(of: control.section)
        say("\(state(index)). \(expects(index))")
        for text in [control.subtitle, control.help, model.author(index)] {
            if let text { say("  \(text)") }
        }
        let groups = Self.groups(of: control)
        for (number, option) in LiveModel.choices(of: control).enumerated() {
            if let title = groups[number] { say("  \(title):") }
            let subtitle = option.subtitle.map { ", \($0)" } ?? ""
            let out = option.isDisabled ? " " + ControlWords.unavailable : ""
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
        if let title = definition.sections[section].title { say(LineWords.section(title)) }
    }

    /// The titles of a picker's groups of options, by the index of the first option.
    private static func groups(of control: Control) -> [Int: String] {
        guard case .picker(let picker) = control.kind else { return [:] }
        let none = LiveModel.choices(of: control).count - picker.options.options.count
        var titles: [Int: String] = [:]
        for group in picker.options.groups { titles[group.range.lowerBound + none] = group.title }
        return titles
    }

    private mutating func askWheel(_ field: String, _ component: Int) {
        guard let index = model.presentation.index(field),
            case .wheels(let wheels) = definition.controls[index].kind
        else { return }
        guard component < wheels.components.count else { return ask(after: index) }
        question = .wheel(field, component: component)
        let rows = model.presentation.shown(index).value.objectValue ?? JSONObject()
        let part = wheels.components[component]
        say("  \(part.label ?? part.id):")
        for (number, option) in wheels.rows(of: component, selection: rows).options.enumerated() {
            let isOn = rows[part.id] == option.tag ? LineWords.now : ""
            say("    \(number + 1). \(option.label)\(isOn)")
        }
    }

    /// A sentence with a control, its value and its problems.
    func state(_ index: Int) -> String {
        let control = definition.controls[index]
        if case .label = control.kind { return model.presentation.text(index) }
        var text = "\(Self.spoken(control.title, control.symbolName)): "
        let shown = model.presentation.shown(index)
        switch control.kind {
        case .toggle:
            let isOn = shown.value.boolValue == true
            text += shown.isMixed ? ControlWords.mixed : ControlWords.flag(isOn)
        case .secure:
            let isSet = model.presentation.state(control.id)?.isSecretSet == true
            text += ControlWords.secret(isSet: isSet)
        case .button:
            let run = model.runLook(index).text
            text += run.isEmpty ? LineWords.button : "\(LineWords.button), \(run)"
        default:
            let value = model.presentation.text(index)
            text += shown.isMixed ? ControlWords.mixed : value.isEmpty ? LiveWords.empty : value
        }
        if let threshold = model.presentation.threshold(index) { text += ", \(threshold)" }
        if let lease = model.leaseWords(index) { text += ", \(lease)" }
        if let proposed = model.proposedWords(index) { text += ", \(proposed)" }
        if shown.isMissing { text += ", \(ControlWords.required)" }
        if control.isReadOnly { return text }
        if control.isLocked { text += ", \(ControlWords.locked)" }
        if !model.presentation.isEnabled(index) {
            text += ", \(model.reason(index) ?? LiveWords.disabledNow)"
        }
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
            return picker.isMultiple ? LineWords.severalNumbers : LineWords.oneNumber
        case .wheels: return LineWords.numberForEach
        case .toggle: return LineWords.yesOrNo
        case .button(let button):
            return LineWords.press(button.question(titled: definition.controls[index].title))
        case .text(let text) where text.isMultiline:
            return LineWords.lines
        default: return "\((model.takes(index) ?? "").beginningWithCapital):"
        }
    }

    mutating func sayConflict(_ index: Int) {
        let picks = model.conflict(index)
        offered = picks.map(\.value)
        offeredContext = model.presentation.context
        guard !picks.isEmpty else { return }
        say("  " + LineWords.pickedTwice)
        for (number, pick) in picks.enumerated() {
            say("  \(number + 1). \(LineWords.pick(pick.text, by: pick.by?.name, at: pick.when))")
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
        if case .typed(let asked)? = model.question {
            return takeMessage(line, asked, &commands)
        }
        switch question {
        case .command:
            if !line.isEmpty { say(LineWords.atEnd) }
        case .lines: break
        case .wheel(let field, let component): takeRow(line, field, component, &commands)
        case .control(let field):
            guard let index = model.presentation.index(field) else { return ask(after: -1) }
            guard !line.isEmpty else { return keep(index, &commands) }
            if case .text(let text) = definition.controls[index].kind, text.isMultiline {
                return collect(field, [], line, &commands)
            }
            guard let action = LineAnswer.action(line, index, model) else {
                return refuse(LineWords.notAnswer(line, expected: expectation(index)))
            }
            apply(action, field, &commands)
        }
    }

    private func expectation(_ index: Int) -> String {
        switch definition.controls[index].kind {
        case .picker: return LineWords.numberOfList
        case .toggle, .button: return LineWords.isYesOrNo
        default: break
        }
        return definition.expectedDescription(of: index)
    }

    private mutating func keep(_ index: Int, _ commands: inout [LiveCommand]) {
        if case .pick = model.mode { model.picked = model.presentation.shown(index).value }
        ask(after: index)
    }

    mutating func apply(
        _ action: LineAnswer.Action, _ field: String, _ commands: inout [LiveCommand]
    ) {
        guard let index = model.presentation.index(field) else { return }
        guard case .edit(let edit) = action else { return ask(after: index) }
        model.activeEdit = nil
        guard model.send(field, edit, &commands) else {
            let why = model.problems[field] ?? model.message?.text ?? LineWords.refused
            return refuse(isPerson ? model.withExample(why, field) ?? why : why)
        }
        if case .typed? = model.question { return sayMessageQuestion() }
        if model.mode == .form { ask(after: index) }
    }

    private mutating func takeRow(
        _ line: String, _ field: String, _ component: Int, _ commands: inout [LiveCommand]
    ) {
        guard let index = model.presentation.index(field),
            case .wheels(let wheels) = definition.controls[index].kind
        else { return ask(after: -1) }
        if !line.isEmpty {
            let rows = model.presentation.shown(index).value.objectValue ?? JSONObject()
            let options = wheels.rows(of: component, selection: rows).options
            guard let tag = LineAnswer.option(line, options) else {
                return refuse(LineWords.notInList(line))
            }
            let value = JSON.members((wheels.components[component].id, tag))
            guard model.send(field, .value(value), &commands) else {
                return refuse(model.problems[field] ?? LineWords.refused)
            }
            if case .typed? = model.question { return sayMessageQuestion() }
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
            let index = model.presentation.index(field)
        {
            model.picked = model.presentation.shown(index).value
        }
        if !isPerson, model.mode == .form, !isFinished, let index = model.focusedIndex {
            show(after: index)
        }
        isFinished = true
    }

    mutating func refuse(_ why: String) {
        if isPerson { say(LineWords.no(why)) } else { failure = Failure(.data, why) }
    }
}
