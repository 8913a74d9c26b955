// Gauges: a reading between two bounds, tinted from thresholds on.

public import SyncCore

/// A gauge.
public struct GaugeStyleConfiguration: Sendable {
    /// A value from which on the gauge has another tint.
    public struct Threshold: Hashable, Sendable {
        public var from: DecimalNumber
        public var tint: Tint
        /// The value as people read it.
        public var text: String

        /// A threshold.
        public init(from: DecimalNumber, tint: Tint, text: String) {
            self.from = from
            self.tint = tint
            self.text = text
        }
    }

    public var label: ControlLabel
    /// `nil` if there is none.
    public var value: DecimalNumber?
    public var range: TrackRange
    /// The value as people read it.
    public var valueText: String
    public var minLabel: String?
    public var maxLabel: String?
    /// The columns that the longest value needs, kept so that nothing moves.
    public var valueColumns = 0
    /// Ascending.
    public var thresholds: [Threshold]
    public var state: ControlState
    public var environment: StyleEnvironment

    /// A gauge.
    public init(
        label: ControlLabel, value: DecimalNumber?, range: TrackRange, valueText: String,
        minLabel: String? = nil, maxLabel: String? = nil,
        thresholds: [Threshold] = [], state: ControlState = ControlState(),
        environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.value = value
        self.range = range
        self.valueText = valueText
        self.minLabel = minLabel
        self.maxLabel = maxLabel
        self.thresholds = thresholds
        self.state = state
        self.environment = environment
    }

    /// The threshold that the value has passed last.
    public var passed: Threshold? {
        value.flatMap { value in thresholds.last { $0.from <= value } }
    }

    /// The style of what is filled.
    public var fill: CellStyle {
        let roles = environment.roles
        if state.availability == .disabled { return roles.dim }
        return passed.map { CellStyle(roles.color($0.tint), .bold) } ?? roles.text
    }

    /// The value, and the threshold that it has passed: the tint is not the only sign. Where there
    /// is little space, the threshold has no unit, or there is only its mark.
    public var reading: FittingText {
        let mixed = ControlWords.mixed(environment.glyphs.dash)
        let value = StyledText(" " + (state.isMixed ? mixed : valueText), fill)
        guard let warning, let passed else { return FittingText([value]) }
        let above = environment.glyphs.above
        let number = passed.words(at: self.value, passed.from.description)
        let (brief, mark) = (StyledText("\(above) \(number)", fill), StyledText(above, fill))
        return FittingText([warning, brief, mark].map { value + StyledText("  ") + $0 })
    }

    /// The threshold that the value has passed, in words.
    public var warning: StyledText? {
        guard let passed else { return nil }
        let words = passed.words(at: value, passed.text)
        return StyledText("\(environment.glyphs.above) \(words)", fill)
    }

    /// The columns of the longest reading.
    var readingColumns: Int {
        let value = max(valueColumns, DisplayWidth.columns(of: valueText))
        let words = thresholds.map { DisplayWidth.columns(of: $0.words(at: nil, $0.text)) }.max()
        return value + (words.map { $0 + 4 } ?? 0)
    }
}

extension GaugeStyleConfiguration.Threshold {
    /// What a value says that has passed it: `over 60`; `at 60` if it is the threshold itself.
    public func words(at value: DecimalNumber?, _ text: String) -> String {
        ControlWords.threshold(text, isEqual: value == from)
    }
}

/// A bar; small lines mark the thresholds, with their values if there is space.
public struct LinearGaugeStyle: GaugeStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let roles = configuration.environment.roles
        let ends = [configuration.minLabel, configuration.maxLabel].compactMap { $0 }
            .reduce(0) { $0 + DisplayWidth.columns(of: $1) + 1 }
        let bar = Drawing(
            size: { width in
                let space = min(configuration.environment.inputColumns, width) - 11 - ends
                // Narrower where the words about a threshold would be cut.
                let last = configuration.maxLabel.map { DisplayWidth.columns(of: $0) } ?? 0
                let rest = width - last - configuration.readingColumns - 1
                return Size(columns: max(8, min(space, rest)), lines: 1)
            },
            draw: { canvas, rect in Self.draw(configuration, &canvas, rect) })
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            Row {
                if let label = configuration.minLabel { StyledText(label, roles.dim).truncated() }
                bar
                if let label = configuration.maxLabel { StyledText(label, roles.dim).truncated() }
                configuration.reading
            }
        }
    }

    private static func draw(_ configuration: Configuration, _ canvas: inout Canvas, _ rect: Rect) {
        let glyphs = configuration.environment.glyphs
        let roles = configuration.environment.roles
        let filled =
            configuration.value.map {
                configuration.range.position(of: $0, last: rect.columns)
            } ?? 0
        for x in 0..<rect.columns {
            let isFilled = x < filled
            canvas.write(
                isFilled ? glyphs.gaugeFilled : glyphs.gaugeEmpty,
                at: Point(x: rect.x + x, y: rect.y),
                style: isFilled ? configuration.fill : roles.border)
        }
        let places = configuration.thresholds.map {
            configuration.range.position(of: $0.from, last: rect.columns)
        }
        for (number, threshold) in configuration.thresholds.enumerated() {
            let x = places[number]
            guard x < rect.columns else { continue }
            let style = CellStyle(roles.color(threshold.tint))
            canvas.write(
                x < filled ? glyphs.tickFilled : glyphs.tickEmpty,
                at: Point(x: rect.x + x, y: rect.y), style: style)
            // The end of the filled part stays visible between two values.
            let next = places.dropFirst(number + 1).first ?? rect.columns
            let columns = DisplayWidth.columns(of: threshold.text)
            let isHidden = (x..<x + columns + 2).contains(filled) && x < filled
            guard x + columns + 2 < next, !isHidden else { continue }
            canvas.write(
                threshold.text, at: Point(x: rect.x + x + 1, y: rect.y),
                style: x < filled ? style : roles.dim)
        }
    }
}

