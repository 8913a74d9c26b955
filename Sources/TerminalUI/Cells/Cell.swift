// The contents of one position on the screen.
//
// Invariants: a cell's cluster contains no control character (SafeText) and has at most
// `Cell.scalarsMax` scalars; a wide cell (two columns) is followed by its continuation, which is
// used for nothing else.

import SyncCore

/// Bold, underline and the like.
public struct CellAttributes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    /// The attributes of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let bold = CellAttributes(rawValue: 1)
    public static let dim = CellAttributes(rawValue: 2)
    public static let italic = CellAttributes(rawValue: 4)
    public static let underline = CellAttributes(rawValue: 8)
    public static let reverse = CellAttributes(rawValue: 16)
    public static let strikethrough = CellAttributes(rawValue: 32)
}

/// How a cell is drawn.
public struct CellStyle: Hashable, Sendable {
    // One number, because each frame compares thousands of them: the attributes in the lowest 8
    // bits, then the colours.
    fileprivate var bits: UInt64

    private static let foregroundShift: UInt64 = 8
    private static let backgroundShift = foregroundShift + TerminalColor.codeBits
    /// Bits of a style; a cell has its width above them.
    fileprivate static let bitCount = backgroundShift + TerminalColor.codeBits

    public var foreground: TerminalColor {
        get { TerminalColor(code: bits >> Self.foregroundShift) }
        set { setCode(newValue.code, at: Self.foregroundShift) }
    }

    public var background: TerminalColor {
        get { TerminalColor(code: bits >> Self.backgroundShift) }
        set { setCode(newValue.code, at: Self.backgroundShift) }
    }

    public var attributes: CellAttributes {
        get { CellAttributes(rawValue: UInt8(truncatingIfNeeded: bits)) }
        set { bits = bits & ~0xFF | UInt64(newValue.rawValue) }
    }

    private mutating func setCode(_ code: UInt64, at shift: UInt64) {
        bits = bits & ~(TerminalColor.codeMask << shift) | code << shift
    }

    /// A style; the defaults are those of the terminal.
    public init(
        _ foreground: TerminalColor = .standard, on background: TerminalColor = .standard,
        _ attributes: CellAttributes = []
    ) {
        bits =
            UInt64(attributes.rawValue) | foreground.code << Self.foregroundShift
            | background.code << Self.backgroundShift
    }

    fileprivate init(bits: UInt64) { self.bits = bits }

    /// The terminal's own colours, no attribute.
    public static let plain = CellStyle()

    /// The style with these attributes besides its own.
    public func adding(_ attributes: CellAttributes) -> CellStyle {
        var style = self
        style.attributes.formUnion(attributes)
        return style
    }

    /// The style in another colour.
    public func foreground(_ color: TerminalColor) -> CellStyle {
        var style = self
        style.foreground = color
        return style
    }

    /// The style on another background.
    public func on(_ background: TerminalColor) -> CellStyle {
        var style = self
        style.background = background
        return style
    }

    /// The style as a terminal of that depth can show it.
    public func reduced(to depth: ColorDepth) -> CellStyle {
        CellStyle(
            foreground.reduced(to: depth), on: background.reduced(to: depth), attributes)
    }
}

/// One position on the screen.
public struct Cell: Hashable, Sendable {
    let glyph: Glyph
    // The style's bits and above them the width, so that a cell is two words.
    private var look: UInt64

    /// Columns: 1, 2, or 0 for the second half of a wide cell.
    public var width: UInt8 { UInt8(look >> CellStyle.bitCount) }

    public var style: CellStyle {
        get { CellStyle(bits: look & (1 << CellStyle.bitCount - 1)) }
        set { look = UInt64(width) << CellStyle.bitCount | newValue.bits }
    }

    init(_ glyph: Glyph, width: UInt8, style: CellStyle) {
        self.glyph = glyph
        look = UInt64(width) << CellStyle.bitCount | style.bits
    }

    /// Zero where both are the same.
    func difference(from other: Cell) -> UInt64 {
        glyph.difference(from: other.glyph) | (look ^ other.look)
    }

    init(cluster: Character, width: UInt8, style: CellStyle) {
        self.init(Glyph(cluster), width: width, style: style)
    }

    /// What it shows.
    public var cluster: Character { glyph.cluster }

    /// Scalars of a cluster at most: the longest emoji sequences of Unicode have ten. A cluster may
    /// have any number of combining marks, which some terminals cannot process.
    public static let scalarsMax = 16

    /// A space.
    public static func blank(_ style: CellStyle = .plain) -> Cell {
        Cell(.space, width: 1, style: style)
    }

    /// Whether it is the second half of the wide cell before it.
    public var isContinuation: Bool { width == 0 }

    static func continuation(_ style: CellStyle) -> Cell {
        Cell(.space, width: 0, style: style)
    }
}

/// Whether a terminal takes UTF-8.
public enum Charset: Hashable, Sendable {
    case unicode, ascii

    /// The charset of the locale; `variable` returns an environment variable.
    ///
    /// `LC_ALL` before `LC_CTYPE` before `LANG`, the first that is not empty (locale(7)).
    public init(variable: (String) -> String?) {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(variable).first { !$0.isEmpty } ?? ""
        let lowered = locale.lowercased()
        self = lowered.contains("utf-8") || lowered.contains("utf8") ? .unicode : .ascii
    }
}

extension Charset {
    /// A cluster as ASCII of the same number of columns; `?` if there is no similar character.
    static func ascii(_ cluster: Character, width: UInt8) -> String {
        if cluster.isASCII { return String(cluster) }
        if let likeness = likenesses[cluster] { return likeness }
        if let base = cluster.unicodeScalars.first, base.isASCII, base.value >= 0x20 {
            return String(Character(base))
        }
        return String(repeating: "?", count: Int(max(width, 1)))
    }

    // The glyphs of `Glyphs.unicode` have their own ASCII set; this is for what is left, such as
    // typographic marks in the texts of forms.
    private static let likenesses: [Character: String] = [
        "—": "-", "–": "-", "−": "-", "…": "~", "’": "'", "‘": "'", "“": "\"", "”": "\"",
        "•": "*", "·": ".", "×": "x", "│": "|", "─": "-", "┃": "|", "━": "=", "▌": "|",
        "▐": "|", "✓": "v", "✗": "x", "→": ">", "←": "<", "↑": "^", "↓": "v", "ä": "a",
        "ö": "o", "ü": "u", "Ä": "A", "Ö": "O", "Ü": "U", "é": "e", "è": "e", "\u{A0}": " ",
    ]
}
