import Foundation
import SyncCore
import Testing

@testable import TerminalUI

/// Contrast as WCAG 2.2 defines it, worked out apart from the library.
private enum WCAG {
    static func luminance(_ rgb: (Int, Int, Int)) -> Double {
        func linear(_ byte: Int) -> Double {
            let c = Double(byte) / 255
            return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(rgb.0) + 0.7152 * linear(rgb.1) + 0.0722 * linear(rgb.2)
    }

    static func contrast(_ one: (Int, Int, Int), _ other: (Int, Int, Int)) -> Double {
        let (a, b) = (luminance(one), luminance(other))
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }
}

/// Backgrounds that terminals come with or that people load, those at the ends among them.
private let darkGrounds = [
    0x000000, 0x1E1E2E, 0x282A36, 0x282828, 0x1A1B26, 0x002B36, 0x300A24, 0x282C34,
]
private let lightGrounds = [0xFFFFFF, 0xFDF6E3, 0xFBF1C7, 0xEFF1F5, 0xEEEEEE]

@Suite("themes can be read")
struct ThemeContrastTests {
    private func rgb(_ hex: Int) -> (Int, Int, Int) { (hex >> 16, hex >> 8 & 0xFF, hex & 0xFF) }

    private func rgb(_ color: TerminalColor) -> (Int, Int, Int)? {
        switch color {
        case .rgb(let red, let green, let blue): return (Int(red), Int(green), Int(blue))
        case .palette(let index):
            let (red, green, blue) = TerminalColor.components(ofPalette: index)
            return (Int(red), Int(green), Int(blue))
        case .standard, .ansi: return nil
        }
    }

    private func roles(_ theme: Theme, _ depth: ColorDepth) -> [(String, CellStyle)] {
        let roles = RoleStyles(theme, depth: depth)
        var list = [
            ("dim", roles.dim), ("accent", roles.accent),
            ("error", roles.error), ("warning", roles.warning), ("success", roles.success),
            ("ghost", roles.ghost), ("selection", roles.selection), ("field", roles.field),
            ("selection away", roles.selectionAway), ("field with the focus", roles.fieldFocused),
            ("prompt in a field", roles.dim.on(roles.field.background)),
        ]
        for number in 0..<6 { list.append(("peer \(number)", roles.peer(number))) }
        for name in Tint.Name.allCases where name != .primary {
            list.append(("tint \(name)", CellStyle(roles.color(.named(name)))))
        }
        for (red, green, blue) in [(0, 0, 0), (255, 255, 255), (128, 128, 128), (255, 255, 0)] {
            let tint = Tint.rgb(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
            list.append(("tint \(tint)", CellStyle(roles.color(tint))))
        }
        return list
    }

    @Test(
        "text has a contrast of 4.5:1 at least on every usual background of its theme's kind",
        arguments: Theme.all.filter { $0.isDark != nil }, [ColorDepth.trueColor, .palette256])
    func contrast(theme: Theme, depth: ColorDepth) throws {
        let grounds = try #require(theme.isDark as Bool?) ? darkGrounds : lightGrounds
        for (name, style) in roles(theme, depth) {
            let text = try #require(rgb(style.foreground), "\(theme.name): \(name) has no colour")
            let own = rgb(style.background)
            for ground in own.map({ [$0] }) ?? grounds.map({ rgb($0) }) {
                let contrast = WCAG.contrast(text, ground)
                #expect(
                    contrast >= 4.5,
                    "\(theme.name), \(depth): \(name) has \(contrast):1 on \(ground)")
            }
        }
    }

    @Test("edges and tracks are seen: 3:1 on every usual background", arguments: Theme.all)
    func lines(theme: Theme) throws {
        guard let isDark = theme.isDark else { return }
        let line = try #require(rgb(RoleStyles(theme, depth: .trueColor).border.foreground))
        for ground in isDark ? darkGrounds : lightGrounds {
            #expect(WCAG.contrast(line, rgb(ground)) >= 3, "\(theme.name) on \(ground)")
        }
    }

    @Test("the terminal's own theme names none but its sixteen, and no gray that may be invisible")
    func terminal() {
        for depth in ColorDepth.allCases {
            for (name, style) in roles(.terminal, depth) where !name.hasPrefix("tint") {
                for color in [style.foreground, style.background] {
                    #expect(rgb(color) == nil && color != .ansi(8), "\(name)")
                }
            }
        }
    }

    @Test("in sixteen colours no theme writes in a gray that some palettes hide")
    func gray() {
        for theme in Theme.all {
            let roles = RoleStyles(theme, depth: .sixteen)
            for style in [roles.dim, roles.border, roles.ghost] {
                #expect(style.foreground == .standard && style.attributes.contains(.dim))
            }
        }
    }

    @Test("tints of different names differ, in every theme that has its own colours")
    func tints() {
        for theme in Theme.all where theme.isDark != nil {
            let roles = RoleStyles(theme, depth: .trueColor)
            // Black and white come near gray on a ground where they could not be seen.
            let names = Tint.Name.allCases.filter {
                ![.primary, .secondary, .accentColor, .black, .white, .gray].contains($0)
            }
            #expect(Set(names.map { roles.color(.named($0)) }).count == names.count)
        }
    }
}
