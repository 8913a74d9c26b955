// What others see of this user: the focus, and a draft.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    var wantedPresence: PresenceUpdate {
        PresenceUpdate(form: presentation.form, focus: focusedField, draft: sharedDraft)
    }

    /// The draft that others see: never a secret, and only a value that is valid for the control.
    private var sharedDraft: JSON? {
        guard let activeEdit, let index = presentation.index(activeEdit.field) else { return nil }
        if case .secure = presentation.definition.controls[index].kind { return nil }
        if case .text = activeEdit.kind, typedKeys < 2 { return nil }
        guard let value = activeEdit.draft, value.encodedText.utf8.count <= 4_000 else {
            return nil
        }
        if case .wheels = presentation.definition.controls[index].kind { return value }
        let admitted = try? presentation.definition.admit(
            value, control: index, values: presentation.stored)
        return admitted
    }

    mutating func tellPresence(_ commands: inout [LiveCommand]) {
        guard mode == .form, isOnline else { return }
        let wanted = wantedPresence
        guard wanted != sentPresence else { return }
        guard sentPresence == nil || now >= presenceSentAt &+ Span.presence else { return }
        sentPresence = wanted
        presenceSentAt = now
        commands.append(.presence(wanted))
    }
}
