// The theme of a live form.

internal import TerminalUI

/// One theme, or one for each kind of background.
enum ThemeChoice: Equatable {
    case one(Theme)
    case byBackground(light: Theme, dark: Theme)

    /// The default.
    static let standard = byBackground(
        light: Theme.automatic(isDark: false), dark: Theme.automatic(isDark: true))

    /// The theme for a background; if it is unknown, the terminal's own colours.
    func theme(isDark: Bool?) -> Theme {
        switch (self, isDark) {
        case (.one(let theme), _): theme
        case (.byBackground(let light, _), false?): light
        case (.byBackground(_, let dark), true?): dark
        case (.byBackground, nil): Theme.automatic(isDark: nil)
        }
    }

    /// Whether the background matters.
    var isFixed: Bool { if case .one = self { true } else { false } }
}
