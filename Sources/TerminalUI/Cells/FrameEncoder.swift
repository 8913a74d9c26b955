// Encodes the difference between two frames in as few bytes as possible.
//
// Invariants: `shown` is what the terminal displays, already reduced to its depth and charset, and
// `lastFrame` is the frame that it was made from; `pen` and `place` are the terminal's state, or
// unknown. A frame without changes has no bytes, and an unchanged line costs only a comparison.
// Control sequences: ECMA-48 and xterm's ctlseqs; synchronized output is DEC private mode 2026.

import SyncCore

/// Encodes frames as the bytes that change a terminal from one frame to the next.
public struct FrameEncoder: Sendable {
    /// The features of the terminal that frames use.
    public struct Options: Hashable, Sendable {
        public var depth: ColorDepth
        public var charset: Charset
        /// Whether frames use synchronized output (mode 2026), so that no incomplete frame is
        /// visible.
        public var isSynchronized: Bool
        public var addressing: Addressing

        /// Options; the defaults suit every terminal of colour.
        public init(
            depth: ColorDepth = .trueColor, charset: Charset = .unicode,
            isSynchronized: Bool = false, addressing: Addressing = .screen
        ) {
            self.depth = depth
            self.charset = charset
            self.isSynchronized = isSynchronized
            self.addressing = addressing
        }
    }

    /// The position of a frame's first line.
    public enum Addressing: Hashable, Sendable {
        /// At the top of the screen.
        case screen
        /// At the line of the cursor before the first frame; space for the frame is made by
        /// scrolling, and the lines above do not change.
        case inline
    }

    public let options: Options
    var shown: CellBuffer?
    private var lastFrame: CellBuffer?
    var pen: CellStyle?
    var place = Place.unknown
    private var isCursorShown: Bool?
    /// Lines below the first that scrolling has made, for inline frames.
    private var reserved = 0

    /// The known position of the terminal's cursor.
    enum Place: Hashable, Sendable {
        case at(x: Int, y: Int)
        /// The line is known, the column is not: after the last column, where terminals wait
        /// before they wrap, and after a cluster whose width terminals do not agree on.
        case line(Int)
        case unknown
    }

    /// An encoder for a terminal of which nothing is known yet.
    public init(options: Options = Options()) {
        self.options = options
        if options.addressing == .inline { place = .at(x: 0, y: 0) }
    }

    /// Forgets what the terminal shows: after a resize, a suspension, or ^L. The next frame is
    /// drawn whole.
    public mutating func invalidate() {
        shown = nil
        lastFrame = nil
        pen = nil
        isCursorShown = nil
        if options.addressing == .screen { place = .unknown }
    }

    /// The bytes that change the terminal to this frame, with its cursor at `cursor` or hidden.
    ///
    /// - Parameter changed: The lines that may differ from the last frame, by default all.
    public mutating func encode(
        _ frame: CellBuffer, cursor: Point?, changed: Range<Int>? = nil
    ) -> [UInt8] {
        var out: [UInt8] = []
        let isWhole = shown?.bounds != frame.bounds
        if isWhole { clear(for: frame, into: &out) }
        let drawnFrom = out.count
        let all = 0..<frame.lines
        for y in isWhole ? all : changed?.clamped(to: all) ?? all {
            var columns = 0..<frame.columns
            if let lastFrame {
                guard let changed = frame.columns(ofLine: y, changedFrom: lastFrame) else {
                    continue
                }
                columns = changed
            }
            let cells = frame.reduced(y, columns, to: options.depth, charset: options.charset)
            encode(cells, y, from: columns.lowerBound, into: &out)
            lastFrame?.copyLine(y, columns, of: frame)
        }
        // Only changed lines are copied: a frame that is shared with the caller would be copied
        // whole when the caller draws the next one in it.
        if lastFrame == nil { lastFrame = frame }
        let isDrawn = isWhole || out.count > drawnFrom
        if isDrawn, !options.isSynchronized, isCursorShown != false {
            // Otherwise the moving cursor would be visible.
            out.insert(contentsOf: ANSI.hideCursor, at: 0)
            isCursorShown = false
        }
        encodeCursor(cursor, into: &out)
        if isDrawn, options.isSynchronized {
            out.insert(contentsOf: ANSI.beginSynchronized, at: 0)
            out.append(contentsOf: ANSI.endSynchronized)
        }
        return out
    }

