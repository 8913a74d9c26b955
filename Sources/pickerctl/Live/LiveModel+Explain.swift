// The page that says why a control has its value.

internal import SyncCore
internal import TerminalUI

/// The page with the explanation of a control.
struct FieldExplanation: Equatable {
    let field: String
    /// `nil` until the daemon has answered.
    var facts: Explanation?
    var scroll = ScrollState()
}

extension LiveModel {
    mutating func openExplanation(_ commands: inout [LiveCommand]) {
        if mode == .form, let field = focusedField { openExplanation(of: field, &commands) }
    }

    mutating func openExplanation(of field: String, _ commands: inout [LiveCommand]) {
        page = .explanation(FieldExplanation(field: field))
        askForExplanation(of: field, &commands)
        if !isOnline { say(LiveWords.askedLater) }
    }

    private mutating func askForExplanation(of field: String, _ commands: inout [LiveCommand]) {
        let ask = StateExplain(form: presentation.form, field: field)
        self.ask(.stateExplain(ask), .explanation(field), &commands)
    }

    mutating func received(
        explanation json: JSON, of field: String, _ commands: inout [LiveCommand]
    ) {
        let isOutdated = takeOutdated(.explanation(field))
        guard case .explanation(var explanation) = page, explanation.field == field,
            let facts = try? Explanation(decoding: json)
        else { return }
        explanation.facts = facts
        page = .explanation(explanation)
        if isOutdated { askForExplanation(of: field, &commands) }
    }

    /// A change may concern the explained field, or what it depends on.
    mutating func explanationChanged(_ commands: inout [LiveCommand]) {
        guard case .explanation(let explanation) = page else { return }
        askForExplanation(of: explanation.field, &commands)
    }

    mutating func explanationKey(_ event: KeyEvent, _ explanation: FieldExplanation) {
        let content = explanationLines(explanation, around.environment)
        guard let scroll = scrolled(explanation.scroll, content, event) else {
            page = .form
            return
        }
        var explanation = explanation
        explanation.scroll = scroll
        page = .explanation(explanation)
    }

    // MARK: Drawing

    func draw(
        _ explanation: FieldExplanation, into canvas: inout Canvas, in window: Rect,
        _ environment: StyleEnvironment
    ) {
        draw(
            explanationLines(explanation, environment), explanation.scroll, into: &canvas,
            in: window, environment)
    }

    private func explanationLines(
        _ explanation: FieldExplanation, _ environment: StyleEnvironment
    ) -> Column {
        let roles = environment.roles
        var lines: [any Block] = [
            StyledText(LiveWords.explanation(title(of: explanation.field)), roles.heading)
        ]
        guard let facts = explanation.facts else {
            return Column(lines + [StyledText(LiveWords.asking, roles.dim)])
        }
        lines += words(of: facts).map { StyledText($0, roles.text) }
        return Column(lines)
    }

    /// The explanation in sentences, with the form's titles and labels.
    func words(of facts: Explanation) -> [String] {
        let text = ExplanationText(
            name: { title(of: $0) },
            value: { field, json in
                guard let index = presentation.index(field) else { return ValueText.short(json) }
                let text = valueText(json, of: index)
                return text.isEmpty ? Template.dash : text
            }, time: { around.localTime($0) },
            host: presentation.host)
        return text.lines(facts)
    }
}

extension LineForm {
    /// Prints the explanation that was asked for, once the daemon has answered.
    mutating func sayExplanation() {
        guard case .explanation(let explanation) = model.page, let facts = explanation.facts
        else { return }
        for line in model.words(of: facts) { say(line) }
        model.page = .form
    }
}
