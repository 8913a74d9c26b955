// The marks that controls are drawn with, in Unicode and in ASCII.
//
// Invariants: both sets distinguish the same things; every mark of the Unicode set is one column
// wide in every terminal that we know (no emoji, none that is wide in East Asian fonts alone where
// another would do).

/// A set of marks.
public struct Glyphs: Hashable, Sendable {
    public var focusBar = "▌"
    public var pointer = "❯"
    public var check = "✓"
    public var cross = "✗"
    public var radioOn = "◉"
    public var radioOff = "○"
    public var boxOn = "[✓]"
    public var boxOff = "[ ]"
    public var boxMixed = "[─]"
    public var switchOn = "(━━●)"
    public var switchOff = "(○──)"
    public var switchMixed = "(─◐─)"
    public var pillLeft = "▌"
    /// Before the text of a button that has the focus, where the edges alone would not distinguish
    /// it.
    public var loudLeft = " "
    /// After it.
    public var loudRight = " "
    public var pillRight = "▐"
    public var separator = "│"
    public var menuClosed = "▾"
    public var menuOpen = "▴"
    public var chevron = "›"
    public var back = "‹"
    public var wheelLeft = "▸"
    public var wheelRight = "◂"
    public var trackFilled = "━"
    public var trackEmpty = "─"
    public var tickFilled = "┿"
    public var tickEmpty = "┼"
    public var thumb = "●"
    public var thumbFocused = "◉"
    public var thumbGhost = "◌"
    public var thumbHeld = "◇"
    public var minus = "−"
    public var plus = "+"
    public var gaugeFilled = "━"
    public var gaugeEmpty = "╌"
    public var above = "▲"
    public var dot = "●"
    /// Before an option that has a colour.
    public var tint = "■"
    public var secret = "•"
    /// Where a text is cut, in one column.
    public var more = "…"
    /// After the name of a command that asks first.
    public var ellipsis = "…"
    public var dash = "—"
    public var conflict = "⇄"
    public var held = "◇"
    public var ghost = "◌"
    public var flash = "←"
    /// Before a value that waits for approval.
    public var proposed = "⇢"
    public var capsLock = "⇪"
    public var between = "·"
    public var expanded = "▾"
    public var collapsed = "▸"
    public var up = "▲"
    public var down = "▼"
    public var rule = "─"
    public var corners = ["╭", "╮", "╰", "╯"]
    public var side = "│"
    /// The frame of what is chosen.
    public var heavyCorners = ["┏", "┓", "┗", "┛"]
    public var heavySide = "┃"
    public var heavyRule = "━"
    public var scrollTrack = "│"
    public var scrollThumb = "┃"
    /// Whether arcs can be drawn with Braille dots.
    public var hasBraille = true
    /// Whether all marks are ASCII.
    public private(set) var isASCII = false

    /// The marks for terminals of UTF-8.
    public static let unicode = Glyphs()

    /// The marks for all others.
    public static let ascii: Glyphs = {
        var glyphs = Glyphs()
        glyphs.focusBar = "|"
        glyphs.proposed = "=>"
        glyphs.pointer = ">"
        glyphs.check = "*"
        glyphs.cross = "x"
        glyphs.radioOn = "(*)"
        glyphs.radioOff = "( )"
        glyphs.boxOn = "[x]"
        glyphs.boxMixed = "[-]"
        glyphs.switchOn = "(==O)"
        glyphs.switchOff = "(o--)"
        glyphs.switchMixed = "(-o-)"
        glyphs.pillLeft = "["
        glyphs.loudLeft = ">"
        glyphs.loudRight = "<"
        glyphs.pillRight = "]"
        glyphs.separator = "|"
        glyphs.menuClosed = "v"
        glyphs.menuOpen = "^"
        glyphs.chevron = ">"
        glyphs.back = "<"
        glyphs.wheelLeft = ">"
        glyphs.wheelRight = "<"
        glyphs.trackFilled = "="
        glyphs.trackEmpty = "-"
        glyphs.tickFilled = "#"
        glyphs.tickEmpty = "+"
        glyphs.thumb = "O"
        glyphs.thumbFocused = "@"
        glyphs.thumbGhost = "o"
        glyphs.thumbHeld = "&"
        glyphs.minus = "-"
        glyphs.gaugeFilled = "#"
        glyphs.gaugeEmpty = "."
        glyphs.above = "^"
        glyphs.dot = "*"
        glyphs.tint = "#"
        glyphs.secret = "*"
        glyphs.more = "~"
        glyphs.ellipsis = "..."
        glyphs.dash = "-"
        glyphs.conflict = "<>"
        glyphs.held = "&"
        glyphs.ghost = "o"
        glyphs.flash = "<-"
        glyphs.capsLock = "^"
        glyphs.between = "-"
        glyphs.expanded = "v"
        glyphs.collapsed = ">"
        glyphs.up = "^"
        glyphs.down = "v"
        glyphs.rule = "-"
        glyphs.corners = ["+", "+", "+", "+"]
        glyphs.side = "|"
        glyphs.heavyCorners = ["#", "#", "#", "#"]
        glyphs.heavySide = "#"
        glyphs.heavyRule = "="
        glyphs.scrollTrack = "|"
        glyphs.scrollThumb = "#"
        glyphs.hasBraille = false
        glyphs.isASCII = true
        return glyphs
    }()

    /// The set for a charset.
    public init(_ charset: Charset) {
        self = charset == .unicode ? .unicode : .ascii
    }

    private init() {}
}
