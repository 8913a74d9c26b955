// The canvas of blocks: cells, and regions for the mouse, screen readers and scrolling.
//
// Invariants: nothing is drawn and no region reaches outside `clip`; regions that were added later
// lie on top.

public import SyncCore

/// An action on a control, by key or mouse.
public enum ControlAction: Hashable, Sendable {
    /// Only focus it.
    case focus
    /// Pick the option (null: none), or turn it on or off where several can be picked.
    case option(JSON)
    /// Open a menu or push a list.
    case open
    /// Close it again.
    case close
    case toggle, press, confirm, cancel
    case increment, decrement
    /// The place `position` of a track of `last + 1` places.
    case track(position: Int, last: Int)
    /// Put the cursor before the cluster `offset`.
    case cursor(offset: Int)
    /// Turn a part of a control (a wheel, a date's month) to a row.
    case row(part: Int, tag: JSON)
    /// Edit a part of a date.
    case part(Int)
    case day(CivilDate)
    /// Turn the calendar by this number of months.
    case turn(months: Int)
    /// Scroll by this number of rows or palette items.
    case scroll(Int)
    /// Choose a card of a conflict.
    case take(Int)
    /// Fold or unfold a section.
    case fold
    /// A command of the program around the form, by its name.
    case command(String)
}

/// A part of the screen that reacts to the mouse.
public struct HitRegion: Hashable, Sendable {
    public var rect: Rect
    /// The control that it belongs to.
    public var owner: String?
    public var target: Target

    /// The meaning of a position in the region.
    public enum Target: Hashable, Sendable {
        case action(ControlAction)
        /// A track whose places are the region's columns.
        case track
        /// A line of text: the offset of its first cluster, the column that each begins at, and
        /// last the column after the last.
        case text(first: Int, columns: [Int])
    }

    /// The action of a click or a drag at this position; a position outside counts as the nearest
    /// one inside.
    public func action(at point: Point) -> ControlAction {
        let x = min(max(point.x - rect.x, 0), max(0, rect.columns - 1))
        switch target {
        case .action(let action): return action
        case .track: return .track(position: x, last: max(1, rect.columns - 1))
        case .text(let first, let columns):
            return .cursor(offset: first + max(0, columns.count { $0 <= x } - 1))
        }
    }
}

/// Where a control was laid out, visible or not.
public struct OwnedFrame: Hashable, Sendable {
    public var owner: String
    public var rect: Rect

    /// The place of a control.
    public init(owner: String, rect: Rect) {
        self.owner = owner
        self.rect = rect
    }
}

/// A buffer under construction.
public struct Canvas {
    public private(set) var buffer: CellBuffer
    public private(set) var regions: [HitRegion] = []
    /// The frame of each control, in the order of drawing, hidden ones included.
    public private(set) var frames: [OwnedFrame] = []
    /// Where the real cursor goes, for screen readers and input methods.
    public private(set) var cursor: Point?
    /// The area that may be drawn on.
    public private(set) var clip: Rect
    private var owner: String?
    /// Whether blocks outside `clip` are laid out too.
    let isProbe: Bool

    /// A blank canvas.
    public init(columns: Int, lines: Int) {
        buffer = CellBuffer(columns: columns, lines: lines)
        clip = buffer.bounds
        isProbe = false
    }

    private init(probe: Void) {
        buffer = CellBuffer(columns: 0, lines: 0)
        clip = buffer.bounds
        isProbe = true
    }

    /// Where the controls of a block lie at a width, without drawing it.
    public static func frames(of block: some Block, width: Int) -> [OwnedFrame] {
        var canvas = Canvas(probe: ())
        let size = block.measure(width: width)
        block.render(
            into: &canvas, in: Rect(x: 0, y: 0, columns: width, lines: size.lines))
        return canvas.frames
    }

    /// Draws a block on a new canvas.
    public static func drawing(_ block: some Block, columns: Int, lines: Int? = nil) -> Canvas {
        var canvas = Canvas(
            columns: columns, lines: lines ?? block.measure(width: columns).lines)
        block.render(into: &canvas, in: canvas.clip)
        return canvas
    }

    /// Draws some lines of a block that is `height` lines high.
    static func drawing(
        _ block: some Block, columns: Int, lines: Range<Int>, of height: Int
    ) -> Canvas {
        var canvas = Canvas(columns: columns, lines: lines.count)
        block.render(
            into: &canvas, in: Rect(x: 0, y: -lines.lowerBound, columns: columns, lines: height))
        return canvas
    }

    /// Whether nothing of a rectangle would be seen.
    func hides(_ rect: Rect) -> Bool { !isProbe && clip.intersection(rect).isEmpty }

    /// Writes one line of text. Returns the number of its columns.
    @discardableResult
    public mutating func write(_ text: String, at point: Point, style: CellStyle = .plain) -> Int {
        buffer.write(text, at: point, style: style, clip: clip)
    }

