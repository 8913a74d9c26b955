/// Why a text is not JSON, or why a JSON value cannot be represented, and where.
///
/// The scanner and the conversion to values share this type. The protocol answers
/// `numberOutOfBounds` and `tooManyMarks` with `invalidValue`, everything else with `parse`.
public struct JSONError: Error, Hashable, Sendable {
    /// The violated rule.
    public enum Reason: UInt8, Hashable, Sendable {
        /// The text ends inside a value, or is empty.
        case unexpectedEnd
        /// A byte that is not allowed here.
        case unexpectedByte
        /// Bytes after the value.
        case trailingBytes
        /// The text starts with a byte order mark (RFC 8259, section 8.1).
        case byteOrderMark
        /// Bytes of a string are not UTF-8 (RFC 3629: overlong, surrogate, beyond U+10FFFF, cut).
        case invalidUTF8
        /// A control character in a string without an escape.
        case controlCharacter
        /// A backslash that does not start an escape.
        case invalidEscape
        /// A `\uD800`…`\uDFFF` without its pair.
        case loneSurrogate
        /// A number with invalid syntax, such as `01`, `1.` or `+1`.
        case invalidNumber
        /// Two members of one object have the same name once escapes are resolved.
        case duplicateKey
        /// Arrays and objects are nested deeper than allowed.
        case tooDeep
        /// More bytes than offsets of 32 bits can address.
        case tooLong
        /// More values and names than fit in the reader.
        case tooMany
        /// A string has more combining marks in a row than `CombiningMarks.runMax`.
        case tooManyMarks
        /// JSON, but the number lies outside the bounds of `DecimalNumber`.
        case numberOutOfBounds
    }

    /// The position in the text, in bytes.
    public let offset: Int
    /// The violated rule.
    public let reason: Reason

    /// An error at a byte offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}

extension JSONError: CustomStringConvertible {
    /// One line for people: `byte 17: duplicate key`.
    public var description: String { "byte \(offset): \(reason.inWords)" }
}

extension JSONError.Reason {
    /// The rule in words, without a position.
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
        case .tooMany: "more values than can be held"
        case .tooManyMarks:
            "more than \(CombiningMarks.runMax) combining marks follow one another"
        case .numberOutOfBounds:
            "a number beyond 64-bit integers and decimals of 17 digits with exponents within ±15"
        }
    }
}
