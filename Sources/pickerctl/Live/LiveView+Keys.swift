// The keys of the focused control, in a box over the form.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// Draws the box at the lower end of the form.
    func drawKeys(into canvas: inout Canvas, in window: Rect, _ environment: StyleEnvironment) {
        let box = keysBox(environment)
        // As wide as the rules above and below.
        let columns = window.columns - 3
        let lines = min(box.measure(width: columns).lines, window.lines)
        let rect = Rect(x: window.x + 1, y: window.maxY - lines, columns: columns, lines: lines)
        canvas.fill(rect)
        canvas.clipped(to: rect) { box.render(into: &$0, in: rect) }
    }

    private func keysBox(_ environment: StyleEnvironment) -> Bordered {
        let roles = environment.roles
        func list(_ hints: [(String, String)]) -> Column {
            Column(
                around.plain(hints).map { key, what -> any Block in
                    Row(spacing: 0) {
                        Framed(
                            columns: 12, .leading,
                            StyledText(key, roles.text.adding(.bold)).truncated())
                        StyledText(what, roles.dim).truncated()
                    }
                })
        }
        func named(_ actions: [(KeyAction, String)]) -> [(String, String)] {
            actions.compactMap { action, what in
                let names = around.keys.names(of: action)
                return names.isEmpty ? nil : (names.prefix(1).joined(separator: " "), what)
            }
        }
        let own = controlHints + (isResettable ? named([(.reset, "reset (asks)")]) : [])
        let others =
            [moveHint]
            + named([
                (.next, "next control"), (.find, "find a control"), (.palette, "all commands"),
                (.undo, undoHint ?? "undo"), (.redo, "redo"), (.conflict, "next conflict"),
                (.people, "who is here"), (.leave, "quit"),
            ])
        let half = (formColumns - 7) / 2
        return Bordered(
            title: StyledText(keysTitle, roles.heading),
            note: StyledText("\(around.keys.name(of: .help)) all keys", roles.dim),
            style: roles.border, glyphs: environment.glyphs,
            Row(spacing: 2) {
                Framed(columns: half, .leading, list(own))
                Framed(columns: half, .leading, list(others))
            })
    }

    /// Whether the focused control has a value that can be reset.
    private var isResettable: Bool {
        guard let index = focusedIndex, !presentation.definition.controls[index].isReadOnly else {
            return false
        }
        switch presentation.definition.controls[index].kind {
        case .button, .label: return false
        default: return true
        }
    }

    /// The kind of the focused control and its label: `Slider: Traffic`.
    var keysTitle: String {
        guard let index = focusedIndex else { return "Section" }
        let control = presentation.definition.controls[index]
        let kind: String
        switch control.kind {
        case .picker: kind = shape(index) == .closed ? "Menu" : "Picker"
        case .wheels: kind = "Wheels"
        case .toggle: kind = "Toggle"
        case .slider: kind = "Slider"
        case .stepper: kind = "Stepper"
        case .date: kind = "Date"
        case .text: kind = "Text"
        case .secure: kind = "Secret"
        case .gauge: kind = "Gauge"
        case .button: kind = "Button"
        case .label: kind = "Label"
        }
        return "\(kind): \(control.title)"
    }
}
