import Testing

@testable import SyncCore
@testable import TerminalUI

@Suite struct ControlGoldenTests {
    @Test("each control looks in each state as its golden says", arguments: samples.indices)
    func controls(index: Int) throws {
        let (name, sample) = samples[index]
        try Golden.check(name, sample.transcript(name))
    }

    @Test("palettes mark what is picked by each of their effects, and scroll beyond six")
    func palettes() throws {
        var text = "# palettes\n"
        let effects: [(String, PickerAttributes.SelectionEffect)] =
            [("automatic", .automatic), ("custom", .custom)]
            + PickerAttributes.SymbolVariant.allCases.map { ($0.rawValue, .symbolVariant($0)) }
        for (name, effect) in effects {
            for picked in ["red", "pink"] {
                let make = picker(ControlLabel("Flags"), flags, [.string(picked)]) {
                    $0.selectionEffect = effect
                }
                let view = PickerView(make(ControlState(isFocused: true))).pickerStyle(.palette)
                let canvas = Canvas.drawing(
                    AnyBlock(view.block(in: StyleEnvironment(theme: .harbor))), columns: 80)
                text += "\n## \(name), \(picked)\n" + Golden.transcript(canvas, styles: true)
            }
        }
        try Golden.check("palettes", text)
    }

    @Test("a conflict is cards: the chosen one has a heavy frame, the current one says so")
    func conflict() throws {
        var text = "# conflict\n"
        let cards = [
            PeerValue(
                value: "b", text: "Staging", by: Peer(name: "bob", number: 0), when: "14:02:11"),
            PeerValue(value: "a", text: "Production", by: nil, when: "14:02:09"),
            PeerValue(
                value: "c", text: String(repeating: "long ", count: 20) + "\nsecond line",
                by: Peer(name: "deployer", number: 1), when: "14:02:10"),
        ]
        for charset in [Charset.unicode, .ascii] {
            for columns in [96, 80, 40] {
                for choice in [0, 1, nil] as [Int?] {
                    let view = ConflictView(
                        label: ControlLabel("Environment"), cards: cards, choice: choice,
                        state: ControlState(isFocused: choice != nil))
                    let environment = StyleEnvironment(theme: .harbor, charset: charset)
                    let canvas = Canvas.drawing(
                        AnyBlock(view.block(in: environment)), columns: columns)
                    text += "\n## \(charset), \(columns), \(choice.map { "\($0)" } ?? "none")\n"
                    text += Golden.transcript(canvas, styles: false)
                }
            }
        }
        try Golden.check("conflict", text)
    }

    @Test("pickers show what is odd about their value, and options of every kind")
    func oddities() throws {
        var text = "# oddities\n"
        let styles: [(String, AnyPickerStyle)] = [
            ("inline", AnyPickerStyle(.inline)), ("radioGroup", AnyPickerStyle(.radioGroup)),
            ("segmented", AnyPickerStyle(.segmented)), ("menu", AnyPickerStyle(.menu)),
            ("navigationLink", AnyPickerStyle(.navigationLink)), ("wheel", AnyPickerStyle(.wheel)),
            ("palette", AnyPickerStyle(.palette)),
        ]
        let options = [
            option("staging", "Staging", tint: .named(.blue)),
            option("production", "Production", subtitle: "Real users", tint: .named(.red)),
            option("old", "Old", symbol: "⚑", isDisabled: true),
        ]
        for (name, style) in styles {
            for selection in [
                PickerStyleConfiguration.Selection.unmatched("qa"), .tags([.null]),
                .tags(["production"]),
            ] {
                var configuration = PickerStyleConfiguration(
                    label: ControlLabel("Environment", symbol: "⚙"), options: options,
                    selection: selection, isOptional: true,
                    state: ControlState(isFocused: true))
                configuration.isHorizontal = name == "radioGroup"
                let view = PickerView(configuration).environment { $0.pickerStyle = style }
                let canvas = Canvas.drawing(
                    AnyBlock(view.block(in: StyleEnvironment(theme: .harbor))), columns: 80)
                text += "\n## \(name), \(selection)\n" + Golden.transcript(canvas, styles: false)
            }
        }
        try Golden.check("oddities", text)
    }

    @Test("a form fills a screen of 80 columns and one of 40, and scrolls to its focus")
    func form() throws {
        var text = "# a form\n"
        for (columns, lines) in [(80, 24), (40, 10)] {
            for theme in [Theme.harbor, .paper] {
                let environment = StyleEnvironment(theme: theme)
                let canvas = FormSample.canvas(environment, columns: columns, lines: lines)
                text += "\n## \(theme.name), \(columns)x\(lines)\n"
                text += Golden.transcript(canvas, styles: theme == .harbor && columns == 80)
            }
        }
        let bare = StyleEnvironment(theme: .harbor, depth: .none, charset: .ascii)
        text += "\n## no colours, ASCII, 80x24\n"
        text += Golden.transcript(FormSample.canvas(bare, columns: 80, lines: 24), styles: false)
        try Golden.check("form", text)
    }
}
