/// A tape: the result of the strict scanner, as byte ranges.
///
/// Scanning copies nothing from the text. A value becomes a `JSON`, a `String` or a number only
/// when requested from a `JSONNode`. The tape is reused for each message, so scanning allocates
/// nothing once the tape is as large as a typical message.
///
/// Invariants after a successful `scan`: entry 0 is the root. The entries of a container follow it
/// directly, an object's as name, value, name, value. `next` of an entry is the index after all its
/// contents. The names in each object are distinct. All strings are UTF-8.
public struct JSONTape: Sendable {
    enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// One value, or the name of a member.
    struct Entry: Sendable {
        /// The first byte; for a string, the first one after the quotation mark.
        var start: UInt32
        /// The byte after the last one; for a string, the closing quotation mark.
        var end: UInt32
        /// The index after this entry and all its contents. While a container is open: the index of
        /// the enclosing container plus one (0 for none).
        var next: UInt32
        /// Elements of an array, members of an object.
        var count: UInt32
        var kind: Kind
        /// For a string: it contains escapes. For a number: it has a fraction or an exponent.
        var isComplex: Bool

        static let blank = Entry(
            start: 0, end: 0, next: 0, count: 0, kind: .null, isComplex: false)
    }

    /// Enough for a typical message.
    private static let firstEntries = 32
    /// A larger tape is freed before the next scan, so that one large frame does not hold memory as
    /// long as its connection lives.
    static let keptEntriesMax = 16_384

    /// The entries of the scanned text, followed by unused ones.
    private var entries: [Entry] = []
    private var isScanned = false
    /// Where a string of the scanned text has more combining marks in a row than
    /// `CombiningMarks.runMax`; `nil` if none has.
    private(set) var tooManyMarks: Int?

    /// An empty tape.
    public init() {}

    /// Scans one JSON text of UTF-8 bytes strictly by RFC 8259, and replaces the contents of the
    /// tape.
    ///
    /// Refused beyond the grammar: duplicate names in an object, lone surrogates, a byte order
    /// mark, nesting over `depthMax`, more than about `entriesMax` values and names. The work is
    /// bounded by n log n in the bytes, whatever the names of a hostile object are.
    public mutating func scan(
        _ bytes: UnsafeRawBufferPointer, depthMax: Int = JSON.depthMax, entriesMax: Int = .max
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
            guard entries.count < entriesMax else {
                throw JSONError(offset: scanner.offset, reason: .tooMany)
            }
            let more = min(max(Self.firstEntries, entries.count), entriesMax - entries.count)
            entries.append(contentsOf: repeatElement(.blank, count: more))
        }
        tooManyMarks = scanner.tooManyMarks
        isScanned = true
    }

    /// Passes the root of the scanned text to `body`.
    ///
    /// `bytes` must be the bytes that `scan` was called with. All nodes are valid only inside
    /// `body`.
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
    /// The deepest nesting of arrays and objects in the protocol (PROTOCOL.md, Errors).
    public static let depthMax = 32
}
