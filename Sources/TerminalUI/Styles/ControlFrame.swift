// What is drawn around the body of every control, whatever its style: the focus bar, the people who
// are at the control, and its notices.

/// Label and content of a control: side by side if there is space, otherwise one below the other.
public struct LabeledRow: Block {
    /// With fewer columns, the label is above the content.
    public static let sideBySideMin = 58
    /// Columns between the two.
    static let gap = 2

    var label: ControlLabel
    var state: ControlState
    var environment: StyleEnvironment
    var content: any Block

    /// `content` beside its label, as most built-in styles are laid out.
    public init(
        _ label: ControlLabel, _ state: ControlState, _ environment: StyleEnvironment,
        _ content: some Block
    ) {
        self.label = label
        self.state = state
        self.environment = environment
        self.content = content
    }

    /// A row of the blocks of a builder, one below the other.
    public init(
        _ label: ControlLabel, _ state: ControlState, _ environment: StyleEnvironment,
        @BlockBuilder content: () -> [any Block]
    ) {
        self.init(label, state, environment, Column(content()))
    }

    private var heading: Column {
        let roles = environment.roles
        let style =
            state.flash.map { roles.peer($0.number) }
            ?? (state.isDimmed ? roles.dim : state.isFocused ? roles.heading : roles.text)
        return Column {
            label.text(style, environment)
            if let subtitle = label.subtitle { StyledText(subtitle, roles.dim) }
        }
    }

    private func labelColumns(in width: Int) -> Int? {
        width >= Self.sideBySideMin ? environment.labelColumns : nil
    }

    public func measure(width: Int) -> Size {
        let heading = self.heading
        if let columns = labelColumns(in: width) {
            let room = content.measure(width: max(0, width - columns - Self.gap))
            return Size(
                columns: columns + Self.gap + room.columns,
                lines: max(heading.measure(width: columns).lines, room.lines))
        }
        let top = heading.measure(width: width)
        let room = content.measure(width: max(0, width - 2))
        return Size(
            columns: max(top.columns, room.columns + 2), lines: top.lines + room.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let heading = self.heading
        if let columns = labelColumns(in: rect.columns) {
            heading.render(
                into: &canvas, in: Rect(x: rect.x, y: rect.y, columns: columns, lines: rect.lines))
            content.render(into: &canvas, in: rect.inset(left: columns + Self.gap))
        } else {
            let top = heading.measure(width: rect.columns).lines
            heading.render(into: &canvas, in: rect)
            content.render(into: &canvas, in: rect.inset(left: 2, top: top))
        }
    }
}

/// The body of a control with its marks.
public struct ControlFrame: Block {
    /// Columns for the bar of the focus and a space.
    static let gutter = 2
    /// Columns at the right for names, if there is enough space.
    static let margin = 14

    var state: ControlState
    var environment: StyleEnvironment
    var content: any Block

    /// The marks of `state` around `content`.
    public init(_ state: ControlState, _ environment: StyleEnvironment, _ content: some Block) {
        self.state = state
        self.environment = environment
        self.content = content
    }

    private func contentColumns(_ width: Int) -> Int {
        let inner = max(0, width - Self.gutter)
        return inner >= LabeledRow.sideBySideMin + Self.margin ? inner - Self.margin : inner
    }

    /// The notices below the content, for a number of columns.
    private var notices: [any Block] {
        let roles = environment.roles
        let glyphs = environment.glyphs
        var blocks: [any Block] = []
        switch state.validity {
        case .valid: break
        case .missing: blocks.append(StyledText("\(glyphs.cross) required", roles.error))
        case .invalid(let why): blocks.append(StyledText("\(glyphs.cross) \(why)", roles.error))
        }
        if let held = state.held {
            let who = held.by.map { $0.name } ?? "another terminal"
            blocks.append(
                StyledText("\(glyphs.held) ", roles.warning)
                    .appending(who, held.by.map { roles.peer($0.number) } ?? roles.text)
                    .appending(" set ").appending(firstLine(held.text), roles.text.adding(.bold))
                    .appending("; setting yours replaces it", roles.dim))
        }
        return blocks + state.notes
    }

    /// A text of several lines in one.
    private func firstLine(_ text: String) -> String {
        guard let end = text.firstIndex(where: \.isNewline) else { return text }
        return "\(text[..<end]) \(environment.glyphs.more)"
    }

