// Colours of terminals, and how a colour is reduced to what a terminal can display.

/// A colour of text or of its background.
public enum TerminalColor: Hashable, Sendable {
    /// The terminal's own.
    case standard
    /// One of the sixteen that the user's terminal theme defines: 0…7, and 8…15 bright.
    case ansi(UInt8)
    /// One of xterm's 256.
    case palette(UInt8)
    case rgb(UInt8, UInt8, UInt8)
}

extension TerminalColor {
    /// Bits of a `code`: two for the kind, 24 for what is in it.
    static let codeBits: UInt64 = 26
    static let codeMask: UInt64 = 1 << codeBits - 1

    /// The colour as a number.
    var code: UInt64 {
        switch self {
        case .standard: 0
        case .ansi(let index): 1 << 24 | UInt64(index)
        case .palette(let index): 2 << 24 | UInt64(index)
        case .rgb(let red, let green, let blue):
            3 << 24 | UInt64(red) << 16 | UInt64(green) << 8 | UInt64(blue)
        }
    }

    /// The colour of a `code`, in the lowest bits of a number.
    init(code: UInt64) {
        let low = UInt8(truncatingIfNeeded: code)
        switch code >> 24 & 3 {
        case 0: self = .standard
        case 1: self = .ansi(low)
        case 2: self = .palette(low)
        default:
            self = .rgb(
                UInt8(truncatingIfNeeded: code >> 16), UInt8(truncatingIfNeeded: code >> 8), low)
        }
    }
}

/// How many colours a terminal shows.
public enum ColorDepth: Int, Hashable, Sendable, CaseIterable, Comparable {
    /// None, or none wanted: `NO_COLOR`. Bold, underline and reverse are kept, because they are not
    /// colours.
    case none
    case sixteen
    case palette256
    case trueColor

    /// Fewer colours first.
    public static func < (left: ColorDepth, right: ColorDepth) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The colour depth according to the environment; `variable` returns a variable's value.
    ///
    /// `NO_COLOR` (no-color.org: set and not empty) wins over what the terminal could show, and
    /// `COLORTERM=truecolor` is how terminals announce 24 bits, since terminfo rarely does.
    public init(variable: (String) -> String?) {
        let term = variable("TERM") ?? ""
        let colorTerm = variable("COLORTERM") ?? ""
        if let no = variable("NO_COLOR"), !no.isEmpty {
            self = .none
        } else if term.isEmpty || term == "dumb" || Self.isMonochrome(term) {
            self = .none
        } else if colorTerm == "truecolor" || colorTerm == "24bit" || term.hasSuffix("-direct") {
            self = .trueColor
        } else if term.hasSuffix("256color") {
            self = .palette256
        } else {
            self = .sixteen
        }
    }
}

extension ColorDepth {
    /// DEC's terminals, `vt100` to `vt525`, not `vte-256color`.
    private static func isMonochrome(_ term: String) -> Bool {
        term.hasPrefix("vt") && term.dropFirst(2).first?.isNumber == true
    }
}

extension TerminalColor {
    /// The nearest colour that a terminal of that depth shows.
    public func reduced(to depth: ColorDepth) -> TerminalColor {
        switch (self, depth) {
        case (_, .none): return .standard
        case (.standard, _), (.ansi, _), (_, .trueColor), (.palette, .palette256): return self
        case (.rgb(let red, let green, let blue), .palette256):
            return .palette(Self.nearestPalette(red, green, blue))
        case (.palette(let index), .sixteen):
            if index < 16 { return .ansi(index) }
            let (red, green, blue) = Self.components(ofPalette: index)
            return .ansi(Self.nearestANSI(red, green, blue))
        case (.rgb(let red, let green, let blue), .sixteen):
            return .ansi(Self.nearestANSI(red, green, blue))
        }
    }

    /// The steps of each channel in xterm's cube of 6 × 6 × 6 (ctlseqs, 256colres.pl).
    private static let cube: [Int] = [0, 95, 135, 175, 215, 255]

    /// xterm's default sixteen.
    private static let sixteen: [(Int, Int, Int)] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205),
        (0, 205, 205), (229, 229, 229), (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
        (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
    ]

    /// Red, green and blue of a colour of the 256.
    static func components(ofPalette index: UInt8) -> (UInt8, UInt8, UInt8) {
        let index = Int(index)
        if index < 16 {
            let (red, green, blue) = sixteen[index]
            return (UInt8(red), UInt8(green), UInt8(blue))
        }
        if index >= 232 {
            let gray = UInt8(8 + (index - 232) * 10)
            return (gray, gray, gray)
        }
        let offset = index - 16
        return (
            UInt8(cube[offset / 36]), UInt8(cube[offset / 6 % 6]), UInt8(cube[offset % 6])
        )
    }

    private static func distance(_ left: (Int, Int, Int), _ right: (Int, Int, Int)) -> Int {
        // Weighted by how bright the eye takes each channel (ITU-R BT.601, rounded).
        let red = left.0 - right.0
        let green = left.1 - right.1
        let blue = left.2 - right.2
        return 3 * red * red + 6 * green * green + blue * blue
    }

    private static func nearestPalette(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
        let wanted = (Int(red), Int(green), Int(blue))
        func step(_ value: Int) -> Int {
            cube.indices.min { abs(cube[$0] - value) < abs(cube[$1] - value) } ?? 0
        }
        let (r, g, b) = (step(wanted.0), step(wanted.1), step(wanted.2))
        let inCube = (cube[r], cube[g], cube[b])
        let average = (wanted.0 + wanted.1 + wanted.2) / 3
        let shade = min(max((average - 3) / 10, 0), 23)
        let gray = 8 + shade * 10
        if distance((gray, gray, gray), wanted) < distance(inCube, wanted) {
            return UInt8(232 + shade)
        }
        return UInt8(16 + 36 * r + 6 * g + b)
    }

    private static func nearestANSI(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> UInt8 {
        // By hue and brightness instead of distance, because by distance every soft colour would
        // become gray.
        let (r, g, b) = (Int(red), Int(green), Int(blue))
        let high = max(r, g, b)
        let low = min(r, g, b)
        if high - low < 40 {
            return high < 48 ? 0 : high < 144 ? 8 : high < 216 ? 7 : 15
        }
        let middle = (high + low) / 2
        var bits: UInt8 = 0
        if r > middle { bits |= 1 }
        if g > middle { bits |= 2 }
        if b > middle { bits |= 4 }
        return high > 208 ? bits + 8 : bits
    }
}
