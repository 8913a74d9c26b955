// The controls of the goldens: each type in each style, with what can be particular about it.

@testable import SyncCore
@testable import TerminalUI

func option(
    _ tag: String, _ label: String? = nil, subtitle: String? = nil, symbol: String? = nil,
    tint: Tint? = nil, isDisabled: Bool = false
) -> PickerOption {
    var option = PickerOption(tag: .string(tag), label: label)
    option.subtitle = subtitle
    option.symbol = symbol
    option.tint = tint
    option.isDisabled = isDisabled
    return option
}

let flavors = [option("chocolate"), option("vanilla"), option("strawberry")]
let regions = [
    option("eu-west-1"), option("eu-central-1"), option("eu-north-1", isDisabled: true),
    option("us-east-1"), option("us-west-2"), option("sa-east-1"),
]
let regionGroups = [
    OptionGroup(title: "Europe", range: 0..<3), OptionGroup(title: "America", range: 3..<6),
]
let reactions = [
    option("up", "Thumbs up", symbol: "👍"), option("down", "Thumbs down", symbol: "👎"),
    option("heart", "Like", symbol: "❤️"), option("what", "Question mark", symbol: "❓"),
]
let flags = ["red", "green", "blue", "yellow", "purple", "orange", "teal", "pink"].map {
    option($0, symbol: "⚑", tint: Tint($0))
}

func number(_ text: String) -> DecimalNumber { DecimalNumber(text) ?? .zero }

func picker(
    _ label: ControlLabel, _ options: [PickerOption], _ picked: [JSON],
    groups: [OptionGroup] = [], _ change: (inout PickerStyleConfiguration) -> Void = { _ in }
) -> (ControlState) -> PickerStyleConfiguration {
    var base = PickerStyleConfiguration(
        label: label, options: options, groups: groups, selection: .tags(picked))
    change(&base)
    return { [base] state in
        var configuration = base
        configuration.state = state
        return configuration
    }
}

let flavorLabel = ControlLabel(
    "Flavor", subtitle: "Choose your favorite flavor", isRequired: true)

func flavorSample(_ style: some PickerStyle) -> Sample {
    let make = picker(flavorLabel, flavors, ["vanilla"])
    return Sample(other: ("strawberry", "Strawberry")) { state in
        PickerView(make(state)).pickerStyle(style)
    }
}

func regionSample(
    _ style: some PickerStyle, typed: String? = nil, isOpen: Bool = false,
    _ change: (inout PickerStyleConfiguration) -> Void = { _ in }
) -> Sample {
    let make = picker(ControlLabel("Region"), regions, ["eu-west-1"], groups: regionGroups) {
        change(&$0)
        guard isOpen else { return }
        var list = OpenList(options: $0.options, at: 0)
        if let typed {
            list.filter.insert(typed)
            list.refilter($0.options)
        }
        $0.presentation = .open(list)
    }
    return Sample(other: ("us-west-2", "us-west-2")) { state in
        PickerView(make(state)).pickerStyle(style)
    }
}

func toggleSample(_ style: some ToggleStyle, isOn: Bool) -> Sample {
    Sample(other: (.bool(!isOn), isOn ? "Off" : "On")) { state in
        ToggleView(
            ToggleStyleConfiguration(
                label: ControlLabel("Vibrate on Ring", subtitle: "When the phone rings"),
                isOn: isOn, state: state)
        ).toggleStyle(style)
    }
}

func buttonSample(
    _ style: some ButtonStyle, _ label: String, role: ButtonAttributes.Role? = nil,
    phase: PrimitiveButtonStyleConfiguration.Phase = .idle
) -> Sample {
    Sample(other: (.null, "pressed")) { state in
        ButtonView(
            PrimitiveButtonStyleConfiguration(
                label: ControlLabel(label), role: role, confirm: "Roll back production?",
                phase: phase, state: state)
        ).buttonStyle(style)
    }
}

func dateSample(
    _ style: some DatePickerStyle, _ mode: DateMode, _ value: JSON,
    _ change: @escaping (inout DatePickerStyleConfiguration) -> Void = { _ in }
) -> Sample {
    Sample(other: (value, "2021-06-21")) { state in
        var configuration = DatePickerStyleConfiguration(
            label: ControlLabel("Start date"), mode: mode, value: DateValue(value, mode: mode),
            part: 1, state: state)
        change(&configuration)
        return DatePickerView(configuration).datePickerStyle(style)
    }
}

func stepperSample(_ text: String, typed: String? = nil, atEnd: Bool = false) -> Sample {
    Sample(other: (6, "6")) { state in
        var view = StepperView(
            label: ControlLabel("Replicas"), valueText: text, canIncrement: !atEnd, state: state)
        if state.isFocused { view.typing = typed.map { TextEditor($0) } }
        return view
    }
}

