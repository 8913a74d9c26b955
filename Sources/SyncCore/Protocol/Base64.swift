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
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var place = 0
        while place < bytes.count {
            let left = bytes.count - place
            let second = left > 1 ? bytes[place + 1] : 0
            let third = left > 2 ? bytes[place + 2] : 0
            let group = UInt32(bytes[place]) << 16 | UInt32(second) << 8 | UInt32(third)
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12 & 63)])
            text.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : padding)
            text.append(left > 2 ? alphabet[Int(group & 63)] : padding)
            place += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text as `encode` writes it; `nil` for any other text.
    public static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        for place in stride(from: 0, to: characters.count, by: 4) {
            let isLast = place + 4 == characters.count
            let padded = characters[place..<place + 4].reversed().prefix { $0 == padding }.count
            guard padded == 0 || isLast && padded < 3 else { return nil }
            var group: UInt32 = 0
            for character in characters[place..<place + 4 - padded] {
                let value = values[Int(character)]
                guard value < 64 else { return nil }
                group = group << 6 | UInt32(value)
            }
            group <<= 6 * UInt32(padded)
            // Other bits after the last byte would be a second spelling of the same bytes.
            guard group & ((1 << (8 * UInt32(padded))) - 1) == 0 else { return nil }
            for shift in [16, 8, 0].prefix(3 - padded) {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(shift)))
            }
        }
        return bytes
    }
}
