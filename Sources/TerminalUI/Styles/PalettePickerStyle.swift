// A row of symbols, and what marks the picked one.

import SyncCore

/// A row of symbols; more than six scroll.
///
/// The label of the picked option is at the end, so that the mark is never the only sign. The
/// effect `custom` shows another symbol in place of the picked one: its filled form, or a check
/// mark.
public struct PalettePickerStyle: PickerStyle {
    /// Symbols that are shown at once.
    public static let windowMax = 6

    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let environment = configuration.environment
        let roles = environment.roles
        let items = configuration.options.indices.filter { !configuration.options[$0].tag.isNull }
        let window = window(items, configuration)
        let glyphs = environment.glyphs
        let isScrolling = items.count > Self.windowMax
        return LabeledRow(configuration.label, configuration.state, environment) {
            // Symbols are on one line; names instead of symbols wrap to the next.
            Flow(
                Column {
                    if isScrolling { arrow(glyphs.back, window.lowerBound > 0, -1, environment) }
                    for position in window { item(items[position], configuration) }
                    if isScrolling {
                        arrow(glyphs.chevron, window.upperBound < items.count, 1, environment)
                    }
                    StyledText("  ") + (configuration.oddity ?? caption(configuration, roles))
                }.children, spacing: 0)
        }
    }

    private func caption(_ configuration: Configuration, _ roles: RoleStyles) -> StyledText {
        let names = configuration.options.indices.filter { configuration.isSelected($0) }
            .map { configuration.options[$0].label }
        return StyledText(names.joined(separator: ", "), roles.dim).truncated()
    }

    /// The visible symbols: six, including the highlighted one.
    private func window(_ items: [Int], _ configuration: Configuration) -> Range<Int> {
        guard items.count > Self.windowMax else { return 0..<items.count }
        let current = items.firstIndex(of: configuration.current) ?? 0
        let first = min(max(0, current - Self.windowMax / 2), items.count - Self.windowMax)
        return first..<first + Self.windowMax
    }

    private func arrow(
        _ glyph: String, _ isUsable: Bool, _ step: Int, _ environment: StyleEnvironment
    ) -> any Block {
        let roles = environment.roles
        let text = StyledText(isUsable ? glyph : " ", roles.accent)
        return isUsable ? Target(.scroll(step), text) : text
    }

    private func item(_ index: Int, _ configuration: Configuration) -> any Block {
        let option = configuration.options[index]
        let isCurrent = configuration.state.isFocused && configuration.current == index
        var text = drawn(option, isOn: configuration.isSelected(index), configuration)
        if isCurrent { text = text.adding(.underline) }
        guard configuration.state.isEditable, !option.isDisabled else { return text }
        return Target(.option(option.tag), text)
    }

    /// What distinguishes an option: its symbol; its label if the terminal cannot display the
    /// symbol; both if options share a symbol and there are no colours.
    private func sign(of option: PickerOption, _ configuration: Configuration) -> String {
        guard let symbol = configuration.environment.drawable(option.symbol) else {
            return option.label
        }
        let isShared = configuration.options.count { $0.symbol == option.symbol } > 1
        return isShared && configuration.environment.depth == .none
            ? "\(symbol) \(option.label)" : symbol
    }

    /// The filled form of an outlined symbol.
    private static func picked(_ symbol: String) -> String? {
        let outlines = Array("☆♡○□◇△▽▷◁⚐♤♧♢☐⬡")
        let filled = Array("★♥●■◆▲▼▶◀⚑♠♣♦☑⬢")
        guard let symbol = symbol.first, let place = outlines.firstIndex(of: symbol) else {
            return nil
        }
        return String(filled[place])
    }

    /// The symbol with a column at each side for the mark.
    private func drawn(
        _ option: PickerOption, isOn: Bool, _ configuration: Configuration
    ) -> StyledText {
        let environment = configuration.environment
        let roles = environment.roles
        let isOut = option.isDisabled || configuration.state.isDimmed
        let symbol = sign(of: option, configuration)
        var style = option.tint.map { CellStyle(roles.color($0)) } ?? roles.text
        if isOut { style = roles.dim }
        if option.isDisabled { style = style.adding(.strikethrough) }
        func between(_ left: String, _ right: String, _ edge: CellStyle) -> StyledText {
            StyledText(left, edge).appending(symbol, style).appending(right, edge)
        }
        guard isOn else { return between(" ", " ", roles.text) }
        let edge = isOut ? roles.dim : roles.accent
        switch configuration.selectionEffect {
        case .custom:
            // A name instead of a symbol stays, with the check mark before it.
            let columns = DisplayWidth.columns(of: symbol)
            guard columns <= 2 else { return between(environment.glyphs.check, " ", edge) }
            let picked = Self.picked(symbol) ?? environment.glyphs.check
            return StyledText(" \(DisplayWidth.padded(picked, to: columns)) ", edge)
        case .automatic where option.tint == nil:
            let pill = Pill(environment, configuration.state)
            return pill.left + StyledText(symbol, pill.inside) + pill.right
        // A symbol with its own colour keeps it, on a ground between the same edges.
        case .automatic:
            let pill = Pill(environment, configuration.state)
            return pill.left + StyledText(symbol, style.on(roles.field.background)) + pill.right
        case .symbolVariant(let variant):
            let ground = roles.field.background
            if variant != .none, variant != .fill { style = style.on(ground) }
            switch variant {
            case .none: return between(" ", " ", edge)
            case .circle: return between("(", ")", edge.on(ground))
            case .square: return between("[", "]", edge.on(ground))
            case .rectangle: return between("|", "|", edge.on(ground))
            case .slash: return between("/", "/", edge.on(ground))
            case .fill:
                style = style.adding(.reverse)
                return between(" ", " ", style)
            }
        }
    }
}
