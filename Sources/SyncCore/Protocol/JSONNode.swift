/// A value on a tape, without a copy.
///
/// A node borrows the tape and the bytes, so it is valid only inside `JSONTape.withRoot`. A
/// property of another kind of value is `nil`, never a crash.
public struct JSONNode {
    let base: UnsafePointer<UInt8>
    let entries: UnsafePointer<JSONTape.Entry>
    let index: Int

    /// The kind of a value.
    public enum Kind: Hashable, Sendable {
        case null, bool, number, string, array, object
    }

    @inline(__always) var entry: JSONTape.Entry { entries[index] }

    /// The kind of this value.
    public var kind: Kind {
        switch entry.kind {
        case .null: .null
        case .true, .false: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// The number of elements of an array or members of an object; 0 for other kinds.
    public var count: Int { Int(entry.count) }

    /// The position of the value in the text, for errors.
    public var offset: Int { Int(entry.start) - (entry.kind == .string ? 1 : 0) }

    /// The text of the value; a string with its quotation marks.
    public var rawBytes: UnsafeRawBufferPointer {
        let marks = entry.kind == .string ? 1 : 0
        let (start, end) = (Int(entry.start) - marks, Int(entry.end) + marks)
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    /// Whether this is `null`.
    public var isNull: Bool { entry.kind == .null }

    /// The boolean; `nil` for other kinds.
    public var bool: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The most UTF-8 bytes of the string, because escapes only become shorter; 0 for other kinds.
    public var stringBytesMax: Int {
        entry.kind == .string ? Int(entry.end - entry.start) : 0
    }

    /// The string with its escapes resolved; `nil` for other kinds.
    public var string: String? {
        guard entry.kind == .string else { return nil }
        let raw = UnsafeBufferPointer(
            start: base + Int(entry.start), count: Int(entry.end - entry.start))
        guard entry.isComplex else { return String(decoding: raw, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var unescaped = UnescapedBytes(base: base, entry: entry)
        while let byte = unescaped.next() { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether this is exactly this string (ASCII), without an allocation.
    @inline(__always)
    public func matches(_ text: StaticString) -> Bool {
        let entry = entry
        guard entry.kind == .string else { return false }
        if entry.isComplex { return matchesUnescaped(text) }
        guard Int(entry.end - entry.start) == text.utf8CodeUnitCount else { return false }
        return areSameBytes(
            base + Int(entry.start), text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Whether this is exactly this string (UTF-8).
    @inline(__always)
    func isString(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entry
        guard entry.kind == .string else { return false }
        if entry.isComplex { return string.map { Array($0.utf8).elementsEqual(text) } ?? false }
        guard Int(entry.end - entry.start) == text.count else { return false }
        return text.baseAddress.map {
            areSameBytes(base + Int(entry.start), $0, count: text.count)
        } ?? true
    }

    /// The same for a string, which need not be copied if it is native.
    @inline(__always)
    func isString(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isString($0) }
    }

    private func matchesUnescaped(_ text: StaticString) -> Bool {
        var unescaped = UnescapedBytes(base: base, entry: entry)
        for index in 0..<text.utf8CodeUnitCount
        where unescaped.next() != text.utf8Start[index] {
            return false
        }
        return unescaped.next() == nil
    }

    /// The number; `nil` for other kinds. Throws `numberOutOfBounds` if `DecimalNumber` cannot
    /// represent it.
    public func number() throws(JSONError) -> DecimalNumber? {
        guard entry.kind == .number else { return nil }
        let text = UnsafeBufferPointer(
            start: base + Int(entry.start), count: Int(entry.end - entry.start))
        guard let number = DecimalNumber(grammatical: text, isInteger: !entry.isComplex) else {
            throw JSONError(offset: offset, reason: .numberOutOfBounds)
        }
        return number
    }

    /// The number if it is an integer of 64 bits; otherwise `nil`.
    public var integer: Int64? { (try? number())??.integer }

    /// The value as a tree. Throws only `numberOutOfBounds`.
    public func json() throws(JSONError) -> JSON {
        switch entry.kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .number: return .number(try number() ?? .zero)
        case .string: return .string(string ?? "")
        case .array:
            var values: [JSON] = []
            values.reserveCapacity(count)
            for element in elements { values.append(try element.json()) }
            return .array(values)
        case .object:
            var object = JSONObject()
            object.reserveCapacity(count)
            for (name, value) in members {
                object.append(uniqueName: name.string ?? "", try value.json())
            }
            return .object(object)
        }
    }

    /// The elements of an array; empty for other kinds.
    public var elements: JSONElements { JSONElements(self) }

    /// The members of an object in document order; empty for other kinds.
    public var members: JSONMembers { JSONMembers(self) }

    /// The member with this name (ASCII); `nil` if it is missing or this is not an object.
    public subscript(name: StaticString) -> JSONNode? {
        for (key, value) in members where key.matches(name) { return value }
        return nil
    }

    /// The kind of value for an error message: `a string`, `an object`, …
    public var kindInWords: String {
        switch kind {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The elements of an array on a tape.
public struct JSONElements: Sequence, IteratorProtocol {
    private let node: JSONNode
    private var index: Int
    private let end: Int

    init(_ node: JSONNode) {
        self.node = node
        let isArray = node.entry.kind == .array
        index = node.index + 1
        end = isArray ? Int(node.entry.next) : index
    }

    /// The next element.
    public mutating func next() -> JSONNode? {
        guard index < end else { return nil }
        defer { index = Int(node.entries[index].next) }
        return JSONNode(base: node.base, entries: node.entries, index: index)
    }
}

/// The members of an object on a tape.
public struct JSONMembers: Sequence, IteratorProtocol {
    private let node: JSONNode
    private var index: Int
    private let end: Int

    init(_ node: JSONNode) {
        self.node = node
        let isObject = node.entry.kind == .object
        index = node.index + 1
        end = isObject ? Int(node.entry.next) : index
    }

    /// The next member.
    public mutating func next() -> (name: JSONNode, value: JSONNode)? {
        guard index < end else { return nil }
        defer { index = Int(node.entries[index + 1].next) }
        return (
            JSONNode(base: node.base, entries: node.entries, index: index),
            JSONNode(base: node.base, entries: node.entries, index: index + 1)
        )
    }
}
