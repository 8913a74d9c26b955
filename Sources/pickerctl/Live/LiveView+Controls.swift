// A control of the form as a view of TerminalUI: its configuration filled from the model.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The states that all controls share.
    func state(_ index: Int) -> ControlState {
        let field = presentation.definition.controls[index].id
        var state = ControlState.of(
            presentation.definition.controls[index], shown(index),
            isDisabled: presentation.link == .deleted || !presentation.isEnabled(index),
            isFocused: focusedField == field && (page == .form || page == .keys))
        if let problem = problems[field] {
            state.validity = .invalid(problem)
        } else if activeEdit?.field == field
            || state.validity == .missing && !leftEmpty.contains(field)
        {
            state.validity = .valid
        }
        state.reason = reason(index)
        state.held = waiting(field) ?? besideDraft(index)
        if let other = presentation.others.first(where: {
            $0.wire.focus == field && $0.wire.draft != nil
        }
        ),
            let draft = other.wire.draft
        {
            state.ghost = PeerValue(value: draft, text: valueText(draft, of: index), by: other.peer)
        }
        // A value that is beside a draft has its author there.
        if let flash = flashes[field], state.held?.by != flash.peer {
            if flash.isBright(at: now) {
                state.flash = flash.peer
            } else {
                state.recent = LiveWords.recent(flash.peer.name, seconds: Int(flash.age(at: now)))
            }
        }
        if let lease = lease(index) {
            state.lease = lease.text
            state.isEnding = lease.isEnding
        }
        state.proposed = proposed(index)
        let ghost = state.ghost?.by
        state.peers = presentation.others.filter { other in
            other.wire.focus == field && other.peer != ghost && other.peer != state.flash
        }.map(\.peer)
        return state
    }

    /// What somebody else has set in a control that shows a draft; of one that was refused, only
    /// what was set since, as the reason needs the space.
    private func besideDraft(_ index: Int) -> PeerValue? {
        let field = presentation.definition.controls[index].id
        guard drafts[field] != nil, activeEdit?.field != field,
            problems[field] == nil || overtaken.contains(field),
            let state = presentation.state(field), state.isSet, !state.value.isNull,
            let peer = presentation.peer(state.by)
        else { return nil }
        return PeerValue(value: state.value, text: valueText(state.value, of: index), by: peer)
    }

    /// The value in words, including one that is being edited.
    func valueText(_ index: Int) -> String {
        guard let activeEdit, activeEdit.field == presentation.definition.controls[index].id else {
            return presentation.text(index)
        }
        let definition = presentation.definition
        let value = shown(index).value
        let targets = definition.targets[index]
        return definition.displayText(of: index) {
            targets.contains($0) ? value : presentation.stored($0)
        }
    }

    /// The view of a control with its current look.
    func view(_ index: Int, _ look: ControlLook, _ environment: StyleEnvironment) -> any Block {
        let environment = environment.styled(
            style(index), for: presentation.definition.controls[index].type)
        if !look.cards.isEmpty {
            return ConflictView(
                label: ControlLabel(presentation.definition.controls[index]), cards: look.cards,
                choice: look.card, state: look.state
            ).block(in: environment)
        }
        return controlView(index, look, environment, interaction(index)).block(in: environment)
    }

    /// The note at the right of a control about its typed text or its draft.
    private func notes(_ index: Int, _ environment: StyleEnvironment) -> [StyledText] {
        let field = presentation.definition.controls[index].id
        let isEdited = activeEdit?.field == field
        guard isEdited || keptText(field) != nil || isPutAside(index) || drafts[field] != nil else {
            return []
        }
        let roles = environment.roles
        let glyphs = environment.glyphs
        if isEdited {
            guard hasCapsLock, isTypingSecret else { return [] }
            return [StyledText(ControlWords.capsLock, roles.warning).truncated()]
        }
        if let text = keptText(field) {
            return [
                StyledText("\(glyphs.held) \(LiveWords.notSent)", roles.warning)
                    .appending(text, roles.text).truncated()
            ]
        }
        if isPutAside(index) {
            let text = "\(glyphs.conflict) \(LiveWords.conflict)"
            return [StyledText(text, roles.warning).truncated()]
        }
        guard drafts[field] != nil, problems[field] == nil, besideDraft(index) == nil else {
            return []
        }
        return [StyledText("\(glyphs.held) \(LiveWords.unsaved)", roles.warning)]
    }

    /// A button for a row of buttons; its question is drawn below the row.
    func button(_ index: Int, _ environment: StyleEnvironment) -> ButtonRow.Item? {
        let control = presentation.definition.controls[index]
        var interaction = ControlInteraction()
        if activeEdit?.field == control.id, case .confirm? = activeEdit?.kind {
            interaction.phase = .asking
        } else {
            interaction.phase = pressed?.field == control.id ? .pressed : .idle
        }
        guard let view = controlView(index, look(index), environment, interaction) as? ButtonView
        else { return nil }
        return ButtonRow.Item(
            owner: control.id, view: view,
            environment: environment.styled(style(index), for: control.type))
    }

    /// The view of a control without its conflict.
    func controlView(_ index: Int, _ environment: StyleEnvironment) -> any ControlView {
        controlView(index, look(index), environment, interaction(index))
    }

    private func controlView(
        _ index: Int, _ look: ControlLook, _ environment: StyleEnvironment,
        _ interaction: ControlInteraction
    ) -> any ControlView {
        var state = look.state
        state.notes = notes(index, environment)
        var interaction = interaction
        if let ready = look.ready { interaction.typing = ready }
        return presentation.definition.view(
            of: index, look.shown, text: look.text, state, interaction
        ) { presentation.text($0, of: index) }
    }

    /// What the user does with a control at this moment.
    private func interaction(_ index: Int) -> ControlInteraction {
        let field = presentation.definition.controls[index].id
        var interaction = ControlInteraction()
        if focusedField == field,
            shape(index) == .lines || presentation.definition.controls[index].isMultiple
        {
            interaction.cursor = cursor(index)
        }
        if activeEdit?.field != field { interaction.draft = drafts[field] }
        interaction.linesMax = max(3, min(6, size.lines - 6))
        interaction.part = parts[field] ?? 0
        interaction.month = months[field]
        interaction.today = around.today
        interaction.phase = phase(field)
        interaction.isSecretSet = presentation.isSecretSet(index) ?? false
        guard let activeEdit, activeEdit.field == field else { return interaction }
        switch activeEdit.kind {
        case .text(let editor), .number(let editor): interaction.typing = editor
        case .part(let typed, _): interaction.typedPart = typed
        case .calendar(let day): interaction.day = day
        case .list(let list):
            let floats = mode == .form && style(index) == .menu
            interaction.presentation = floats ? .floating(list) : .open(list)
        case .value, .confirm: break
        }
        return interaction
    }

    private func phase(_ field: String) -> PrimitiveButtonStyleConfiguration.Phase {
        if let activeEdit, activeEdit.field == field, case .confirm(let onConfirm) = activeEdit.kind
        {
            return .confirming(onConfirm: onConfirm)
        }
        return pressed?.field == field ? .pressed : .idle
    }

    /// The list of a menu that lies over the form; `nil` if the control's style has none.
    func menu(_ index: Int, _ list: OpenList, _ environment: StyleEnvironment) -> MenuBox? {
        guard style(index) == .menu else { return nil }
        return picker(index, environment).map { MenuBox($0, list) }
    }

    /// The open list of a navigation link, on a page of its own.
    func pickerPage(
        _ index: Int, _ list: OpenList, _ environment: StyleEnvironment
    ) -> PickerPage? {
        picker(index, environment).map { PickerPage($0, list) }
    }

    private func picker(
        _ index: Int, _ environment: StyleEnvironment
    ) -> PickerStyleConfiguration? {
        guard let view = controlView(index, environment) as? PickerView else { return nil }
        var configuration = view.configuration
        configuration.environment = environment
        return configuration
    }
}
