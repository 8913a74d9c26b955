// Converts a complete control sequence to an event.

import SyncCore

/// A control sequence: ESC [, parameters, a final byte.
struct ControlSequence {
    let parameters: [UInt8]
    let final: UInt8

    /// The numbers, absent ones as 0, sub-parameters left out. At most nine digits each, so that
    /// none can overflow.
    private var numbers: [Int] {
        parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            var number = 0
            for byte in $0.prefix(9) {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return number
        }
    }

    /// The event, or `nil` if it is nothing that we know.
    func event(hasAlt: Bool) -> InputEvent? {
        if let first = parameters.first, (0x3C...0x3F).contains(first) {
            return ControlSequence(parameters: Array(parameters.dropFirst()), final: final)
                .privateEvent(first)
        }
        if final == UInt8(ascii: "I"), parameters.isEmpty { return .attention(true) }
        if final == UInt8(ascii: "O"), parameters.isEmpty { return .attention(false) }
        if final == UInt8(ascii: "R"), let reply = cursorReply { return .reply(reply) }
        guard var key else { return nil }
        if hasAlt { key.modifiers.insert(.alt) }
        return .key(key)
    }

    private func privateEvent(_ marker: UInt8) -> InputEvent? {
        let numbers = self.numbers
        switch (marker, final) {
        case (UInt8(ascii: "<"), UInt8(ascii: "M")), (UInt8(ascii: "<"), UInt8(ascii: "m")):
            guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
            return Self.mouse(
                code: numbers[0], x: numbers[1] - 1, y: numbers[2] - 1,
                isRelease: final == UInt8(ascii: "m"))
        case (UInt8(ascii: "?"), UInt8(ascii: "c")): return .reply(.attributes(numbers))
        case (UInt8(ascii: "?"), UInt8(ascii: "u")): return .reply(.keyboard(numbers.first ?? 0))
        case (UInt8(ascii: "?"), UInt8(ascii: "y")):
            guard parameters.last == UInt8(ascii: "$"), numbers.count == 2,
                let state = TerminalReply.ModeState(rawValue: numbers[1])
            else { return nil }
            return .reply(.mode(numbers[0], state))
        default: return nil
        }
    }

    /// CPR. xterm writes F3 with modifiers the same way as a cursor on the first line; a report of
    /// that line is decoded as the key; the code that asked for the cursor can tell them apart.
    private var cursorReply: TerminalReply? {
        let numbers = self.numbers
        guard numbers.count == 2, numbers[0] > 1 || numbers[1] > 8, numbers[1] > 0 else {
            return nil
        }
        return .cursor(Point(x: numbers[1] - 1, y: max(0, numbers[0] - 1)))
    }

    private var modifiers: KeyModifiers {
        let numbers = self.numbers
        guard numbers.count > 1, numbers[1] > 1 else { return [] }
        return KeyModifiers(rawValue: UInt8((numbers[1] - 1) & 7))
    }

    /// Whether Caps Lock was on when the key came; `nil` if the sequence does not say: only `CSI u`
    /// does (kitty's bit 64), and a private one is an answer.
    var capsLock: Bool? {
        guard final == UInt8(ascii: "u"), parameters.first.map({ $0 < 0x3C }) ?? false else {
            return nil
        }
        let numbers = self.numbers
        return numbers.count > 1 && numbers[1] > 1 && (numbers[1] - 1) & 64 != 0
    }

    /// The text of a key, if the terminal reports it: kitty's third parameter, scalars with colons
    /// between.
    private var text: Character? {
        let parts = parameters.split(
            separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else { return nil }
        var scalars = String.UnicodeScalarView()
        for part in parts[2].split(separator: UInt8(ascii: ":")).prefix(Cell.scalarsMax) {
            guard let number = UInt32(String(decoding: part, as: UTF8.self)),
                let scalar = Unicode.Scalar(number), !SafeText.isControl(scalar)
            else { return nil }
            scalars.append(scalar)
        }
        let text = String(scalars)
        return text.count == 1 ? text.first : nil
    }

    private var key: KeyEvent? {
        switch final {
        case UInt8(ascii: "A"): KeyEvent(.up, modifiers)
        case UInt8(ascii: "B"): KeyEvent(.down, modifiers)
        case UInt8(ascii: "C"): KeyEvent(.right, modifiers)
        case UInt8(ascii: "D"): KeyEvent(.left, modifiers)
        case UInt8(ascii: "H"): KeyEvent(.home, modifiers)
        case UInt8(ascii: "F"): KeyEvent(.end, modifiers)
        case UInt8(ascii: "P")...UInt8(ascii: "S"):
            KeyEvent(.function(Int(final - UInt8(ascii: "P")) + 1), modifiers)
        case UInt8(ascii: "Z"): KeyEvent(.tab, modifiers.union(.shift))
        // rxvt: lower case is Shift.
        case UInt8(ascii: "a"): KeyEvent(.up, .shift)
        case UInt8(ascii: "b"): KeyEvent(.down, .shift)
        case UInt8(ascii: "c"): KeyEvent(.right, .shift)
        case UInt8(ascii: "d"): KeyEvent(.left, .shift)
        case UInt8(ascii: "u"): unicodeKey(code: numbers.first ?? 0, modifiers)
        case UInt8(ascii: "~"): tildeKey
        case UInt8(ascii: "$"): Self.numbered(numbers.first ?? 0).map { KeyEvent($0, .shift) }
        case UInt8(ascii: "^"): Self.numbered(numbers.first ?? 0).map { KeyEvent($0, .control) }
        case UInt8(ascii: "@"):
            Self.numbered(numbers.first ?? 0).map { KeyEvent($0, [.shift, .control]) }
        default: nil
        }
    }

    private var tildeKey: KeyEvent? {
        let numbers = self.numbers
        // xterm's modifyOtherKeys: ESC [ 27 ; modifiers ; code ~.
        if numbers.count == 3, numbers[0] == 27 { return unicodeKey(code: numbers[2], modifiers) }
        return numbers.first.flatMap(Self.numbered).map { KeyEvent($0, modifiers) }
    }

    private func unicodeKey(code: Int, _ modifiers: KeyModifiers) -> KeyEvent? {
        switch code {
        case 9: return KeyEvent(.tab, modifiers)
        case 13, 57414: return KeyEvent(.enter, modifiers)
        case 27: return KeyEvent(.escape, modifiers)
        case 8, 127: return KeyEvent(.backspace, modifiers)
        case 57417...57426: return KeyEvent(Self.keypad[code - 57417], modifiers)
        default:
            if modifiers.isDisjoint(with: [.control, .alt]), let text {
                return KeyEvent(.character(text))
            }
            guard code >= 0x20, !(0x7F...0x9F).contains(code), !(0xE000...0xF8FF).contains(code),
                let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init)
            else { return nil }
            if modifiers == .shift, let capital = scalar.properties.uppercaseMapping.first {
                return KeyEvent(.character(capital))
            }
            return KeyEvent(.character(Character(scalar)), modifiers)
        }
    }

