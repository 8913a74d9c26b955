// A conflict: each sibling is a card with its value, who picked it and when.
//
// Invariants: the chosen card differs from the others by its frame or a pointer and by a mark, not
// by colour alone; the author and the time are never cut; a long value is.

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
                ControlWords.conflict.map {
                    StyledText(
                        "\(environment.glyphs.conflict) \($0)",
                        environment.roles.warning.adding(.bold))
                })
            if environment.isLow {
                // One below the other without frames, so that all are seen.
                drawn(cards, environment, .bare)
            } else {
                CardRow(
                    rows: [
                        FlowRow(drawn(cards, environment, .wide)),
                        FlowRow(drawn(brief, environment, .wide)),
                        FlowRow(drawn(brief, environment, .narrow)),
                    ])
            }
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

    private func drawn(
        _ cards: [PeerValue], _ environment: StyleEnvironment, _ shape: ConflictCard.Shape
    ) -> [any Block] {
        cards.indices.map { number in
            Target(
                .take(number),
                ConflictCard(
                    cards[number], isCurrent: number == 0, isChosen: number == choice,
                    shape: shape, environment: environment))
        }
    }
}

/// Cards that are compared side by side: of several ways to draw them, the first that needs the
/// fewest lines.
private struct CardRow: Block {
    let rows: [FlowRow]

    private func row(_ width: Int) -> FlowRow {
        let lines = rows.map { $0.measure(width: width).lines }
        return rows[lines.firstIndex(of: lines.min() ?? 0) ?? 0]
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
    private let shape: Shape
    private let environment: StyleEnvironment

    /// How it is drawn: in a frame; in one where the time has a line of its own; without a frame.
    enum Shape { case wide, narrow, bare }

    init(
        _ card: PeerValue, isCurrent: Bool, isChosen: Bool, shape: Shape = .wide,
        environment: StyleEnvironment
    ) {
        self.card = card
        self.isCurrent = isCurrent
        self.isChosen = isChosen
        self.shape = shape
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

    /// Who set it and when.
    private var author: [StyledText] {
        let roles = environment.roles
        let name = StyledText("  ").appending(
            card.by?.name ?? ControlWords.you,
            card.by.map { roles.peer($0.number) } ?? roles.text.adding(.bold))
        guard let when = card.when else { return [name] }
        if shape == .narrow { return [name, StyledText("  " + when, roles.dim)] }
        return [name.appending(" \(environment.glyphs.between) \(when)", roles.dim)]
    }

    private var note: StyledText? {
        isCurrent ? StyledText(ControlWords.current, environment.roles.dim) : nil
    }

    /// Value and author without a frame, after a pointer to the chosen one.
    private var bare: Column {
        let (glyphs, roles) = (environment.glyphs, environment.roles)
        let pointer = StyledText(isChosen ? "\(glyphs.pointer) " : "  ", roles.accent)
        var who = StyledText("  ") + author[0]
        if let note { who = who.appending(" \(glyphs.between) ", roles.dim) + note }
        return Column([(pointer + value).truncated(), who.truncated()])
    }

    /// Columns inside the frame: those of who and when, and of the value as far as they are there.
    private func columns(in width: Int) -> Int {
        let wanted = author.reduce(max(value.columns, Self.columnsMin)) { max($0, $1.columns) }
        return max(min(wanted, width - 4), 1)
    }

    func measure(width: Int) -> Size {
        if shape == .bare { return bare.measure(width: width) }
        return Size(columns: min(width, columns(in: width) + 4), lines: 3 + author.count)
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        if shape == .bare { return bare.render(into: &canvas, in: rect) }
        var glyphs = environment.glyphs
        if isChosen {
            glyphs.corners = glyphs.heavyCorners
            glyphs.side = glyphs.heavySide
            glyphs.rule = glyphs.heavyRule
        }
        let roles = environment.roles
        Bordered(
            note: note, style: isChosen ? roles.accent : roles.border, glyphs: glyphs,
            Column([value.truncated()] + author.map { $0.truncated() })
        ).render(into: &canvas, in: rect)
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
