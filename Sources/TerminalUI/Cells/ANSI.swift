// The control sequences that the product writes, each in one place (ECMA-48; xterm, ctlseqs).

/// Control sequences as bytes.
public enum ANSI {
    /// Switches to the alternate screen; the normal screen is not changed.
    public static let enterAlternateScreen = sequence("?1049h")
    /// Switches back to the normal screen.
    public static let leaveAlternateScreen = sequence("?1049l")
    /// Turns off automatic wrapping (DECAWM), so that a cluster that a terminal draws too wide does
    /// not wrap to the next line.
    public static let disableWrap = sequence("?7l")
    public static let enableWrap = sequence("?7h")
    public static let hideCursor = sequence("?25l")
    public static let showCursor = sequence("?25h")
    public static let home = sequence("H")
    public static let clearScreen = sequence("2J")
    /// From the cursor to the end of the screen.
    public static let clearBelow = sequence("J")
    /// From the cursor to the end of the line, in the pen's background.
    public static let clearLine = sequence("K")
    public static let resetStyle = sequence("m")
    /// Mode 2026, synchronized output: the terminal displays the frame when it is complete.
    public static let beginSynchronized = sequence("?2026h")
    public static let endSynchronized = sequence("?2026l")
    /// Buttons, drags (1002) and SGR coordinates (1006).
    public static let enableMouse = sequence("?1002h") + sequence("?1006h")
    public static let disableMouse = sequence("?1006l") + sequence("?1002l")
    /// Bracketed paste (2004).
    public static let enablePaste = sequence("?2004h")
    public static let disablePaste = sequence("?2004l")
    /// Asks for the type of the terminal (DA1). Every terminal answers this, so its answer ends the
    /// wait for other answers.
    public static let askAttributes = sequence("c")
    /// Whether it knows mode 2026 (DECRQM).
    public static let askSynchronized = sequence("?2026$p")
    /// Where the cursor is (DSR 6, answered by CPR).
    public static let askCursor = sequence("6n")
    /// Whether it has kitty's keyboard protocol, and which of its flags are in force.
    public static let askKeyboard = sequence("?u")
    /// Reports every key as its own sequence, with locks and text (flags 1, 8 and 16), until
    /// `popKeyboard`.
    public static let pushKeyboard = sequence(">25u")
    public static let popKeyboard = sequence("<u")
    /// Its background colour (OSC 11).
    public static let askBackground = [0x1B] + Array("]11;?".utf8) + [0x1B, 0x5C]

    static func sequence(_ text: String) -> [UInt8] { [0x1B, 0x5B] + Array(text.utf8) }

    /// CUP; both count from 0 here.
    static func position(x: Int, y: Int) -> CursorMotion {
        var motion = CursorMotion(y + 1)
        if x > 0 {
            motion.append(UInt8(ascii: ";"))
            motion.append(number: x + 1)
        }
        motion.append(UInt8(ascii: "H"))
        return motion
    }

    /// CHA.
    static func column(_ x: Int) -> CursorMotion { motion(x + 1, UInt8(ascii: "G")) }
    static func up(_ count: Int) -> CursorMotion { motion(count, UInt8(ascii: "A")) }
    static func down(_ count: Int) -> CursorMotion { motion(count, UInt8(ascii: "B")) }
    static func forward(_ count: Int) -> CursorMotion { motion(count, UInt8(ascii: "C")) }
    static func back(_ count: Int) -> CursorMotion { motion(count, UInt8(ascii: "D")) }

    private static func motion(_ number: Int, _ end: UInt8) -> CursorMotion {
        var motion = CursorMotion(number)
        motion.append(end)
        return motion
    }

    private static let switches: [(attribute: CellAttributes, on: Int, off: Int)] = [
        (.bold, 1, 22), (.dim, 2, 22), (.italic, 3, 23), (.underline, 4, 24), (.reverse, 7, 27),
        (.strikethrough, 9, 29),
    ]

    /// SGR from an unknown state.
    static func style(_ style: CellStyle) -> [UInt8] {
        var codes: [String] = []
        for entry in switches where style.attributes.contains(entry.attribute) {
            codes.append(String(entry.on))
        }
        if style.foreground != .standard { codes.append(color(style.foreground, base: 30)) }
        if style.background != .standard { codes.append(color(style.background, base: 40)) }
        if codes.isEmpty { return resetStyle }
        return sequence("0;" + codes.joined(separator: ";") + "m")
    }

    /// SGR that changes one style into another.
    static func style(from old: CellStyle, to new: CellStyle) -> [UInt8] {
        var codes: [String] = []
        var kept = old.attributes
        for entry in switches where kept.contains(entry.attribute) {
            if new.attributes.contains(entry.attribute) { continue }
            if codes.last != String(entry.off) { codes.append(String(entry.off)) }
            // 22 ends bold and dim alike.
            kept.subtract(entry.off == 22 ? [.bold, .dim] : entry.attribute)
        }
        for entry in switches
        where new.attributes.contains(entry.attribute) && !kept.contains(entry.attribute) {
            codes.append(String(entry.on))
        }
        if old.foreground != new.foreground { codes.append(color(new.foreground, base: 30)) }
        if old.background != new.background { codes.append(color(new.background, base: 40)) }
        return sequence(codes.joined(separator: ";") + "m")
    }

    private static func color(_ color: TerminalColor, base: Int) -> String {
        switch color {
        case .standard: String(base + 9)
        case .ansi(let index) where index < 8: String(base + Int(index))
        case .ansi(let index): String(base + 52 + Int(index & 15))
        case .palette(let index): "\(base + 8);5;\(index)"
        case .rgb(let red, let green, let blue): "\(base + 8);2;\(red);\(green);\(blue)"
        }
    }
}

/// The bytes of a motion of the cursor, 16 at most. They are in no array, because each motion is
/// the shortest of several.
struct CursorMotion {
    /// The first byte is the lowest.
    private var bytes: UInt128 = 0
    private(set) var count = 0

    /// No motion.
    init() {}

    /// The beginning of a sequence with a number, which is 1 if it is left out.
    init(_ number: Int) {
        append(0x1B)
        append(0x5B)
        if number != 1 { append(number: number) }
    }

    mutating func append(_ byte: UInt8) {
        bytes |= UInt128(byte) << UInt128(8 * count)
        count += 1
    }

    mutating func append(number: Int) {
        if number >= 10 { append(number: number / 10) }
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    mutating func append(_ other: CursorMotion) {
        bytes |= other.bytes << UInt128(8 * count)
        count += other.count
    }

    func append(to out: inout [UInt8]) {
        var rest = bytes
        for _ in 0..<count {
            out.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}