func sliderSample(
    ticks: [String] = [], labels: Bool = true, typed: String? = nil
) -> Sample {
    Sample(other: (75, "75 %")) { state in
        var configuration = SliderStyleConfiguration(
            label: ControlLabel("Traffic to the new version"),
            value: state.isMixed ? nil : number("40"),
            range: TrackRange(min: .zero, max: number("100")), valueText: "40 %",
            minLabel: labels ? "none" : nil, maxLabel: labels ? "all" : nil,
            ticks: ticks.map(number), state: state)
        if state.isFocused { configuration.typing = typed.map { TextEditor($0) } }
        return SliderView(configuration)
    }
}

func gaugeSample(_ style: some GaugeStyle, _ value: String) -> Sample {
    Sample(other: (90, "90")) { state in
        GaugeView(
            GaugeStyleConfiguration(
                label: ControlLabel("BPM"), value: state.isMixed ? nil : number(value),
                range: TrackRange(min: number("50"), max: number("170")), valueText: value,
                minLabel: "50", maxLabel: "170",
                thresholds: [
                    .init(from: number("120"), tint: .named(.yellow), text: "120"),
                    .init(from: number("150"), tint: .named(.red), text: "150"),
                ], state: state)
        ).gaugeStyle(style)
    }
}

func wheelsSample() -> Sample {
    let names = ["salary", "interest", "dividend", "royalty", "rental"].map { option($0) }
    return Sample(other: (["name": "rental"], "Rental, Fixed")) { state in
        WheelsView(
            label: ControlLabel("Source"),
            components: [
                .init(label: "Source", width: 16, options: names, selected: 2),
                .init(label: "Tax", options: [option("fixed"), option("variable")], selected: 0),
            ], state: state)
    }
}

func textSample(
    _ text: String, isMultiline: Bool = false, select: Bool = false, cursor: Int? = nil
) -> Sample {
    Sample(other: ("1.2.4", "1.2.4")) { state in
        var editor = TextEditor(text, isMultiline: isMultiline, maxLength: 120)
        if let cursor { editor.move(to: cursor) }
        if select { editor.move(to: 2, extending: true) }
        return TextView(
            label: ControlLabel("Version"), editor: editor, prompt: "1.2.3",
            isEditing: state.isFocused, state: state)
    }
}

func secureSample(isSet: Bool, typed: String?) -> Sample {
    Sample(other: (.null, "another")) { state in
        SecureView(
            label: ControlLabel("Deploy token"), isSet: isSet,
            editor: state.isFocused ? typed.map { TextEditor($0) } : nil, prompt: "Required",
            isCapsLocked: true, state: state)
    }
}

