// A picker style of one's own: options as stars, as many filled as the place of the picked one.
//
// Run it with `swift run StyleExample`: it prints a form of two pickers, the first in this style,
// set on the group that holds it, the second in a built-in style that it sets itself.

import SyncCore
import TerminalUI

/// A picker of a rank as stars, its label in words beside them.
struct StarPickerStyle: PickerStyle {
    func makeBody(configuration: Configuration) -> LabeledRow {
        let roles = configuration.environment.roles
        let picked = configuration.selectedIndex
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            Row {
                for index in configuration.options.indices {
                    let isFilled = picked.map { index <= $0 } ?? false
                    // A click on a star picks its option; the mark, not the colour, is the sign.
                    Target(
                        .option(configuration.options[index].tag),
                        StyledText(isFilled ? "★" : "☆", isFilled ? roles.accent : roles.dim))
                }
                configuration.valueText
            }
        }
    }
}

@main
enum StyleExample {
    static func main() {
        let ranks = ["poor", "fair", "good", "great"].map { PickerOption(tag: .string($0)) }
        let taste = PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("Taste", subtitle: "How was it?"), options: ranks,
                selection: .tags(["good"]), state: ControlState(isFocused: true)))
        let service = PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("Service"), options: ranks, selection: .tags(["fair"])))
        let form = ControlGroup([taste, service.pickerStyle(.segmented)])
            .pickerStyle(StarPickerStyle())

        let environment = StyleEnvironment(theme: .terminal, depth: .sixteen)
        let canvas = Canvas.drawing(Column([form.block(in: environment)]), columns: 80)
        var encoder = FrameEncoder(
            options: FrameEncoder.Options(depth: .sixteen, addressing: .inline))
        let bytes = encoder.encode(canvas.buffer, cursor: nil) + encoder.leave()
        print(String(decoding: bytes, as: UTF8.self), terminator: "")
    }
}
