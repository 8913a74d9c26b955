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
        func list(_ hints: [KeyHint]) -> Column {
            Column(
                around.plain(hints).map { key, what -> any Block in
                    Row(spacing: 0) {
                        Framed(
                            columns: 12, .leading,
                            StyledText(key, roles.text.adding(.bold)).truncated())
                        StyledText(what.text, roles.dim).truncated()
                    }
                })
        }
        func named(_ actions: [(action: KeyAction, words: KeyWords)]) -> [KeyHint] {
            actions.compactMap { action, words in
                around.keys.names(of: action).first.map { ($0, words) }
            }
        }
        let own = controlHints + (isResettable ? named([(.reset, .resetAsks)]) : [])
        let others =
            [moveHint]
            + named([
                (.next, .nextControl), (.find, .findControl), (.palette, .allCommands),
                (.undo, .undo(undoHint)), (.redo, .redo), (.conflict, .nextConflict),
                (.people, .whoIsHere), (.leave, .quit),
            ])
        let half = (formColumns - 7) / 2
        return Bordered(
            title: StyledText(keysTitle, roles.heading),
            note: StyledText("\(around.keys.name(of: .help)) \(KeyWords.allKeys.text)", roles.dim),
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
        guard let index = focusedIndex else { return KeyWords.section }
        let control = presentation.definition.controls[index]
        return KeyWords.title(
            control.kind, isMenu: shape(index) == .closed, control.title)
    }
}