    /// The bytes that leave the terminal's pen and cursor as others expect them: the standard
    /// style, the cursor shown, and for an inline frame the line after it.
    public mutating func leave() -> [UInt8] {
        var out: [UInt8] = []
        setPen(.plain, into: &out)
        if options.addressing == .inline, let shown, shown.lines > 0 {
            move(toX: 0, y: shown.lines - 1, in: shown, into: &out)
            out.append(contentsOf: [0x0D, 0x0A])
        }
        if isCursorShown != true { out.append(contentsOf: ANSI.showCursor) }
        self = FrameEncoder(options: options)
        return out
    }

    private mutating func clear(for target: CellBuffer, into out: inout [UInt8]) {
        pen = .plain
        out.append(contentsOf: ANSI.resetStyle)
        switch options.addressing {
        case .screen:
            out.append(contentsOf: ANSI.home)
            out.append(contentsOf: ANSI.clearScreen)
            place = .at(x: 0, y: 0)
        case .inline:
            let blank = CellBuffer(columns: 0, lines: 0)
            move(toX: 0, y: 0, in: blank, into: &out)
            out.append(contentsOf: ANSI.clearBelow)
            while reserved < target.lines - 1 {
                move(toX: 0, y: reserved, in: blank, into: &out)
                out.append(contentsOf: [0x0D, 0x0A])
                reserved += 1
                place = .at(x: 0, y: reserved)
            }
        }
        shown = CellBuffer(columns: target.columns, lines: target.lines)
        lastFrame = nil
    }

    private mutating func encodeCursor(_ cursor: Point?, into out: inout [UInt8]) {
        guard let cursor, let shown, shown.bounds.contains(cursor) else {
            if isCursorShown != false { out.append(contentsOf: ANSI.hideCursor) }
            isCursorShown = false
            return
        }
        move(toX: cursor.x, y: cursor.y, in: shown, into: &out)
        if isCursorShown != true { out.append(contentsOf: ANSI.showCursor) }
        isCursorShown = true
    }
}

extension FrameEncoder {
    /// Draws cells of a line, which is drawn already before and after them.
    private mutating func encode(
        _ cells: [Cell], _ y: Int, from first: Int, into out: inout [UInt8]
    ) {
        guard var target = shown else { return }
        let columns = target.columns
        let old = Array(target.line(y)[(target.lineStart(y) + first)...].prefix(cells.count))
        guard let place = cells.indices.last(where: { old[$0] != cells[$0] }) else { return }
        let last = first + place
        // Without this second reference, writing copies only the cells.
        shown = nil
        target.setCells(y, from: first, cells)
        defer { shown = target }
        func differs(_ x: Int) -> Bool {
            x >= first && x < first + cells.count && old[x - first] != cells[x - first]
        }
        var blankFrom = columns
        while blankFrom > 0, target[blankFrom - 1, y] == .blank() { blankFrom -= 1 }
        // Columns before this one are drawn again though they have not changed, because a cluster
        // may have been drawn over them.
        var redrawTo = 0
        var x = first
        while x <= max(last, redrawTo - 1), x < columns {
            let cell = target[x, y]
            let isDrawn =
                differs(x) || (cell.width == 2 && differs(x + 1)) || x < redrawTo
            if !isDrawn || cell.isContinuation {
                x += 1
                continue
            }
            if x >= blankFrom, max(last, redrawTo - 1) - x >= ANSI.clearLine.count {
                move(toX: x, y: y, in: target, into: &out)
                setPen(.plain, into: &out)
                out.append(contentsOf: ANSI.clearLine)
                return
            }
            redrawTo = max(redrawTo, draw(cell, x: x, y: y, in: target, into: &out))
            x += Int(cell.width)
        }
    }

