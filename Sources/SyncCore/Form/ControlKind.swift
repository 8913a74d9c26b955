// What each type of control has beyond what all have.

/// A control's type, with its own attributes; indirect, so that a copy is one retain instead of one
/// for each attribute.
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

    /// The type alone.
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
    /// Whether `null` is a choice: nothing is picked.
    public var isOptional = false
    /// Whether the value is an array of distinct tags.
    public var isMultiple = false
    public var currentValueLabel: Template?
    public var selectionEffect = SelectionEffect.automatic
    /// Lines that a row of a wheel takes.
    public var wheelItemHeight: Int?
    /// Whether radio buttons stand side by side.
    public var isHorizontal = false

    /// How a palette marks what is picked.
    public enum SelectionEffect: Hashable, Sendable {
        case automatic, custom
        case symbolVariant(SymbolVariant)
    }

    /// What a palette's symbol turns into.
    public enum SymbolVariant: String, Hashable, Sendable, CaseIterable {
        case none, circle, square, rectangle, fill, slash
    }
}

/// Several wheels side by side, rows of some depending on others.
public struct WheelsAttributes: Sendable {
    public var components: [WheelComponent]
    /// Component indexes such that each comes after those that its rows depend on.
    public internal(set) var evaluationOrder: [Int]

    /// What an edit goes through: components and rules.
    var weight: Int { components.reduce(components.count) { $0 + $1.rules.count } }

    /// The index of the component `id`.
    public func index(of id: String) -> Int? {
        components.firstIndex { $0.id.isSameBytes(as: id) }
    }
}

/// One wheel.
public struct WheelComponent: Sendable {
    public var id: String
    public var label: String?
    /// Columns that it takes at least.
    public var width: Int?
    /// Its rows where no rule applies.
    public var options: OptionList
    /// Other rows under conditions; the first rule that applies is in force.
    public var rules: [Rule]

    /// Rows that are in force while other components have certain tags.
    public struct Rule: Sendable {
        /// The component and the tag that it must have; all must hold.
        public var when: [(component: Int, tag: JSON)]
        public var options: OptionList
    }
}

/// What numbers a slider, stepper or gauge takes.
public struct NumberDomain: Hashable, Sendable {
    public var min: DecimalNumber?
    public var max: DecimalNumber?
    /// Always above zero.
    public var step: DecimalNumber?
    /// Digits after the point that `step`, `min` and `max` are written with at most.
    public var fractionDigits: Int

    /// Numbers from `min` to `max`, where there are such bounds, on a grid of `step`.
    public init(
        min: DecimalNumber?, max: DecimalNumber?, step: DecimalNumber?, fractionDigits: Int
    ) {
        self.min = min
        self.max = max
        self.step = step
        self.fractionDigits = fractionDigits
    }
}

/// A number chosen by dragging.
public struct SliderAttributes: Sendable {
    /// Has both bounds. Values lie on the grid that starts at `min`, where there is a step.
    public var domain: NumberDomain
    public var minLabel: String?
    public var maxLabel: String?
    public var ticks: Ticks?
    public var format: Template?

    /// Where a slider has ticks.
    public enum Ticks: Hashable, Sendable {
        /// One a step.
        case steps
        /// So many, evenly, both ends included.
        case count(Int)
        /// At these values.
        case at([DecimalNumber])
    }
}

/// A number that is raised and lowered.
public struct StepperAttributes: Sendable {
    /// Has a step; bounds may be missing.
    public var domain: NumberDomain
    /// Whether an increment past an end goes to the other.
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

    /// The colour from a value on.
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
    /// Divides 60; values of the mode's time lie on it.
    public var minuteInterval = 1
    /// An IANA name shown beside the date. It never converts.
    public var zone: String?
}

/// Free text.
public struct TextAttributes: Sendable {
    public var prompt: String?
    /// In grapheme clusters.
    public var maxLength: Int?
    /// UTF-8 bytes of a value at most, so that the snapshot is bounded whatever clusters hold.
    public var bytesMax: Int
    public var pattern: Pattern?
    public var isMultiline = false

    /// What a value must match as a whole.
    public struct Pattern: Sendable {
        /// As written.
        public var source: String
        public var matcher: PatternMatcher
    }
}

/// A text that is written and never read.
public struct SecureAttributes: Sendable {
    public var prompt: String?
    /// In grapheme clusters.
    public var maxLength: Int?
    /// UTF-8 bytes of a value at most.
    public var bytesMax: Int
}

/// Something to press.
public struct ButtonAttributes: Hashable, Sendable {
    public var role: Role?
    /// The question that is asked first.
    public var confirm: String?

    /// What pressing means.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        case destructive, cancel
    }
}
