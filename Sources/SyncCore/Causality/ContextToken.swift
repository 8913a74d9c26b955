// The causal context as text for clients: `rep.epoch:n(+dot)*(,…)`, for example `3f9a.1:1042+1044`.
//
// Invariants: `parse` accepts exactly the strings that `render` writes, so a context has one
// spelling. Its cost is proportional to the length, which is at most 4 KiB. A parsed token is only
// a claim: clip it to the writes that the store knows before use, and never add it to stored state.

/// Why a token was rejected.
public enum ContextTokenError: Error, Hashable, Sendable {
    /// It is longer than `ContextToken.bytesMax`. None of it was read.
    case limit(bytes: Int)
    /// It is malformed at this byte, counted from 0; `expected` describes what should be there.
    case invalid(position: Int, expected: String)
}

/// The text form of a causal context.
public enum ContextToken {
    /// The longest accepted token in bytes, enough for about 150 replicas.
    public static let bytesMax = 4096

    /// The context that `text` names. The empty string is the empty context.
    ///
    /// - Throws: `limit` if longer than 4 KiB, before reading any of it; `invalid` for anything
    ///   that `render` would not have written.
    public static func parse(_ text: String) throws(ContextTokenError) -> CausalContext {
        let bytes = text.utf8
        // A native string knows its length, so a token of 10 MB is rejected without reading it.
        guard bytes.count <= bytesMax else { throw .limit(bytes: bytes.count) }
        var scanner = TokenScanner(bytes)
        var entries: [VersionVector.Entry] = []
        var loose: [Dot] = []
        var previous: ReplicaID?
        while !scanner.isAtEnd {
            if previous != nil { try scanner.expect(UInt8(ascii: ","), "`,` or `+`") }
            let start = scanner.position
            let replica = try scanner.replica()
            if let previous, replica <= previous {
                throw .invalid(position: start, expected: "replicas in ascending order")
            }
            try scanner.clock(of: replica, into: &entries, &loose)
            previous = replica
        }
        return CausalContext(VersionVector(entries), loose: loose)
    }

    /// The token of one write alone: `3f9a.1:0+1042`.
    static func render(_ dot: Dot) -> String { render(CausalContext(dots: [dot])) }

    /// The most bytes of the token of one write.
    static let dotBytesMax = ReplicaID.bytesMax + 20 + 4

    /// Writes the token of one write alone: at most `dotBytesMax` bytes.
    static func write(_ dot: Dot, to text: inout TextPlace) {
        dot.replica.write(to: &text)
        text.put(UInt8(ascii: ":"))
        // The first write of a replica leaves no gap.
        if dot.counter > 1 {
            text.put(UInt8(ascii: "0"))
            text.put(UInt8(ascii: "+"))
        }
        text.put(decimal: dot.counter)
    }

    /// Writes the token of one entry alone: at most `dotBytesMax` bytes.
    static func write(_ entry: VersionVector.Entry, to text: inout TextPlace) {
        entry.replica.write(to: &text)
        text.put(UInt8(ascii: ":"))
        text.put(decimal: entry.counter)
    }

    /// The only spelling of `context`.
    public static func render(_ context: CausalContext) -> String {
        String(unsafeUninitializedCapacity: bytesMax(of: context)) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            var text = TextPlace(start)
            write(context, to: &text)
            return text.place - start
        }
    }

    /// The most bytes of the token of a context. Each entry and each loose dot counts with its
    /// replica and two separators.
    static func bytesMax(of context: CausalContext) -> Int {
        (context.vector.entries.count + context.loose.count)
            * dotBytesMax
    }

    /// Writes the text of `render`, at most `bytesMax(of:)` bytes.
    static func write(_ context: CausalContext, to text: inout TextPlace) {
        let start = text.place
        let entries = context.vector.entries
        let loose = context.loose
        var entry = 0
        var dot = 0
        while entry < entries.count || dot < loose.count {
            let replica: ReplicaID
            if dot == loose.count {
                replica = entries[entry].replica
            } else if entry == entries.count {
                replica = loose[dot].replica
            } else {
                replica = min(entries[entry].replica, loose[dot].replica)
            }
            if text.place > start { text.put(UInt8(ascii: ",")) }
            replica.write(to: &text)
            text.put(UInt8(ascii: ":"))
            if entry < entries.count, entries[entry].replica == replica {
                text.put(decimal: entries[entry].counter)
                entry += 1
            } else {
                text.put(UInt8(ascii: "0"))
            }
            while dot < loose.count, loose[dot].replica == replica {
                text.put(UInt8(ascii: "+"))
                text.put(decimal: loose[dot].counter)
                dot += 1
            }
        }
    }
}

