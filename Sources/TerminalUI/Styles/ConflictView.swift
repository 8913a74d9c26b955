// A conflict: each sibling is a card with its value, who picked it and when.
//
// Invariants: the chosen card differs from the others by its frame and by a mark, not by colour
// alone; the author and the time are never cut; a long value is.

/// Concurrent edits, as cards to choose from. It replaces the control until somebody chooses.
public struct ConflictView: ControlView {
    var label: ControlLabel
    var cards: [PeerValue]
    var choice: Int?
    var state: ControlState

    /// Cards in their order: the current value, then its siblings. `choice` is the selected card;
    /// `state` contains everything except the conflict.
    public init(label: ControlLabel, cards: [PeerValue], choice: Int?, state: ControlState) {
        self.label = label
        self.cards = cards
        self.choice = choice
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let row = LabeledRow(label, state, environment) {
            FittingText(
                ["picked at the same time; choose one", "choose one"].map {
                    StyledText(
                        "\(environment.glyphs.conflict) \($0)",
                        environment.roles.warning.adding(.bold))
                })
            CardRow(whole: cardRow(cards, environment), brief: cardRow(brief, environment))
        }
        return ControlFrame(state, environment, isWide: true, row)
    }

    /// The cards without what the options mean.
    private var brief: [PeerValue] {
        cards.map { card in
            var card = card
            card.detail = nil
            return card
        }
    }

    private func cardRow(_ cards: [PeerValue], _ environment: StyleEnvironment) -> FlowRow {
        FlowRow(
            cards.indices.map { number in
                Target(
                    .take(number),
                    ConflictCard(
                        cards[number], isCurrent: number == 0, isChosen: number == choice,
                        environment: environment))
            })
    }
}

/// Cards that are compared side by side: whole ones, or brief ones where these need fewer lines.
private struct CardRow: Block {
    let whole: FlowRow
    let brief: FlowRow

    private func row(_ width: Int) -> FlowRow {
        brief.measure(width: width).lines < whole.measure(width: width).lines ? brief : whole
    }

    func measure(width: Int) -> Size { row(width).measure(width: width) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        row(rect.columns).render(into: &canvas, in: rect)
    }
}

/// One sibling of a conflict.
struct ConflictCard: Block {
    /// The minimum columns of a card, so that cards have similar sizes.
    private static let columnsMin = 16

    private let card: PeerValue
    private let isCurrent: Bool
    private let isChosen: Bool
    private let environment: StyleEnvironment

    init(_ card: PeerValue, isCurrent: Bool, isChosen: Bool, environment: StyleEnvironment) {
        self.card = card
        self.isCurrent = isCurrent
        self.isChosen = isChosen
        self.environment = environment
    }

    private var value: StyledText {
        let glyphs = environment.glyphs
        let roles = environment.roles
        let line = card.text.split(whereSeparator: \.isNewline).first ?? ""
        let isWhole = line.count == card.text.count
        var text = StyledText(
            isChosen ? glyphs.radioOn : glyphs.radioOff, isChosen ? roles.accent : roles.dim)
        if let tint = card.tint {
            text = text.appending(" " + glyphs.tint, CellStyle(roles.color(tint)))
        }
        text = text.appending(
            " \(line)\(isWhole ? "" : " " + glyphs.more)",
            isChosen ? roles.text.adding(.bold) : roles.text)
        return card.detail.map { text.appending("  " + $0, roles.dim) } ?? text
    }

    private var author: StyledText {
        let roles = environment.roles
        var text = StyledText("  ").appending(
            card.by?.name ?? "you",
            card.by.map { roles.peer($0.number) } ?? roles.text.adding(.bold))
        if let when = card.when {
            text = text.appending(" \(environment.glyphs.between) \(when)", roles.dim)
        }
        return text
    }

    private var note: StyledText? {
        isCurrent ? StyledText("current", environment.roles.dim) : nil
    }

    /// Columns inside the frame: those of who and when, and of the value as far as they are there.
    private func columns(in width: Int) -> Int {
        let wanted = max(value.columns, author.columns, Self.columnsMin)
        return max(min(wanted, width - 4), 1)
    }

    func measure(width: Int) -> Size {
        Size(columns: min(width, columns(in: width) + 4), lines: 4)
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        var glyphs = environment.glyphs
        if isChosen {
            glyphs.corners = glyphs.heavyCorners
            glyphs.side = glyphs.heavySide
            glyphs.rule = glyphs.heavyRule
        }
        let roles = environment.roles
        Bordered(
            note: note, style: isChosen ? roles.accent : roles.border, glyphs: glyphs,
            Column([value.truncated(), author.truncated()])
        ).render(into: &canvas, in: Rect(x: rect.x, y: rect.y, columns: rect.columns, lines: 4))
    }
}

/// Blocks side by side, wrapped to further rows.
public struct FlowRow: Block {
    /// Columns between two.
    private static let gap = 1
    private let children: [any Block]

    /// Blocks of about one height.
    public init(_ children: [any Block]) { self.children = children }

    /// The place of each block, from the upper left corner.
    private func places(_ width: Int) -> [Rect] {
        var places: [Rect] = []
        var x = 0
        var y = 0
        var height = 0
        for child in children {
            let size = child.measure(width: width)
            if x > 0, x + size.columns > width {
                x = 0
                y += height
                height = 0
            }
            places.append(Rect(x: x, y: y, columns: min(size.columns, width), lines: size.lines))
            x += size.columns + Self.gap
            height = max(height, size.lines)
        }
        return places
    }

    public func measure(width: Int) -> Size {
        let places = places(width)
        return Size(columns: places.map(\.maxX).max() ?? 0, lines: places.map(\.maxY).max() ?? 0)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        for (child, place) in zip(children, places(rect.columns)) {
            child.render(
                into: &canvas,
                in: Rect(
                    x: rect.x + place.x, y: rect.y + place.y, columns: place.columns,
                    lines: place.lines))
        }
    }
}
