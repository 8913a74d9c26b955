// The colours that forms ask for, and what makes a colour readable on its ground.
//
// Invariants: on the backdrop that a theme is made for, a tint of any form has the contrast of
// text, 4.5:1 (WCAG 2.2, 1.4.3). On a terminal whose background is not known the colours are its
// own sixteen, which are its owner's choice.

public import SyncCore

extension RoleStyles {
    /// The colour of a form's tint, as it can be read here.
    public func color(_ tint: Tint) -> TerminalColor {
        if depth == .none { return .standard }
        switch tint {
        case .named(.primary): return .standard
        case .named(.secondary): return dim.foreground
        case .named(.accentColor): return accent.foreground
        case .named(let name):
            let (rgb, index) = Self.named(name)
            if depth == .sixteen || theme.isDark == nil {
                // On light the dark half of the sixteen is the one that can be read.
                return .ansi(theme.isDark == false ? index & 7 : index)
            }
            return rgb.readable(on: theme.backdrop, depth: depth)
        case .rgb(let red, let green, let blue):
            let color = TerminalColor.rgb(red, green, blue)
            return depth == .sixteen
                ? color.reduced(to: depth) : color.readable(on: theme.backdrop, depth: depth)
        }
    }

    /// SwiftUI's standard colours (Apple, Human Interface Guidelines, Color), and the nearest of
    /// the sixteen that differs from its neighbours.
    private static func named(_ name: Tint.Name) -> (rgb: TerminalColor, index: UInt8) {
        switch name {
        case .red: (.rgb(255, 59, 48), 9)
        case .orange: (.rgb(255, 149, 0), 3)
        case .yellow: (.rgb(255, 204, 0), 11)
        case .green: (.rgb(52, 199, 89), 10)
        case .mint: (.rgb(0, 199, 190), 2)
        case .teal: (.rgb(48, 176, 199), 6)
        case .cyan: (.rgb(50, 173, 230), 14)
        case .blue: (.rgb(0, 122, 255), 12)
        case .indigo: (.rgb(88, 86, 214), 4)
        case .purple: (.rgb(175, 82, 222), 5)
        case .pink: (.rgb(255, 45, 85), 13)
        case .brown: (.rgb(162, 132, 94), 1)
        case .white: (.rgb(255, 255, 255), 15)
        case .gray, .secondary: (.rgb(142, 142, 147), 8)
        case .black, .primary, .accentColor: (.rgb(0, 0, 0), 0)
        }
    }
}

extension TerminalColor {
    /// Red, green and blue, if the colour is not the terminal's own.
    var components: (red: UInt8, green: UInt8, blue: UInt8)? {
        switch self {
        case .rgb(let red, let green, let blue): (red, green, blue)
        case .palette(let index) where index >= 16: Self.components(ofPalette: index)
        case .standard, .ansi, .palette: nil
        }
    }

    /// Relative luminance, 0 to 1 (WCAG 2.2), with sRGB's curve as a polynomial, since the standard
    /// library has no powers; its error is less than 0.003.
    private var luminance: Double? {
        func linear(_ byte: UInt8) -> Double {
            let c = Double(byte) / 255
            return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878)
        }
        guard let (red, green, blue) = components else { return nil }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// The contrast that text needs, and a little more for the error of the polynomial.
    private static let textContrast = 4.6

    private func isReadable(on ground: TerminalColor) -> Bool {
        guard let here = luminance, let there = ground.luminance else { return true }
        return (max(here, there) + 0.05) / (min(here, there) + 0.05) >= Self.textContrast
    }

    /// The colour as a terminal of that depth shows it, moved towards black or white as far as text
    /// on `ground` needs; unchanged if the ground is not known.
    func readable(on ground: TerminalColor?, depth: ColorDepth) -> TerminalColor {
        let shown = reduced(to: depth)
        guard let ground, let light = ground.luminance, let from = components,
            !shown.isReadable(on: ground)
        else { return shown }
        // Black is further than white from what is lighter than this (their contrasts are equal).
        let goal = light > 0.179 ? 0 : 255
        func mixed(_ byte: UInt8, _ step: Int) -> UInt8 {
            UInt8(clamping: Int(byte) + (goal - Int(byte)) * step / 20)
        }
        for step in 1...20 {
            let next = TerminalColor.rgb(
                mixed(from.red, step), mixed(from.green, step), mixed(from.blue, step)
            ).reduced(to: depth)
            if next.isReadable(on: ground) { return next }
        }
        return TerminalColor.rgb(UInt8(goal), UInt8(goal), UInt8(goal)).reduced(to: depth)
    }
}
