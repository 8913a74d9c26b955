// The input from a terminal: keys, the mouse, pasted text, and answers to queries.

/// An event from the terminal.
public enum InputEvent: Hashable, Sendable {
    case key(KeyEvent)
    case mouse(MouseEvent)
    /// Pasted text, line ends as `\n`, without other controls; `isCut` if it was too long and was
    /// cut.
    case paste(String, isCut: Bool)
    /// Caps Lock was turned on or off, seen from a key that came with it.
    case capsLock(Bool)
    /// The terminal's window gained or lost the focus.
    case attention(Bool)
    case reply(TerminalReply)
}

/// Keys that were held.
public struct KeyModifiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    /// The modifiers of these bits, as xterm counts them (ctlseqs, PC-Style Function Keys).
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let shift = KeyModifiers(rawValue: 1)
    public static let alt = KeyModifiers(rawValue: 2)
    public static let control = KeyModifiers(rawValue: 4)
}

/// A key.
public enum Key: Hashable, Sendable {
    /// A cluster that was typed. With `control` it is the lower-case letter.
    ///
    /// A cluster of several scalars that comes in pieces is several events; a text that they are
    /// inserted into puts it together.
    case character(Character)
    case enter, tab, backspace, escape
    case up, down, left, right, home, end, pageUp, pageDown, insert, delete
    /// F1 is 1.
    case function(Int)
}

/// A key with what was held.
public struct KeyEvent: Hashable, Sendable {
    public var key: Key
    public var modifiers: KeyModifiers

    /// A key, by default with nothing held.
    public init(_ key: Key, _ modifiers: KeyModifiers = []) {
        self.key = key
        self.modifiers = modifiers
    }
}

/// A mouse event.
public struct MouseEvent: Hashable, Sendable {
    public var kind: Kind
    /// Where, counted from 0.
    public var point: Point
    public var modifiers: KeyModifiers

    /// What the mouse did.
    public enum Kind: Hashable, Sendable {
        case press(Button)
        case release(Button)
        /// Moved with the button held.
        case drag(Button)
        /// Moved with none.
        case move
        case wheelUp, wheelDown, wheelLeft, wheelRight
    }

    /// A button of the mouse.
    public enum Button: Hashable, Sendable {
        case left, middle, right
    }

    /// What the mouse did, and where.
    public init(_ kind: Kind, at point: Point, _ modifiers: KeyModifiers = []) {
        self.kind = kind
        self.point = point
        self.modifiers = modifiers
    }
}

/// An answer of the terminal to a query.
public enum TerminalReply: Hashable, Sendable {
    /// DA1: what it is. Every terminal answers, in the order of the questions.
    case attributes([Int])
    /// DECRPM: what a private mode is set to.
    case mode(Int, ModeState)
    /// OSC 10.
    case foreground(red: UInt8, green: UInt8, blue: UInt8)
    /// OSC 11.
    case background(red: UInt8, green: UInt8, blue: UInt8)
    /// CPR: where the cursor is, counted from 0.
    case cursor(Point)
    /// The terminal has kitty's keyboard protocol, with these of its flags in force.
    case keyboard(Int)

    /// The terminal's report about a mode (DECRPM).
    public enum ModeState: Int, Hashable, Sendable {
        case unknown, set, reset, alwaysSet, alwaysReset

        /// Whether setting it does something.
        public var isUsable: Bool { self == .set || self == .reset || self == .alwaysSet }
    }

    /// Whether a background is one that dark themes are made for: its luma (ITU-R BT.601) is
    /// below the middle.
    public static func isDark(red: UInt8, green: UInt8, blue: UInt8) -> Bool {
        299 * Int(red) + 587 * Int(green) + 114 * Int(blue) < 127_500
    }
}
