// Which theme a live form is drawn in.

internal import TerminalUI

/// One theme, or one for each kind of background.
enum ThemeChoice: Equatable {
    case one(Theme)
    case byBackground(light: Theme, dark: Theme)

    /// Without a word from anybody.
    static let standard = byBackground(
        light: Theme.automatic(isDark: false), dark: Theme.automatic(isDark: true))

    /// The theme on a background; where it is not known, colours of the terminal's own.
    func theme(isDark: Bool?) -> Theme {
        switch (self, isDark) {
        case (.one(let theme), _): theme
        case (.byBackground(let light, _), false?): light
        case (.byBackground(_, let dark), true?): dark
        case (.byBackground, nil): Theme.automatic(isDark: nil)
        }
    }

    /// Whether the background has a say.
    var isFixed: Bool { if case .one = self { true } else { false } }
}
