/// Why a text is not JSON, or why a JSON value cannot be held, and where.
///
/// One error type serves the scanner and the materialiser; `isOutOfBounds` tells apart what the
/// wire answers with `parse` from what it answers with `invalidValue`.
public struct JSONError: Error, Hashable, Sendable {
    /// The rule that was broken.
    public enum Reason: UInt8, Hashable, Sendable {
        /// The text ends inside a value, or there is no value at all.
        case unexpectedEnd
        /// A byte that cannot stand here.
        case unexpectedByte
        /// Bytes after the value.
        case trailingBytes
        /// The text begins with a byte order mark (RFC 8259, section 8.1).
        case byteOrderMark
        /// Bytes of a string are not UTF-8 (RFC 3629: overlong, surrogate, beyond U+10FFFF, cut).
        case invalidUTF8
        /// A control character stands in a string without an escape.
        case controlCharacter
        /// A backslash followed by what is no escape.
        case invalidEscape
        /// A `\uD800`…`\uDFFF` without its other half.
        case loneSurrogate
        /// A number that the grammar does not allow, such as `01`, `1.` or `+1`.
        case invalidNumber
        /// Two members of one object have the same name once escapes are resolved.
        case duplicateKey
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep
        /// More bytes than offsets of 32 bits can name.
        case tooLong
        /// JSON, but the number lies outside the bounds of `DecimalNumber`.
        case numberOutOfBounds
    }

    /// Where in the text, in bytes from its beginning.
    public let offset: Int
    /// The rule that was broken.
    public let reason: Reason

    /// An error at a byte offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// Whether the text is JSON and only one of its numbers cannot be held.
    public var isOutOfBounds: Bool { reason == .numberOutOfBounds }
}

extension JSONError: CustomStringConvertible {
    /// One line for a person: `byte 17: duplicate key`.
    public var description: String { "byte \(offset): \(reason.inWords)" }
}

extension JSONError.Reason {
    /// The rule in words, without a place.
    public var inWords: String {
        switch self {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte: "unexpected character"
        case .trailingBytes: "something follows the value"
        case .byteOrderMark: "the text begins with a byte order mark"
        case .invalidUTF8: "not UTF-8"
        case .controlCharacter: "a control character is in a string without an escape"
        case .invalidEscape: "not an escape of JSON"
        case .loneSurrogate: "a surrogate without its other half"
        case .invalidNumber: "not a number of JSON"
        case .duplicateKey: "duplicate key"
        case .tooDeep: "nested too deeply"
        case .tooLong: "too long"
        case .numberOutOfBounds:
            "a number beyond 64-bit integers and decimals of 17 digits with exponents within ±15"
        }
    }
}
