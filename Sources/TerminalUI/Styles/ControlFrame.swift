// What is drawn around the body of every control, whatever its style: the focus bar, the people who
// are at the control, and its notices.

internal import SyncCore

/// Label and content of a control: side by side if there is space, otherwise one below the other.
public struct LabeledRow: Block {
    /// With fewer columns, the label is above the content.
    public static let sideBySideMin = 58
    /// Columns between the two.
    static let gap = 2

    private let heading: any Block
    /// The same if it is beside the content.
    private let headingBeside: any Block
    /// The columns of the label if it is beside the content.
    private let columns: Int
    /// The line of the content that the label is beside.
    private let baseline: Int
    private let content: any Block

    /// `content` beside its label, as most built-in styles are laid out. With an empty title it is
    /// in the same column.
    public init(
        _ label: ControlLabel, _ state: ControlState, _ environment: StyleEnvironment,
        baseline: Int = 0, _ content: some Block
    ) {
        self.init(label, Self.style(of: state, environment), environment, baseline, content)
    }

    /// The same with a label in another style than that of the state.
    init(
        _ label: ControlLabel, _ style: CellStyle, _ environment: StyleEnvironment,
        _ baseline: Int, _ content: some Block
    ) {
        let heading = Self.heading(label, style, environment)
        self.heading = heading
        headingBeside =
            environment.labelAlignment == .leading
            ? heading : Self.heading(label, style, environment, isTrailing: true)
        columns = environment.labelColumns
        self.baseline = baseline
        self.content = content
    }

    /// A row of the blocks of a builder, one below the other.
    public init(
        _ label: ControlLabel, _ state: ControlState, _ environment: StyleEnvironment,
        baseline: Int = 0, @BlockBuilder content: () -> [any Block]
    ) {
        self.init(label, state, environment, baseline: baseline, Column(content()))
    }

    private static func style(
        of state: ControlState, _ environment: StyleEnvironment
    ) -> CellStyle {
        let roles = environment.roles
        if let flash = state.flash { return roles.peer(flash.number) }
        return state.isDimmed ? roles.dim : state.isFocused ? roles.heading : roles.text
    }

    private static func heading(
        _ label: ControlLabel, _ style: CellStyle, _ environment: StyleEnvironment,
        isTrailing: Bool = false
    ) -> any Block {
        func line(_ text: StyledText) -> StyledText { isTrailing ? text.trailing() : text }
        let title = line(label.text(style, environment))
        if label.subtitle == nil, !label.title.isEmpty { return title }
        return Column {
            if !label.title.isEmpty { title }
            if let subtitle = label.subtitle {
                line(StyledText(subtitle, environment.roles.dim))
            }
        }
    }

    /// The columns of the content.
    func contentColumns(in width: Int) -> Int {
        labelColumns(in: width).map { max(0, width - $0 - Self.gap) } ?? max(0, width - 2)
    }

    private func labelColumns(in width: Int) -> Int? {
        width >= Self.sideBySideMin ? columns : nil
    }

    public func baseline(width: Int) -> Int { labelColumns(in: width) == nil ? 0 : baseline }

    public func measure(width: Int) -> Size {
        if let columns = labelColumns(in: width) {
            let inner = content.measure(width: max(0, width - columns - Self.gap))
            return Size(
                columns: columns + Self.gap + inner.columns,
                lines: max(baseline + headingBeside.measure(width: columns).lines, inner.lines))
        }
        let top = heading.measure(width: width)
        let inner = content.measure(width: max(0, width - 2))
        return Size(
            columns: max(top.columns, inner.columns + 2), lines: top.lines + inner.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        if let columns = labelColumns(in: rect.columns) {
            headingBeside.render(
                into: &canvas,
                in: Rect(
                    x: rect.x, y: rect.y + baseline, columns: columns,
                    lines: rect.lines - baseline))
            content.render(into: &canvas, in: rect.inset(left: columns + Self.gap))
        } else {
            let top = heading.measure(width: rect.columns).lines
            heading.render(into: &canvas, in: rect)
            content.render(into: &canvas, in: rect.inset(left: 2, top: top))
        }
    }
}

/// The body of a control with its marks.
///
/// Notes about a control (people, errors, a draft) are at the right end of the line of its label,
/// in columns that are reserved for them, so that nothing moves when they change.
public struct ControlFrame: Block {
    /// From this width on there are wide gutters, and columns for marks.
    public static let wideMin = 76

    /// Columns at the left of a form: the bar of the focus, and spaces.
    public static func gutter(in width: Int) -> Int { width >= wideMin ? 4 : 2 }

    /// Columns at the right that are kept for marks.
    static func margin(in width: Int) -> Int {
        width < wideMin ? 0 : min(max(width - wideMin, 14), 26)
    }

