/// A tape: what the strict scanner found in a text, as byte ranges.
///
/// Nothing is copied out of the text while it is scanned; a value becomes a `JSON`, a `String` or a
/// number only when a `JSONNode` is asked for it. The tape is reused from message to message, so
/// that scanning one allocates nothing once the tape has grown to the size of a usual message.
///
/// Always holds after a successful `scan`: entry 0 is the root; the entries of a container stand
/// directly behind it, an object's as name, value, name, value; `next` of an entry is the index
/// behind all that it contains; the names in each object differ; all strings are UTF-8.
public struct JSONTape: Sendable {
    /// What an entry stands for.
    enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// One value, or the name of a member.
    struct Entry: Sendable {
        /// The first byte; of a string, the first one behind the quotation mark.
        var start: UInt32
        /// The byte behind the last; of a string, the closing quotation mark.
        var end: UInt32
        /// The index behind this entry and all that it contains. While a container is still open:
        /// the index of the container around it, plus one (0 for none).
        var next: UInt32
        /// Elements of an array, members of an object.
        var count: UInt32
        var kind: Kind
        /// Of a string: it has escapes. Of a number: it has a fraction or an exponent.
        var isComplex: Bool

        /// What stands where nothing was written yet.
        static let blank = Entry(
            start: 0, end: 0, next: 0, count: 0, kind: .null, isComplex: false)
    }

    /// Room for a usual message.
    private static let firstEntries = 32
    /// A tape that grew beyond this many entries is given back before the next scan, so that one
    /// large frame does not hold memory for as long as its connection lives.
    static let keptEntriesMax = 16_384

    /// Those of the scanned text, and blank ones behind them.
    private var entries: [Entry] = []
    /// Whether there is a scanned text.
    private var isScanned = false

    /// An empty tape.
    public init() {}

    /// Scans one JSON text of UTF-8 bytes strictly by RFC 8259, replacing what the tape held.
    ///
    /// Refused beyond the grammar: duplicate names in an object, lone surrogates, a byte order
    /// mark, nesting over `depthMax`. The work is bounded by n log n in the bytes, whatever the
    /// names of a hostile object are.
    public mutating func scan(
        _ bytes: UnsafeRawBufferPointer, depthMax: Int = JSON.depthMax
    ) throws(JSONError) {
        isScanned = false
        if entries.count > Self.keptEntriesMax { entries = [] }
        guard bytes.count < Int(UInt32.max) else { throw JSONError(offset: 0, reason: .tooLong) }
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            throw JSONError(offset: 0, reason: .unexpectedEnd)
        }
        var scanner = JSONScanner(
            base: base.assumingMemoryBound(to: UInt8.self), count: bytes.count, depthMax: depthMax)
        while try !entries.withUnsafeMutableBufferPointer({ tape throws(JSONError) in
            try scanner.scan(into: tape)
        }) {
            let more = max(Self.firstEntries, entries.count)
            entries.append(contentsOf: repeatElement(.blank, count: more))
        }
        isScanned = true
    }

    /// Hands the root value of the scanned text to `body`.
    ///
    /// `bytes` must be the bytes that `scan` was given. The node, and every node reached from it,
    /// is valid inside `body` alone.
    public func withRoot<Result, Failure: Error>(
        of bytes: UnsafeRawBufferPointer, _ body: (JSONNode) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(isScanned, "a tape is read after a successful scan")
        return try entries.withUnsafeBufferPointer { buffer throws(Failure) in
            try body(
                JSONNode(
                    base: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self),
                    entries: buffer.baseAddress!, index: 0))
        }
    }
}

extension JSON {
    /// How deeply arrays and objects may be nested on the wire (PROTOCOL.md, Errors).
    public static let depthMax = 32
}
