// Pictures: SwiftUI's names, and the characters that terminals have for them.

internal import SyncCore

/// A picture of a control or an option: one character of a terminal, with a name for those who
/// listen.
public struct Symbol: Hashable, Sendable, ExpressibleByStringLiteral {
    /// One grapheme cluster that takes one or two columns.
    public let glyph: String
    /// What it shows, in words.
    public let name: String?
    /// Names of SwiftUI's that are near to one that is not known.
    private var unknown: String?

    /// A picture of one character.
    public init(_ glyph: String, name: String? = nil) {
        self.glyph = glyph
        self.name = name
    }

    /// A picture of one character.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The character nearest to a picture that SwiftUI programs know by its name, such as
    /// `hand.thumbsup`. Filled or not, circled or not, it is the same character. A name that is
    /// not known is an issue of the declaration.
    public init(systemName: String) {
        let words = systemName.split(separator: ".").filter { $0 != "fill" && $0 != "filled" }
        // `star.circle` is a star; `circle` itself stays.
        let bases = [words, words.filter { $0 != "circle" && $0 != "square" }]
        let glyph = bases.lazy.compactMap { base in
            Self.systemSymbols.first { $0.name == base.joined(separator: ".") }?.glyph
        }.first
        self.init(glyph ?? "•", name: words.joined(separator: " "))
        if glyph == nil { unknown = systemName }
    }

    /// Why it cannot be shown, if its name is not known.
    var issue: (message: String, expected: String)? {
        guard let unknown else { return nil }
        let near = Similar.names(to: unknown, among: Self.systemSymbols.map(\.name))
        return (
            "no character is known for the symbol \"\(unknown)\"",
            near.isEmpty
                ? "a known symbol, or a character of your own: Label(_, image: \"★\")"
                : near.joined(separator: ", ")
        )
    }

    /// Names of pictures that programs use most, each with its character.
    private static let systemSymbols: [(name: String, glyph: String)] = [
        ("hand.thumbsup", "👍"), ("hand.thumbsdown", "👎"), ("heart", "❤️"), ("questionmark", "❓"),
        ("exclamationmark", "❗"), ("star", "★"), ("flag", "⚑"), ("circle", "●"),
        ("circle.dashed.inset", "◌"), ("square", "■"), ("triangle", "▲"), ("diamond", "◆"),
        ("checkmark", "✓"), ("xmark", "✗"), ("plus", "+"), ("minus", "−"), ("gear", "⚙"),
        ("gearshape", "⚙"), ("trash", "🗑"), ("pencil", "✎"), ("lock", "🔒"), ("lock.open", "🔓"),
        ("key", "🔑"), ("bell", "🔔"), ("bell.slash", "🔕"), ("calendar", "📅"), ("clock", "🕒"),
        ("timer", "⏲"), ("alarm", "⏰"), ("envelope", "✉"), ("paperplane", "➤"), ("phone", "☎"),
        ("house", "⌂"), ("person", "👤"), ("person.2", "👥"), ("cart", "🛒"), ("gift", "🎁"),
        ("sun.max", "☀"), ("moon", "☾"), ("cloud", "☁"), ("cloud.rain", "🌧"), ("snowflake", "❄"),
        ("bolt", "⚡"), ("flame", "🔥"), ("drop", "💧"), ("leaf", "🍃"), ("wifi", "📶"),
        ("dot.radiowaves.left.and.right", "📡"), ("magnifyingglass", "🔍"), ("book", "📖"),
        ("doc", "📄"), ("folder", "📁"), ("folder.badge.plus", "📁"), ("link", "🔗"),
        ("arrow.up", "↑"), ("arrow.down", "↓"), ("arrow.left", "←"), ("arrow.right", "→"),
        ("arrow.clockwise", "↻"), ("arrow.uturn.backward", "↶"), ("play", "▶"), ("pause", "⏸"),
        ("stop", "⏹"), ("speaker", "🔈"), ("speaker.slash", "🔇"), ("music.note", "♪"),
        ("cup.and.saucer", "☕"), ("fork.knife", "🍴"), ("airplane", "✈"), ("car", "🚗"),
    ]
}
