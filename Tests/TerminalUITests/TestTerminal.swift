import Testing

@testable import TerminalUI

/// A small terminal: it does what the bytes say and nothing else, so that what an encoder writes
/// can be compared with what was to be shown. It fails on a sequence that it does not know.
struct TestTerminal {
    /// How clusters of several scalars are drawn.
    enum Kind {
        /// As one cell of one or two columns.
        case modern
        /// Scalar by scalar, as terminals without grapheme support do.
        case legacy
    }

    let kind: Kind
    let columns: Int
    let lines: Int
    private(set) var cells: [[Cell]]
    private(set) var x = 0
    private(set) var y = 0
    private(set) var isCursorShown = true
    private(set) var isSynchronized = false
    private(set) var style = CellStyle.plain
    private(set) var unknown: [String] = []
    private var bytes: ArraySlice<UInt8> = []

    init(columns: Int, lines: Int, kind: Kind = .modern, cursor: Point = Point(x: 0, y: 0)) {
        self.kind = kind
        self.columns = columns
        self.lines = lines
        cells = Array(repeating: Array(repeating: .blank(), count: columns), count: lines)
        (x, y) = (cursor.x, cursor.y)
    }

    mutating func feed(_ input: [UInt8]) {
        bytes = input[...]
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            if byte >= 0x20, byte != 0x7F {
                text.append(byte)
                continue
            }
            draw(&text)
            switch byte {
            case 0x0D: x = 0
            case 0x0A: lineFeed()
            case 0x08: x = max(0, min(x, columns - 1) - 1)
            case 0x1B: escape()
            default: unknown.append("control \(byte)")
            }
        }
        draw(&text)
    }

    private mutating func lineFeed() {
        if y + 1 < lines {
            y += 1
        } else {
            cells.removeFirst()
            cells.append(Array(repeating: .blank(), count: columns))
        }
    }

    private mutating func draw(_ text: inout [UInt8]) {
        for cluster in String(decoding: text, as: UTF8.self) {
            switch kind {
            case .modern: put(cluster)
            case .legacy: for scalar in cluster.unicodeScalars { put(Character(scalar)) }
            }
        }
        text = []
    }

    private mutating func put(_ cluster: Character) {
        let width = DisplayWidth.columns(of: cluster)
        if width == 0 { return }
        // Wrapping is off: the last column takes what comes.
        let place = min(x, columns - width)
        for column in place..<place + width { release(column, y) }
        cells[y][place] = Cell(cluster: cluster, width: UInt8(width), style: style)
        if width == 2 { cells[y][place + 1] = .continuation(style) }
        x = min(place + width, columns)
    }

    private mutating func release(_ column: Int, _ y: Int) {
        if cells[y][column].width == 2 { cells[y][column + 1] = .blank() }
        if cells[y][column].isContinuation { cells[y][column - 1] = .blank() }
    }

    private mutating func escape() {
        guard bytes.popFirst() == UInt8(ascii: "[") else {
            unknown.append("an escape that is not a control sequence")
            return
        }
        var text = ""
        while let byte = bytes.popFirst() {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            if (0x40...0x7E).contains(byte) { break }
        }
        guard let final = text.popLast() else { return }
        switch (text, final) {
        case ("?25", "h"): isCursorShown = true
        case ("?25", "l"): isCursorShown = false
        case ("?2026", "h"): isSynchronized = true
        case ("?2026", "l"): isSynchronized = false
        default:
            control(
                text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 },
                final)
        }
    }

    private mutating func control(_ numbers: [Int], _ final: Character) {
        let first = max(1, numbers.first ?? 1)
        let column = min(x, columns - 1)
        switch final {
        case "H":
            y = min(first, lines) - 1
            x = min(max(1, numbers.count > 1 ? numbers[1] : 1), columns) - 1
        case "G": x = min(first, columns) - 1
        case "A": y = max(0, y - first)
        case "B": y = min(lines - 1, y + first)
        case "C": x = min(columns - 1, column + first)
        case "D": x = max(0, column - first)
        case "J":
            clear(from: numbers.first == 2 ? 0 : x, line: numbers.first == 2 ? 0 : y)
            for line in (numbers.first == 2 ? 0 : y + 1)..<lines { clear(from: 0, line: line) }
        case "K": clear(from: column, line: y)
        case "m": select(numbers)
        default: unknown.append("\(numbers)\(final)")
        }
    }

    private mutating func clear(from column: Int, line: Int) {
        guard line < lines else { return }
        release(min(column, columns - 1), line)
        for x in min(column, columns - 1)..<columns {
            cells[line][x] = .blank(CellStyle(on: style.background))
        }
    }

    private mutating func select(_ numbers: [Int]) {
        var rest = numbers[...]
        func color() -> TerminalColor? {
            switch rest.popFirst() {
            case 5: return rest.popFirst().map { .palette(UInt8($0)) }
            case 2:
                let parts = rest.prefix(3).map { UInt8($0) }
                rest = rest.dropFirst(3)
                return .rgb(parts[0], parts[1], parts[2])
            default: return nil
            }
        }
        while let code = rest.popFirst() {
            switch code {
            case 0: style = .plain
            case 1: style.attributes.insert(.bold)
            case 2: style.attributes.insert(.dim)
            case 3: style.attributes.insert(.italic)
            case 4: style.attributes.insert(.underline)
            case 7: style.attributes.insert(.reverse)
            case 9: style.attributes.insert(.strikethrough)
            case 22: style.attributes.subtract([.bold, .dim])
            case 23: style.attributes.remove(.italic)
            case 24: style.attributes.remove(.underline)
            case 27: style.attributes.remove(.reverse)
            case 29: style.attributes.remove(.strikethrough)
            case 30...37: style.foreground = .ansi(UInt8(code - 30))
            case 40...47: style.background = .ansi(UInt8(code - 40))
            case 90...97: style.foreground = .ansi(UInt8(code - 82))
            case 100...107: style.background = .ansi(UInt8(code - 92))
            case 38: style.foreground = color() ?? .standard
            case 48: style.background = color() ?? .standard
            case 39: style.foreground = .standard
            case 49: style.background = .standard
            default: unknown.append("SGR \(code)")
            }
        }
    }

    /// The first place where the screen differs from a buffer that begins at line `top`; clusters
    /// of several scalars are not looked at where the terminal cannot draw them.
    func difference(from buffer: CellBuffer, top: Int = 0) -> String? {
        for line in 0..<buffer.lines {
            for column in 0..<buffer.columns {
                let wanted = buffer[column, line]
                let isFragile = wanted.cluster.unicodeScalars.count > 1
                let isTail =
                    wanted.isContinuation && column > 0
                    && buffer[column - 1, line].cluster.unicodeScalars.count > 1
                if kind == .legacy, isFragile || isTail { continue }
                let shown = cells[line + top][column]
                if shown != wanted {
                    return "\(column),\(line): \(shown) where \(wanted) was to be"
                }
            }
        }
        return nil
    }
}

extension CellBuffer {
    /// The cells as a terminal of that depth and charset shows them.
    func reduced(to depth: ColorDepth, charset: Charset) -> CellBuffer {
        var reduced = self
        for y in 0..<lines {
            reduced.setCells(y, from: 0, reducedLine(y, to: depth, charset: charset))
        }
        return reduced
    }
}
