// The binary form of causal state in the store, with a version.
//
// An encoded value is a version byte and its parts. Integers are LEB128 in the shortest form,
// signed integers zigzag LEB128. Strings and JSON are a length and UTF-8 bytes. Lists are a count
// and the elements. Version 2 is written only where an author has a host; there each author has one
// more part.
//
// Invariant: decoding an encoded value gives an equal value. Decoding other bytes gives a valid
// value or throws `CausalityDecodeError`. It never traps, and its memory is proportional to the
// number of bytes.

/// A type with a binary form.
public protocol CausalityCodable {
    /// Appends the parts, without a version.
    func write(to writer: inout CausalityWriter)

    /// Reads the parts that `write` appended.
    init(from reader: inout CausalityReader) throws(CausalityDecodeError)

    /// Whether an author probably has a host. A wrong answer costs a second pass over the parts.
    var hasHosts: Bool { get }
}

extension CausalityCodable {
    /// Most values have no author of a host.
    public var hasHosts: Bool { false }

    /// The value as bytes, with the version byte first.
    public var encoded: [UInt8] {
        CausalityWriter.versioned(hosts: hasHosts) { write(to: &$0) }
    }

    /// Decodes a value, which must take all of the bytes.
    public init(decoding bytes: [UInt8]) throws(CausalityDecodeError) {
        var reader = try CausalityReader(versioned: bytes)
        self = try Self(from: &reader)
        try reader.expectEnd()
    }
}

/// Appends values in the binary form.
public struct CausalityWriter {
    /// The versions of the binary form. A value is written in the lowest that has all its parts,
    /// and the reader accepts these and no other.
    public static let versions: ClosedRange<UInt8> = 1...2

    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    let version: UInt8
    /// Whether an author has a host, which version 1 has no place for.
    var hasHosts = false

    /// A writer that has written nothing.
    public init(version: UInt8 = Self.versions.lowerBound) {
        self.version = version
    }

    /// What `write` appends, after the lowest version that has all its parts.
    ///
    /// - Parameter hosts: Whether an author probably has a host. If not, it takes a second pass.
    static func versioned(hosts: Bool = false, _ write: (inout Self) -> Void) -> [UInt8] {
        var writer = Self(versionFor: hosts)
        write(&writer)
        guard writer.hasHosts != hosts else { return writer.bytes }
        writer = Self(versionFor: writer.hasHosts)
        write(&writer)
        return writer.bytes
    }

    /// A writer that has written the version.
    private init(versionFor hosts: Bool) {
        self.init(version: hosts ? Self.versions.upperBound : Self.versions.lowerBound)
        bytes.reserveCapacity(256)
        byte(version)
    }

    /// Appends one byte.
    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends a flag as one byte.
    public mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Appends an unsigned integer, 1 to 10 bytes.
    public mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends a signed integer. Small magnitudes take few bytes.
    public mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Appends a count or a length.
    public mutating func count(_ value: Int) { unsigned(UInt64(value)) }

    /// Appends bytes after their length.
    public mutating func blob(_ value: some Collection<UInt8>) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    /// Appends a string's UTF-8 bytes after their length.
    public mutating func string(_ value: String) { blob(value.utf8) }

    /// Appends ASCII after its length.
    ///
    /// - Parameter bytesMax: No more bytes are written or changed.
    mutating func text(bytesMax: Int, _ write: (inout TextPlace) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytesMax) { buffer in
            guard let start = buffer.baseAddress else { return }
            var text = TextPlace(start)
            write(&text)
            blob(UnsafeBufferPointer(start: start, count: text.place - start))
        }
    }

    /// Appends whether there is a value, and then the value.
    public mutating func optional<T>(_ value: T?, _ write: (inout Self, T) -> Void) {
        flag(value != nil)
        if let value { write(&self, value) }
    }

    /// Appends a count and the elements.
    public mutating func list(_ values: some Collection<some CausalityCodable>) {
        count(values.count)
        for value in values { value.write(to: &self) }
    }
}

