import Foundation
import SyncCore
import Testing

@testable import TerminalUI

// Styles of one's own, each of which says so and the label.
private struct LoudToggle: ToggleStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}
private struct LoudButton: ButtonStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}
/// Acts otherwise, too: a press needs no question.
private struct PressAndHold: PrimitiveButtonStyle {
    func makeBody(configuration: Configuration) -> Target {
        Target(configuration.trigger, StyledText("hold \(configuration.label.title)"))
    }
}
private struct LoudSlider: SliderStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}
private struct LoudGauge: GaugeStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}
private struct LoudDate: DatePickerStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}
private struct LoudPicker: PickerStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        StyledText("loud \(configuration.label.title)")
    }
}

private let range = TrackRange(min: .zero, max: DecimalNumber(10))

@Suite("styles of containers")
struct StyleInheritanceTests {
    private func shown(_ view: some ControlView) -> String {
        let canvas = Canvas.drawing(AnyBlock(view.block(in: StyleEnvironment())), columns: 60)
        return (0..<canvas.buffer.lines).map { canvas.buffer.text(ofLine: $0) }
            .joined(separator: "\n")
    }

    private func toggle(_ label: String) -> ToggleView {
        ToggleView(ToggleStyleConfiguration(label: ControlLabel(label), isOn: true))
    }
    private func button(_ label: String) -> ButtonView {
        ButtonView(
            PrimitiveButtonStyleConfiguration(label: ControlLabel(label), confirm: "Really?"))
    }
    private func slider(_ label: String) -> SliderView {
        SliderView(
            SliderStyleConfiguration(
                label: ControlLabel(label), value: .zero, range: range, valueText: "0"))
    }
    private func gauge(_ label: String) -> GaugeView {
        GaugeView(
            GaugeStyleConfiguration(
                label: ControlLabel(label), value: .zero, range: range, valueText: "0"))
    }
    private func date(_ label: String) -> DatePickerView {
        DatePickerView(
            DatePickerStyleConfiguration(
                label: ControlLabel(label), mode: .date,
                value: DateValue("2026-11-21", mode: .date)))
    }
    private func picker(_ label: String) -> PickerView {
        PickerView(
            PickerStyleConfiguration(
                label: ControlLabel(label),
                options: ["a", "b"].map { PickerOption(tag: .string($0)) },
                selection: .tags(["a"])))
    }

    /// A form of every type, each once deep within a container and once with a nearer style.
    private var form: some ControlView {
        ControlGroup([
            ControlGroup([
                toggle("far"), button("far"), slider("far"), gauge("far"), date("far"),
                picker("far"),
            ]),
            ControlGroup([toggle("near")]).toggleStyle(.checkbox),
            ControlGroup([button("near")]).buttonStyle(.bordered),
            ControlGroup([slider("near")]).sliderStyle(.automatic),
            ControlGroup([gauge("near")]).gaugeStyle(.linear),
            ControlGroup([date("near")]).datePickerStyle(.compact),
            ControlGroup([picker("near")]).pickerStyle(.segmented),
        ])
        .toggleStyle(LoudToggle()).buttonStyle(LoudButton()).sliderStyle(LoudSlider())
        .gaugeStyle(LoudGauge()).datePickerStyle(LoudDate()).pickerStyle(LoudPicker())
    }

    @Test("a style of any of the seven kinds reaches what is inside, and the nearest wins")
    func reach() {
        let text = shown(form)
        #expect(text.split(separator: "\n").count { $0.contains("loud far") } == 6, "\(text)")
        #expect(!text.contains("loud near"))
        for own in ["[✓] near", "[ near… ]", "●", "╌", "2026-11-21", "▌ A ▐"] {
            #expect(text.contains(own), "\(own) in \(text)")
        }
    }

    @Test("a style that is set inside is not seen outside")
    func outside() {
        let text = shown(
            ControlGroup([ControlGroup([toggle("in")]).toggleStyle(LoudToggle()), toggle("out")]))
        #expect(text.contains("loud in") && !text.contains("loud out"))
    }

