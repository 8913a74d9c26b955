// Sliders: a thumb on a track, with the drafts of others.

public import SyncCore

/// A slider.
public struct SliderStyleConfiguration: Sendable {
    public var label: ControlLabel
    /// `nil` if the value is mixed or none.
    public var value: DecimalNumber?
    public var range: TrackRange
    /// The value as people read it.
    public var valueText: String
    /// What was typed in place of the value.
    public var typing: TextEditor?
    /// Whether it is being typed; otherwise it is a draft.
    public var isTyping = true
    public var minLabel: String?
    public var maxLabel: String?
    /// Values that have a tick.
    public var ticks: [DecimalNumber]
    public var state: ControlState
    public var environment: StyleEnvironment

    /// A slider.
    public init(
        label: ControlLabel, value: DecimalNumber?, range: TrackRange, valueText: String,
        minLabel: String? = nil, maxLabel: String? = nil, ticks: [DecimalNumber] = [],
        state: ControlState = ControlState(), environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.value = value
        self.range = range
        self.valueText = valueText
        self.minLabel = minLabel
        self.maxLabel = maxLabel
        self.ticks = ticks
        self.state = state
        self.environment = environment
    }

    /// The values of a form's ticks; at most `most`, because more could not be distinguished on a
    /// screen.
    public static func ticks(
        _ ticks: SliderAttributes.Ticks?, domain: NumberDomain, most: Int = 64
    ) -> [DecimalNumber] {
        guard let range = TrackRange(domain) else { return [] }
        switch ticks {
        case nil: return []
        case .at(let values): return Array(values.prefix(most))
        case .count(let count):
            guard count >= 2, count <= most else { return [] }
            return (0..<count).compactMap { range.value(at: $0, last: count - 1) }
        case .steps:
            guard let step = domain.step else { return [] }
            var values: [DecimalNumber] = []
            var next: DecimalNumber? = range.min
            while let value = next, value <= range.max {
                if values.count == most { return [] }
                values.append(value)
                next = value.adding(step)
            }
            return values
        }
    }
}

/// The track of a slider.
public struct SliderTrack: Block {
    public var configuration: SliderStyleConfiguration
    public var columns: Int

    /// A track with a number of columns, or with the available width.
    public init(configuration: SliderStyleConfiguration, columns: Int) {
        self.configuration = configuration
        self.columns = columns
    }

    public func measure(width: Int) -> Size { Size(columns: min(columns, width), lines: 1) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let environment = configuration.environment
        let roles = environment.roles
        let glyphs = environment.glyphs
        let state = configuration.state
        let last = max(1, rect.columns - 1)
        func place(_ number: DecimalNumber) -> Int {
            configuration.range.position(of: number, last: last)
        }
        let thumb = configuration.value.map(place)
        let ticks = Set(configuration.ticks.map(place))
        let filled = state.isDimmed ? roles.dim : state.isFocused ? roles.accent : roles.text
        for x in 0..<rect.columns {
            let isFilled = thumb.map { x < $0 } ?? false
            let isTick = ticks.contains(x)
            let glyph =
                isTick
                ? (isFilled ? glyphs.tickFilled : glyphs.tickEmpty)
                : (isFilled ? glyphs.trackFilled : glyphs.trackEmpty)
            canvas.write(
                glyph, at: Point(x: rect.x + x, y: rect.y), style: isFilled ? filled : roles.border)
        }
        func mark(_ value: PeerValue?, _ glyph: String) {
            guard let value, let number = value.value.numberValue else { return }
            canvas.write(
                glyph, at: Point(x: rect.x + place(number), y: rect.y),
                style: value.by.map { roles.peer($0.number) } ?? roles.ghost)
        }
        if let thumb {
            canvas.write(
                state.isFocused ? glyphs.thumbFocused : glyphs.thumb,
                at: Point(x: rect.x + thumb, y: rect.y), style: filled)
            if state.isFocused { canvas.setCursor(Point(x: rect.x + thumb, y: rect.y)) }
        }
        mark(state.held, glyphs.thumbHeld)
        mark(state.ghost, glyphs.thumbGhost)
        if state.isEditable { canvas.addRegion(rect, .track) }
    }
}

/// A thumb on a track, between the labels of its ends; the value is to the right.
public struct LinearSliderStyle: SliderStyle {
    /// The minimum columns of the value, so that the track does not move when the value changes.
    static let valueColumns = 8

    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        LabeledRow(
            configuration.label, configuration.state, configuration.environment,
            SliderBody(configuration: configuration))
    }

    private struct SliderBody: Block {
        var configuration: Configuration

        func measure(width: Int) -> Size { Size(columns: width, lines: 1) }

        func render(into canvas: inout Canvas, in rect: Rect) {
            row(rect.columns).render(into: &canvas, in: rect)
        }

        private func row(_ width: Int) -> Row {
            let environment = configuration.environment
            let roles = environment.roles
            let state = configuration.state
            let ends = [configuration.minLabel, configuration.maxLabel].compactMap { $0 }
                .reduce(0) { $0 + DisplayWidth.columns(of: $1) + 1 }
            let value = max(
                LinearSliderStyle.valueColumns, DisplayWidth.columns(of: configuration.valueText))
            // Its value ends where inputs end, so that what is said at its right has space.
            let space = min(environment.inputColumns, width) - value - 2 - ends
            let text =
                state.isMixed
                ? ControlWords.mixed(environment.glyphs.dash) : configuration.valueText
            let style =
                state.isDimmed || state.isMixed
                ? roles.dim : state.isFocused ? roles.accent : roles.text
            return Row {
                if let label = configuration.minLabel { StyledText(label, roles.dim).truncated() }
                SliderTrack(
                    configuration: configuration,
                    columns: max(8, space))
                if let label = configuration.maxLabel { StyledText(label, roles.dim).truncated() }
                let gap = configuration.maxLabel == nil ? "" : " "
                if let typing = configuration.typing {
                    Row(
                        [
                            StyledText(gap),
                            EditLine(
                                editor: typing,
                                style: state.isFocused ? roles.fieldFocused : roles.field,
                                isEditing: configuration.isTyping, environment: environment,
                                columns: value - gap.count),
                        ], spacing: 0)
                } else {
                    StyledText(gap + text, style).truncated()
                }
            }
        }
    }
}

