// A window on something longer than the screen.

/// How far something is scrolled.
public struct ScrollState: Hashable, Sendable {
    /// Lines above the window.
    public private(set) var offset: Int

    /// Scrolled by `offset` lines.
    public init(offset: Int = 0) { self.offset = max(0, offset) }

    /// Scrolls by `lines`, within the content.
    public mutating func scroll(by lines: Int, content: Int, window: Int) {
        let (sum, overflow) = offset.addingReportingOverflow(lines)
        offset = min(max(overflow ? 0 : sum, 0), max(0, content - window))
    }

    /// Scrolls as little as possible to show `lines`, with `margin` lines around them if there is
    /// space. If the window is too small for all of them, it shows the first.
    public mutating func show(
        _ lines: Range<Int>, margin: Int = 1, content: Int, window: Int
    ) {
        let space = max(0, min(margin, (window - lines.count) / 2))
        let top = lines.lowerBound - space
        let bottom = lines.upperBound + space
        if bottom > offset + window { offset = bottom - window }
        if top < offset { offset = top }
        scroll(by: 0, content: content, window: window)
    }

    /// Scrolls so that the window does not begin inside `part`: it begins with its first line if
    /// all of `lines` are visible then, otherwise after its last one. That may be so near the end
    /// of the content that empty lines follow it, at most half of the window.
    public mutating func showWhole(
        _ part: Range<Int>, keeping lines: Range<Int>, content: Int, window: Int
    ) {
        guard part.lowerBound < offset, offset < part.upperBound else { return }
        if lines.upperBound <= part.lowerBound + window {
            offset = part.lowerBound
        } else if part.upperBound <= lines.lowerBound,
            part.upperBound + window - content <= window / 2
        {
            offset = part.upperBound
        }
    }
}

/// The visible part of a block, with a scroll bar at the right if there is more.
public struct Viewport: Block {
    var scroll: ScrollState
    var lines: Int
    var glyphs: Glyphs
    var roles: RoleStyles
    var content: any Block

    /// A window of `lines` on `content`.
    public init(
        _ scroll: ScrollState, lines: Int, environment: StyleEnvironment, _ content: some Block
    ) {
        self.scroll = scroll
        self.lines = lines
        glyphs = environment.glyphs
        roles = environment.roles
        self.content = content
    }

    public func measure(width: Int) -> Size {
        let inner = content.measure(width: max(0, width - 1))
        return Size(columns: min(width, inner.columns + 1), lines: min(lines, inner.lines))
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let area = rect.inset(right: 1)
        let total = content.measure(width: area.columns).lines
        let offset = min(scroll.offset, max(0, total - rect.lines))
        canvas.clipped(to: area) { canvas in
            content.render(
                into: &canvas,
                in: Rect(x: area.x, y: area.y - offset, columns: area.columns, lines: total))
        }
        guard total > rect.lines, rect.lines > 0 else { return }
        let thumb = max(1, rect.lines * rect.lines / total)
        let top = (rect.lines - thumb) * offset / max(1, total - rect.lines)
        for line in 0..<rect.lines {
            let isThumb = line >= top && line < top + thumb
            canvas.write(
                isThumb ? glyphs.scrollThumb : glyphs.scrollTrack,
                at: Point(x: rect.maxX - 1, y: rect.y + line),
                style: isThumb ? roles.dim : roles.border)
        }
    }
}