    var state: ControlState
    var environment: StyleEnvironment
    /// Whether the content may use the columns of marks below its first line.
    var isWide: Bool
    var content: any Block

    /// The marks of `state` around `content`.
    public init(
        _ state: ControlState, _ environment: StyleEnvironment, isWide: Bool = false,
        _ content: some Block
    ) {
        self.state = state
        self.environment = environment
        self.isWide = isWide
        self.content = content
    }

    /// Columns from two after the inputs to the end.
    private func notesColumns(_ width: Int) -> Int {
        let label = Self.gutter(in: width) + environment.labelColumns + LabeledRow.gap
        return width < Self.wideMin ? 0 : width - label - environment.inputColumns - 2
    }

    private func contentColumns(_ width: Int) -> Int {
        max(0, width - Self.gutter(in: width) - (isWide ? 0 : Self.margin(in: width)))
    }

    /// A text of several lines in one.
    private func firstLine(_ text: String) -> String {
        guard let end = text.firstIndex(where: \.isNewline) else { return text }
        return "\(text[..<end]) \(environment.glyphs.more)"
    }

    public func measure(width: Int) -> Size {
        Size(
            columns: width, lines: max(1, content.measure(width: contentColumns(width)).lines))
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let columns = contentColumns(rect.columns)
        let gutter = Self.gutter(in: rect.columns)
        let body = Rect(x: rect.x + gutter, y: rect.y, columns: columns, lines: rect.lines)
        canvas.clipped(to: body) { content.render(into: &$0, in: body) }
        if state.isFocused {
            let bar = Point(x: rect.x + gutter / 2 - 1, y: 0)
            for y in rect.y..<rect.maxY {
                canvas.write(
                    environment.glyphs.focusBar, at: Point(x: bar.x, y: y),
                    style: environment.roles.accent)
            }
            // Screen readers and input methods follow the real cursor; a text body puts it where
            // it types, since it is drawn before and only a cursor that nobody set is set here.
            if canvas.cursor == nil { canvas.setCursor(Point(x: body.x, y: rect.y)) }
        }
        let line = min(content.baseline(width: columns), max(0, rect.lines - 1))
        marks(rect, y: rect.y + line, gutter, &canvas)
        let row = environment.roles.row
        if state.isFocused, row != .standard {
            canvas.restyle(rect.inset(left: gutter / 2 - 1)) { style in
                if style.background == .standard { style.background = row }
            }
        }
    }

    /// The draft of somebody else, with their name if there is space; the colour also identifies
    /// them. A long text shows its end, where they type.
    private func draft(_ ghost: PeerValue, _ space: Int) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        let color = ghost.by.map { roles.peer($0.number) } ?? roles.ghost
        let name = StyledText("\(glyphs.ghost) \(ghost.by?.name ?? ""): ", color)
        let line = ghost.text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        if name.columns + DisplayWidth.columns(of: String(line)) <= space {
            return name.appending(String(line), roles.ghost)
        }
        let mark = StyledText("\(glyphs.ghost) ", color)
        var end = String(line)
        if mark.columns + DisplayWidth.columns(of: end) > space {
            var tail = line
            while !tail.isEmpty, mark.columns + 1 + DisplayWidth.columns(of: String(tail)) > space {
                tail.removeFirst()
            }
            end = glyphs.more + tail
        }
        return mark.appending(end, roles.ghost)
    }

    /// Draws people and marks at the right end of a line, as far as it is free.
    private func marks(_ rect: Rect, y: Int, _ gutter: Int, _ canvas: inout Canvas) {
        // In a narrow form, a mark that touches the scroll bar would look like a part of it.
        let edge = rect.columns < Self.wideMin ? 1 : 0
        let space =
            canvas.blankTail(ofLine: y, in: rect.inset(left: gutter - 1)) - 1 - edge
        var notes = notes(space)
        for note in state.notes { notes.append(RowNote(note)) }
        if let ghost = state.ghost { notes.append(RowNote(draft(ghost, space))) }
        notes += special()
        guard let text = RowNote.fitted(notes, to: space) else { return }
        // Marks begin in one column if they fit there: after the inputs, or after a longer value.
        let column = [notesColumns(rect.columns), Self.margin(in: rect.columns) - 2]
            .first { text.columns <= $0 && $0 <= space }
        // A note that is cut has two columns before it, or it would read as part of the value.
        let columns = column ?? (text.columns <= space ? text.columns : space - 1)
        if columns >= 3 {
            text.truncated().render(
                into: &canvas,
                in: Rect(x: rect.maxX - edge - columns, y: y, columns: columns, lines: 1))
        } else if let peer = state.flash ?? state.ghost?.by ?? state.peers.first {
            // No space for the name: its first cluster is shown in the gutter, in place of the bar
            // of the focus where that would touch the label.
            let color = environment.roles.peer(peer.number)
            let column = max(0, gutter - 2)
            canvas.write(
                String(peer.name.prefix(1)), at: Point(x: rect.x + column, y: y),
                style: state.isFocused && column == 0 ? color.adding(.reverse) : color)
        }
    }

