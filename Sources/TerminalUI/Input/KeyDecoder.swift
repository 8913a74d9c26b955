// Decodes a terminal's bytes to events.
//
//      ┌──────── ESC ───────▶ escape ── [ ──▶ control ── final ──▶ event
//   ground ◀── event ─────┐      ├───── O ──▶ single ─── byte ───▶ event
//      │                  │      ├─ ] P _ ^ X ▶ string ── ST, BEL ▶ reply
//      └─ scalar ── text ─┘      └─ other ──▶ the key with Alt
//   control `200~` ──▶ paste ── ESC [201~ ──▶ event
//
// Invariants: the events do not depend on how the stream is divided into reads (except that scalars
// of one cluster form one event only if they arrive in one read); all buffers are bounded; unknown
// bytes are dropped, and decoding continues after them.
//
// Sources: ECMA-48; xterm, ctlseqs; rxvt, "Key Codes"; the Linux console, console_codes(4); DEC
// VT220; kitty, "Comprehensive keyboard handling" (CSI u).

/// A state machine for a terminal's bytes.
public struct KeyDecoder: Sendable {
    /// Bytes of a paste that are kept at most: a paste is a value, and values are bounded.
    public static let pasteBytesMax = 65_536
    /// Bytes of one control sequence or answer at most; longer ones are dropped.
    public static let sequenceBytesMax = 256

    private enum State: Sendable {
        case ground
        /// A scalar of several bytes is in progress.
        case scalar(modifiers: KeyModifiers)
        /// After ESC; `isDouble` after two (Alt with a key that sends ESC itself).
        case escape(isDouble: Bool)
        case control(hasAlt: Bool)
        case single(hasAlt: Bool)
        /// Inside OSC, DCS or a similar string; whether the last byte was ESC.
        case string(Kind, sawEscape: Bool)
        case paste
        /// X10's mouse: three bytes follow.
        case oldMouse

        enum Kind: Sendable { case osc, other }
    }

    private var state = State.ground
    /// The bytes of what is in progress: UTF-8, parameters, an answer, or a paste.
    private var bytes: [UInt8] = []
    private var isOverfull = false
    /// Whether Caps Lock was on when it was last heard of.
    private var hasCapsLock = false
    /// How many bytes of the end of a paste have matched.
    private var pasteEnd = 0

    /// A decoder that has read nothing.
    public init() {}

    /// Whether an ESC waits for what follows it: call `timeout()` when nothing comes for a while
    /// (25 to 50 ms are usual).
    public var isWaiting: Bool {
        switch state {
        case .ground, .paste: false
        default: true
        }
    }

    /// Decodes bytes into events, in order.
    public mutating func decode(_ input: some Sequence<UInt8>) -> [InputEvent] {
        var events = Events()
        for byte in input { take(byte, into: &events) }
        return events.list
    }

    /// Call it when nothing has arrived for a while: a waiting ESC was the Escape key, and an
    /// incomplete sequence is dropped.
    ///
    /// A paste stays open, since slow links pause within one; `reset()` ends it.
    public mutating func timeout() -> [InputEvent] {
        var events = Events()
        switch state {
        case .escape(let isDouble):
            events.key(.escape, isDouble ? .alt : [])
        case .control(let hasAlt) where bytes.isEmpty && !hasAlt:
            events.key(.character("["), .alt)
        case .single(let hasAlt) where !hasAlt: events.key(.character("O"), .alt)
        case .paste: return []
        default: break
        }
        reset()
        return events.list
    }

    /// Forgets what is unfinished.
    public mutating func reset() {
        state = .ground
        bytes = []
        isOverfull = false
        pasteEnd = 0
    }
}

/// Events in order; text of one read is put together by clusters.
private struct Events {
    var list: [InputEvent] = []

    mutating func key(_ key: Key, _ modifiers: KeyModifiers = []) {
        list.append(.key(KeyEvent(key, modifiers)))
    }

    mutating func text(_ scalar: Unicode.Scalar, _ modifiers: KeyModifiers) {
        if modifiers.isEmpty, !scalar.isASCII, case .key(let last)? = list.last,
            case .character(let before) = last.key, last.modifiers.isEmpty
        {
            var joined = String(before)
            joined.unicodeScalars.append(scalar)
            if joined.count == 1, joined.unicodeScalars.count <= Cell.scalarsMax {
                list[list.count - 1] = .key(KeyEvent(.character(Character(joined))))
                return
            }
        }
        key(.character(Character(scalar)), modifiers)
    }
}

