/// A pattern for field ids: `*` matches any bytes, `?` one byte, everything else itself.
///
/// Matching takes at most pattern times text steps for any pattern, because it backtracks only to
/// the last `*` (Kirk Krauss, "Matching Wildcards: An Algorithm", Dr. Dobb's 2008).
public struct Glob: Hashable, Sendable {
    fileprivate let pattern: [UInt8]

    /// The pattern in a text. Consecutive `*` are merged.
    public init(_ text: String) {
        var pattern: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "*") || pattern.last != byte {
            pattern.append(byte)
        }
        self.pattern = pattern
    }

    var text: String { String(decoding: pattern, as: UTF8.self) }

    /// Whether a text contains no wildcards.
    static func isLiteral(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "?") }
    }

    /// The only text that matches; `nil` if the pattern has a `*` or `?`.
    public var literal: String? {
        pattern.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
            ? nil : String(decoding: pattern, as: UTF8.self)
    }

    /// Whether everything matches.
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
                // The star matches one more byte.
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
    /// The patterns in these texts.
    public init(_ texts: [String]) {
        self = texts.map { Glob($0) }
    }

    /// Whether one of the patterns matches.
    public func matches(_ text: String) -> Bool { contains { $0.matches(text) } }
}

/// Several patterns for field ids, matched together. Names are looked up; each byte of the other
/// patterns costs one step per field.
///
/// The positions of a text that a pattern has reached are the bits of one word (Baeza-Yates and
/// Gonnet, "A New Approach to Text Searching", CACM 1992), because an id has at most 63 bytes.
struct GlobSet: Sendable {
    private var names: Set<String> = []
    private var patterns: [[UInt8]] = []
    private var isAll = false
    /// Bytes of the patterns that are not names: the steps for one field.
    private(set) var steps = 0

    init(_ texts: [String]) {
        var known: Set<[UInt8]> = []
        for glob in [Glob](texts) {
            if let name = glob.literal {
                names.insert(name)
            } else if glob.isAll {
                isAll = true
            } else if known.insert(glob.pattern).inserted {
                patterns.append(glob.pattern)
                steps += glob.pattern.count
            }
        }
        if isAll { (patterns, steps) = ([], 0) }
    }

    /// The patterns that are names of fields.
    var literals: [String] { names.sorted() }

    /// Whether one of the patterns matches an id. A text that is too long for an id never matches.
    func matches(_ id: String) -> Bool {
        if isAll || names.contains(id) { return true }
        guard !patterns.isEmpty, id.utf8.count <= Self.idBytesMax else { return false }
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 256) { places in
            places.initialize(repeating: 0)
            var end: UInt64 = 1
            for byte in id.utf8 {
                places[Int(byte)] |= end
                end <<= 1
            }
            return patterns.contains { Self.matches($0, places, end: end) }
        }
    }

    private static let idBytesMax = 63

    /// - Parameters:
    ///   - places: for each byte, its positions in the text.
    ///   - end: the position after the text.
    private static func matches(
        _ pattern: [UInt8], _ places: UnsafeMutableBufferPointer<UInt64>, end: UInt64
    ) -> Bool {
        var reached: UInt64 = 1
        for byte in pattern {
            switch byte {
            // All positions from the first one that was reached.
            case UInt8(ascii: "*"): reached |= 0 &- reached
            case UInt8(ascii: "?"): reached = (reached & (end &- 1)) << 1
            default: reached = (reached & places[Int(byte)]) << 1
            }
            if reached == 0 { return false }
        }
        return reached & end != 0
    }
}
