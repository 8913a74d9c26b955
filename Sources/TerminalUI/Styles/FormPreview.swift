// A form as a terminal shows it before anybody has set a value: for its author, who wants to see it
// without a daemon.

public import SyncCore

/// The controls of a form with their defaults, in the styles of a terminal.
public struct FormPreview: ControlView {
    /// A change of the environment of one control: a program's own style.
    public typealias StyleChange = @Sendable (inout StyleEnvironment) -> Void

    private let definition: FormDefinition
    private let styles: [String: [StyleChange]]

    /// A preview.
    ///
    /// - Parameters:
    ///   - definition: the form.
    ///   - styles: by the control's id, the styles that a program gives it, the innermost last.
    public init(_ definition: FormDefinition, styles: [String: [StyleChange]] = [:]) {
        self.definition = definition
        self.styles = styles
    }

    private func value(_ index: Int) -> JSON { definition.controls[index].defaultValue }

    /// The most lines of a preview as text. A screen has fewer, and without a bound a list of all
    /// options that a form may have is drawn in a gigabyte of memory.
    public static let linesMax = 10_000
    /// The most columns of a preview as text.
    public static let columnsMax = 1_000
    /// Cells that are drawn at a time.
    private static let cellsAtATime = 1 << 21

    public func block(in environment: StyleEnvironment) -> any Block {
        Column(parts(in: environment))
    }

    /// The title, the titles and notes of sections, and the controls, from top to bottom.
    private func parts(in environment: StyleEnvironment) -> [any Block] {
        let roles = environment.roles
        let visible = definition.controls.indices.filter {
            definition.isVisible($0, values: value)
        }
        let environment = environment.fittingLabels(
            columns: visible.map { ControlLabel(definition.controls[$0]).columns }.max() ?? 0,
            definition.labelAlignment)
        var blocks: [any Block] = [
            StyledText(definition.title ?? definition.name, roles.heading).truncated()
        ]
        func note(_ text: String?) {
            guard let text else { return }
            blocks.append(Padding(left: 2, StyledText(text, roles.dim)))
        }
        note(definition.subtitle)
        for section in definition.sections {
            let fields = section.fields.filter { visible.contains($0) }
            if fields.isEmpty { continue }
            blocks.append(StyledText(""))
            if let title = section.title {
                blocks.append(StyledText("  \(title)", roles.heading).truncated())
            }
            for row in definition.rows(of: fields) {
                blocks.append(block(of: row, in: environment))
            }
            note(section.footer)
        }
        return blocks
    }

    /// A control, or buttons side by side.
    private func block(of row: [Int], in environment: StyleEnvironment) -> any Block {
        let views = row.map { view(of: $0, in: environment) }
        let buttons = zip(row, views).compactMap { index, drawn in
            (drawn.view as? ButtonView).map { button in
                ButtonRow.Item(
                    owner: definition.controls[index].id, view: button,
                    environment: drawn.environment)
            }
        }
        if buttons.count > 1 { return ButtonRow(buttons).block(in: environment) }
        return Column(views.map { $0.view.block(in: $0.environment) })
    }

    /// One control, and the environment with its styles; whether it is disabled depends on the
    /// defaults of others.
    private func view(
        of index: Int, in environment: StyleEnvironment
    ) -> (view: any ControlView, environment: StyleEnvironment) {
        let control = definition.controls[index]
        var environment = environment.styled(control.effectiveStyle, for: control.type)
        for change in styles[control.id] ?? [] { change(&environment) }
        let shown = definition.shown(index, values: value)
        let state = ControlState.of(
            control, shown, isDisabled: !definition.isEnabled(index, values: value))
        let view = definition.view(
            of: index, shown, text: definition.displayText(of: index, values: value), state
        ) { definition.text(of: ShownValue($0), control: index) }
        return (view, environment)
    }

    /// The preview as lines of text: at most `linesMax`, and one more with the number of lines that
    /// are left out.
    ///
    /// - Parameters:
    ///   - columns: the width of the terminal, of which at most `columnsMax` are used.
    ///   - environment: the terminal's colours, marks and styles.
    ///   - hasStyle: whether colours and weights are written as control sequences.
    public func text(columns: Int, in environment: StyleEnvironment, hasStyle: Bool) -> String {
        let columns = min(max(1, columns), Self.columnsMax)
        var text = ""
        let linesAtATime = Self.cellsAtATime / columns
        var linesLeft = Self.linesMax
        var leftOut = 0
        for part in parts(in: environment) {
            let part = AnyBlock(part)
            let height = part.measure(width: columns).lines
            let shown = min(height, linesLeft)
            for first in stride(from: 0, to: shown, by: linesAtATime) {
                let lines = first..<min(shown, first + linesAtATime)
                text += Canvas.drawing(part, columns: columns, lines: lines, of: height).buffer
                    .text(
                        depth: hasStyle ? environment.depth : nil, charset: environment.charset)
            }
            linesLeft -= shown
            leftOut += height - shown
        }
        if leftOut > 0 { text += ControlWords.moreLines(leftOut) + "\n" }
        return text
    }
}
