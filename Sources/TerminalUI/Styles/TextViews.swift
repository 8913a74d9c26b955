// Text that is typed, secrets, and text that is only read.

import SyncCore

/// One line of text with a cursor; long text scrolls to the left.
public struct EditLine: Block {
    public var editor: TextEditor
    /// Shown if the text is empty.
    public var prompt: String?
    public var style: CellStyle
    public var isEditing: Bool
    public var environment: StyleEnvironment
    /// Columns that it takes; all that are there where `nil`.
    public var columns: Int?

    /// A line of text.
    public init(
        editor: TextEditor, prompt: String? = nil, style: CellStyle, isEditing: Bool,
        environment: StyleEnvironment, columns: Int? = nil
    ) {
        self.editor = editor
        self.prompt = prompt
        self.style = style
        self.isEditing = isEditing
        self.environment = environment
        self.columns = columns
    }

    public func measure(width: Int) -> Size {
        Size(columns: min(columns ?? width, width), lines: 1)
    }

    /// A cluster as it is shown: a line break in a text of one line, a control that came with the
    /// value, are marks.
    static func shown(_ cluster: Character) -> String {
        if cluster == "\t" { return " " }
        let text = String(cluster).escapedForDisplay()
        // A cluster without a column must be visible too, because the cursor can be before it.
        return DisplayWidth.columns(of: text) == 0 ? "\u{FFFD}" : text
    }

    /// The part of the text that is drawn.
    private struct Window {
        /// The first cluster that is shown.
        var first: Int
        /// What is shown of the clusters from there on that fit, and of one more.
        var shown: [String] = []
        /// Their columns, and the end of the last one.
        var columns: [Int]
    }

    /// Looks only at the clusters that are drawn: a value may be as long as a frame.
    private func window(_ width: Int) -> Window {
        func columns(_ index: Int) -> Int {
            DisplayWidth.columns(of: Self.shown(editor.clusters[index]))
        }
        var first = isEditing ? editor.cursor : 0
        var toCursor = 0
        while first > 0 {
            toCursor += columns(first - 1)
            // One column is left for the cursor at the end, one for the mark of what is hidden.
            if toCursor + (first > 1 ? 1 : 0) > width - 1 { break }
            first -= 1
        }
        var window = Window(first: first, columns: [first > 0 ? 1 : 0])
        for cluster in editor.clusters[first...] {
            let column = window.columns[window.columns.count - 1]
            if column > width { break }
            let shown = Self.shown(cluster)
            window.shown.append(shown)
            window.columns.append(column + DisplayWidth.columns(of: shown))
        }
        return window
    }

    public func render(into canvas: inout Canvas, in space: Rect) {
        let roles = environment.roles
        let rect = space.line(0)
        canvas.fill(rect, style: style)
        if editor.clusters.isEmpty, let prompt {
            StyledText(prompt, roles.faint(in: style).adding(.italic)).truncated()
                .render(into: &canvas, in: rect)
        }
        let window = window(rect.columns)
        let (first, columns) = (window.first, window.columns)
        canvas.clipped(to: rect) { canvas in
            for (offset, shown) in window.shown.enumerated() {
                let isSelected = editor.selection?.contains(first + offset) ?? false
                canvas.write(
                    shown, at: Point(x: rect.x + columns[offset], y: rect.y),
                    style: isSelected ? roles.selection : style)
            }
            let mark = roles.accent.on(style.background)
            if first > 0 { canvas.write(environment.glyphs.back, at: rect.origin, style: mark) }
            if columns[columns.count - 1] > rect.columns {
                let last = Point(x: rect.maxX - 1, y: rect.y)
                canvas.write(environment.glyphs.chevron, at: last, style: mark)
            }
        }
        canvas.addRegion(rect, .text(first: first, columns: columns))
        placeCursor(in: rect, &canvas)
    }

    /// Puts the terminal's cursor at the place of the next character.
    func placeCursor(in rect: Rect, _ canvas: inout Canvas) {
        guard isEditing else { return }
        let window = window(rect.columns)
        let (first, columns) = (window.first, window.columns)
        let column = columns[min(max(editor.cursor - first, 0), columns.count - 1)]
        canvas.setCursor(Point(x: rect.x + min(column, rect.columns - 1), y: rect.y))
    }
}