    @Test("a primitive button style decides how a button acts, a button style how it looks alone")
    func primitive() throws {
        func action(_ view: some ControlView, at text: String) throws -> ControlAction? {
            let canvas = Canvas.drawing(AnyBlock(view.block(in: StyleEnvironment())), columns: 60)
            let line = canvas.buffer.text(ofLine: 0)
            let place = try #require(line.range(of: text))
            let x = line.distance(from: line.startIndex, to: place.lowerBound)
            let point = Point(x: x, y: 0)
            return canvas.region(at: point)?.action(at: point)
        }
        #expect(try action(button("go").buttonStyle(PressAndHold()), at: "hold go") == .press)
        #expect(try action(button("go").buttonStyle(LoudButton()), at: "loud go") == .press)
        #expect(try action(button("go").buttonStyle(.automatic), at: "go") == .press)
    }

    @Test("a form's section hands its styles to every control of the type")
    func sections() throws {
        let form = try FormDefinition.parse(
            try JSON(
                parsing: """
                    {"form": "t", "styles": {"picker": "menu"}, "sections": [
                    {"styles": {"picker": "wheel", "toggle": "button"}, "fields": [
                    {"id": "a", "type": "picker", "options": ["x", "y"]},
                    {"id": "b", "type": "picker", "style": "inline", "options": ["x", "y"]},
                    {"id": "c", "type": "toggle"}]},
                    {"fields": [{"id": "d", "type": "picker", "options": ["x", "y"]}]}]}
                    """), limits: FormLimits(),
            compile: { _ in .success(PatternMatcher { _ in true }) })
        #expect(
            form.controls.indices.map { form.resolvedStyle(of: $0) }
                == [.wheel, .inline, .button, .menu])
    }

    @Test("in ASCII symbols give way to their names, so that each option can be told")
    func symbols() {
        let options = [("up", "👍", "thumbs up"), ("down", "👎", nil), ("q", "?", "question")].map {
            tag, symbol, name in
            var option = PickerOption(tag: .string(tag))
            option.symbol = symbol
            option.symbolName = name
            return option
        }
        let view = PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("React", symbol: "♥"), options: options,
                selection: .tags(["up"])))
        func line(_ style: some PickerStyle, _ charset: Charset) -> String {
            let environment = StyleEnvironment(charset: charset)
            let block = AnyBlock(view.pickerStyle(style).block(in: environment))
            let buffer = Canvas.drawing(block, columns: 80).buffer
            return buffer.reduced(to: .none, charset: charset).text(ofLine: 0)
        }
        let palette = line(.palette, .ascii)
        #expect(palette.contains("[Up]") && palette.contains(" Down "), "\(palette)")
        #expect(palette.contains(" ? ") && !palette.contains("??"))
        #expect(line(.menu, .ascii).contains("  React") && !line(.menu, .ascii).contains("?"))
        #expect(line(.menu, .unicode).contains("👍 Up") && line(.palette, .unicode).contains("👍"))
    }

    @Test("options that share a symbol are told apart without colours, too")
    func sharedSymbols() {
        let flags = ["red", "green"].map { name in
            var option = PickerOption(tag: .string(name))
            option.symbol = "⚑"
            option.tint = Tint(name)
            return option
        }
        let view = PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("Flags"), options: flags, selection: .tags(["red"]))
        ).pickerStyle(.palette)
        func line(_ depth: ColorDepth) -> String {
            let block = AnyBlock(view.block(in: StyleEnvironment(depth: depth)))
            return Canvas.drawing(block, columns: 80).buffer.text(ofLine: 0)
        }
        #expect(line(.none).contains("⚑ Red") && line(.none).contains("⚑ Green"))
        #expect(!line(.sixteen).contains("⚑ Green"))
    }

    @Test("both buttons of a stepper are there whatever its text is", arguments: [20, 40, 80])
    func stepper(columns: Int) {
        let view = StepperView(
            label: ControlLabel("Count"),
            valueText: "Current: 1 in 1...50 stepping by 5 and then some more of it")
        let block = AnyBlock(view.block(in: StyleEnvironment()))
        let canvas = Canvas.drawing(block, columns: columns)
        let actions = canvas.regions.compactMap { region -> ControlAction? in
            if case .action(let action) = region.target { action } else { nil }
        }
        #expect(actions.contains(.increment) && actions.contains(.decrement))
        let text = (0..<canvas.buffer.lines).map { canvas.buffer.text(ofLine: $0) }.joined()
        #expect(text.contains("[−]") && text.contains("[+]") && text.contains("of it"))
    }
}
