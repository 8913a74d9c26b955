// Places and sizes on a screen, in columns and lines; the origin is the upper left corner.

/// A place on a screen.
public struct Point: Hashable, Sendable {
    /// Columns from the left edge.
    public var x: Int
    /// Lines from the upper edge.
    public var y: Int

    /// The place in column `x` of line `y`.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

/// The size of something.
public struct Size: Hashable, Sendable {
    public var columns: Int
    public var lines: Int

    /// A size in columns and lines.
    public init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }

    /// The empty size.
    public static let zero = Size(columns: 0, lines: 0)
}

/// A rectangle of cells; one without columns or lines is empty.
public struct Rect: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var columns: Int
    public var lines: Int

    /// A rectangle from its upper left corner.
    public init(x: Int, y: Int, columns: Int, lines: Int) {
        self.x = x
        self.y = y
        self.columns = columns
        self.lines = lines
    }

    /// The first column right of it.
    public var maxX: Int { x + columns }
    /// The first line below it.
    public var maxY: Int { y + lines }
    /// Whether it holds no cell.
    public var isEmpty: Bool { columns <= 0 || lines <= 0 }
    /// Its upper left corner.
    public var origin: Point { Point(x: x, y: y) }
    /// Its columns and lines.
    public var size: Size { Size(columns: columns, lines: lines) }

    /// Whether the point is inside it.
    public func contains(_ point: Point) -> Bool {
        point.x >= x && point.x < maxX && point.y >= y && point.y < maxY
    }

    /// The part that both have; empty if they have none.
    public func intersection(_ other: Rect) -> Rect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return Rect(
            x: left, y: top, columns: max(0, min(maxX, other.maxX) - left),
            lines: max(0, min(maxY, other.maxY) - top))
    }

    /// The rectangle without so much at its edges; never negative in size.
    public func inset(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) -> Rect {
        Rect(
            x: x + left, y: y + top, columns: max(0, columns - left - right),
            lines: max(0, lines - top - bottom))
    }

    /// One line of it, counted from its top.
    public func line(_ index: Int) -> Rect { Rect(x: x, y: y + index, columns: columns, lines: 1) }
}