    /// Writes a run of a text that has one line.
    mutating func write(_ span: StyledText.Span, at point: Point) {
        buffer.write(
            harmless: span.text, isPlain: span.isPlain, at: point, style: span.style, clip: clip)
    }

    /// Blanks a rectangle.
    public mutating func fill(_ rect: Rect, style: CellStyle = .plain) {
        buffer.fill(rect.intersection(clip), style: style)
    }

    /// Changes the style of a rectangle.
    public mutating func restyle(_ rect: Rect, _ change: (inout CellStyle) -> Void) {
        buffer.restyle(rect.intersection(clip), change)
    }

    /// Adds a region for the mouse.
    public mutating func addRegion(_ rect: Rect, _ target: HitRegion.Target) {
        let visible = rect.intersection(clip)
        if visible.isEmpty { return }
        // The places of tracks and texts are counted from their left end, so they are kept whole.
        if case .action = target {
            regions.append(HitRegion(rect: visible, owner: owner, target: target))
        } else if visible.size == rect.size {
            regions.append(HitRegion(rect: rect, owner: owner, target: target))
        } else {
            regions.append(
                HitRegion(
                    rect: Rect(
                        x: rect.x, y: visible.y, columns: rect.columns, lines: visible.lines),
                    owner: owner, target: target))
        }
    }

    /// Puts the real cursor there, if that position is visible.
    public mutating func setCursor(_ point: Point) {
        if clip.contains(point) { cursor = point }
    }

    /// Draws without a change outside `rect`.
    public mutating func clipped(to rect: Rect, _ draw: (inout Canvas) -> Void) {
        let outer = clip
        clip = clip.intersection(rect)
        draw(&self)
        clip = outer
    }

    /// Draws a control, and records its frame.
    public mutating func owned(by name: String, in rect: Rect, _ draw: (inout Canvas) -> Void) {
        let outer = owner
        owner = name
        frames.append(OwnedFrame(owner: name, rect: rect))
        draw(&self)
        owner = outer
    }

    /// Draws a block of a control, whose frame and region it is.
    mutating func draw(_ block: some Block, of name: String, in rect: Rect) {
        owned(by: name, in: rect) { canvas in
            canvas.addRegion(rect, .action(.focus))
            block.render(into: &canvas, in: rect)
        }
    }

    /// The topmost region at a position.
    public func region(at point: Point) -> HitRegion? {
        regions.last { $0.rect.contains(point) }
    }

    /// Puts another canvas there: its cells, its regions as those of the owner, and its cursor.
    mutating func place(_ other: Canvas, at origin: Point) {
        let area = Rect(
            x: origin.x, y: origin.y, columns: other.buffer.columns, lines: other.buffer.lines)
        buffer.copy(other.buffer, to: origin, clip: clip)
        for region in other.regions {
            var rect = region.rect
            rect.x += origin.x
            rect.y += origin.y
            let outer = owner
            owner = region.owner ?? outer
            addRegion(rect, region.target)
            owner = outer
        }
        if let point = other.cursor, !clip.intersection(area).isEmpty {
            setCursor(Point(x: point.x + origin.x, y: point.y + origin.y))
        }
    }

    /// Draws a control again in the place where it was drawn before, without a change outside
    /// `window`. `false`, and nothing is changed, if it was not drawn there.
    public mutating func drawAgain(
        _ name: String, _ block: some Block, at place: Rect, in window: Rect
    ) -> Bool {
        let area = clip.intersection(window).intersection(place)
        if area.isEmpty { return true }
        // By index: a copy of a region retains its texts.
        guard let first = regions.indices.first(where: { regions[$0].owner == name }) else {
            return false
        }
        let others = regions.indices[first...]
        let end = others.first { regions[$0].owner != name } ?? regions.endIndex
        if regions.indices[end...].contains(where: { regions[$0].owner == name }) { return false }
        // Moved out, so that adding to them does not copy them. Its frame is where it was.
        var kept: (regions: [HitRegion], frames: [OwnedFrame]) = ([], [])
        swap(&kept.regions, &regions)
        swap(&kept.frames, &frames)
        clipped(to: area) { canvas in
            canvas.fill(area)
            canvas.draw(block, of: name, in: place)
        }
        let isSame =
            regions.count == end - first
            && regions.indices.allSatisfy { regions[$0] == kept.regions[first + $0] }
        if !isSame { kept.regions.replaceSubrange(first..<end, with: regions) }
        (regions, frames) = kept
        return true
    }

    /// How many cells at the right end of a line of `rect` are blank.
    func blankTail(ofLine y: Int, in rect: Rect) -> Int {
        let area = rect.intersection(buffer.bounds)
        guard y >= area.y, y < area.maxY else { return 0 }
        var count = 0
        while count < area.columns, buffer[area.maxX - 1 - count, y] == .blank() { count += 1 }
        return count
    }
}
