// A block that was drawn before.

/// A canvas as a block: it takes the room that it was drawn in, whatever room is there.
public struct Picture: Block {
    private let canvas: Canvas

    /// A drawing, to be put where the block stands.
    public init(_ canvas: Canvas) { self.canvas = canvas }

    public func measure(width: Int) -> Size {
        Size(columns: min(width, canvas.buffer.columns), lines: canvas.buffer.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        canvas.place(self.canvas, at: rect.origin)
    }
}
