// A conflict as cards: which cards are drawn, which is chosen, and when Enter resolves the
// conflict.
//
//   none ──siblings arrive──▶ drawn ──arrows──▶ chosen ──Enter──▶ sent ──▶ none
//                             │ ▲  ▲──siblings arrive──┘            │
//                            Esc└──────────── refused ──────────────┘
//                             ▼
//                         put aside ──Enter, arrows, siblings arrive──▶ drawn
//
// Invariants: Enter resolves a conflict only among cards that were on the screen for `Span.cards`;
// the edit has their context and `require: current`, so a value that nobody saw is never discarded.
// A conflict whose cards are put aside is still one: the header counts it, and the key that would
// change the control shows the cards and changes nothing.

internal import SyncCore
internal import TerminalUI

/// The cards of the focused conflict, with the times at which they were drawn.
struct ConflictCards: Equatable {
    /// The cards that were drawn from one moment on.
    struct Drawn: Equatable {
        var values: [JSON]
        /// The context of what was displayed then.
        var context: String?
        /// Nanoseconds of the loop's clock.
        var since: UInt64
    }

    let field: String
    /// Oldest first; those that the user may still refer to.
    var versions: [Drawn]
    /// The chosen card, by its value, so that a new order does not change the choice.
    var choice: JSON
}

extension LiveModel {
    /// The values of an unresolved conflict of a control with `ask`: the current value, then the
    /// others.
    ///
    /// With every other policy the daemon keeps one value, so there is nothing to choose:
    /// `pickerctl conflicts` lists what is drawn here.
    func conflict(_ index: Int) -> [PeerValue] {
        // Nearly all controls end here, in each frame: no copy of the control.
        guard presentation.definition.controls[index].conflictPolicy == .ask else { return [] }
        let field = presentation.definition.controls[index].id
        guard presentation.hasConflict(field), let state = presentation.state(field),
            (settled[field] ?? 0) < state.revision
        else { return [] }
        let current = Sibling(value: state.value, by: state.by, at: state.at)
        let options = Self.choices(of: presentation.definition.controls[index])
        return ([current] + state.conflict).map { sibling in
            var value = PeerValue(
                value: sibling.value, text: valueText(sibling.value, of: index),
                by: presentation.peer(sibling.by), when: sibling.at.map { around.localTime($0) })
            let option = options.first { $0.tag == sibling.value }
            value.tint = option?.tint
            value.detail = option?.subtitle
            return value
        }
    }

    /// The cards that are drawn in place of a control.
    func shownCards(_ index: Int) -> [PeerValue] {
        let cards = conflict(index)
        return cards.isEmpty || isPutAside(index) ? [] : cards
    }

    /// Whether the user put the cards of a conflict aside to decide later.
    func isPutAside(_ index: Int) -> Bool {
        let field = presentation.definition.controls[index].id
        guard let revision = putAside[field], !conflict(index).isEmpty else { return false }
        return presentation.state(field)?.revision == revision
    }

    /// Shows cards again that were put aside; `false` if there are none.
    mutating func showCardsAgain(_ index: Int) -> Bool {
        guard isPutAside(index) else { return false }
        putAside[presentation.definition.controls[index].id] = nil
        noteCards()
        return true
    }

    /// The controls whose cards wait for a choice.
    var conflicted: [Int] {
        presentation.definition.controls.indices.filter { !conflict($0).isEmpty }
    }

    /// The index of the chosen card among those drawn.
    func chosenCard(_ index: Int) -> Int? {
        guard let cards, cards.field == presentation.definition.controls[index].id else {
            return nil
        }
        return conflict(index).firstIndex { $0.value == cards.choice }
    }

    /// Records since when which cards are on the screen.
    mutating func noteCards() {
        guard let index = focusedIndex, activeEdit == nil else {
            cards = nil
            return
        }
        let values = shownCards(index).map(\.value)
        guard let first = values.first else {
            cards = nil
            return
        }
        let field = presentation.definition.controls[index].id
        let drawn = ConflictCards.Drawn(values: values, context: presentation.context, since: now)
        guard var cards, cards.field == field else {
            cards = ConflictCards(field: field, versions: [drawn], choice: first)
            return
        }
        if cards.versions.last?.values != values {
            cards.versions.append(drawn)
            if !values.contains(cards.choice) { cards.choice = first }
        }
        let readable = cards.versions.lastIndex { $0.since &+ Span.cards <= now } ?? 0
        cards.versions.removeFirst(readable)
        self.cards = cards
    }

    /// Handles a key while cards have the focus; `false` if the key has its usual meaning.
    mutating func cardKey(_ action: KeyAction?, _ commands: inout [LiveCommand]) -> Bool {
        guard let index = focusedIndex else { return false }
        if isPutAside(index) {
            switch action {
            case .left?, .right?, .act?, .increase?, .decrease?, .edit?, .external?, .reset?:
                return showCardsAgain(index)
            default: return false
            }
        }
        guard let cards, cards.field == presentation.definition.controls[index].id else {
            return false
        }
        let values = conflict(index).map(\.value)
        let here = values.firstIndex(of: cards.choice) ?? 0
        switch action {
        case .left?: self.cards?.choice = values[max(0, here - 1)]
        case .right?: self.cards?.choice = values[min(values.count - 1, here + 1)]
        case .act?: resolveConflict(cards, &commands)
        case .increase?, .decrease?, .edit?, .external?, .reset?: break
        default: return false
        }
        return true
    }

    /// A click chooses a card; Enter resolves the conflict.
    mutating func chooseCard(_ number: Int, of index: Int) {
        let siblings = conflict(index)
        guard siblings.indices.contains(number) else { return }
        noteCards()
        cards?.choice = siblings[number].value
    }

    private mutating func resolveConflict(_ cards: ConflictCards, _ commands: inout [LiveCommand]) {
        let meant = cards.versions.last { $0.since &+ Span.cards <= now }
        guard let meant, meant.values.contains(cards.choice) else {
            return say(LiveWords.choicesChanged, isError: true)
        }
        resolveConflict(cards.field, cards.choice, context: meant.context, &commands)
    }

    /// Sets a field to a sibling, unless somebody has edited it since `context` was shown.
    mutating func resolveConflict(
        _ field: String, _ value: JSON, context: String?, _ commands: inout [LiveCommand]
    ) {
        let isSent = send(field, .value(value), context: context, isCurrent: true, &commands)
        if isSent { settled[field] = presentation.state(field)?.revision ?? 0 }
    }

    /// The choice was refused because somebody chose or edited first: the cards are drawn again.
    mutating func reopenCards(_ field: String) {
        settled[field] = nil
        problems[field] = nil
        guard let index = presentation.index(field), let state = presentation.state(field) else {
            return
        }
        say(
            LiveWords.setMeanwhile(
                presentation.peer(state.by)?.name, title(of: field),
                presentation.text(state.value, of: index), isSettled: conflict(index).isEmpty),
            isError: true)
    }

    /// The message for concurrent edits of which one is kept at once.
    mutating func sayResolved(_ field: String) {
        guard let index = presentation.index(field), let state = presentation.state(field),
            presentation.definition.controls[index].conflictPolicy != .ask,
            let other = state.conflict.first
        else { return }
        func pick(_ value: JSON, _ author: WireAuthor?) -> (String, String?) {
            (presentation.text(value, of: index), presentation.peer(author)?.name)
        }
        let (kept, replaced) = (pick(state.value, state.by), pick(other.value, other.by))
        say(
            LiveWords.editedTwice(title(of: field), kept: kept, other: replaced),
            brief: LiveWords.editedTwice(nil, kept: kept, other: replaced))
    }
}