extension KeyDecoder {
    private mutating func take(_ byte: UInt8, into events: inout Events) {
        switch state {
        case .ground: ground(byte, modifiers: [], into: &events)
        case .scalar(let modifiers): scalar(byte, modifiers: modifiers, into: &events)
        case .escape(let isDouble): escape(byte, isDouble: isDouble, into: &events)
        case .control(let hasAlt): control(byte, hasAlt: hasAlt, into: &events)
        case .single(let hasAlt): single(byte, hasAlt: hasAlt, into: &events)
        case .string(let kind, let sawEscape):
            string(byte, kind: kind, sawEscape: sawEscape, into: &events)
        case .paste: paste(byte, into: &events)
        case .oldMouse: oldMouse(byte, into: &events)
        }
    }

    private mutating func ground(
        _ byte: UInt8, modifiers: KeyModifiers, into events: inout Events
    ) {
        switch byte {
        case 0x1B: state = .escape(isDouble: false)
        case 0x00: events.key(.character(" "), modifiers.union(.control))
        case 0x08: events.key(.backspace, modifiers.union(.control))
        case 0x09: events.key(.tab, modifiers)
        // An Enter that was typed before the terminal was in raw mode arrives as a line feed
        // (termios, ICRNL).
        case 0x0A, 0x0D: events.key(.enter, modifiers)
        case 0x7F: events.key(.backspace, modifiers)
        case 0x01...0x1A:
            let letter = Unicode.Scalar(byte + 0x60)
            events.key(.character(Character(letter)), modifiers.union(.control))
        case 0x1C...0x1F:
            let sign = Unicode.Scalar(byte + 0x40)
            events.key(.character(Character(sign)), modifiers.union(.control))
        case 0x20...0x7E: events.text(Unicode.Scalar(byte), modifiers)
        case 0xC2...0xF4:
            bytes = [byte]
            state = .scalar(modifiers: modifiers)
        default: break
        }
    }

    private mutating func scalar(
        _ byte: UInt8, modifiers: KeyModifiers, into events: inout Events
    ) {
        guard byte & 0xC0 == 0x80 else {
            reset()
            ground(byte, modifiers: [], into: &events)
            return
        }
        bytes.append(byte)
        if bytes.count < (bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4) { return }
        let text = String(validating: bytes, as: UTF8.self)
        reset()
        // Overlong forms and surrogates are not valid UTF-8 and are dropped, as are C1 controls.
        if let scalar = text?.unicodeScalars.first, scalar.value >= 0xA0 {
            events.text(scalar, modifiers)
        }
    }

    private mutating func escape(_ byte: UInt8, isDouble: Bool, into events: inout Events) {
        bytes = []
        isOverfull = false
        switch byte {
        case UInt8(ascii: "["): state = .control(hasAlt: isDouble)
        case UInt8(ascii: "O"): state = .single(hasAlt: isDouble)
        case UInt8(ascii: "]") where !isDouble: state = .string(.osc, sawEscape: false)
        case UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            state = .string(.other, sawEscape: false)
        case 0x1B where !isDouble: state = .escape(isDouble: true)
        case 0x1B: events.key(.escape, .alt)
        default:
            state = .ground
            if isDouble { events.key(.escape) }
            ground(byte, modifiers: .alt, into: &events)
        }
    }

    private mutating func control(_ byte: UInt8, hasAlt: Bool, into events: inout Events) {
        switch byte {
        case UInt8(ascii: "[") where bytes.isEmpty:
            // The Linux console: ESC [ [ A is F1.
            bytes.append(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "E") where bytes == [UInt8(ascii: "[")]:
            reset()
            events.key(.function(Int(byte - UInt8(ascii: "A")) + 1), hasAlt ? .alt : [])
        case UInt8(ascii: "M") where bytes.isEmpty: state = .oldMouse
        case UInt8(ascii: "$") where !bytes.contains(UInt8(ascii: "?")):
            // rxvt: a key with Shift ends with this byte, although it is not a final byte.
            finish(byte, hasAlt: hasAlt, into: &events)
        case 0x20...0x3F:
            if bytes.count < Self.sequenceBytesMax { bytes.append(byte) } else { isOverfull = true }
        case 0x40...0x7E: finish(byte, hasAlt: hasAlt, into: &events)
        case 0x1B:
            reset()
            state = .escape(isDouble: false)
        default:
            // A control character ends the sequence and is processed itself.
            reset()
            ground(byte, modifiers: [], into: &events)
        }
    }

