// A screen in memory. A frame is drawn into it, then the difference is sent to the terminal.
//
// Invariants: `cells.count == columns * lines`; each cell of two columns is followed on its line by
// its continuation, and there are no other continuations.

import SyncCore

/// A rectangle of cells.
public struct CellBuffer: Hashable, Sendable {
    public let columns: Int
    public let lines: Int
    private var cells: [Cell]

    /// A blank buffer; negative sizes count as none.
    public init(columns: Int, lines: Int, style: CellStyle = .plain) {
        self.columns = max(0, columns)
        self.lines = max(0, lines)
        cells = Array(repeating: .blank(style), count: self.columns * self.lines)
    }

    /// All of it.
    public var bounds: Rect { Rect(x: 0, y: 0, columns: columns, lines: lines) }

    /// The cell in column `x` of line `y`, which must lie within.
    public subscript(x: Int, y: Int) -> Cell {
        precondition(x >= 0 && x < columns && y >= 0 && y < lines, "the cell is outside the buffer")
        return cells[y * columns + x]
    }

    /// Copies another buffer's cells to `origin`, as far as they lie within `clip`. It clips lines,
    /// not columns, because clipping columns could split wide clusters.
    mutating func copy(_ other: CellBuffer, to origin: Point, clip: Rect) {
        let area = Rect(x: origin.x, y: origin.y, columns: other.columns, lines: other.lines)
            .intersection(clip).intersection(bounds)
        if area.isEmpty { return }
        let columns = columns
        cells.withUnsafeMutableBufferPointer { own in
            other.cells.withUnsafeBufferPointer { others in
                for y in area.y..<area.maxY {
                    let from = (y - origin.y) * other.columns + area.x - origin.x
                    let to = y * columns + area.x
                    for column in 0..<area.columns { own[to + column] = others[from + column] }
                }
            }
        }
    }

    /// Writes one line of text. Returns its columns, including hidden ones.
    ///
    /// Cells outside `clip` (or the buffer) do not change. A wide cluster that is only half visible
    /// becomes a space. Harmful characters are shown as escapes; clusters that take no column are
    /// left out.
    @discardableResult
    public mutating func write(
        _ text: String, at point: Point, style: CellStyle = .plain, clip: Rect? = nil
    ) -> Int {
        let isPlain = DisplayWidth.isPlain(text)
        return write(
            harmless: isPlain ? text : text.escapedForDisplay(), isPlain: isPlain, at: point,
            style: style, clip: clip)
    }

    /// Writes a text without harmful characters; `isPlain` if it is printable ASCII.
    @discardableResult
    mutating func write(
        harmless text: String, isPlain: Bool, at point: Point, style: CellStyle, clip: Rect?
    ) -> Int {
        let area = clip.map { $0.intersection(bounds) } ?? bounds
        var x = point.x
        let isLine = point.y >= area.y && point.y < area.maxY
        if isPlain {
            if !isLine { return text.utf8.count }
            for byte in text.utf8 {
                putASCII(byte, x: x, y: point.y, style: style, area: area)
                x += 1
            }
            return x - point.x
        }
        DisplayWidth.forEachCluster(of: text) { byte in
            if isLine { putASCII(byte, x: x, y: point.y, style: style, area: area) }
            x += 1
        } other: { cluster in
            let width = DisplayWidth.columns(of: cluster)
            if width == 0 { return }
            if isLine {
                put(
                    Glyph(Self.bounded(cluster)), width: width, x: x, y: point.y, style: style,
                    area: area)
            }
            x += width
        }
        return x - point.x
    }

    @inline(__always)
    private mutating func putASCII(_ byte: UInt8, x: Int, y: Int, style: CellStyle, area: Rect) {
        guard x >= area.x, x < area.maxX else { return }
        release(x, y)
        cells[y * columns + x] = Cell(Glyph(ascii: byte), width: 1, style: style)
    }

    private mutating func put(
        _ glyph: Glyph, width: Int, x: Int, y: Int, style: CellStyle, area: Rect
    ) {
        let visible = max(x, area.x)..<max(max(x, area.x), min(x + width, area.maxX))
        if visible.isEmpty { return }
        for column in visible { release(column, y) }
        guard visible.count == width else {
            for column in visible { cells[y * columns + column] = .blank(style) }
            return
        }
        cells[y * columns + x] = Cell(glyph, width: UInt8(width), style: style)
        if width == 2 { cells[y * columns + x + 1] = .continuation(style) }
    }

    /// Blanks the other half of a wide cell of which one half is about to be written over.
    private mutating func release(_ x: Int, _ y: Int) {
        let index = y * columns + x
        if cells[index].width == 2, x + 1 < columns {
            cells[index + 1] = .blank(cells[index + 1].style)
        } else if cells[index].isContinuation, x > 0 {
            cells[index - 1] = .blank(cells[index - 1].style)
        }
    }

    private static func bounded(_ cluster: Character) -> Character {
        let scalars = cluster.unicodeScalars
        if scalars.count <= Cell.scalarsMax { return cluster }
        var kept = String.UnicodeScalarView()
        kept.append(contentsOf: scalars.prefix(Cell.scalarsMax))
        return String(kept).first ?? " "
    }

    /// Blanks a rectangle.
    public mutating func fill(_ rect: Rect, style: CellStyle = .plain) {
        let area = rect.intersection(bounds)
        if area.isEmpty { return }
        for y in area.y..<area.maxY {
            release(area.x, y)
            release(area.maxX - 1, y)
            for x in area.x..<area.maxX { cells[y * columns + x] = .blank(style) }
        }
    }

