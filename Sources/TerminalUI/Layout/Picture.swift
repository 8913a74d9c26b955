// A block that was drawn before.

/// A canvas as a block. Its size is that of the drawing, independent of the available space.
public struct Picture: Block {
    private let canvas: Canvas

    /// A drawing.
    public init(_ canvas: Canvas) { self.canvas = canvas }

    public func measure(width: Int) -> Size {
        Size(columns: min(width, canvas.buffer.columns), lines: canvas.buffer.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.place(self.canvas, at: rect.origin)
    }
}