/// Several lines of text with a cursor; long lines wrap.
struct EditArea: Block {
    var editor: TextEditor
    var prompt: String?
    var style: CellStyle
    var isEditing: Bool
    var environment: StyleEnvironment
    var linesMax: Int

    /// A line on the screen: its clusters, and the column of each and of the end.
    private struct Line {
        var range: Range<Int>
        var columns: [Int]
    }

    private func lines(_ width: Int) -> [Line] {
        var lines: [Line] = []
        var line = Line(range: 0..<0, columns: [0])
        for (index, cluster) in editor.clusters.enumerated() {
            if cluster.isNewline {
                lines.append(line)
                line = Line(range: index + 1..<index + 1, columns: [0])
                continue
            }
            let columns = DisplayWidth.columns(of: EditLine.shown(cluster))
            // One column is kept for the cursor after the last cluster.
            if line.columns[line.columns.count - 1] + columns > max(1, width - 1) {
                lines.append(line)
                line = Line(range: index..<index, columns: [0])
            }
            line.range = line.range.lowerBound..<index + 1
            line.columns.append(line.columns[line.columns.count - 1] + columns)
        }
        lines.append(line)
        return lines
    }

    private func cursorLine(_ lines: [Line]) -> Int {
        lines.lastIndex { $0.range.lowerBound <= editor.cursor } ?? 0
    }

    func measure(width: Int) -> Size {
        Size(columns: width, lines: min(max(3, lines(width).count), max(3, linesMax)))
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        let roles = environment.roles
        canvas.fill(rect, style: style)
        if editor.clusters.isEmpty, let prompt {
            StyledText(prompt, roles.faint(in: style).adding(.italic))
                .render(into: &canvas, in: rect)
        }
        let all = lines(rect.columns)
        let current = isEditing ? cursorLine(all) : 0
        let first = min(max(0, current - rect.lines + 1), max(0, all.count - rect.lines))
        for (number, line) in all.dropFirst(first).prefix(rect.lines).enumerated() {
            let y = rect.y + number
            for (offset, index) in line.range.enumerated() {
                let isSelected = editor.selection?.contains(index) ?? false
                canvas.write(
                    EditLine.shown(editor.clusters[index]),
                    at: Point(x: rect.x + line.columns[offset], y: y),
                    style: isSelected ? roles.selection : style)
            }
            canvas.addRegion(
                rect.line(number), .text(first: line.range.lowerBound, columns: line.columns))
            if isEditing, first + number == current {
                let column = line.columns[
                    min(editor.cursor - line.range.lowerBound, line.columns.count - 1)]
                canvas.setCursor(Point(x: rect.x + min(column, rect.columns - 1), y: y))
            }
        }
        let hidden = all.count - first - rect.lines
        if hidden > 0 {
            let note = "\(environment.glyphs.down)\(hidden)"
            let columns = DisplayWidth.columns(of: note)
            canvas.write(
                note, at: Point(x: rect.maxX - columns, y: rect.maxY - 1),
                style: roles.faint(in: style))
        }
    }
}

/// A field's text on a background, with one column at each side.
func filledField(_ text: some Block, _ style: CellStyle, columns: Int) -> Framed {
    Framed(columns: columns, .leading, Filled(style, Padding(left: 1, right: 1, text)))
}

/// A text field of one line or several.
public struct TextView: ControlView {
    public var label: ControlLabel
    public var editor: TextEditor
    public var prompt: String?
    /// Whether it gets the text that is typed.
    public var isEditing: Bool
    /// Lines of a text of several that are shown at most.
    public var linesMax: Int
    public var state: ControlState

