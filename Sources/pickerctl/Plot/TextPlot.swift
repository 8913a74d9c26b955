// A series as lines of text: Braille dots in a frame of axes, or ASCII where the locale has no
// UTF-8.

internal import SyncCore
internal import TerminalUI

/// A picture of dots, two by four in each character.
struct DotCanvas {
    let columns: Int
    let lines: Int
    private var cells: [UInt8]

    init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
        cells = [UInt8](repeating: 0, count: columns * lines)
    }

    /// Sets the dots of one column from one height to another; `y` counts from the top.
    mutating func fill(x: Int, _ y: ClosedRange<Int>) {
        for y in y {
            // Unicode Standard, chapter 21.1, Braille: the eight dots of a cell and their bits.
            let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
            cells[y / 4 * columns + x / 2] |= bits[x % 2][y % 4]
        }
    }

    /// A line of characters.
    func text(line: Int, _ charset: Charset) -> String {
        var text = ""
        for cell in cells[line * columns..<(line + 1) * columns] {
            switch charset {
            case .unicode:
                text.unicodeScalars.append(
                    cell == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(cell)) ?? " ")
            case .ascii:
                let upper = cell & 0x1B != 0
                let lower = cell & 0xE4 != 0
                text += upper && lower ? "|" : upper ? "'" : lower ? "." : " "
            }
        }
        return text
    }
}

/// A series as text: a label at the left of each line, and the line. All have the same margin.
struct PlotPicture: Equatable {
    var rows: [(label: String, dots: String)] = []
    /// The axis of time, and its labels where there is space for some.
    var axis: [String] = []

    static func == (left: Self, right: Self) -> Bool {
        left.axis == right.axis && left.rows.elementsEqual(right.rows) { $0 == $1 }
    }
}

/// Draws all series for a terminal or a pipe.
struct TextPlot {
    /// The characters of a line.
    let columns: Int
    let charset: Charset

    /// The lines from one tick of numbers to the next. Each distance is the same, so the picture
    /// has about eight lines, as its ticks allow; each name has a line of its own.
    private static func linesApart(_ intervals: Int) -> Int {
        max(1, (7 + intervals / 2) / intervals)
    }

    /// Where in its line the dot of a tick is, so that a label is beside the level that it names.
    private static let dotOfTick = 1

    /// The lines of a series: a heading, the picture with its labels, the axis of time.
    func lines(
        _ series: ValueSeries, _ window: ClosedRange<Timestamp>, _ console: Console
    ) -> [String] {
        let picture = picture(series, window)
        return [console.bold(series.heading.escapedForDisplay())]
            + picture.rows.map { console.dim($0.label) + console.accent($0.dots) }
            + picture.axis.map(console.dim)
    }

    /// The picture of a series.
    func picture(_ series: ValueSeries, _ window: ClosedRange<Timestamp>) -> PlotPicture {
        let scale: PlotScale
        let lineCount: Int
        switch series.axis {
        case .numbers:
            scale = PlotScale(over: series.steps.compactMap(\.level), ticksMax: 5)
            let intervals = scale.ticks.count - 1
            lineCount = intervals * Self.linesApart(intervals) + 1
        case .names(let names):
            scale = PlotScale(over: [0, 1], ticksMax: 2)
            lineCount = max(1, names.count)
        }
        /// The dot at a place of the scale of numbers, from the top.
        func dot(_ place: Double) -> Int {
            Int(((1 - place) * Double((lineCount - 1) * 4)).rounded()) + Self.dotOfTick
        }
        func height(_ level: Double) -> Int {
            switch series.axis {
            case .numbers: dot(scale.place(of: level))
            case .names: Int(level) * 4 + Self.dotOfTick
            }
        }
        var labels = [String](repeating: "", count: lineCount)
        switch series.axis {
        case .numbers:
            for tick in scale.ticks { labels[dot(tick.place) / 4] = tick.label }
        case .names(let names):
            for (line, name) in names.enumerated() {
                let shown = name.escapedForDisplay()
                labels[line] = DisplayWidth.truncated(shown, to: max(8, columns / 4))
            }
        }
        let margin = labels.map { DisplayWidth.columns(of: $0) }.max() ?? 0
        let time = TimeScale(window, ticksMax: max(1, (columns - margin - 3) / 12))
        let canvas = drawn(
            series, time, DotCanvas(columns: max(8, columns - margin - 2), lines: lineCount),
            height)
        var picture = PlotPicture()
        for line in 0..<lineCount {
            let label = labels[line]
            let pad = String(repeating: " ", count: margin - DisplayWidth.columns(of: label))
            let side = label.isEmpty ? frame.side : frame.tick
            let dots = canvas.text(line: line, charset).trimmedAtEnd
            picture.rows.append((pad + label + " " + side, dots))
        }
        picture.axis = axis(time, margin: margin, columns: canvas.columns)
        return picture
    }

    private var frame: (side: String, tick: String, corner: String, rule: String, mark: String) {
        switch charset {
        case .unicode: ("│", "┤", "└", "─", "┬")
        case .ascii: ("|", "+", "+", "-", "+")
        }
    }

    /// The series's line: each column of dots from the lowest to the highest level in its time,
    /// joined with the level before.
    private func drawn(
        _ series: ValueSeries, _ time: TimeScale, _ canvas: DotCanvas, _ height: (Double) -> Int
    ) -> DotCanvas {
        var canvas = canvas
        var next = 0
        var level: Double?
        for x in 0..<canvas.columns * 2 {
            var heights = level.map { [height($0)] } ?? []
            while next < series.steps.count,
                Int(time.place(of: series.steps[next].at) * Double(canvas.columns * 2 - 1)) <= x
            {
                level = series.steps[next].level
                if let level { heights.append(height(level)) }
                next += 1
            }
            if let lowest = heights.min(), let highest = heights.max() {
                canvas.fill(x: x, lowest...highest)
            }
        }
        return canvas
    }

    /// The axis of time and its labels, two lines.
    private func axis(_ time: TimeScale, margin: Int, columns: Int) -> [String] {
        var rule = [String](repeating: frame.rule, count: columns)
        var labels = ""
        for tick in time.ticks {
            let place = Int(tick.place * Double(columns - 1))
            let begin = margin + 2 + place - tick.label.utf8.count / 2
            let used = labels.utf8.count
            let isFirst = labels.isEmpty
            guard begin >= (isFirst ? 0 : used + 2), begin + tick.label.utf8.count <= self.columns
            else { continue }
            rule[place] = frame.mark
            labels += String(repeating: " ", count: begin - used) + tick.label
        }
        let pad = String(repeating: " ", count: margin + 1)
        let axis = pad + frame.corner + Table.joined(rule, by: "")
        return labels.isEmpty ? [axis] : [axis, labels]
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
