// Several series as one picture: Scalable Vector Graphics 1.1, readable on light and dark pages.

internal import SyncCore

/// Draws all series below one another with one axis of time.
struct SVGPlot {
    private static let width = 800.0
    private static let left = 120.0
    private static let right = 20.0
    private static let numberHeight = 140.0
    private static let nameHeight = 22.0
    private static let headingHeight = 30.0

    private var plotWidth: Double { Self.width - Self.left - Self.right }

    /// The whole document.
    func document(_ allSeries: [ValueSeries], _ window: ClosedRange<Timestamp>) -> String {
        let time = TimeScale(window, ticksMax: 7)
        var body = ""
        var top = 0.0
        for series in allSeries { top = append(series, time, from: top, to: &body) }
        for tick in time.ticks {
            let x = Self.left + tick.place * plotWidth
            body += text(tick.label, x: x, y: top + 18, anchor: "middle", "tick")
        }
        let height = Self.number(top + 30)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(Self.width)) \
            \(height)" width="\(Self.number(Self.width))" height="\(height)">
            <style>
            text { font: 12px sans-serif; fill: #1f2328 }
            .heading { font-weight: bold }
            .tick { fill: #59636e }
            .grid { stroke: #d1d9e0; fill: none }
            .line { stroke: #0969da; stroke-width: 2; fill: none }
            @media (prefers-color-scheme: dark) {
              text { fill: #f0f6fc } .tick { fill: #9198a1 }
              .grid { stroke: #3d444d } .line { stroke: #4493f8 }
            }
            </style>
            \(body)</svg>

            """
    }

    /// Appends one series and gives where the next may begin.
    private func append(
        _ series: ValueSeries, _ time: TimeScale, from top: Double, to body: inout String
    ) -> Double {
        let ticks: [(y: Double, label: String)]
        let height: Double
        let place: (Double) -> Double
        let upper = top + Self.headingHeight
        switch series.axis {
        case .numbers:
            let scale = PlotScale(over: series.steps.compactMap(\.level), ticksMax: 6)
            height = Self.numberHeight
            place = { upper + (1 - scale.place(of: $0)) * Self.numberHeight }
            ticks = scale.ticks.map { (upper + (1 - $0.place) * Self.numberHeight, $0.label) }
        case .names(let names):
            height = Self.nameHeight * Double(max(1, names.count))
            place = { upper + ($0 + 0.5) * Self.nameHeight }
            ticks = names.enumerated().map { (upper + (Double($0) + 0.5) * Self.nameHeight, $1) }
        }
        body += text(series.heading, x: 8, y: top + 18, anchor: "start", "heading")
        let begin = Self.number(Self.left)
        let end = Self.number(Self.left + plotWidth)
        for tick in ticks {
            body += "<path class=\"grid\" d=\"M\(begin) \(Self.number(tick.y))H\(end)\"/>\n"
            body += text(tick.label, x: Self.left - 8, y: tick.y + 4, anchor: "end", "tick")
        }
        body += "<path class=\"line\" d=\"\(path(series, time, place))\"/>\n"
        return upper + height + 10
    }

    /// The line: along to the moment of a step, then up or down to its level.
    private func path(
        _ series: ValueSeries, _ time: TimeScale, _ place: (Double) -> Double
    ) -> String {
        var path = ""
        var isDrawing = false
        for step in series.steps {
            let x = Self.number(Self.left + time.place(of: step.at) * plotWidth)
            if isDrawing { path += "H\(x)" }
            if let level = step.level {
                let y = Self.number(place(level))
                path += isDrawing ? "V\(y)" : "M\(x) \(y)"
            }
            isDrawing = step.level != nil
        }
        return isDrawing ? path + "H\(Self.number(Self.left + plotWidth))" : path
    }

    private func text(
        _ text: String, x: Double, y: Double, anchor: String, _ style: String
    ) -> String {
        """
        <text class="\(style)" x="\(Self.number(x))" y="\(Self.number(y))" \
        text-anchor="\(anchor)">\(Self.escaped(text))</text>

        """
    }

    /// Text of others within an element: XML 1.0, section 2.4. What XML has no character for, and
    /// what would turn a line around, is escaped as on a terminal.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.escapedForDisplay().unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A length with at most one fraction digit.
    private static func number(_ length: Double) -> String {
        let tenths = Int((length * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