/// An open ring with the value inside; what is filled is thicker, so that it needs no colour.
public struct CircularGaugeStyle: GaugeStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let glyphs = configuration.environment.glyphs
        let ring =
            glyphs.hasBraille
            ? Drawing(columns: RingDots.columns + 2, lines: RingDots.lines) {
                Self.ring(configuration, &$0, $1)
            }
            : Drawing(columns: 12, lines: 3) { Self.arch(configuration, &$0, $1) }
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            Row(spacing: 2) {
                ring
                if let warning = configuration.warning {
                    Padding(top: glyphs.hasBraille ? 2 : 1, warning)
                }
            }
        }
    }

    private static func inside(
        _ configuration: Configuration, _ canvas: inout Canvas, _ rect: Rect, line: Int
    ) {
        let roles = configuration.environment.roles
        let dash = configuration.environment.glyphs.dash
        let text = configuration.state.isMixed ? dash : configuration.valueText
        let middle = rect.line(line).inset(left: 3, right: 3)
        Framed(columns: middle.columns, .center, StyledText(text, configuration.fill).truncated())
            .render(into: &canvas, in: middle)
        let ends = rect.line(rect.lines - 1)
        let half = ends.columns / 2
        if let label = configuration.minLabel {
            let place = Rect(x: ends.x, y: ends.y, columns: half, lines: 1)
            Framed(columns: half, .center, StyledText(label, roles.dim).truncated())
                .render(into: &canvas, in: place)
        }
        if let label = configuration.maxLabel {
            let place = ends.inset(left: ends.columns - half)
            Framed(columns: half, .center, StyledText(label, roles.dim).truncated())
                .render(into: &canvas, in: place)
        }
    }

    private static func ring(
        _ configuration: Configuration, _ canvas: inout Canvas, _ rect: Rect
    ) {
        let roles = configuration.environment.roles
        let percent = configuration.value.map { configuration.range.position(of: $0, last: 100) }
        var cells = [UInt32](repeating: 0, count: RingDots.columns * RingDots.lines)
        var isFilled = [Bool](repeating: false, count: cells.count)
        for dot in RingDots.dots {
            let isBelow = percent.map { $0 > 0 && dot.percent <= $0 } ?? false
            if !isBelow, !dot.isMiddle { continue }
            let index = dot.y / 4 * RingDots.columns + dot.x / 2
            cells[index] |= RingDots.bit(x: dot.x, y: dot.y)
            if isBelow { isFilled[index] = true }
        }
        for (index, bits) in cells.enumerated() where bits != 0 {
            guard let scalar = Unicode.Scalar(0x2800 + bits) else { continue }
            canvas.write(
                String(Character(scalar)),
                at: Point(
                    x: rect.x + 1 + index % RingDots.columns,
                    y: rect.y + index / RingDots.columns),
                style: isFilled[index] ? configuration.fill : roles.border)
        }
        inside(configuration, &canvas, rect, line: 2)
    }

    private static func arch(
        _ configuration: Configuration, _ canvas: inout Canvas, _ rect: Rect
    ) {
        let roles = configuration.environment.roles
        let places = rect.columns - 4
        let filled =
            configuration.value.map {
                configuration.range.position(of: $0, last: places)
            } ?? 0
        let bar = String(repeating: "=", count: filled)
        let rest = String(repeating: "-", count: places - filled)
        StyledText(" /", roles.border).appending(bar, configuration.fill)
            .appending(rest + "\\", roles.border).render(into: &canvas, in: rect.line(0))
        canvas.write("|", at: Point(x: rect.x, y: rect.y + 1), style: roles.border)
        canvas.write("|", at: Point(x: rect.maxX - 1, y: rect.y + 1), style: roles.border)
        inside(configuration, &canvas, rect, line: 1)
    }
}

/// A gauge in the style of its environment.
public struct GaugeView: ControlView {
    public var configuration: GaugeStyleConfiguration

    /// A gauge; the configuration's environment is replaced by that of the container.
    public init(_ configuration: GaugeStyleConfiguration) { self.configuration = configuration }

    public func block(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return framed(
            configuration.state, environment,
            AnyBlock(environment.gaugeStyle.makeBody(configuration: configuration)))
    }
}
