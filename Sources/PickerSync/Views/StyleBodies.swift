// A view as what a style makes: `makeBody(configuration:)` as SwiftUI's pages write it.

internal import SyncCore
public import TerminalUI

extension View {
    /// The texts and pictures of the view in one line, in its colour and weight.
    public func styleBlock(in environment: StyleEnvironment) -> any Block {
        let parts = LabelParts(self)
        var style = environment.roles.text
        if let color = parts.color, let tint = Tint(color.text) {
            style.foreground = environment.roles.color(tint)
        }
        if parts.isBold { style = style.adding(.bold) }
        let words = parts.texts.map(\.template).joined(separator: " ")
        return StyledText(environment.prefix(parts.symbol?.glyph) + words, style)
    }
}

/// The label of a control is a view, which a style may give a font and a colour.
extension ControlLabel: PrimitiveView {
    /// Primitive.
    public typealias Body = Never

    func label(into label: inout LabelParts) {
        label.texts.append(Phrase(verbatim: title))
        if let subtitle { label.texts.append(Phrase(verbatim: subtitle)) }
        if let symbol { label.symbol = Symbol(symbol) }
    }
}