/// A slider in the style of its environment.
public struct SliderView: ControlView {
    public var configuration: SliderStyleConfiguration

    /// A slider; the configuration's environment is replaced by that of the container.
    public init(_ configuration: SliderStyleConfiguration) { self.configuration = configuration }

    public func block(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return framed(
            configuration.state, environment,
            AnyBlock(environment.sliderStyle.makeBody(configuration: configuration)))
    }
}

/// A number between a minus and a plus.
public struct StepperView: ControlView {
    public var label: ControlLabel
    /// The value as people read it; `nil` if there is none.
    public var valueText: String?
    /// What was typed in place of the value.
    public var typing: TextEditor?
    /// Whether it is being typed; otherwise it is a draft.
    public var isTyping = true
    public var canDecrement: Bool
    public var canIncrement: Bool
    /// The minimum columns between the buttons, so that they do not move.
    public var valueColumns = 5
    public var state: ControlState

    /// A stepper.
    public init(
        label: ControlLabel, valueText: String?, typing: TextEditor? = nil,
        canDecrement: Bool = true, canIncrement: Bool = true, state: ControlState = ControlState()
    ) {
        self.label = label
        self.valueText = valueText
        self.typing = typing
        self.canDecrement = canDecrement
        self.canIncrement = canIncrement
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let roles = environment.roles
        let glyphs = environment.glyphs
        func button(_ glyph: String, _ isUsable: Bool, _ action: ControlAction) -> any Block {
            let isUsable = isUsable && state.isEditable
            let hasSurface = roles.field.background != .standard
            let ground = roles.field.background
            let mark = isUsable ? (state.isFocused ? roles.accent : roles.text) : roles.dim
            let edge = hasSurface ? CellStyle(ground, on: ground) : roles.border
            let style = hasSurface && mark == .plain ? roles.field : mark.on(ground)
            let text = StyledText([.init("[", edge), .init(glyph, style), .init("]", edge)])
            return isUsable ? Target(action, text) : text
        }
        let style = state.isDimmed ? roles.dim : state.isFocused ? roles.accent : roles.text
        let shown = state.isMixed ? ControlWords.mixed(glyphs.dash) : valueText ?? glyphs.dash
        let columns = max(5, min(valueColumns, 24))
        let value: any Block =
            if let typing {
                typed(typing, columns, environment)
            } else {
                StyledText(shown, style)
            }
        let row = StepperRow(
            columns: columns,
            less: button(glyphs.minus, canDecrement, .decrement), value: value,
            more: button(glyphs.plus, canIncrement, .increment))
        return framed(state, environment, LabeledRow(label, state, environment, row))
    }

    /// What is typed, where the value would be: in the middle, as far as the cursor has space.
    private func typed(
        _ typing: TextEditor, _ columns: Int, _ environment: StyleEnvironment
    ) -> any Block {
        let style = state.isFocused ? environment.roles.fieldFocused : environment.roles.field
        let typed = DisplayWidth.columns(of: typing.text)
        let left = max(0, min((columns - typed) / 2, columns - typed - 1))
        let line = EditLine(
            editor: typing, style: style, isEditing: isTyping, environment: environment,
            columns: columns - left)
        return Row([StyledText(String(repeating: " ", count: left), style), line], spacing: 0)
    }
}

/// A value between its two buttons; a text that is too long for that continues below them.
private struct StepperRow: Block {
    /// Columns between the buttons at least.
    var columns: Int
    var less: any Block
    var value: any Block
    var more: any Block

    /// The columns of the parts if they are side by side.
    private struct Places {
        var less: Int
        var value: Int
        var middle: Int
        var more: Int

        var columns: Int { less + 1 + middle + 1 + more }
    }

    private func places(_ width: Int) -> Places? {
        let whole = value.measure(width: 10_000)
        guard whole.lines == 1 else { return nil }
        let places = Places(
            less: less.measure(width: width).columns, value: whole.columns,
            middle: max(columns, whole.columns), more: more.measure(width: width).columns)
        return places.columns <= width ? places : nil
    }

    private var belowEachOther: Column { Column([Row([less, more]), value]) }

    func measure(width: Int) -> Size {
        places(width).map { Size(columns: $0.columns, lines: 1) }
            ?? belowEachOther.measure(width: width)
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        guard let places = places(rect.columns) else {
            return belowEachOther.render(into: &canvas, in: rect)
        }
        var place = rect
        place.columns = places.less
        less.render(into: &canvas, in: place)
        place.x += places.less + 1 + (places.middle - places.value) / 2
        place.columns = places.value
        value.render(into: &canvas, in: place)
        place.x = rect.x + places.columns - places.more
        place.columns = places.more
        more.render(into: &canvas, in: place)
    }
}
