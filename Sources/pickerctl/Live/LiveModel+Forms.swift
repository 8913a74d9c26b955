// Another form in the same terminal.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    mutating func askForForms(_ commands: inout [LiveCommand]) {
        guard mode == .form else { return }
        if let loss = lossByLeaving { return say(LiveWords.staysOpen(loss.text)) }
        guard isOnline else { return say(LiveWords.staysOpen(LiveWords.noAnswer)) }
        request(.formList, .forms, &commands)
    }

    mutating func received(forms json: JSON) {
        guard let answer = try? FormList(decoding: json) else { return }
        let options = answer.forms.map { form in
            var option = PickerOption(tag: .string(form.form), label: form.title ?? form.form)
            option.subtitle = form.form
            return option
        }
        let here = options.firstIndex { $0.tag.stringValue == presentation.form } ?? 0
        page = .forms(
            options, OpenList(options: options, at: here, linesMax: max(1, size.lines - 4)))
    }

    mutating func formsKey(
        _ event: KeyEvent, _ options: [PickerOption], _ list: OpenList,
        _ commands: inout [LiveCommand]
    ) {
        var list = list
        switch event.key {
        case .enter:
            page = .form
            guard list.matches.indices.contains(list.cursor) else { return }
            let option = options[list.matches[list.cursor].index]
            return open(form: option.tag.stringValue ?? "", &commands)
        case .escape: page = .form
        default:
            list.take(event, options)
            page = .forms(options, list)
        }
    }

    /// Ends this form and opens another one.
    mutating func open(form: String, _ commands: inout [LiveCommand]) {
        guard form != presentation.form else { return }
        next = form
        commands.append(.quit(.done))
    }
}
