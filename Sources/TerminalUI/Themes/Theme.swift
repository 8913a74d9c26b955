// The roles of colours in the themes, resolved for what a terminal can display.
//
// Invariants: a role differs from the others by more than its colour wherever the difference says
// something: the styles draw a mark, a word or an attribute beside it, and without colours a role
// is an attribute.

import SyncCore

/// A named set of colours, for dark or for light backgrounds.
public struct Theme: Hashable, Sendable {
    public let name: String
    /// Whether it is made for a dark background; `nil` if it suits both.
    public let isDark: Bool?
    let shades: Shades

    /// The background on which its text is hardest to read and still has a contrast of 4.5:1 (WCAG
    /// 2.2, 1.4.3): the lightest that is usual for dark terminals (One Dark's), the darkest that is
    /// usual for light ones (PaperColor's). `nil` if the colours are the terminal's own.
    public var backdrop: TerminalColor? {
        isDark.map { $0 ? .rgb(0x28, 0x2C, 0x34) : .rgb(0xEE, 0xEE, 0xEE) }
    }

    /// A colour for terminals of many colours, and one of the sixteen for the others: the nearest
    /// of the sixteen to a soft colour is mostly gray.
    struct Shade: Hashable, Sendable {
        let rgb: UInt32?
        let ansi: UInt8?

        init(_ rgb: UInt32?, _ ansi: UInt8?) {
            self.rgb = rgb
            self.ansi = ansi
        }

        /// The terminal's own.
        static let standard = Shade(nil, nil)

        /// The colour at a depth, as far from `ground` as text has to be.
        func color(at depth: ColorDepth, on ground: TerminalColor?) -> TerminalColor {
            switch depth {
            case .none: return .standard
            case .sixteen: return ansi.map { .ansi($0) } ?? .standard
            case .palette256, .trueColor:
                guard let rgb else { return ansi.map { .ansi($0) } ?? .standard }
                let color = TerminalColor.rgb(
                    UInt8(rgb >> 16 & 0xFF), UInt8(rgb >> 8 & 0xFF), UInt8(rgb & 0xFF))
                return color.readable(on: ground, depth: depth)
            }
        }
    }

    struct Shades: Hashable, Sendable {
        var dim: Shade
        var accent: Shade
        /// Text on the accent.
        var onAccent: Shade
        /// Behind what can be typed into or opened.
        var field: Shade
        /// Behind the row of the control in focus.
        var row: Shade
        /// Text on that: a theme may be asked for on a background that it is not made for.
        var ink: Shade
        var error: Shade
        var warning: Shade
        var success: Shade
        var border: Shade
        /// Of the others, in the order in which they came.
        var peers: [Shade]
    }
}

extension Theme {
    /// All themes; the first dark and the first light one are the defaults.
    public static let all: [Theme] = [harbor, paper, ember, meadow, terminal]

    /// The theme of that name.
    public static func named(_ name: String) -> Theme? { all.first { $0.name == name } }

    /// The default on a background: `terminal` if it is not known.
    public static func automatic(isDark: Bool?) -> Theme {
        switch isDark {
        case true?: harbor
        case false?: paper
        case nil: terminal
        }
    }

    /// Blue and teal on dark.
    public static let harbor = Theme(
        name: "harbor", isDark: true,
        shades: Shades(
            dim: Shade(0x9AA5C0, nil), accent: Shade(0x6CB6FF, 12), onAccent: Shade(0x0D1420, 0),
            field: Shade(0x2A3448, nil), row: Shade(0x1F2738, nil), ink: Shade(0xE3E8F2, nil),
            error: Shade(0xFF7B85, 9), warning: Shade(0xF2C14E, 11),
            success: Shade(0x7BD88F, 10), border: Shade(0x6C7A98, nil),
            peers: [
                Shade(0xF49AC2, 13), Shade(0x8BE0C8, 14), Shade(0xF5A97F, 11),
                Shade(0xC6A0F6, 5), Shade(0xB8D977, 10), Shade(0x91C9F7, 6),
            ]))

    /// Warm ink on light.
    public static let paper = Theme(
        name: "paper", isDark: false,
        shades: Shades(
            dim: Shade(0x645F56, nil), accent: Shade(0x1F5FA8, 4), onAccent: Shade(0xFFFFFF, 15),
            field: Shade(0xE4DDCE, nil), row: Shade(0xF4F0E8, nil), ink: Shade(0x2B2822, nil),
            error: Shade(0xB3261E, 1), warning: Shade(0x8A5A00, 3),
            success: Shade(0x2B6E3F, 2), border: Shade(0x857E70, nil),
            peers: [
                Shade(0xA8327A, 5), Shade(0x0A6F61, 6), Shade(0x9A4C0A, 3), Shade(0x6A3FB0, 13),
                Shade(0x4C6B12, 2), Shade(0x1B6C93, 12),
            ]))

    /// Orange and rose on dark.
    public static let ember = Theme(
        name: "ember", isDark: true,
        shades: Shades(
            dim: Shade(0xAE9F94, nil), accent: Shade(0xFFA657, 11), onAccent: Shade(0x1F140A, 0),
            field: Shade(0x3B3025, nil), row: Shade(0x2A221A, nil), ink: Shade(0xF2E9E1, nil),
            error: Shade(0xFF6F6F, 9), warning: Shade(0xFFE08A, 3),
            success: Shade(0xA5D67A, 10), border: Shade(0x8A7667, nil),
            peers: [
                Shade(0xE8A0BF, 13), Shade(0x8FD3C7, 14), Shade(0xB9A5F2, 12),
                Shade(0xD7C66B, 3), Shade(0x9BD18B, 10), Shade(0x8CBDE8, 6),
            ]))