/// Reads values in the binary form.
public struct CausalityReader {
    private let bytes: [UInt8]
    /// How many bytes were read.
    public private(set) var offset = 0
    var version = CausalityWriter.versions.lowerBound

    /// A reader at the beginning of `bytes`.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A reader behind the version byte of an encoded value.
    init(versioned bytes: [UInt8]) throws(CausalityDecodeError) {
        self.init(bytes)
        version = try byte()
        guard CausalityWriter.versions.contains(version) else {
            throw .unsupportedVersion(version)
        }
    }

    /// Throws unless all bytes were read.
    public func expectEnd() throws(CausalityDecodeError) {
        if offset < bytes.count { throw .trailing(offset: offset) }
    }

    var isAtEnd: Bool { offset == bytes.count }

    /// Reads one byte.
    public mutating func byte() throws(CausalityDecodeError) -> UInt8 {
        guard offset < bytes.count else { throw .truncated(offset: offset) }
        offset += 1
        return bytes[offset - 1]
    }

    /// Reads a flag: 0 or 1.
    public mutating func flag() throws(CausalityDecodeError) -> Bool {
        let start = offset
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .invalid(offset: start, what: "a flag, 0 or 1")
        }
    }

    /// Reads an unsigned integer in the shortest form.
    public mutating func unsigned() throws(CausalityDecodeError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let next = try byte()
            let bits = UInt64(next & 0x7f)
            let isRedundant = next == 0 && shift > 0
            let isTooGreat = shift == 63 && next > 1
            if isRedundant || isTooGreat { break }
            value |= bits << shift
            if next < 0x80 { return value }
        }
        throw .invalid(offset: start, what: "a whole number of 64 bits in its shortest form")
    }

    /// Reads a signed integer.
    public mutating func signed() throws(CausalityDecodeError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads an unsigned integer of at most 32 bits.
    public mutating func unsigned32() throws(CausalityDecodeError) -> UInt32 {
        let start = offset
        guard let value = UInt32(exactly: try unsigned()) else {
            throw .invalid(offset: start, what: "a whole number of 32 bits")
        }
        return value
    }

    /// Reads bytes after their length.
    public mutating func blob() throws(CausalityDecodeError) -> [UInt8] {
        let count = try unsigned()
        guard count <= UInt64(bytes.count - offset) else { throw .truncated(offset: bytes.count) }
        let end = offset + Int(count)
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    /// Reads a string. Bytes that are not UTF-8 are an error.
    public mutating func string() throws(CausalityDecodeError) -> String {
        let start = offset
        guard let string = String(validating: try blob(), as: UTF8.self) else {
            throw .invalid(offset: start, what: "a string of UTF-8")
        }
        return string
    }

    /// Reads whether there is a value, and then the value.
    public mutating func optional<T>(
        _ read: (inout Self) throws(CausalityDecodeError) -> T
    ) throws(CausalityDecodeError) -> T? {
        try flag() ? try read(&self) : nil
    }

    mutating func optional<T: CausalityCodable>() throws(CausalityDecodeError) -> T? {
        try flag() ? try T(from: &self) : nil
    }

    mutating func optionalString() throws(CausalityDecodeError) -> String? {
        try flag() ? try string() : nil
    }

    /// Reads a count and that number of elements.
    public mutating func list<T: CausalityCodable>(
        of type: T.Type = T.self
    ) throws(CausalityDecodeError) -> [T] {
        let start = offset
        let count = try unsigned()
        // Each element takes at least one byte, so a forged count is rejected before memory is
        // allocated.
        guard count <= UInt64(bytes.count - offset) else {
            throw .invalid(offset: start, what: "a count that fits in the bytes")
        }
        var values: [T] = []
        for _ in 0..<count { values.append(try T(from: &self)) }
        return values
    }

    /// The result of a failable initializer. `nil` becomes an error at `start`.
    func checked<T>(
        _ value: T?, from start: Int, _ what: String
    ) throws(CausalityDecodeError) -> T {
        guard let value else { throw .invalid(offset: start, what: what) }
        return value
    }
}
