// Parses and writes a JSON tree, for everything except hot paths.

extension JSON {
    /// Parses one JSON text of UTF-8 bytes, as strictly as the protocol requires (see
    /// `JSONTape.scan`).
    ///
    /// For a number that `DecimalNumber` cannot represent, the reason is `numberOutOfBounds`. Text
    /// with too many combining marks in a row is refused (`CombiningMarks`).
    public init(
        parsing bytes: UnsafeRawBufferPointer, depthMax: Int = JSON.depthMax
    ) throws(JSONError) {
        var tape = JSONTape()
        try tape.scan(bytes, depthMax: depthMax)
        if let offset = tape.tooManyMarks { throw JSONError(offset: offset, reason: .tooManyMarks) }
        self = try tape.withRoot(of: bytes) { root throws(JSONError) in try root.json() }
    }

    /// Parses JSON text from the store or another host, with any number of combining marks in a
    /// row: an earlier version accepted them. A definition may be in objects around it.
    init(stored bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            let text = UnsafeRawBufferPointer(buffer)
            var tape = JSONTape()
            try tape.scan(text, depthMax: JSON.depthMax + JSON.storedAround)
            return try tape.withRoot(of: text) { root throws(JSONError) in try root.json() }
        }
    }

    /// How many objects and arrays the daemon puts around what it was given.
    private static let storedAround = 4

    /// Parses one JSON text of UTF-8 bytes.
    public init(parsing bytes: [UInt8], depthMax: Int = JSON.depthMax) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            try JSON(parsing: UnsafeRawBufferPointer(buffer), depthMax: depthMax)
        }
    }

    /// Parses one JSON text.
    public init(parsing text: String, depthMax: Int = JSON.depthMax) throws(JSONError) {
        self = try JSON(parsing: Array(text.utf8), depthMax: depthMax)
    }

    /// Appends the value as compact JSON.
    public func encode(into bytes: inout [UInt8]) {
        JSONWriter.write({ $0.value(self) }) { bytes.append(contentsOf: $0) }
    }

    /// The value as compact JSON.
    public var encoded: [UInt8] {
        JSONWriter.bytes { $0.value(self) }
    }

    /// The approximate number of bytes as text, without encoding.
    var bytesEstimate: Int {
        switch self {
        case .null, .bool: 5
        case .number: 10
        case .string(let text): text.utf8.count + 3
        case .array(let elements): elements.reduce(2) { $0 + $1.bytesEstimate }
        case .object(let object):
            object.members.reduce(2) { $0 + $1.name.utf8.count + 3 + $1.value.bytesEstimate }
        }
    }

    /// The value as compact JSON text.
    public var encodedText: String { String(decoding: encoded, as: UTF8.self) }

    /// JSON text for people: two spaces per level, one member per line, no newline at the end.
    /// Empty containers are on one line.
    public var prettyText: String {
        var bytes: [UInt8] = []
        appendPretty(to: &bytes, level: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func appendPretty(to bytes: inout [UInt8], level: Int) {
        func newline(_ level: Int) {
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
        }
        switch self {
        case .array(let elements) where !elements.isEmpty:
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                newline(level + 1)
                element.appendPretty(to: &bytes, level: level + 1)
            }
            newline(level)
            bytes.append(UInt8(ascii: "]"))
        case .object(let object) where !object.isEmpty:
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                newline(level + 1)
                JSON.string(member.name).encode(into: &bytes)
                bytes.append(contentsOf: ": ".utf8)
                member.value.appendPretty(to: &bytes, level: level + 1)
            }
            newline(level)
            bytes.append(UInt8(ascii: "}"))
        default:
            encode(into: &bytes)
        }
    }
}

extension JSON: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { encodedText }
}
