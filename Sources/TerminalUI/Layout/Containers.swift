// Blocks around other blocks: padding, borders, titles, regions.

/// A block with padding.
public struct Padding: Block {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int
    var content: any Block

    /// Padding around `content`, in columns and lines.
    public init(
        left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0, _ content: some Block
    ) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
        self.content = content
    }

    public func measure(width: Int) -> Size {
        let inner = content.measure(width: max(0, width - left - right))
        return Size(
            columns: min(width, inner.columns + left + right), lines: inner.lines + top + bottom)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        content.render(
            into: &canvas, in: rect.inset(left: left, top: top, right: right, bottom: bottom))
    }
}

/// The alignment of a block in a wider space.
public enum Alignment: Hashable, Sendable {
    case leading, center, trailing
}

/// A block with a fixed width.
public struct Framed: Block {
    var columns: Int
    var alignment: Alignment
    var content: any Block

    /// `content` in `columns`, or in the available width.
    public init(columns: Int, _ alignment: Alignment = .leading, _ content: some Block) {
        self.columns = columns
        self.alignment = alignment
        self.content = content
    }

    public func measure(width: Int) -> Size {
        let space = max(0, min(width, columns))
        return Size(columns: space, lines: content.measure(width: space).lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let space = min(rect.columns, columns)
        let own = min(space, content.measure(width: space).columns)
        let shift =
            switch alignment {
            case .leading: 0
            case .center: (space - own) / 2
            case .trailing: space - own
            }
        content.render(
            into: &canvas,
            in: Rect(
                x: rect.x + shift, y: rect.y,
                columns: alignment == .leading ? space : own, lines: rect.lines))
    }
}

/// A block with its own width, even if more columns are available.
public struct Fitted: Block {
    var content: any Block

    /// `content` with its own width.
    public init(_ content: some Block) { self.content = content }

    public func measure(width: Int) -> Size { content.measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let columns = min(rect.columns, content.measure(width: rect.columns).columns)
        content.render(
            into: &canvas, in: Rect(x: rect.x, y: rect.y, columns: columns, lines: rect.lines))
    }
}

/// A block with a background that fills its area.
public struct Filled: Block {
    var style: CellStyle
    var content: any Block

    /// `content` on cells of `style`.
    public init(_ style: CellStyle, _ content: some Block) {
        self.style = style
        self.content = content
    }

    public func measure(width: Int) -> Size { content.measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.fill(rect, style: style)
        content.render(into: &canvas, in: rect)
    }
}

/// A block in a border, with a title in its upper and a note in its lower edge.
public struct Bordered: Block {
    var title: StyledText?
    var note: StyledText?
    var style: CellStyle
    var glyphs: Glyphs
    var content: any Block

    /// A border around `content`.
    public init(
        title: StyledText? = nil, note: StyledText? = nil, style: CellStyle, glyphs: Glyphs,
        _ content: some Block
    ) {
        self.title = title
        self.note = note
        self.style = style
        self.glyphs = glyphs
        self.content = content
    }

    public func measure(width: Int) -> Size {
        let inner = content.measure(width: max(0, width - 4))
        let edge = max(title?.columns ?? 0, note?.columns ?? 0) + 2
        return Size(columns: min(width, max(inner.columns, edge) + 4), lines: inner.lines + 2)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        guard rect.columns >= 2, rect.lines >= 2 else { return }
        edge(0, 1, title, rect.line(0), &canvas)
        edge(2, 3, note, rect.line(rect.lines - 1), &canvas)
        for y in rect.y + 1..<rect.maxY - 1 {
            canvas.write(glyphs.side, at: Point(x: rect.x, y: y), style: style)
            canvas.write(glyphs.side, at: Point(x: rect.maxX - 1, y: y), style: style)
        }
        let inner = rect.inset(left: 2, top: 1, right: 2, bottom: 1)
        canvas.clipped(to: inner) { content.render(into: &$0, in: inner) }
    }

    private func edge(
        _ left: Int, _ right: Int, _ text: StyledText?, _ rect: Rect, _ canvas: inout Canvas
    ) {
        let bar = String(repeating: glyphs.rule, count: rect.columns - 2)
        canvas.write(
            glyphs.corners[left] + bar + glyphs.corners[right], at: rect.origin, style: style)
        guard let text, rect.columns > 8 else { return }
        let columns = min(text.columns, rect.columns - 6)
        let place = Rect(x: rect.x + 2, y: rect.y, columns: columns + 2, lines: 1)
        canvas.fill(place)
        text.truncated().render(into: &canvas, in: place.inset(left: 1, right: 1))
    }
}

/// A block that reacts to the mouse.
public struct Target: Block {
    var target: HitRegion.Target
    var content: any Block

    /// `content`, on which a click does `action`.
    public init(_ action: ControlAction, _ content: some Block) {
        target = .action(action)
        self.content = content
    }

    public func measure(width: Int) -> Size { content.measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.addRegion(rect, target)
        content.render(into: &canvas, in: rect)
    }
}

/// A block that belongs to a control.
public struct Owned: Block {
    var owner: String
    var content: any Block

    /// `content`, whose regions and place are those of the control `owner`.
    public init(by owner: String, _ content: some Block) {
        self.owner = owner
        self.content = content
    }

    public func measure(width: Int) -> Size { content.measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.draw(content, of: owner, in: rect)
    }
}