    /// The notes: the newest author, errors, and a change that waits. A reason without a readable
    /// text becomes a word.
    private func notes(_ space: Int) -> [RowNote] {
        let roles = environment.roles
        let glyphs = environment.glyphs
        var notes: [RowNote] = []
        func add(_ text: StyledText, shorter: [RowNote.Wording] = []) {
            notes.append(RowNote(text, shorter: shorter))
        }
        if let flash = state.flash {
            add(
                StyledText(
                    "\(glyphs.flash) \(flash.name)", roles.peer(flash.number).adding(.reverse)))
        }
        if let recent = state.recent {
            add(StyledText(recent, roles.dim), shorter: [.init(StyledText(""), .author)])
        }
        if let lease = state.lease {
            add(StyledText(lease, state.isEnding ? roles.warning : roles.dim))
        }
        if let proposed = state.proposed { notes.append(proposal(proposed)) }
        switch state.validity {
        case .valid: break
        case .missing: add(StyledText("\(glyphs.cross) \(ControlWords.required)", roles.error))
        case .invalid(let why):
            let word = StyledText("\(glyphs.cross) \(ControlWords.invalid)", roles.error)
            // What is wrong, without what is expected instead.
            let brief = StyledText("\(glyphs.cross) \(why.prefix { $0 != ";" })", roles.error)
            add(
                StyledText("\(glyphs.cross) \(why)", roles.error),
                shorter: [.init(brief, .reason)]
                    + (space < 24 || state.held != nil ? [.init(word, .reason)] : []))
        }
        if let held = state.held {
            let who = held.by.map { $0.name } ?? ControlWords.anotherTerminal
            let color = held.by.map { roles.peer($0.number) } ?? roles.text
            let mark = StyledText("\(glyphs.held) ", roles.warning)
            let text = firstLine(held.text)
            add(
                mark.appending(who, color).appending(" set ", roles.dim)
                    .appending(text, roles.text.adding(.bold)),
                // After a reason: the line above the keys does not say who set it.
                shorter: [.init(mark.appending(text, color), .reason)])
        }
        return notes
    }

    /// A change that waits for approval: `⇢ 50 %  alice: "INC-231"`, without the message or its
    /// author if there is not enough space.
    private func proposal(_ proposed: ProposedValue) -> RowNote {
        let roles = environment.roles
        let more = proposed.more > 0 ? " +\(proposed.more)" : ""
        let alone = StyledText("\(environment.glyphs.proposed) ", roles.warning)
            .appending(firstLine(proposed.text), roles.text.adding(.bold))
        let value = alone.appending(more, roles.dim)
        let named = value.appending("  ", roles.dim)
            .appending(
                proposed.by?.name ?? ControlWords.you,
                proposed.by.map { roles.peer($0.number) } ?? roles.dim)
        let shorter = [RowNote.Wording(value, .proposer), .init(alone, .proposer)]
        guard let message = proposed.message else { return RowNote(named, shorter: shorter) }
        return RowNote(
            named.appending(": \"\(message)\"", roles.dim),
            shorter: [.init(named, .message)] + shorter)
    }

    /// Why it cannot be edited, and whose focus is here: by name if there is space for all names.
    private func special() -> [RowNote] {
        let roles = environment.roles
        let dot = environment.glyphs.dot
        var notes: [RowNote] = []
        switch state.availability {
        case .editable: break
        case .readOnly: notes.append(RowNote(StyledText(ControlWords.readOnly, roles.dim)))
        case .disabled:
            let word = StyledText(ControlWords.disabled, roles.dim)
            let reason = state.reason.map { StyledText($0, roles.dim) }
            notes.append(RowNote(reason ?? word, shorter: [.init(word, .reason)]))
        case .locked: notes.append(RowNote(StyledText(ControlWords.locked, roles.dim)))
        }
        guard let first = state.peers.first else { return notes }
        let names = state.peers.map { StyledText("\(dot) \($0.name)", roles.peer($0.number)) }
        let color = roles.peer(first.number)
        let count = names.count > 1 ? ["\(dot) \(ControlWords.here(names.count))"] : []
        notes.append(
            RowNote(
                RowNote.line(names),
                shorter: (count + [dot]).map { .init(StyledText($0, color), .peers) }
                    + [.init(StyledText(""), .presence)]))
        return notes
    }
}
