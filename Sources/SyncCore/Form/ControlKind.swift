// The attributes of each type of control.

/// A control's type with its attributes. It is indirect, so that a copy is one retain.
public indirect enum ControlKind: Sendable {
    case picker(PickerAttributes)
    case wheels(WheelsAttributes)
    case toggle
    case slider(SliderAttributes)
    case stepper(StepperAttributes)
    case date(DateAttributes)
    case text(TextAttributes)
    case secure(SecureAttributes)
    case gauge(GaugeAttributes)
    case button(ButtonAttributes)
    case label(Template)

    /// The type without attributes.
    public var type: ControlType {
        switch self {
        case .picker: .picker
        case .wheels: .wheels
        case .toggle: .toggle
        case .slider: .slider
        case .stepper: .stepper
        case .date: .date
        case .text: .text
        case .secure: .secure
        case .gauge: .gauge
        case .button: .button
        case .label: .label
        }
    }
}

/// One choice among options, or several.
public struct PickerAttributes: Sendable {
    public var options: OptionList
    /// Whether `null` (nothing picked) is a choice.
    public var isOptional = false
    /// Whether the value is an array of distinct tags.
    public var isMultiple = false
    public var currentValueLabel: Template?
    public var selectionEffect = SelectionEffect.automatic
    /// The height of a row of a wheel in lines.
    public var wheelItemHeight: Int?
    /// Whether radio buttons are in one row.
    public var isHorizontal = false

    /// How a palette marks picked options.
    public enum SelectionEffect: Hashable, Sendable {
        case automatic, custom
        case symbolVariant(SymbolVariant)
    }

    /// How a palette changes the symbol of a picked option.
    public enum SymbolVariant: String, Hashable, Sendable, CaseIterable {
        case none, circle, square, rectangle, fill, slash
    }
}

/// Several wheels. The rows of some depend on others.
public struct WheelsAttributes: Sendable {
    public var components: [WheelComponent]
    /// Component indexes in an order in which each follows those that its rows depend on.
    public internal(set) var evaluationOrder: [Int]
    /// The indexes of the components by id.
    private let places: [String: Int]

    init(components: [WheelComponent], evaluationOrder: [Int]) {
        self.components = components
        self.evaluationOrder = evaluationOrder
        places = Dictionary(
            components.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of components and rules that an edit visits.
    var weight: Int { components.reduce(components.count) { $0 + $1.rules.count } }

    /// The index of the component `id`.
    public func index(of id: String) -> Int? {
        // Another text may be canonically equivalent to an id.
        places[id].flatMap { components[$0].id.isSameBytes(as: id) ? $0 : nil }
    }
}

/// One wheel.
public struct WheelComponent: Sendable {
    public var id: String
    public var label: String?
    /// Its minimum width in columns.
    public var width: Int?
    /// Its rows if no rule applies.
    public var options: OptionList
    /// Other rows under conditions. The first rule that applies is used.
    public var rules: [Rule]

    /// Rows that are used while other components have certain tags.
    public struct Rule: Sendable {
        /// Components and the tags that they must all have.
        public var when: [(component: Int, tag: JSON)]
        public var options: OptionList
    }
}

/// The numbers that a slider, stepper or gauge accepts.
public struct NumberDomain: Hashable, Sendable {
    public var min: DecimalNumber?
    public var max: DecimalNumber?
    /// Always positive.
    public var step: DecimalNumber?
    /// The largest number of digits after the decimal point in `step`, `min` and `max`.
    public var fractionDigits: Int

    /// Numbers from `min` to `max`, if there are such bounds, on a grid of `step`.
    public init(
        min: DecimalNumber?, max: DecimalNumber?, step: DecimalNumber?, fractionDigits: Int
    ) {
        self.min = min
        self.max = max
        self.step = step
        self.fractionDigits = fractionDigits
    }
}

/// A number that is chosen by dragging.
public struct SliderAttributes: Sendable {
    /// Has both bounds. With a step, values are on the grid that starts at `min`.
    public var domain: NumberDomain
    public var minLabel: String?
    public var maxLabel: String?
    public var ticks: Ticks?
    public var format: Template?

    /// The ticks of a slider.
    public enum Ticks: Hashable, Sendable {
        /// One per step.
        case steps
        /// This many, evenly distributed, including both ends.
        case count(Int)
        /// At these values.
        case at([DecimalNumber])
    }
}

/// A number with buttons that increase and decrease it.
public struct StepperAttributes: Sendable {
    /// Has a step. Bounds are optional.
    public var domain: NumberDomain
    /// Whether an increment beyond one bound continues at the other.
    public var wraps = false
    public var format: Template?
}

/// A reading between two bounds.
public struct GaugeAttributes: Sendable {
    /// Has both bounds and no step.
    public var domain: NumberDomain
    public var minLabel: String?
    public var maxLabel: String?
    public var currentValueLabel: Template?
    /// Ascending by `from`.
    public var thresholds: [Threshold] = []

    /// The color from a value on.
    public struct Threshold: Hashable, Sendable {
        public var from: DecimalNumber
        public var tint: Tint
    }
}

/// A date, a time, both, a month, or a duration.
public struct DateAttributes: Sendable {
    public var mode: DateMode
    public var min: DateValue?
    public var max: DateValue?
    /// Divides 60. The minutes of values are multiples of it.
    public var minuteInterval = 1
    /// An IANA time zone that is shown beside the date. It never converts.
    public var zone: String?
}

/// Free text.
public struct TextAttributes: Sendable {
    public var prompt: String?
    /// In grapheme clusters.
    public var maxLength: Int?
    /// The most UTF-8 bytes of a value, so that the snapshot is limited even if clusters are long.
    public var bytesMax: Int
    public var pattern: Pattern?
    public var isMultiline = false

    /// An expression that a whole value must match.
    public struct Pattern: Sendable {
        /// As written.
        public var source: String
        public var matcher: PatternMatcher
    }
}

/// A text that can be written but not read.
public struct SecureAttributes: Sendable {
    public var prompt: String?
    /// In grapheme clusters.
    public var maxLength: Int?
    /// The most UTF-8 bytes of a value.
    public var bytesMax: Int
}

/// Something to press.
public struct ButtonAttributes: Hashable, Sendable {
    public var role: Role?
    /// The question before the press.
    public var confirm: String?
    /// How presses are handled; `nil` for a button that only counts them.
    public var runs: RunRules?

    /// What pressing means.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        case destructive, cancel
    }
}
