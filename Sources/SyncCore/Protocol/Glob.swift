/// A pattern over field ids: `*` stands for any run of bytes, `?` for any one byte, everything else
/// for itself.
///
/// Matching takes at most pattern times text steps, whatever the pattern: only the last `*` is ever
/// gone back to (Kirk Krauss, "Matching Wildcards: An Algorithm", Dr. Dobb's 2008).
public struct Glob: Hashable, Sendable {
    fileprivate let pattern: [UInt8]

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

/// Several patterns over field ids, tried together: names are looked up, and each byte of the
/// others is one step a field, whatever the patterns.
///
/// All places of a text that a pattern has reached are the bits of one word (Baeza-Yates and
/// Gonnet, "A New Approach to Text Searching", CACM 1992), as an id has 63 bytes at most.
struct GlobSet: Sendable {
    private var names: Set<String> = []
    private var patterns: [[UInt8]] = []
    private var isAll = false
    /// Bytes of the patterns that are no names: steps that one field costs.
    private(set) var steps = 0

    /// The patterns of texts.
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

    /// Whether one of the patterns matches an id; nothing that is longer than an id is matched.
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
    ///   - places: by byte, the places of the text where it stands.
    ///   - end: the place behind the text.
    private static func matches(
        _ pattern: [UInt8], _ places: UnsafeMutableBufferPointer<UInt64>, end: UInt64
    ) -> Bool {
        var reached: UInt64 = 1
        for byte in pattern {
            switch byte {
            // From the first place that was reached on, all are.
            case UInt8(ascii: "*"): reached |= 0 &- reached
            case UInt8(ascii: "?"): reached = (reached & (end &- 1)) << 1
            default: reached = (reached & places[Int(byte)]) << 1
            }
            if reached == 0 { return false }
        }
        return reached & end != 0
    }
}