    /// Where the notices begin: below the content, as far in.
    private func indent(_ columns: Int) -> Int {
        columns >= LabeledRow.sideBySideMin ? environment.labelColumns + LabeledRow.gap : 2
    }

    public func measure(width: Int) -> Size {
        let columns = contentColumns(width)
        let body = content.measure(width: columns)
        let room = max(0, width - Self.gutter - indent(columns))
        let notices = Column(notices).measure(width: room)
        return Size(columns: width, lines: max(1, body.lines) + notices.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let columns = contentColumns(rect.columns)
        let lines = content.measure(width: columns).lines
        let body = Rect(x: rect.x + Self.gutter, y: rect.y, columns: columns, lines: lines)
        canvas.clipped(to: body) { content.render(into: &$0, in: body) }
        let below = rect.inset(left: Self.gutter + indent(columns), top: max(1, lines))
        // Names are only beside the first line, so the lines below have the whole width.
        Column(notices).render(into: &canvas, in: below)
        if state.isFocused {
            for y in rect.y..<rect.maxY {
                canvas.write(
                    environment.glyphs.focusBar, at: Point(x: rect.x, y: y),
                    style: environment.roles.accent)
            }
            // Screen readers and input methods follow the real cursor; a text body puts it where
            // it types, since it is drawn before and only a cursor that nobody set is set here.
            if canvas.cursor == nil { canvas.setCursor(Point(x: body.x, y: rect.y)) }
        }
        marks(rect, &canvas)
    }

    /// The draft of somebody else, with their name if there is space; the colour also identifies
    /// them. A long text shows its end, where they type.
    private func draft(_ ghost: PeerValue, _ room: Int) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        let color = ghost.by.map { roles.peer($0.number) } ?? roles.ghost
        let name = StyledText("\(glyphs.ghost) \(ghost.by?.name ?? ""): ", color)
        let line = ghost.text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        if name.columns + DisplayWidth.columns(of: String(line)) <= room {
            return name.appending(String(line), roles.ghost)
        }
        let mark = StyledText("\(glyphs.ghost) ", color)
        var end = String(line)
        if mark.columns + DisplayWidth.columns(of: end) > room {
            var tail = line
            while !tail.isEmpty, mark.columns + 1 + DisplayWidth.columns(of: String(tail)) > room {
                tail.removeFirst()
            }
            end = glyphs.more + tail
        }
        return mark.appending(end, roles.ghost)
    }

    /// Who is here and what is special, at the right end of the first line as far as it is free.
    private func marks(_ rect: Rect, _ canvas: inout Canvas) {
        let roles = environment.roles
        let glyphs = environment.glyphs
        var texts: [StyledText] = []
        if let flash = state.flash {
            texts.append(
                StyledText(
                    "\(glyphs.flash) \(flash.name)", roles.peer(flash.number).adding(.reverse)))
        }
        let room = canvas.blankTail(ofLine: rect.y, in: rect.inset(left: 1)) - 1
        if let ghost = state.ghost { texts.append(draft(ghost, room)) }
        switch state.availability {
        case .editable: break
        case .readOnly: texts.append(StyledText("read only", roles.dim))
        case .disabled: texts.append(StyledText("disabled", roles.dim))
        case .locked: texts.append(StyledText("locked", roles.dim))
        }
        for peer in state.peers {
            texts.append(StyledText("\(glyphs.dot) \(peer.name)", roles.peer(peer.number)))
        }
        guard var text = texts.first else { return }
        for next in texts.dropFirst() { text = text + StyledText("  ") + next }
        let free = canvas.blankTail(ofLine: rect.y, in: rect.inset(left: 1)) - 1
        let columns = min(text.columns, free)
        if columns >= 3 {
            text.truncated().render(
                into: &canvas,
                in: Rect(x: rect.maxX - columns, y: rect.y, columns: columns, lines: 1))
        } else if let peer = state.flash ?? state.ghost?.by ?? state.peers.first {
            // No space for the name: its first cluster is shown in the gutter.
            canvas.write(
                String(peer.name.prefix(1)), at: Point(x: rect.x + 1, y: rect.y),
                style: roles.peer(peer.number))
        }
    }
}