    /// Greens on light.
    public static let meadow = Theme(
        name: "meadow", isDark: false,
        shades: Shades(
            dim: Shade(0x586453, nil), accent: Shade(0x186A3B, 2), onAccent: Shade(0xFFFFFF, 15),
            field: Shade(0xDAE6D5, nil), row: Shade(0xEFF4EC, nil), ink: Shade(0x1F281C, nil),
            error: Shade(0xB0242F, 1), warning: Shade(0x855C00, 3),
            success: Shade(0x1E6E62, 6), border: Shade(0x75876E, nil),
            peers: [
                Shade(0x9A3473, 5), Shade(0x145F93, 4), Shade(0xA04E12, 3), Shade(0x6244A8, 13),
                Shade(0x0B7280, 6), Shade(0x5E6A10, 1),
            ]))

    /// The terminal's own sixteen, on whatever background it has.
    public static let terminal = Theme(
        name: "terminal", isDark: nil,
        shades: Shades(
            dim: .standard, accent: Shade(nil, 6), onAccent: Shade(nil, 0),
            field: .standard, row: .standard, ink: .standard, error: Shade(nil, 1),
            warning: Shade(nil, 3),
            success: Shade(nil, 2), border: .standard,
            peers: [
                Shade(nil, 5), Shade(nil, 6), Shade(nil, 3), Shade(nil, 4), Shade(nil, 2),
                Shade(nil, 1),
            ]))
}

/// The roles of a theme as cell styles for one depth.
public struct RoleStyles: Hashable, Sendable {
    public let text = CellStyle.plain
    /// Titles, and the label of the control in focus.
    public let heading = CellStyle(.standard, .bold)
    /// Explanations and disabled controls.
    public let dim: CellStyle
    /// What is picked, and where the focus is.
    public let accent: CellStyle
    /// What is picked, filled.
    public let selection: CellStyle
    /// What is picked in a control without the focus, filled.
    public let selectionAway: CellStyle
    /// What can be typed into or opened.
    public let field: CellStyle
    /// The same with the focus.
    public let fieldFocused: CellStyle
    /// Behind the row of the control in focus; `standard` if the terminal has no colour for it.
    public let row: TerminalColor
    public let error: CellStyle
    public let warning: CellStyle
    public let success: CellStyle
    public let border: CellStyle
    /// Another's draft.
    public let ghost: CellStyle
    let peers: [CellStyle]
    let theme: Theme
    let depth: ColorDepth

    /// Less important text in an input of this style, with its ground or its line.
    func faint(in field: CellStyle) -> CellStyle {
        dim.on(field.background).adding(field.attributes)
    }

    /// The roles of `theme` on a terminal of that depth.
    public init(_ theme: Theme, depth: ColorDepth) {
        let shades = theme.shades
        self.theme = theme
        self.depth = depth
        func color(_ shade: Theme.Shade, on ground: TerminalColor? = nil) -> TerminalColor {
            shade.color(at: depth, on: ground)
        }
        func text(_ shade: Theme.Shade, _ attributes: CellAttributes = []) -> CellStyle {
            CellStyle(color(shade, on: theme.backdrop), attributes)
        }
        /// Less important text: a gray shade, or the attribute `dim` if the terminal has none.
        /// Bright black, which many programs use as gray, is the background in some palettes
        /// (Solarized).
        func quiet(_ shade: Theme.Shade, _ attributes: CellAttributes = []) -> CellStyle {
            let style = text(shade, attributes)
            return style.foreground == .standard ? style.adding(.dim) : style
        }
        let isBare = depth == .none
        dim = quiet(shades.dim)
        accent = text(shades.accent, .bold)
        let fill = color(shades.accent, on: theme.backdrop)
        selection =
            isBare
            ? CellStyle(.standard, .reverse)
            : CellStyle(color(shades.onAccent, on: fill), on: fill, .bold)
        let ground = color(shades.field)
        let hasField = ground != .standard
        field =
            hasField
            ? CellStyle(color(shades.ink, on: ground), on: ground)
            : CellStyle(.standard, .underline)
        selectionAway =
            hasField
            ? CellStyle(color(shades.accent, on: ground), on: ground, .bold)
            : CellStyle(color(shades.accent), [.bold, .underline])
        fieldFocused = field.adding(.underline)
        row = depth == .sixteen ? .standard : color(shades.row)
        error = text(shades.error, .bold)
        warning = text(shades.warning, isBare ? .bold : [])
        success = text(shades.success)
        let line = CellStyle(color(shades.border))
        border = line.foreground == .standard ? line.adding(.dim) : line
        ghost = quiet(shades.dim, .italic)
        peers = shades.peers.map { text($0, .bold) }
    }

    /// The style of a peer's marks; numbers beyond the last begin again.
    public func peer(_ number: Int) -> CellStyle {
        guard !peers.isEmpty else { return accent }
        return peers[((number % peers.count) + peers.count) % peers.count]
    }
}
