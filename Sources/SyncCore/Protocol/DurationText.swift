/// Durations as text: in the configuration, in environment variables, in options.
public enum DurationText {
    /// The units in seconds. Longer names come first, because shorter ones are suffixes of them.
    private static let units: [(name: String, seconds: Double)] = [
        ("min", 60), ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400),
    ]

    /// A description of the format.
    public static let expected = "a duration such as 5, 500ms, 10min, 1h or 1d"

    /// The seconds of `600`, `0.5`, `600s`, `500ms`, `10min` (or `10m`), `1h`, `1d`, with an
    /// optional space before the unit. `nil` for other text.
    public static func seconds(_ text: String) -> Double? {
        for unit in units where text.hasSuffix(unit.name) {
            var digits = text.dropLast(unit.name.count)
            if digits.last == " " { digits.removeLast() }
            return number(digits).map { $0 * unit.seconds }
        }
        return number(text[...])
    }

    private static func number(_ text: Substring) -> Double? {
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: ".")
        }
        guard isPlain, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}
