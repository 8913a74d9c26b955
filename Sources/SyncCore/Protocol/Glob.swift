/// A pattern over field ids: `*` stands for any run of bytes, `?` for any one byte, everything else
/// for itself.
///
/// Matching takes at most pattern times text steps, whatever the pattern: only the last `*` is ever
/// gone back to (Kirk Krauss, "Matching Wildcards: An Algorithm", Dr. Dobb's 2008).
public struct Glob: Hashable, Sendable {
    private let pattern: [UInt8]

    /// The pattern of a text. Runs of `*` are one.
    public init(_ text: String) {
        var pattern: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "*") || pattern.last != byte {
            pattern.append(byte)
        }
        self.pattern = pattern
    }

    /// Whether a text is a pattern that stands for itself alone.
    static func isLiteral(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "?") }
    }

    /// The text that the pattern stands for alone; `nil` where it has a `*` or `?`.
    public var literal: String? {
        pattern.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
            ? nil : String(decoding: pattern, as: UTF8.self)
    }

    /// Whether the pattern matches everything.
    public var isAll: Bool { pattern == [UInt8(ascii: "*")] }

    /// Whether the whole text matches.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var (place, next) = (0, 0)
        var star: (next: Int, place: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                star = (next, place)
            } else if next < pattern.count,
                pattern[next] == UInt8(ascii: "?") || pattern[next] == text[place]
            {
                next += 1
                place += 1
            } else if let last = star {
                // The star takes one byte more.
                next = last.next
                place = last.place + 1
                star = (next, place)
            } else {
                return false
            }
        }
        return next == pattern.count
            || next == pattern.count - 1 && pattern[next] == UInt8(ascii: "*")
    }
}

extension [Glob] {
    /// The patterns of texts.
    public init(_ texts: [String]) {
        self = texts.map { Glob($0) }
    }

    /// Whether one of the patterns matches.
    public func matches(_ text: String) -> Bool { contains { $0.matches(text) } }
}