    /// Draws a cell. Returns the column up to which a terminal may have drawn.
    private mutating func draw(
        _ cell: Cell, x: Int, y: Int, in target: CellBuffer, into out: inout [UInt8]
    ) -> Int {
        if x > 0, joins(cell, atX: x, y: y, in: target), case .at(_, y) = place {
            // An escape sequence must separate the two.
            place = .line(y)
        }
        move(toX: x, y: y, in: target, into: &out)
        setPen(cell.style, into: &out)
        let width = Int(cell.width)
        if let ascii = cell.glyph.ascii {
            out.append(ascii)
            place = x + width >= target.columns ? .line(y) : .at(x: x + width, y: y)
            return 0
        }
        let scalars = cell.cluster.unicodeScalars
        let isFragile = scalars.count > 1
        if isFragile {
            // A terminal that draws the cluster narrower than expected does not clear the second
            // column.
            out.append(contentsOf: repeatElement(0x20, count: width))
            place = x + width >= target.columns ? .line(y) : .at(x: x + width, y: y)
            move(toX: x, y: y, in: target, into: &out, rewriting: false)
        }
        out.append(contentsOf: cell.glyph.bytes)
        if isFragile || x + width >= target.columns {
            place = .line(y)
        } else {
            place = .at(x: x + width, y: y)
        }
        return isFragile ? x + scalars.reduce(0) { $0 + DisplayWidth.columns(of: $1) } : 0
    }

    /// Whether a cell's cluster would become one with that of the cell before it.
    private func joins(_ cell: Cell, atX x: Int, y: Int, in target: CellBuffer) -> Bool {
        let before = target[x - 1, y].isContinuation ? target[x - 2, y] : target[x - 1, y]
        if cell.glyph.ascii != nil, before.glyph.ascii != nil { return false }
        return (String(before.cluster) + String(cell.cluster)).count == 1
    }

    /// Sets the pen to a style: by the difference or from a reset, whichever is shorter.
    mutating func setPen(_ style: CellStyle, into out: inout [UInt8]) {
        if pen == style { return }
        let fresh = ANSI.style(style)
        if let pen {
            let difference = ANSI.style(from: pen, to: style)
            out.append(contentsOf: difference.count < fresh.count ? difference : fresh)
        } else {
            out.append(contentsOf: fresh)
        }
        pen = style
    }

    /// Moves the cursor in the shortest way.
    mutating func move(
        toX x: Int, y: Int, in target: CellBuffer, into out: inout [UInt8], rewriting: Bool = true
    ) {
        if place == .at(x: x, y: y) { return }
        var best: CursorMotion?
        func offer(_ way: CursorMotion) {
            if let current = best, current.count <= way.count { return }
            best = way
        }
        if options.addressing == .screen { offer(ANSI.position(x: x, y: y)) }
        var column = CursorMotion()
        if x == 0 { column.append(0x0D) } else { column = ANSI.column(x) }
        switch place {
        case .at(let fromX, let fromY) where fromY == y:
            offer(column)
            offer(fromX < x ? ANSI.forward(x - fromX) : ANSI.back(fromX - x))
            if fromX > x, fromX - x <= 3 {
                var back = CursorMotion()
                for _ in x..<fromX { back.append(0x08) }
                offer(back)
            } else if fromX < x, rewriting,
                let again = rewritten(fromX..<x, line: y, in: target)
            {
                offer(again)
            }
        case .at(let fromX, let fromY):
            var vertical = fromY < y ? ANSI.down(y - fromY) : ANSI.up(fromY - y)
            if fromX == x { offer(vertical) }
            vertical.append(column)
            offer(vertical)
        case .line(let fromY):
            // The column first, because this ends a pending wrap.
            if fromY < y { column.append(ANSI.down(y - fromY)) }
            if fromY > y { column.append(ANSI.up(fromY - y)) }
            offer(column)
        case .unknown: break
        }
        // An inline frame always knows its line, so there is a way.
        (best ?? ANSI.position(x: x, y: y)).append(to: &out)
        place = .at(x: x, y: y)
    }

    /// The cells between as bytes, where writing them again is a way to move: plain ASCII in the
    /// style that the pen has.
    private func rewritten(
        _ range: Range<Int>, line y: Int, in target: CellBuffer
    ) -> CursorMotion? {
        guard range.count <= 6, range.upperBound <= target.columns, y < target.lines else {
            return nil
        }
        var bytes = CursorMotion()
        for x in range {
            let cell = target[x, y]
            guard cell.width == 1, let byte = cell.glyph.ascii, cell.style == pen else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
