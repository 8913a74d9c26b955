// The input of a picker's style.

public import SyncCore

/// A picker: its options, what is picked, and how far it is open.
public struct PickerStyleConfiguration: Sendable {
    public var label: ControlLabel
    /// The options in order. If the picker can be empty, the first one means "none": its tag is
    /// null.
    public var options: [PickerOption]
    /// Groups of options with a title, as ranges of `options`.
    public var groups: [OptionGroup]
    public var selection: Selection {
        didSet { picked = PickedTags(selection) }
    }
    /// The picked tags, to look options up in.
    private var picked: PickedTags
    /// What is shown for the value instead of the option's label.
    public var currentValue: String?
    public var isMultiple = false
    /// Whether radio buttons are side by side.
    public var isHorizontal = false
    public var selectionEffect = PickerAttributes.SelectionEffect.automatic
    /// Lines that a row of a wheel takes.
    public var wheelItemHeight = 1
    /// The highlighted option, if it is not the picked one.
    public var cursor: Int?
    public var presentation = Presentation.closed
    public var state: ControlState
    public var environment: StyleEnvironment

    /// What is picked.
    public enum Selection: Hashable, Sendable {
        /// These tags; null for nothing.
        case tags([JSON])
        /// A value that no option has, as people read it.
        case unmatched(String)
    }

    /// How far the picker is open.
    public enum Presentation: Hashable, Sendable {
        case closed
        /// A menu below the picker, or a list on a separate page.
        case open(OpenList)
        /// A menu that the container draws over the parts below it, as a `MenuBox`, so that nothing
        /// moves.
        case floating(OpenList)
    }

    /// A configuration with the given options.
    public init(
        label: ControlLabel, options: [PickerOption], groups: [OptionGroup] = [],
        selection: Selection, isOptional: Bool = false, isMultiple: Bool = false,
        state: ControlState = ControlState(), environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.options = options
        self.groups = groups.filter { $0.title != nil }
        self.selection = selection
        picked = PickedTags(selection)
        self.isMultiple = isMultiple
        self.state = state
        self.environment = environment
        if isOptional, !isMultiple {
            self.options.insert(PickerOption(tag: .null, label: ControlWords.none), at: 0)
            for index in self.groups.indices {
                let range = self.groups[index].range
                self.groups[index].range = range.lowerBound + 1..<range.upperBound + 1
            }
        }
    }

    /// The configuration of a form's picker that shows `value`, as the form shows it.
    init(
        _ control: Control, _ picker: PickerAttributes, value: ShownValue, valueText: String,
        _ state: ControlState, _ interaction: ControlInteraction
    ) {
        let selection: Selection =
            value.isInvalid ? .unmatched(valueText) : .tags(value.value.arrayValue ?? [value.value])
        self.init(
            label: ControlLabel(control), options: picker.options.options,
            groups: picker.options.groups, selection: selection, isOptional: picker.isOptional,
            isMultiple: picker.isMultiple, state: state)
        if picker.currentValueLabel != nil { currentValue = valueText }
        cursor = interaction.cursor
        presentation = interaction.presentation
        isHorizontal = picker.isHorizontal
        selectionEffect = picker.selectionEffect
        wheelItemHeight = picker.wheelItemHeight ?? 1
    }
}

/// An open list: the typed filter, and the highlight.
public struct OpenList: Hashable, Sendable {
    public var filter: TextEditor
    /// The options that pass the filter.
    public var matches: [ListFilter.Match]
    /// The highlighted match.
    public var cursor: Int
    /// Lines of options at most.
    public var linesMax: Int
    public var scroll = ScrollState()

    /// A list of options, the keys at one of them, nothing typed.
    public init(options: [PickerOption], at index: Int, linesMax: Int = 8) {
        filter = TextEditor()
        matches = options.indices.map { ListFilter.Match(index: $0, score: 0, positions: []) }
        cursor = index
        self.linesMax = linesMax
    }

