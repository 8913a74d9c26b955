// Text for drawing: wrapped by words, measured in columns, without control characters.

import SyncCore

/// Text in one or more styles.
public struct StyledText: Block, Hashable, Sendable {
    /// A run of one style. Its text has no control characters, and its width is computed once.
    struct Span: Hashable, Sendable {
        private(set) var text: String
        private(set) var columns: Int
        var style: CellStyle

        /// A run of text; control characters are replaced.
        init(_ raw: String, _ style: CellStyle) {
            let isPlain = DisplayWidth.isPlain(raw)
            text = isPlain ? raw : StyledText.harmless(raw)
            columns = isPlain ? raw.utf8.count : DisplayWidth.columns(of: text)
            self.style = style
        }

        /// A run of one cluster of harmless text.
        init(_ cluster: Character, _ style: CellStyle, _ width: Int) {
            text = String(cluster)
            columns = width
            self.style = style
        }

        mutating func append(_ cluster: Character, _ width: Int) {
            text.append(cluster)
            columns += width
        }

        /// Whether it is printable ASCII: every other cluster has more bytes than columns.
        var isPlain: Bool { columns == text.utf8.count }

        var hasNewline: Bool { !isPlain && text.utf8.contains(0x0A) }
    }

    /// What happens to text that is too wide.
    public enum Overflow: Hashable, Sendable {
        /// It wraps to the next line, between words if possible.
        case wrap
        /// It is cut, with `…` as its last column.
        case truncate
    }

    var spans: [Span]
    public var overflow: Overflow
    /// Whether its lines end at the right edge.
    private var isTrailing = false

    /// A text in one style. Harmful characters become visible escapes, tabs spaces; `\n` begins a
    /// line.
    public init(_ text: String, _ style: CellStyle = .plain, _ overflow: Overflow = .wrap) {
        spans = [Span(text, style)]
        self.overflow = overflow
    }

    /// A text in several styles.
    init(_ spans: [Span]) {
        self.spans = spans
        overflow = .wrap
    }

    /// The same text, cut if it does not fit.
    public consuming func truncated() -> StyledText {
        var text = self
        text.overflow = .truncate
        return text
    }

    /// The same text, whose lines end at the right edge of its place.
    consuming func trailing() -> StyledText {
        var text = self
        text.isTrailing = true
        return text
    }

    /// The text with more of another style after it.
    public consuming func appending(_ text: String, _ style: CellStyle = .plain) -> StyledText {
        var longer = self
        longer.append(text, style)
        return longer
    }

    /// Adds more of another style after it.
    mutating func append(_ text: String, _ style: CellStyle) {
        spans.append(Span(text, style))
    }

    /// The two one after the other.
    public static func + (left: StyledText, right: StyledText) -> StyledText {
        var longer = left
        longer.spans += right.spans
        return longer
    }

    /// The text with these attributes everywhere.
    public func adding(_ attributes: CellAttributes) -> StyledText {
        restyled { $0.attributes.formUnion(attributes) }
    }

    /// The text with its styles changed.
    public consuming func restyled(_ change: (inout CellStyle) -> Void) -> StyledText {
        var text = self
        for index in text.spans.indices { change(&text.spans[index].style) }
        return text
    }

    /// Its columns if it is written on one line.
    public var columns: Int { spans.reduce(0) { $0 + $1.columns } }

    private static func harmless(_ text: String) -> String {
        let shown = text.escapedForDisplay(keepingNewlineAndTab: true)
        guard shown.utf8.contains(0x09) else { return shown }
        return shown.split(separator: "\t", omittingEmptySubsequences: false)
            .joined(separator: "    ")
    }

    public func measure(width: Int) -> Size {
        guard width > 0 else { return Size(columns: 0, lines: 1) }
        if overflow == .truncate { return Size(columns: min(columns, width), lines: 1) }
        if fits(width: width) { return Size(columns: columns, lines: 1) }
        let lines = wrapped(width: width)
        return Size(columns: lines.map(\.columns).max() ?? 0, lines: lines.count)
    }

