internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// `pickerctl pick`: one control under the prompt.
struct PickCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "pick", abstract: "Pick one control's value under the prompt.",
        discussion: """
            Sets the field and prints its value, so x=$(pickerctl pick flavor) works. Esc leaves
            with status 1, ^C with 130. Without a terminal the answer is read from standard input.
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var live: LiveOptions
    @Flag(name: .customLong("no-set"), help: "Print the value and set nothing.") var noSet = false
    @Argument(completion: .custom(Completion.fields)) var field: String

    func run() throws {
        let session = Session(common.settings)
        let name = FieldName(field)
        let form = try session.form(of: [name])
        let presentation = try LiveStart.presentation(of: form, session)
        guard let index = presentation.index(name.field) else {
            throw Failure.noField(
                name.field, form, among: presentation.definition.controls.map(\.id))
        }
        try requireValue(presentation.definition.controls[index])
        if live.nonInteractive { return try present(presentation, index, session) }
        try requireEditable(presentation, index)
        let mode = LiveModel.Mode.pick(field: name.field, sets: !noSet)
        let (status, model) = try LiveStart.pick(presentation, session, live, common.settings, mode)
        guard status == .done else {
            throw model.failure.map { Failure(status, $0) } ?? Failure.silent(status)
        }
        if let picked = model.picked, !model.isSecret(name.field) {
            try session.console.value(ValueText.bare(picked))
            try session.console.flush()
        }
    }

    private func requireValue(_ control: Control) throws(Failure) {
        switch control.kind {
        case .label: throw .isLabel(control.id)
        case .button: throw .isButton(control.id, name: control.id)
        default: break
        }
    }

    private func requireEditable(
        _ presentation: FormPresentation, _ index: Int
    ) throws(Failure) {
        let control = presentation.definition.controls[index]
        if control.isReadOnly { throw .isReadOnly(control.id) }
        if !presentation.isEnabled(index) { throw .isDisabled(control.id) }
    }

    /// The current value or the default, without a question.
    private func present(
        _ presentation: FormPresentation, _ index: Int, _ session: Session
    ) throws(Failure) {
        let shown = presentation.shown(index)
        if shown.isMissing || shown.isMixed || shown.isInvalid {
            throw .hasNoValue(presentation.definition.controls[index].id)
        }
        try session.console.value(ValueText.bare(shown.value))
        try session.console.flush()
    }
}