// Computed, since a control is not a Sendable value.
var samples: [(String, Sample)] {
    [
        ("picker-inline", flavorSample(.inline)),
        ("picker-radio-group", flavorSample(.radioGroup)),
        ("picker-radio-group-horizontal", regionSample(.radioGroup) { $0.isHorizontal = true }),
        ("picker-segmented", flavorSample(.segmented)),
        ("picker-wheel", flavorSample(.wheel)),
        (
            "picker-wheel-tall",
            regionSample(.wheel) {
                $0.wheelItemHeight = 2; $0.selection = .tags(["us-east-1"])
            }
        ),
        ("picker-menu", flavorSample(.menu)),
        ("picker-menu-label", regionSample(.menu) { $0.currentValue = "Europe, near Dublin" }),
        ("picker-menu-open", regionSample(.menu, isOpen: true)),
        ("picker-menu-filtered", regionSample(.menu, typed: "us", isOpen: true)),
        ("picker-navigation-link", regionSample(.navigationLink)),
        ("picker-navigation-link-open", regionSample(.navigationLink, typed: "e1", isOpen: true)),
        (
            "picker-palette",
            Sample(other: ("down", "Thumbs down")) { state in
                PickerView(picker(ControlLabel("Reaction"), reactions, ["heart"])(state))
                    .pickerStyle(.palette)
            }
        ),
        (
            "picker-inline-multiple",
            Sample(other: (["mon"], "Mon")) { state in
                let days = ["mon", "tue", "wed"].map { option($0) }
                return PickerView(
                    picker(ControlLabel("Days"), days, ["mon", "wed"]) {
                        $0.isMultiple = true; $0.cursor = 1
                    }(state)
                ).pickerStyle(.inline)
            }
        ),
        ("toggle-switch-on", toggleSample(.switch, isOn: true)),
        ("toggle-switch-off", toggleSample(.switch, isOn: false)),
        ("toggle-checkbox", toggleSample(.checkbox, isOn: true)),
        ("toggle-button-on", toggleSample(.button, isOn: true)),
        ("toggle-button-off", toggleSample(.button, isOn: false)),
        ("button-bordered", buttonSample(.bordered, "Sign In")),
        ("button-prominent", buttonSample(.borderedProminent, "Sign In")),
        ("button-borderless", buttonSample(.borderless, "Sign In")),
        ("button-plain", buttonSample(.plain, "Sign In")),
        ("button-pressed", buttonSample(.bordered, "Sign In", phase: .pressed)),
        ("button-cancel", buttonSample(.bordered, "Cancel", role: .cancel)),
        ("button-destructive", buttonSample(.bordered, "Roll back", role: .destructive)),
        (
            "button-confirming",
            buttonSample(
                .bordered, "Roll back", role: .destructive, phase: .confirming(onConfirm: false))
        ),
        ("slider", sliderSample()),
        ("slider-ticks", sliderSample(ticks: ["0", "25", "50", "75", "100"], labels: false)),
        ("slider-typing", sliderSample(typed: "45")),
        ("stepper", stepperSample("3")),
        ("stepper-format", stepperSample("Current: 1 in 1...50 stepping by 5 and no further")),
        ("stepper-typing", stepperSample("3", typed: "12")),
        ("stepper-at-end", stepperSample("64", atEnd: true)),
        (
            "date-compact",
            dateSample(.compact, .dateAndTime, "2021-06-15T14:30") { $0.zone = "UTC" }
        ),
        (
            "date-graphical",
            dateSample(.graphical, .date, "2021-06-15") {
                $0.min = DateValue("2021-06-03", mode: .date)
                $0.cursor = CivilDate("2021-06-24")
                $0.today = CivilDate("2021-06-11")
            }
        ),
        ("date-wheel", dateSample(.wheel, .date, "2021-06-15")),
        (
            "date-graphical-time",
            dateSample(.graphical, .dateAndTime, "2021-06-15T14:30") { $0.zone = "UTC" }
        ),
        ("date-year-and-month", dateSample(.wheel, .yearAndMonth, "2021-06")),
        ("date-wheel-countdown", dateSample(.wheel, .countdown, 300)),
        ("date-typing", dateSample(.compact, .time, "14:30") { $0.typing = "4" }),
        ("date-none", dateSample(.compact, .date, .null)),
        ("date-countdown", dateSample(.compact, .countdown, 300)),
        (
            "text",
            textSample("1.2.3 日本 with a long tail that does not fit the line at all", cursor: 4)
        ),
        ("text-empty", textSample("")),
        ("text-selection", textSample("vanilla", select: true)),
        ("text-multiline", textSample("First line\nsecond line, 日本語\n\nlast", isMultiline: true)),
        ("secure-empty", secureSample(isSet: false, typed: nil)),
        ("secure", secureSample(isSet: true, typed: "abc")),
        ("gauge-linear", gaugeSample(.linear, "96")),
        ("gauge-linear-over", gaugeSample(.linear, "155")),
        ("gauge-circular", gaugeSample(.circular, "67")),
        ("gauge-circular-over", gaugeSample(.circular, "131")),
        ("wheels", wheelsSample()),
        (
            "label",
            Sample(other: (.null, "")) { state in
                LabelView(label: ControlLabel("Summary"), text: "Vanilla with Nuts", state: state)
            }
        ),
    ]
}

/// The controls of the goldens, for what holds of all of them.
enum ControlSamples {
    static let names = samples.map(\.0)
    /// Controls that show by themselves that their values differ.
    static let showsMixed = ["picker", "toggle", "slider", "stepper", "date", "gauge", "text"]

    static func named(_ name: String) -> Sample? { samples.first { $0.0 == name }?.1 }
}

/// A form as the live form would lay it out.
enum FormSample {
    static func views() -> [(String, any ControlView)] {
        let slider = sliderSample()
        let states = slider.states
        return [
            ("flavor", flavorSample(.automatic).make(ControlState(peers: [Sample.bob]))),
            ("region", regionSample(.automatic).make(ControlState())),
            ("traffic", slider.make(states.first { $0.name == "ghost" }?.state ?? ControlState())),
            ("replicas", StepperView(label: ControlLabel("Replicas"), valueText: "3")),
            ("vibrate", toggleSample(.switch, isOn: true).make(ControlState(isFocused: true))),
            ("bpm", gaugeSample(.linear, "96").make(ControlState(availability: .readOnly))),
            ("version", textSample("1.2.3").make(ControlState(flash: Sample.carol))),
            ("start", dateSample(.compact, .date, "2021-06-15").make(ControlState())),
            (
                "rollback",
                buttonSample(.bordered, "Roll back", role: .destructive).make(
                    ControlState(availability: .disabled))
            ),
        ]
    }

    static func canvas(_ environment: StyleEnvironment, columns: Int, lines: Int) -> Canvas {
        var blocks: [any Block] = [
            Padding(
                left: 2,
                StyledText("Deploy", environment.roles.heading))
        ]
        for (name, view) in views() {
            blocks.append(Owned(by: name, AnyBlock(view.block(in: environment))))
        }
        let content = Column(blocks)
        let frames = Canvas.frames(of: content, width: columns - 1)
        var scroll = ScrollState()
        if let frame = frames.first(where: { $0.owner == "vibrate" }) {
            scroll.show(
                frame.rect.y..<frame.rect.maxY,
                content: content.measure(width: columns - 1).lines, window: lines)
        }
        return Canvas.drawing(
            Viewport(scroll, lines: lines, environment: environment, content), columns: columns,
            lines: lines)
    }
}