/// Parses the parts of a token.
struct TokenScanner {
    private let bytes: String.UTF8View
    private var index: String.UTF8View.Index
    /// How many bytes were read.
    private(set) var position = 0

    init(_ bytes: String.UTF8View) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    var isAtEnd: Bool { index == bytes.endIndex }

    @inline(__always) private var next: UInt8? { isAtEnd ? nil : bytes[index] }

    @inline(__always) private mutating func advance() {
        index = bytes.index(after: index)
        position += 1
    }

    /// Reads exactly `byte`.
    mutating func expect(_ byte: UInt8, _ name: String) throws(ContextTokenError) {
        guard next == byte else { throw .invalid(position: position, expected: name) }
        advance()
    }

    /// Reads `3f9a.1`.
    mutating func replica() throws(ContextTokenError) -> ReplicaID {
        let id = try number(radix: 16, max: ReplicaID.idMax, "a replica id of 48 bits in hex")
        try expect(UInt8(ascii: "."), "`.`")
        let epoch = try number(radix: 10, max: UInt64(UInt32.max), "an epoch of 32 bits")
        return ReplicaID(id: id, epoch: UInt32(epoch))
    }

    /// Reads `:1042+1044`.
    mutating func clock(
        of replica: ReplicaID, into entries: inout [VersionVector.Entry], _ loose: inout [Dot]
    ) throws(ContextTokenError) {
        try expect(UInt8(ascii: ":"), "`:`")
        let counter = try number(radix: 10, max: .max, "a counter of 64 bits")
        if counter > 0 {
            entries.append(VersionVector.Entry(replica, counter))
        } else if next != UInt8(ascii: "+") {
            throw .invalid(position: position, expected: "`+` after counter 0")
        }
        var last = counter
        var isFirst = true
        while next == UInt8(ascii: "+") {
            advance()
            let start = position
            let dot = try number(radix: 10, max: .max, "a counter of 64 bits")
            // A first loose dot next to the counter would have been folded into it.
            guard dot > last, !isFirst || dot - last > 1 else {
                throw .invalid(position: start, expected: "loose dots ascending above a gap")
            }
            loose.append(Dot(replica, dot))
            last = dot
            isFirst = false
        }
    }

    /// Reads decimal digits without leading zeros.
    mutating func number() throws(ContextTokenError) -> UInt64 {
        try number(radix: 10, max: .max, "a number of 64 bits")
    }

    /// Reads exactly 16 lower hexadecimal digits.
    mutating func word() throws(ContextTokenError) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        while position < start + 16, let byte = next, let digit = Self.digit(byte, 16) {
            value = value << 4 | digit
            advance()
        }
        guard position == start + 16 else {
            throw .invalid(position: start, expected: "16 hexadecimal digits")
        }
        return value
    }

    /// Reads digits without leading zeros, at most `max`.
    private mutating func number(
        radix: UInt64, max: UInt64, _ name: String
    ) throws(ContextTokenError) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        while let byte = next, let digit = Self.digit(byte, radix) {
            let hasLeadingZero = position > start && value == 0
            let (product, overflow) = value.multipliedReportingOverflow(by: radix)
            let (sum, carry) = product.addingReportingOverflow(digit)
            guard !hasLeadingZero, !overflow, !carry, sum <= max else {
                throw .invalid(position: start, expected: name)
            }
            value = sum
            advance()
        }
        guard position > start else { throw .invalid(position: start, expected: name) }
        return value
    }

    private static func digit(_ byte: UInt8, _ radix: UInt64) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f") where radix == 16:
            UInt64(byte - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}