    /// Changes the style of the cells of a rectangle, wide ones as a whole.
    public mutating func restyle(_ rect: Rect, _ change: (inout CellStyle) -> Void) {
        let area = rect.intersection(bounds)
        if area.isEmpty { return }
        for y in area.y..<area.maxY {
            for x in area.x..<area.maxX { change(&cells[y * columns + x].style) }
            let last = y * columns + area.maxX - 1
            if cells[last].width == 2 { cells[last + 1].style = cells[last].style }
            let first = y * columns + area.x
            if cells[first].isContinuation, area.x > 0 {
                cells[first - 1].style = cells[first].style
            }
        }
    }

    /// A copy of a part. Wide cells that its edges cut become spaces.
    public func part(_ rect: Rect) -> CellBuffer {
        let area = rect.intersection(bounds)
        var part = CellBuffer(columns: area.columns, lines: area.lines)
        part.copy(self, at: Point(x: -area.x, y: -area.y))
        return part
    }

    /// Copies another buffer into this one, its upper left corner at `point`.
    public mutating func copy(_ other: CellBuffer, at point: Point, clip: Rect? = nil) {
        let area = clip.map { $0.intersection(bounds) } ?? bounds
        for y in max(
            area.y, point.y)..<max(max(area.y, point.y), min(area.maxY, point.y + other.lines))
        {
            for x in 0..<other.columns {
                let cell = other[x, y - point.y]
                if cell.isContinuation { continue }
                put(
                    cell.glyph, width: Int(cell.width), x: x + point.x, y: y, style: cell.style,
                    area: area)
            }
        }
    }

    /// The cells of a line.
    func line(_ y: Int) -> ArraySlice<Cell> { cells[y * columns..<(y + 1) * columns] }

    /// Whether a line is the same in both, which are of one size. Compared in place: a slice would
    /// copy each cell.
    func hasLine(_ y: Int, of other: CellBuffer) -> Bool {
        cells.withUnsafeBufferPointer { own in
            other.cells.withUnsafeBufferPointer { others in
                // No branch until the end, so that the compiler can vectorize the loop.
                var difference: UInt64 = 0
                for place in y * columns..<(y + 1) * columns {
                    difference |= own[place].difference(from: others[place])
                }
                return difference == 0
            }
        }
    }

    /// Takes cells of a line of another buffer of the same size.
    mutating func copyLine(_ y: Int, _ range: Range<Int>, of other: CellBuffer) {
        let part = Rect(x: range.lowerBound, y: y, columns: range.count, lines: 1)
        copy(other, to: Point(x: 0, y: 0), clip: part)
    }

    /// The columns of a line that differ from those of a buffer of the same size, with the whole of
    /// each wide cluster; `nil` if none does.
    func columns(ofLine y: Int, changedFrom other: CellBuffer) -> Range<Int>? {
        if hasLine(y, of: other) { return nil }
        let range: Range<Int> = cells.withUnsafeBufferPointer { own in
            other.cells.withUnsafeBufferPointer { others in
                func differs(_ x: Int) -> Bool {
                    own[y * columns + x].difference(from: others[y * columns + x]) != 0
                }
                var first = 0
                while !differs(first) { first += 1 }
                var end = columns
                while !differs(end - 1) { end -= 1 }
                return first..<end
            }
        }
        let isCut = self[range.lowerBound, y].isContinuation
        let isWide = self[range.upperBound - 1, y].width == 2
        return range.lowerBound - (isCut ? 1 : 0)..<range.upperBound + (isWide ? 1 : 0)
    }

    /// The place of a line's first cell among the cells.
    func lineStart(_ y: Int) -> Int { y * columns }

    /// Replaces cells of a line with the same number of cells.
    mutating func setCells(_ y: Int, from x: Int, _ new: [Cell]) {
        precondition(x + new.count <= columns, "the cells are on the line")
        for place in new.indices { cells[y * columns + x + place] = new[place] }
    }

    /// A line's cells as a terminal of that depth and charset shows them.
    func reducedLine(_ y: Int, to depth: ColorDepth, charset: Charset) -> [Cell] {
        reduced(y, 0..<columns, to: depth, charset: charset)
    }

    /// Some cells of a line, with the whole of each wide cluster, as a terminal of that depth and
    /// charset shows them.
    func reduced(_ y: Int, _ range: Range<Int>, to depth: ColorDepth, charset: Charset) -> [Cell] {
        let start = y * columns + range.lowerBound
        var reduced = Array(cells[start..<start + range.count])
        if depth == .trueColor, charset == .unicode { return reduced }
        var last = (from: CellStyle.plain, to: CellStyle.plain.reduced(to: depth))
        for x in reduced.indices {
            let cell = cells[start + x]
            if cell.style != last.from { last = (cell.style, cell.style.reduced(to: depth)) }
            reduced[x].style = last.to
            if charset == .unicode || cell.isContinuation || cell.glyph.ascii != nil { continue }
            let likeness = Array(Charset.ascii(cell.cluster, width: cell.width))
            reduced[x] = Cell(cluster: likeness[0], width: 1, style: last.to)
            if cell.width == 2 {
                reduced[x + 1] = Cell(
                    cluster: likeness.count > 1 ? likeness[1] : " ", width: 1, style: last.to)
            }
        }
        return reduced
    }

    /// What a line shows, without its style.
    public func text(ofLine y: Int) -> String {
        var text = ""
        for x in 0..<columns where !self[x, y].isContinuation { text.append(self[x, y].cluster) }
        return text
    }
}