    private mutating func finish(_ final: UInt8, hasAlt: Bool, into events: inout Events) {
        let parameters = bytes
        let isUsable = !isOverfull
        reset()
        guard isUsable else { return }
        if parameters == Array("200".utf8), final == UInt8(ascii: "~") {
            state = .paste
            return
        }
        let sequence = ControlSequence(parameters: parameters, final: final)
        if let isOn = sequence.capsLock, isOn != hasCapsLock {
            hasCapsLock = isOn
            events.list.append(.capsLock(isOn))
        }
        if let event = sequence.event(hasAlt: hasAlt) { events.list.append(event) }
    }

    private mutating func single(_ byte: UInt8, hasAlt: Bool, into events: inout Events) {
        reset()
        if let key = ControlSequence.singleShift(byte) {
            let alt: KeyModifiers = hasAlt ? .alt : []
            events.key(key.key, key.modifiers.union(alt))
        } else {
            // Alt with a capital O, and then something else.
            events.key(.character("O"), .alt)
            take(byte, into: &events)
        }
    }

    private mutating func string(
        _ byte: UInt8, kind: State.Kind, sawEscape: Bool, into events: inout Events
    ) {
        if sawEscape, byte != UInt8(ascii: "\\") {
            // ESC of another sequence: the answer is incomplete.
            reset()
            state = .escape(isDouble: false)
            take(byte, into: &events)
            return
        }
        switch byte {
        case 0x07 where kind == .osc, UInt8(ascii: "\\") where sawEscape:
            let answer = bytes
            let isUsable = !isOverfull && kind == .osc
            reset()
            if isUsable, let reply = ControlSequence.reply(toOSC: answer) {
                events.list.append(.reply(reply))
            }
        case 0x1B: state = .string(kind, sawEscape: true)
        case 0x18, 0x1A: reset()
        default:
            if bytes.count < Self.sequenceBytesMax { bytes.append(byte) } else { isOverfull = true }
        }
    }

    private mutating func oldMouse(_ byte: UInt8, into events: inout Events) {
        bytes.append(byte)
        guard bytes.count == 3 else { return }
        let (code, x, y) = (Int(bytes[0]) - 32, Int(bytes[1]) - 33, Int(bytes[2]) - 33)
        reset()
        if code >= 0, x >= 0, y >= 0,
            let event = ControlSequence.mouse(code: code, x: x, y: y, isRelease: code & 3 == 3)
        {
            events.list.append(event)
        }
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private mutating func paste(_ byte: UInt8, into events: inout Events) {
        if byte == Self.pasteEnd[pasteEnd] {
            pasteEnd += 1
            if pasteEnd == Self.pasteEnd.count {
                events.list.append(.paste(Self.cleaned(bytes), isCut: isOverfull))
                reset()
            }
            return
        }
        for byte in Self.pasteEnd.prefix(pasteEnd) { keep(byte) }
        pasteEnd = byte == Self.pasteEnd[0] ? 1 : 0
        if pasteEnd == 0 { keep(byte) }
    }

    private mutating func keep(_ byte: UInt8) {
        if bytes.count < Self.pasteBytesMax { bytes.append(byte) } else { isOverfull = true }
    }

    /// Pasted bytes as text: line ends as `\n`, tabs kept, other controls left out.
    private static func cleaned(_ bytes: [UInt8]) -> String {
        var scalars = String.UnicodeScalarView()
        var wasReturn = false
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let followsReturn = wasReturn
            wasReturn = scalar == "\r"
            switch scalar {
            case "\r": scalars.append("\n")
            case "\n": if !followsReturn { scalars.append("\n") }
            case "\t": scalars.append("\t")
            default:
                if scalar.value >= 0x20, !(0x7F...0x9F).contains(scalar.value) {
                    scalars.append(scalar)
                }
            }
        }
        return String(scalars)
    }
}
