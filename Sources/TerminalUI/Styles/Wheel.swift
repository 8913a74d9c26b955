// Wheels: the picked row with a few neighbours above and below.

public import SyncCore

/// A row of a wheel.
public struct WheelRow: Hashable, Sendable {
    public var label: String
    /// What a click on it does; `nil` if it cannot be picked.
    public var action: ControlAction?

    /// A row.
    public init(label: String, action: ControlAction?) {
        self.label = label
        self.action = action
    }
}

/// One wheel. Neighbours fade; the picked row is between arrows.
public struct Wheel: Block {
    /// Rows from above to below, the picked one in the middle; `nil` if the wheel ends.
    public var rows: [WheelRow?]
    /// The title of a wheel among several.
    public var title: String?
    /// Columns of its rows.
    public var columns: Int
    /// Lines that a row takes.
    public var itemHeight: Int
    /// Whether the keys turn it.
    public var isActive: Bool
    public var state: ControlState
    public var environment: StyleEnvironment

    /// A wheel of an odd number of rows.
    public init(
        rows: [WheelRow?], title: String? = nil, columns: Int, itemHeight: Int = 1,
        isActive: Bool, state: ControlState, environment: StyleEnvironment
    ) {
        self.rows = rows
        self.title = title
        self.columns = columns
        self.itemHeight = max(1, itemHeight)
        self.isActive = isActive
        self.state = state
        self.environment = environment
    }

    private var titleLines: Int { title == nil ? 0 : 1 }

    /// The line of the picked row.
    public var pickedLine: Int {
        titleLines + 1 + rows.count / 2 * itemHeight + (itemHeight - 1) / 2
    }

    public func measure(width: Int) -> Size {
        Size(columns: min(width, columns + 4), lines: titleLines + rows.count * itemHeight + 2)
    }

    public func render(into canvas: inout Canvas, in space: Rect) {
        let roles = environment.roles
        let rect = Rect(
            x: space.x, y: space.y, columns: min(space.columns, columns + 4), lines: space.lines)
        if let title {
            let style = isActive ? roles.heading : roles.dim
            Framed(columns: rect.columns, .center, StyledText(title, style).truncated())
                .render(into: &canvas, in: rect.line(0))
        }
        let bar = String(repeating: environment.glyphs.rule, count: max(0, rect.columns - 2))
        let corners = environment.glyphs.corners
        let edge = isActive ? roles.accent : roles.border
        let last = rect.y + titleLines + rows.count * itemHeight + 1
        canvas.write(
            corners[0] + bar + corners[1], at: Point(x: rect.x, y: rect.y + titleLines),
            style: edge)
        canvas.write(corners[2] + bar + corners[3], at: Point(x: rect.x, y: last), style: edge)
        for (number, row) in rows.enumerated() {
            let top = rect.y + titleLines + 1 + number * itemHeight
            let place = Rect(x: rect.x, y: top, columns: rect.columns, lines: itemHeight)
            if let action = row?.action, state.isEditable {
                canvas.addRegion(place, .action(action))
            }
            draw(row, isPicked: number == rows.count / 2, in: place, &canvas)
        }
    }

    private func draw(_ row: WheelRow?, isPicked: Bool, in place: Rect, _ canvas: inout Canvas) {
        let roles = environment.roles
        let line = place.line((itemHeight - 1) / 2)
        for y in place.y..<place.maxY {
            // The edges of the wheel, drawn also in lines without a row.
            for x in [place.x, place.maxX - 1] {
                canvas.write(
                    environment.glyphs.side, at: Point(x: x, y: y),
                    style: isActive ? roles.accent : roles.border)
            }
        }
        guard let row else { return }
        let inner = line.inset(left: 2, right: 2)
        guard isPicked else {
            // A row that cannot be picked is struck out.
            let style = row.action == nil ? roles.dim.adding(.strikethrough) : roles.dim
            Framed(columns: inner.columns, .center, StyledText(row.label, style).truncated())
                .render(into: &canvas, in: inner)
            return
        }
        let isOut = state.isDimmed
        let style = isOut ? roles.dim : isActive ? roles.selection : roles.selectionAway
        canvas.fill(line.inset(left: 1, right: 1), style: style)
        canvas.write(
            environment.glyphs.wheelLeft, at: Point(x: line.x + 1, y: line.y), style: style)
        canvas.write(
            environment.glyphs.wheelRight, at: Point(x: line.maxX - 2, y: line.y), style: style)
        Framed(columns: inner.columns, .center, StyledText(row.label, style).truncated())
            .render(into: &canvas, in: inner)
        if isActive { canvas.setCursor(inner.origin) }
    }

