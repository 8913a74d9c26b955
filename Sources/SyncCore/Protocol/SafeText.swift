/// Which characters of untrusted text are harmless, and how the others are shown.
///
/// Text in a form or a value is data (FORM.md). Control characters must never reach a terminal or a
/// log unescaped. The same holds for characters that change the direction of the following text
/// ("Trojan Source", Boucher and Anderson 2021) or that a program could take for the end of a line.
public enum SafeText {
    /// Whether a scalar is a control character: C0, DEL or C1.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// Whether a scalar is shown as an escape: controls, line and paragraph separators, and the
    /// twelve characters with the Unicode property Bidi_Control.
    public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The number of bytes of the harmful character at a position of UTF-8 text, and the character;
    /// `nil` if the one that begins here is harmless (none begins inside a character).
    @inline(__always)
    static func harmful(
        at position: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> (scalar: UInt32, length: Int)? {
        let byte = bytes[position]
        if byte < 0x20 || byte == 0x7F { return (UInt32(byte), 1) }
        guard byte == 0xC2 || byte == 0xD8 || byte == 0xE2 else { return nil }
        return harmfulMultibyte(byte, at: position, in: bytes)
    }

    private static func harmfulMultibyte(
        _ lead: UInt8, at position: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> (scalar: UInt32, length: Int)? {
        guard position + 1 < bytes.count else { return nil }
        let second = UInt32(bytes[position + 1] & 0x3F)
        var value = UInt32(lead & 0x1F) << 6 | second
        var length = 2
        if lead == 0xE2 {
            guard position + 2 < bytes.count else { return nil }
            value = 0x2000 | second << 6 | UInt32(bytes[position + 2] & 0x3F)
            length = 3
        }
        guard let scalar = Unicode.Scalar(value), isHarmful(scalar) else { return nil }
        return (value, length)
    }
}

extension String {
    /// Whether it is ASCII without control characters, as nearly every text is. Eight bytes are
    /// checked at once, which is much faster than scalars.
    public var isPlainASCII: Bool {
        let isPlain = utf8.withContiguousStorageIfAvailable { bytes in
            let ones: UInt64 = 0x0101_0101_0101_0101
            // The highest bit of each byte: the text has another character there, or before it.
            var others: UInt64 = 0
            var position = 0
            while position &+ 8 <= bytes.count {
                let word = UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(
                    fromByteOffset: position, as: UInt64.self)
                others |= word | (word &- ones &* 0x20) | (word &+ ones)
                position &+= 8
            }
            while position < bytes.count {
                let byte = UInt64(bytes[position])
                others |= byte | (byte &- 0x20) | (byte &+ 1)
                position &+= 1
            }
            return others & (ones &* 0x80) == 0
        }
        return isPlain == true
    }

    /// Whether it contains no control character (C0, DEL, C1).
    ///
    /// `allowingNewlineAndTab` is for text with `multiline`, the only values that may contain
    /// these.
    public func isFreeOfControls(allowingNewlineAndTab: Bool = false) -> Bool {
        if isPlainASCII { return true }
        return unicodeScalars.allSatisfy { scalar in
            if allowingNewlineAndTab, scalar == "\n" || scalar == "\t" { return true }
            return !SafeText.isControl(scalar)
        }
    }

    /// The text with every harmful character (see `SafeText.isHarmful`) as `\u{1B}`.
    ///
    /// `keepingNewlineAndTab` is for text that the caller splits into lines. A backslash in the
    /// text is not escaped, because the result is only for people.
    public func escapedForDisplay(keepingNewlineAndTab: Bool = false) -> String {
        func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
            if keepingNewlineAndTab, scalar == "\n" || scalar == "\t" { return false }
            return SafeText.isHarmful(scalar)
        }
        guard unicodeScalars.contains(where: mustEscape) else { return self }
        var shown = ""
        for scalar in unicodeScalars {
            if mustEscape(scalar) {
                shown += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}

extension String {
    /// At most `bytesMax` bytes from the beginning, with `…` if something is missing. Cut between
    /// Unicode scalars, not clusters, because one cluster may be the whole text.
    public func cut(toBytes bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: bytesMax - 3)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}
