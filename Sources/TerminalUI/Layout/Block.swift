// The box model: blocks that have a size and draw themselves.
//
// Invariants: a block draws only within its rectangle (the canvas clips too); `measure` depends
// only on the block and the width, so the drawing has the measured size.

/// Something that can be laid out and drawn.
public protocol Block: StyleBody {
    /// Its size if `width` columns are available.
    func measure(width: Int) -> Size
    /// Draws it; `rect` has at least the measured lines for its columns, unless there is not enough
    /// space.
    func render(into canvas: inout Canvas, in rect: Rect)
    /// The line that a label or a note is beside, from the first; by default the first.
    func baseline(width: Int) -> Int
}

extension Block {
    public func baseline(width: Int) -> Int { 0 }
}

/// Collects the blocks of a row or column, as SwiftUI's ViewBuilder does.
@resultBuilder
public enum BlockBuilder {
    public static func buildExpression(_ block: some Block) -> [any Block] { [block] }
    public static func buildExpression(_ blocks: [any Block]) -> [any Block] { blocks }
    public static func buildBlock(_ parts: [any Block]...) -> [any Block] { parts.flatMap(\.self) }
    public static func buildOptional(_ part: [any Block]?) -> [any Block] { part ?? [] }
    public static func buildEither(first: [any Block]) -> [any Block] { first }
    public static func buildEither(second: [any Block]) -> [any Block] { second }
    public static func buildArray(_ parts: [[any Block]]) -> [any Block] { parts.flatMap(\.self) }
}

/// A column of blocks.
public struct Column: Block {
    public var children: [any Block]
    /// Empty lines between two.
    public var spacing: Int

    /// A column of given blocks.
    public init(_ children: [any Block], spacing: Int = 0) {
        self.children = children
        self.spacing = spacing
    }

    /// A column of the blocks of a builder.
    public init(spacing: Int = 0, @BlockBuilder _ content: () -> [any Block]) {
        self.init(content(), spacing: spacing)
    }

    public func measure(width: Int) -> Size {
        var size = Size.zero
        for child in children {
            let childSize = child.measure(width: width)
            size.columns = max(size.columns, childSize.columns)
            size.lines += childSize.lines
        }
        size.lines += spacing * max(0, children.count - 1)
        return size
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        var y = rect.y
        for child in children {
            let lines = child.measure(width: rect.columns).lines
            let place = Rect(x: rect.x, y: y, columns: rect.columns, lines: lines)
            if !canvas.hides(place) { child.render(into: &canvas, in: place) }
            y += lines + spacing
        }
    }
}

/// Space in a row that grows to the remaining width.
public struct Spacer: Block {
    /// Columns at least.
    public var minimum: Int

    /// Space with a minimum number of columns.
    public init(minimum: Int = 0) { self.minimum = minimum }

    public func measure(width: Int) -> Size { Size(columns: min(minimum, width), lines: 1) }
    public func render(into canvas: inout Canvas, in rect: Rect) {}
}

/// Blocks side by side, tops aligned. What does not fit is cut off at the right.
public struct Row: Block {
    public var children: [any Block]
    /// Columns between two.
    public var spacing: Int

    /// A row of given blocks.
    public init(_ children: [any Block], spacing: Int = 1) {
        self.children = children
        self.spacing = spacing
    }

    /// A row of the blocks of a builder.
    public init(spacing: Int = 1, @BlockBuilder _ content: () -> [any Block]) {
        self.init(content(), spacing: spacing)
    }

    private func widths(in width: Int) -> [Int] {
        var left = width - spacing * max(0, children.count - 1)
        var widths = children.map { child in
            let own = min(child.measure(width: max(0, left)).columns, max(0, left))
            left -= own
            return own
        }
        let spacers = children.indices.filter { children[$0] is Spacer }
        for (number, index) in spacers.enumerated() where left > 0 {
            let share = left / (spacers.count - number)
            widths[index] += share
            left -= share
        }
        return widths
    }

    public func measure(width: Int) -> Size {
        let widths = widths(in: width)
        let lines = zip(children, widths).map { $0.measure(width: $1).lines }.max() ?? 0
        let total = widths.reduce(0, +) + spacing * max(0, children.count - 1)
        return Size(columns: min(width, total), lines: lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        var x = rect.x
        canvas.clipped(to: rect) { canvas in
            for (child, width) in zip(children, widths(in: rect.columns)) {
                let lines = max(rect.lines, child.measure(width: width).lines)
                child.render(
                    into: &canvas, in: Rect(x: x, y: rect.y, columns: width, lines: lines))
                x += width + spacing
            }
        }
    }
}

/// Blocks side by side that wrap to the next line, like words.
public struct Flow: Block {
    public var children: [any Block]
    /// Columns between two.
    public var spacing: Int

    /// A flow of blocks.
    public init(_ children: [any Block], spacing: Int = 1) {
        self.children = children
        self.spacing = spacing
    }

    private func places(in width: Int) -> (rects: [Rect], size: Size) {
        var rects: [Rect] = []
        var (x, y, height, widest) = (0, 0, 0, 0)
        for child in children {
            let childSize = child.measure(width: width)
            let columns = min(childSize.columns, width)
            if x > 0, x + columns > width {
                (x, y, height) = (0, y + height, 0)
            }
            rects.append(Rect(x: x, y: y, columns: columns, lines: childSize.lines))
            widest = max(widest, x + columns)
            x += columns + spacing
            height = max(height, childSize.lines)
        }
        return (rects, Size(columns: widest, lines: y + height))
    }

    public func measure(width: Int) -> Size { places(in: width).size }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        for (child, place) in zip(children, places(in: rect.columns).rects) {
            child.render(
                into: &canvas,
                in: Rect(
                    x: rect.x + place.x, y: rect.y + place.y, columns: place.columns,
                    lines: place.lines))
        }
    }
}

/// A block that draws with a closure.
public struct Drawing: Block {
    private let size: (Int) -> Size
    private let draw: (inout Canvas, Rect) -> Void

    /// A block of a size that depends on the width.
    public init(
        size: @escaping (Int) -> Size, draw: @escaping (inout Canvas, Rect) -> Void
    ) {
        self.size = size
        self.draw = draw
    }

    /// A block of a fixed size.
    public init(columns: Int, lines: Int = 1, draw: @escaping (inout Canvas, Rect) -> Void) {
        self.init(size: { _ in Size(columns: columns, lines: lines) }, draw: draw)
    }

    public func measure(width: Int) -> Size {
        let size = size(width)
        return Size(columns: min(size.columns, max(0, width)), lines: size.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.clipped(to: rect) { draw(&$0, rect) }
    }
}