    /// The rows around `current` of a list; none beyond its ends.
    public static func window(
        _ labels: [String], around current: Int?, neighbours: Int,
        action: (Int) -> ControlAction?
    ) -> [WheelRow?] {
        guard let current else {
            var rows: [WheelRow?] = (0..<neighbours).map { _ in nil }
            rows.append(WheelRow(label: Template.dash, action: nil))
            for index in 0..<neighbours {
                rows.append(
                    labels.indices.contains(index)
                        ? WheelRow(label: labels[index], action: action(index)) : nil)
            }
            return rows
        }
        return (current - neighbours...current + neighbours).map { index in
            labels.indices.contains(index)
                ? WheelRow(label: labels[index], action: action(index)) : nil
        }
    }
}

/// The picked option with a few neighbours.
public struct WheelPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let labels = configuration.options.map {
            configuration.environment.prefix($0.symbol) + $0.label
        }
        let current = configuration.cursor ?? configuration.selectedIndex
        let rows = Wheel.window(labels, around: current, neighbours: 1) {
            let option = configuration.options[$0]
            return option.isDisabled ? nil : .option(option.tag)
        }
        let widest = labels.map { DisplayWidth.columns(of: $0) }.max() ?? 0
        let wheel = Wheel(
            rows: rows, columns: min(max(widest, 8), 32),
            itemHeight: configuration.wheelItemHeight,
            isActive: configuration.state.isFocused, state: configuration.state,
            environment: configuration.environment)
        return LabeledRow(
            configuration.label, configuration.state, configuration.environment,
            baseline: wheel.pickedLine
        ) {
            wheel
            if let odd = configuration.oddity { odd }
        }
    }
}

/// Several wheels side by side, rows of some depending on others.
public struct WheelsView: ControlView {
    /// One wheel of a control of several.
    public struct Component: Hashable, Sendable {
        public var label: String?
        /// Columns at least.
        public var width: Int?
        public var options: [PickerOption]
        /// The option that is picked; `nil` if the value is none of them.
        public var selected: Int?

        /// A component with the rows that are in force.
        public init(
            label: String?, width: Int? = nil, options: [PickerOption], selected: Int?
        ) {
            self.label = label
            self.width = width
            self.options = options
            self.selected = selected
        }
    }

    public var label: ControlLabel
    public var components: [Component]
    /// The component that the keys turn.
    public var active: Int
    public var state: ControlState

    /// Wheels side by side.
    public init(
        label: ControlLabel, components: [Component], active: Int = 0,
        state: ControlState = ControlState()
    ) {
        self.label = label
        self.components = components
        self.active = active
        self.state = state
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let hasTitles = components.contains { $0.label != nil }
        let wheels = components.enumerated().map { number, component -> Wheel in
            let labels = component.options.map { environment.prefix($0.symbol) + $0.label }
            let rows = Wheel.window(labels, around: component.selected, neighbours: 1) {
                let option = component.options[$0]
                return option.isDisabled ? nil : .row(part: number, tag: option.tag)
            }
            let widest = (labels + [component.label ?? ""]).map { DisplayWidth.columns(of: $0) }
            return Wheel(
                rows: rows, title: hasTitles ? component.label ?? "" : nil,
                columns: min(max(widest.max() ?? 0, component.width ?? 6), 32),
                isActive: state.isFocused && number == active, state: state,
                environment: environment)
        }
        var content: [any Block] = [Flow(wheels, spacing: 1)]
        if state.isMixed {
            let mixed = ControlWords.mixed(environment.glyphs.dash)
            content.append(StyledText(mixed, environment.roles.dim))
        }
        return framed(
            state, environment,
            LabeledRow(
                label, state, environment, baseline: wheels.first?.pickedLine ?? 0,
                Column(content)))
    }
}