    /// Filters again. The highlight stays at its option if that still matches.
    ///
    /// An option of a group whose title matches stays too, after those whose own label matches.
    public mutating func refilter(_ options: [PickerOption], groups: [OptionGroup] = []) {
        let index = matches.indices.contains(cursor) ? matches[cursor].index : nil
        let filtering = ListFilter(filter.text)
        matches = filtering.matches(in: options.map(\.label))
        var matched = Set(matches.map(\.index))
        let titles = filtering.matches(in: groups.map { $0.title ?? "" })
        for title in titles where !filter.text.isEmpty && groups[title.index].title != nil {
            for place in groups[title.index].range
            where options.indices.contains(place) && matched.insert(place).inserted {
                matches.append(ListFilter.Match(index: place, score: 0, positions: []))
            }
        }
        let kept = matches.firstIndex { $0.index == index }
        cursor = filter.text.isEmpty ? kept ?? 0 : 0
    }
}

extension PickerStyleConfiguration {
    /// Whether the option is picked.
    public func isSelected(_ index: Int) -> Bool {
        !state.isMixed && picked.contains(options[index].tag)
    }

    /// Tags that are canonically equivalent strings address the same option.
    static func isSameTag(_ left: JSON, _ right: JSON) -> Bool {
        if case .string(let left) = left, case .string(let right) = right { return left == right }
        return left == right
    }

    /// The first option that is picked.
    public var selectedIndex: Int? { options.indices.first(where: isSelected) }

    /// The highlighted option: the cursor, otherwise the first picked one, otherwise the first.
    public var current: Int { cursor ?? selectedIndex ?? 0 }

    /// The same with the highlighted option as the cursor, so that not every row searches it.
    var withCursor: Self {
        var found = self
        found.cursor = current
        return found
    }

    /// The value in words: what a closed menu shows.
    public var valueText: StyledText {
        let roles = environment.roles
        let style = state.isDimmed ? roles.dim : roles.text
        if let odd = oddity { return odd }
        if let currentValue { return StyledText(currentValue, style) }
        let names = options.indices.filter(isSelected).map { index in
            environment.prefix(options[index].symbol) + options[index].label
        }
        if names.isEmpty { return StyledText(environment.glyphs.dash, roles.dim) }
        return StyledText(names.joined(separator: ", "), style)
    }

    /// The problem of a value that no option shows: mixed, or not among the options.
    public var oddity: StyledText? {
        let roles = environment.roles
        let dash = environment.glyphs.dash
        if state.isMixed { return StyledText(ControlWords.mixed(dash), roles.dim.adding(.italic)) }
        if case .unmatched(let text) = selection {
            let hasDash = text.hasPrefix(Template.dash)
            return StyledText(hasDash ? text : "\(dash) \(ControlWords.invalid(text))", roles.error)
        }
        return nil
    }

    /// The built-in style of `automatic`, by the same rule as a form's.
    public var automaticStyle: ControlStyle {
        ControlStyle.automatic(
            for: options.filter { !$0.tag.isNull }, isGrouped: !groups.isEmpty,
            isMultiple: isMultiple)
    }
}

/// A picker in the style of its environment.
public struct PickerView: ControlView {
    public var configuration: PickerStyleConfiguration

    /// A picker; the configuration's environment is replaced by that of the container.
    public init(_ configuration: PickerStyleConfiguration) { self.configuration = configuration }

    public func block(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return framed(
            configuration.state, environment,
            environment.pickerStyle.makeBody(configuration: configuration))
    }
}

/// The body with the marks of its state around it.
func framed(
    _ state: ControlState, _ environment: StyleEnvironment, _ body: some Block
) -> any Block {
    ControlFrame(state, environment, body)
}

/// The tags of a selection. Thousands of options are looked up in it for each frame.
private struct PickedTags: Sendable {
    /// Canonically equivalent strings are equal, as for `isSameTag`.
    private var strings: Set<String> = []
    private var others: Set<JSON> = []

    init(_ selection: PickerStyleConfiguration.Selection) {
        guard case .tags(let tags) = selection else { return }
        for tag in tags {
            if case .string(let string) = tag { strings.insert(string) } else { others.insert(tag) }
        }
    }

    func contains(_ tag: JSON) -> Bool {
        if case .string(let string) = tag { strings.contains(string) } else { others.contains(tag) }
    }
}
