/// Durations as text: in the configuration, in environment variables, in options.
public enum DurationText {
    /// The units in seconds. Longer names come first, because shorter ones are suffixes of them.
    private static let units: [(name: String, seconds: Double)] = [
        ("min", 60), ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400),
    ]

    /// A description of the format.
    public static let expected = "a duration such as 5, 500ms, 10min, 1h or 1d"

    /// The seconds of `600`, `0.5`, `600s`, `500ms`, `10min` (or `10m`), `1h`, `2h30m`, `1d`, with
    /// an optional space before a single unit. `nil` for other text.
    public static func seconds(_ text: String) -> Double? {
        for unit in units where text.hasSuffix(unit.name) {
            var digits = text.dropLast(unit.name.count)
            if digits.last == " " { digits.removeLast() }
            if let seconds = number(digits).map({ $0 * unit.seconds }) { return seconds }
        }
        return text.isEmpty ? nil : number(text[...]) ?? sum(text[...])
    }

    /// The seconds of several parts, the largest unit first: `2h30m`.
    private static func sum(_ text: Substring) -> Double? {
        var rest = text
        var sum = 0.0
        var last = Double.infinity
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let name = rest[digits.endIndex...].prefix { $0.isLetter }
            guard let number = number(digits), !digits.isEmpty,
                let unit = units.first(where: { $0.name == name }), unit.seconds < last
            else { return nil }
            sum += number * unit.seconds
            last = unit.seconds
            rest = rest[name.endIndex...]
        }
        return sum
    }

    /// Whole seconds as text, in the largest unit that fits: `4h`, `90min`, `45s`.
    public static func text(seconds: Int64) -> String {
        for (name, size) in [("d", 86_400), ("h", 3_600), ("min", 60)] as [(String, Int64)] {
            if seconds >= size, seconds.isMultiple(of: size) { return "\(seconds / size)\(name)" }
        }
        return "\(seconds)s"
    }

    private static func number(_ text: Substring) -> Double? {
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: ".")
        }
        guard isPlain, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}