    /// A text field.
    public init(
        label: ControlLabel, editor: TextEditor, prompt: String? = nil, isEditing: Bool = false,
        linesMax: Int = 6, state: ControlState = ControlState()
    ) {
        self.label = label
        self.editor = editor
        self.prompt = prompt
        self.isEditing = isEditing
        self.linesMax = linesMax
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let roles = environment.roles
        // An underline below each of several lines would distract.
        let isLine = !editor.isMultiline
        var style = state.isFocused && isLine ? roles.fieldFocused : roles.field
        if state.isDimmed { style = roles.faint(in: roles.field) }
        let isMixed = state.isMixed && !isEditing
        let prompt = isMixed ? ControlWords.mixed(environment.glyphs.dash) : self.prompt
        let editor = isMixed ? TextEditor(isMultiline: self.editor.isMultiline) : self.editor
        let text: any Block =
            editor.isMultiline
            ? EditArea(
                editor: editor, prompt: prompt, style: style, isEditing: isEditing,
                environment: environment, linesMax: linesMax)
            : EditLine(
                editor: editor, prompt: prompt, style: style, isEditing: isEditing,
                environment: environment)
        let field = filledField(text, style, columns: environment.inputColumns)
        var state = state
        if isEditing, let maxLength = editor.maxLength {
            let count = editor.clusters.count
            let isFull = count >= maxLength
            state.notes.insert(
                StyledText("\(count)/\(maxLength)", isFull ? roles.warning : roles.dim), at: 0)
        }
        return framed(state, environment, LabeledRow(label, state, environment, field))
    }
}

/// A secret: shows dots while it is typed, never the text.
public struct SecureView: ControlView {
    /// The number of dots for a stored secret, independent of its length.
    static let dots = 8
    public var label: ControlLabel
    /// Whether a secret is stored.
    public var isSet: Bool
    /// What is being typed in place of it.
    public var editor: TextEditor?
    public var prompt: String?
    /// Whether capitals are locked; `nil` if that cannot be known.
    public var isCapsLocked: Bool?
    public var state: ControlState

    /// A secret.
    public init(
        label: ControlLabel, isSet: Bool, editor: TextEditor? = nil, prompt: String? = nil,
        isCapsLocked: Bool? = nil, state: ControlState = ControlState()
    ) {
        self.label = label
        self.isSet = isSet
        self.editor = editor
        self.prompt = prompt
        self.isCapsLocked = isCapsLocked
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let roles = environment.roles
        let glyphs = environment.glyphs
        var style = state.isFocused ? roles.fieldFocused : roles.field
        if state.isDimmed { style = roles.faint(in: roles.field) }
        let count = editor?.clusters.count ?? (isSet ? Self.dots : 0)
        var dots = TextEditor(String(repeating: glyphs.secret, count: count))
        dots.move(to: editor?.cursor ?? 0)
        if let selection = editor?.selection, let cursor = editor?.cursor {
            let isForward = cursor == selection.upperBound
            dots.move(to: isForward ? selection.lowerBound : selection.upperBound)
            dots.move(to: cursor, extending: true)
        }
        let field = filledField(
            EditLine(
                editor: dots, prompt: prompt, style: style, isEditing: editor != nil,
                environment: environment), style, columns: environment.inputColumns)
        var state = state
        if editor != nil, isCapsLocked == true {
            state.notes.insert(
                StyledText("\(glyphs.capsLock) \(ControlWords.capsLock)", roles.warning), at: 0)
        }
        // While a secret is typed, a warning matters more than the secret before it.
        if state.validity == .valid, editor == nil || state.notes.isEmpty {
            state.notes.append(StyledText(ControlWords.secret(isSet: isSet), roles.dim))
        }
        return framed(state, environment, LabeledRow(label, state, environment, field))
    }
}

/// Text that is only read: a template with values in it.
public struct LabelView: ControlView {
    public var label: ControlLabel?
    public var text: String
    public var state: ControlState

    /// A text, by itself or beside a label.
    public init(label: ControlLabel?, text: String, state: ControlState = ControlState()) {
        self.label = label
        self.text = text
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let text = StyledText(self.text, state.isDimmed ? environment.roles.dim : .plain)
        guard let label else { return framed(state, environment, text) }
        return framed(state, environment, LabeledRow(label, state, environment, text))
    }
}
