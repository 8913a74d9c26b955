/// Bytes as text: base64 with padding (RFC 4648, section 4), strictly.
public enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
    private static let padding = UInt8(ascii: "=")

    /// The text of these bytes: four characters for each three bytes, rounded up.
    public static func encode(_ bytes: [UInt8]) -> String {
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                for group in 0..<count / 4 {
                    let (from, to) = (3 * group, 4 * group)
                    let left = bytes.count - from
                    let second = left > 1 ? bytes[from + 1] : 0
                    let third = left > 2 ? bytes[from + 2] : 0
                    let bits = UInt32(bytes[from]) << 16 | UInt32(second) << 8 | UInt32(third)
                    text[to] = alphabet[Int(bits >> 18)]
                    text[to + 1] = alphabet[Int(bits >> 12 & 63)]
                    text[to + 2] = left > 1 ? alphabet[Int(bits >> 6 & 63)] : padding
                    text[to + 3] = left > 2 ? alphabet[Int(bits & 63)] : padding
                }
            }
            return count
        }
    }

    /// The bytes of a text as `encode` writes it; `nil` for any other text.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { characters in
            values.withUnsafeBufferPointer { decode(characters, $0) }
        }
    }

    private static func decode(
        _ characters: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>
    ) -> [UInt8]? {
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padded = characters.suffix(2).reversed().prefix { $0 == padding }.count
        let count = characters.count / 4 * 3 - padded
        // The bits that no value has, of all that was read.
        var excess: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count + padded) { bytes, filled in
            for group in 0..<characters.count / 4 {
                let (from, to) = (4 * group, 3 * group)
                let left = count - to
                let first = UInt32(values[Int(characters[from])])
                let second = UInt32(values[Int(characters[from + 1])])
                let third = left > 1 ? UInt32(values[Int(characters[from + 2])]) : 0
                let fourth = left > 2 ? UInt32(values[Int(characters[from + 3])]) : 0
                let bits = first << 18 | second << 12 | third << 6 | fourth
                bytes[to] = UInt8(truncatingIfNeeded: bits >> 16)
                bytes[to + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                bytes[to + 2] = UInt8(truncatingIfNeeded: bits)
                excess |= (first | second | third | fourth) & ~63
                // Other bits after the last byte would be a second spelling of the same bytes.
                if left < 3 { excess |= bits & ((1 << (8 * UInt32(3 - left))) - 1) }
            }
            filled = count
        }
        return excess == 0 ? bytes : nil
    }
}