    /// Whether it is one line that needs neither cut nor wrapping.
    private func fits(width: Int) -> Bool {
        columns <= width && !spans.contains { $0.hasNewline }
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        guard rect.columns > 0 else { return }
        func write(_ spans: [Span], line: Int, into canvas: inout Canvas) {
            var x = rect.x
            if isTrailing { x = rect.maxX - spans.reduce(0) { $0 + $1.columns } }
            for span in spans {
                canvas.write(span, at: Point(x: x, y: rect.y + line))
                x += span.columns
            }
        }
        canvas.clipped(to: rect) { canvas in
            if fits(width: rect.columns) { return write(spans, line: 0, into: &canvas) }
            let lines =
                overflow == .truncate
                ? [line(cutTo: rect.columns)] : wrapped(width: rect.columns)
            for (number, line) in lines.enumerated() {
                write(line.spans, line: number, into: &canvas)
            }
        }
    }
}

extension StyledText {
    /// One line of the wrapped text.
    struct Line {
        var spans: [Span] = []
        var columns = 0

        mutating func append(_ cluster: Character, _ style: CellStyle, _ width: Int) {
            if let last = spans.indices.last, spans[last].style == style {
                spans[last].append(cluster, width)
            } else {
                spans.append(Span(cluster, style, width))
            }
            columns += width
        }
    }

    private typealias Piece = (cluster: Character, style: CellStyle, width: Int)

    private var pieces: [Piece] {
        spans.flatMap { span in
            span.text.map { ($0, span.style, DisplayWidth.columns(of: $0)) }
        }
    }

    /// The text on one line of that many columns at most, with `…` where it is cut.
    func cut(to width: Int) -> StyledText {
        var text = truncated()
        if columns > width { text.spans = width > 0 ? line(cutTo: width).spans : [] }
        return text
    }

    private func line(cutTo width: Int) -> Line {
        var line = Line()
        let isCut = columns > width
        for piece in pieces where piece.cluster != "\n" {
            if isCut, line.columns + piece.width > width - 1 {
                line.append("…", piece.style, 1)
                break
            }
            line.append(piece.cluster, piece.style, piece.width)
        }
        return line
    }

    /// The text's lines at a width, without their styles.
    public func lines(width: Int) -> [String] {
        wrapped(width: max(1, width)).map { line in line.spans.map(\.text).joined() }
    }

    func wrapped(width: Int) -> [Line] {
        var lines: [Line] = []
        var line = Line()
        var word: [Piece] = []
        var gap: [Piece] = []
        func wide(_ pieces: [Piece]) -> Int { pieces.reduce(0) { $0 + $1.width } }
        func endWord() {
            if word.isEmpty { return }
            if line.columns > 0, line.columns + wide(gap) + wide(word) > width {
                lines.append(line)
                line = Line()
                gap = []
            }
            for piece in gap + word {
                if line.columns + piece.width > width, line.columns > 0 {
                    lines.append(line)
                    line = Line()
                }
                line.append(piece.cluster, piece.style, piece.width)
            }
            gap = []
            word = []
        }
        for piece in pieces {
            if piece.cluster == "\n" {
                endWord()
                lines.append(line)
                line = Line()
                gap = []
            } else if piece.cluster == " " {
                endWord()
                gap.append(piece)
            } else {
                // Scripts of wide characters break anywhere.
                if piece.width == 2 { endWord() }
                word.append(piece)
                if piece.width == 2 { endWord() }
            }
        }
        endWord()
        // Trailing spaces are kept as far as they fit, because they may be part of a filled field.
        for piece in gap where line.columns + piece.width <= width {
            line.append(piece.cluster, piece.style, piece.width)
        }
        lines.append(line)
        return lines
    }
}

/// A line in several wordings, the longest first: the first one that fits is drawn, or the last one
/// cut.
public struct FittingText: Block {
    private let texts: [StyledText]

    /// Wordings of one line.
    public init(_ texts: [StyledText]) { self.texts = texts }

    private func text(_ width: Int) -> StyledText {
        let fitting = texts.first { $0.columns <= width }
        return (fitting ?? texts.last ?? StyledText("")).truncated()
    }

    public func measure(width: Int) -> Size { text(width).measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        text(rect.columns).render(into: &canvas, in: rect)
    }
}