    /// The keypad's keys of movement from 57417 on, as kitty numbers them.
    private static let keypad: [Key] = [
        .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete,
    ]

    /// The keys of ESC [ n ~ (VT220, xterm, rxvt, the Linux console).
    private static func numbered(_ number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23...26: .function(number - 12)
        case 28...29: .function(number - 13)
        case 31...34: .function(number - 14)
        default: nil
        }
    }

    /// The keys of ESC O: application mode, the keypad, and rxvt's arrows with Control.
    static func singleShift(_ byte: UInt8) -> KeyEvent? {
        switch byte {
        case UInt8(ascii: "A"): KeyEvent(.up)
        case UInt8(ascii: "B"): KeyEvent(.down)
        case UInt8(ascii: "C"): KeyEvent(.right)
        case UInt8(ascii: "D"): KeyEvent(.left)
        case UInt8(ascii: "H"): KeyEvent(.home)
        case UInt8(ascii: "F"): KeyEvent(.end)
        case UInt8(ascii: "M"): KeyEvent(.enter)
        case UInt8(ascii: "P")...UInt8(ascii: "S"):
            KeyEvent(.function(Int(byte - UInt8(ascii: "P")) + 1))
        case UInt8(ascii: "a"): KeyEvent(.up, .control)
        case UInt8(ascii: "b"): KeyEvent(.down, .control)
        case UInt8(ascii: "c"): KeyEvent(.right, .control)
        case UInt8(ascii: "d"): KeyEvent(.left, .control)
        case UInt8(ascii: "j")...UInt8(ascii: "y"):
            // The keypad: 0x40 above the sign on the key.
            KeyEvent(.character(Character(Unicode.Scalar(byte - 0x40))))
        default: nil
        }
    }

    /// A mouse event from its code (ctlseqs, Mouse Tracking).
    static func mouse(code: Int, x: Int, y: Int, isRelease: Bool) -> InputEvent? {
        var modifiers: KeyModifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.control) }
        let point = Point(x: x, y: y)
        if code & 64 != 0 {
            let kinds: [MouseEvent.Kind] = [.wheelUp, .wheelDown, .wheelLeft, .wheelRight]
            return isRelease ? nil : .mouse(MouseEvent(kinds[code & 3], at: point, modifiers))
        }
        guard code & 0xFF80 == 0 else { return nil }
        let isMotion = code & 32 != 0
        guard code & 3 != 3 else {
            return .mouse(MouseEvent(isMotion ? .move : .release(.left), at: point, modifiers))
        }
        let buttons: [MouseEvent.Button] = [.left, .middle, .right]
        let button = buttons[code & 3]
        let kind: MouseEvent.Kind =
            isRelease ? .release(button) : isMotion ? .drag(button) : .press(button)
        return .mouse(MouseEvent(kind, at: point, modifiers))
    }

    /// An answer to OSC 10 or 11: `11;rgb:1e1e/1e1e/2e2e`.
    static func reply(toOSC answer: [UInt8]) -> TerminalReply? {
        let text = String(decoding: answer, as: UTF8.self)
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("rgb:") || parts[1].hasPrefix("rgba:") else {
            return nil
        }
        let channels = parts[1].drop { $0 != ":" }.dropFirst().split(separator: "/")
        guard channels.count >= 3 else { return nil }
        var values: [UInt8] = []
        for channel in channels.prefix(3) {
            guard (1...4).contains(channel.count), let value = Int(channel, radix: 16), value >= 0
            else { return nil }
            // One to four digits, each length with a full scale of its own (XParseColor(3)).
            values.append(UInt8(value * 255 / ((1 << (4 * channel.count)) - 1)))
        }
        switch parts[0] {
        case "10": return .foreground(red: values[0], green: values[1], blue: values[2])
        case "11": return .background(red: values[0], green: values[1], blue: values[2])
        default: return nil
        }
    }
}
