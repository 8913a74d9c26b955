// Styles of one's own: a picker of stars, and buttons whose looks follow their role.
//
// Run it with `swift run StyleExample`: it prints a form whose group sets both styles, and a picker
// in it that sets a built-in one for itself.

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

/// Buttons that stand out by their role: what cannot be taken back in capitals and red, what leads
/// out bold.
struct RoleButtonStyle: ButtonStyle {
    func makeBody(configuration: Configuration) -> StyledText {
        let roles = configuration.environment.roles
        let title = configuration.label.title
        let text: StyledText
        switch configuration.role {
        case .destructive: text = StyledText("« \(title.uppercased()) »", roles.error)
        case .cancel: text = StyledText("‹ \(title)", roles.text.adding(.bold))
        case nil: text = StyledText("» \(title)", roles.accent)
        }
        return configuration.state.isFocused ? text.adding(.underline) : text
    }
}

@main
enum StyleExample {
    static func main() {
        let ranks = ["poor", "fair", "good", "great"].map { PickerOption(tag: .string($0)) }
        func picker(_ label: ControlLabel, _ tag: JSON, _ state: ControlState) -> PickerView {
            PickerView(
                PickerStyleConfiguration(
                    label: label, options: ranks, selection: .tags([tag]), state: state))
        }
        func button(_ title: String, _ role: ButtonAttributes.Role? = nil) -> ButtonView {
            ButtonView(PrimitiveButtonStyleConfiguration(label: ControlLabel(title), role: role))
        }
        let form = ControlGroup([
            picker(
                ControlLabel("Taste", subtitle: "How was it?"), "good",
                ControlState(isFocused: true)),
            picker(ControlLabel("Service"), "fair", ControlState()).pickerStyle(.segmented),
            button("Send"), button("Delete", .destructive), button("Cancel", .cancel),
        ])
        .pickerStyle(StarPickerStyle())
        .buttonStyle(RoleButtonStyle())

        let environment = StyleEnvironment(theme: .terminal, depth: .sixteen)
        let canvas = Canvas.drawing(Column([form.block(in: environment)]), columns: 80)
        var encoder = FrameEncoder(
            options: FrameEncoder.Options(depth: .sixteen, addressing: .inline))
        let bytes = encoder.encode(canvas.buffer, cursor: nil) + encoder.leave()
        print(String(decoding: bytes, as: UTF8.self), terminator: "")
    }
}
