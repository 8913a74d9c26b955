/// An append-only builder of compact JSON, straight into bytes.
///
/// Commas come by themselves. Names known to the program are `StaticString`s and are copied as they
/// stand; everything else is escaped so that even a raw dump of the text to a terminal is harmless:
/// beyond what RFC 8259 asks for, DEL, C1, line separators and bidirectional controls are written
/// as `\uXXXX`. The caller opens and closes in pairs; the writer does not check it.
public struct JSONWriter: Sendable {
    /// What was written so far.
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    /// A writer behind the bytes given, which it leaves as they are.
    public init(appendingTo bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    /// Hands the bytes out and leaves the writer empty, so that the buffer has one owner.
    public mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        needsComma = false
        return taken
    }

    /// Forgets what was written, keeping the room for it.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: - Structure

    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Opens an object.
    public mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Closes an object.
    public mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Opens an array.
    public mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Closes an array.
    public mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// The name of the member whose value comes next. It must be ASCII that needs no escape.
    @inline(__always)
    public mutating func key(_ name: StaticString) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The name, any text, of the member whose value comes next.
    public mutating func key(named name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: - Values

    /// `null`.
    public mutating func null() { literal("null") }

    /// `true` or `false`.
    public mutating func bool(_ flag: Bool) {
        if flag { literal("true") } else { literal("false") }
    }

    private mutating func literal(_ text: StaticString) {
        separate()
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A whole number, without a string in between.
    public mutating func integer(_ value: some FixedWidthInteger) {
        separate()
        appendDigits(value, to: &bytes)
    }

    /// A decimal number with the precision that it was written with.
    public mutating func number(_ value: DecimalNumber) {
        if value.exponent == 0 {
            integer(value.significand)
        } else {
            separate()
            bytes.append(contentsOf: value.description.utf8)
        }
    }

    /// A string.
    public mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
        if done == nil {
            var copy = text
            copy.withUTF8 { escape($0) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string known to the program, which must need no escape.
    public mutating func string(static text: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
    }

    /// A tree.
    public mutating func value(_ value: JSON) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .number(let number): self.number(number)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for (name, value) in object.members {
                key(named: name)
                self.value(value)
            }
            endObject()
        }
    }

    /// A value that is JSON already, as it stands.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    // MARK: - Escapes

    /// Copies runs that stand for themselves at once.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var run = 0
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(contentsOf: text[run..<position])
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
                position += 1
                run = position
            } else if let (scalar, length) = SafeText.harmful(at: position, in: text) {
                bytes.append(contentsOf: text[run..<position])
                appendEscape(scalar)
                position += length
                run = position
            } else {
                position += 1
            }
        }
        bytes.append(contentsOf: text[run..<position])
    }

    private mutating func appendEscape(_ scalar: UInt32) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(UInt8(ascii: "u"))
            for shift: UInt32 in [12, 8, 4, 0] {
                let digit = UInt8(scalar >> shift & 0xF)
                bytes.append(
                    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            }
        }
    }
}

/// Appends a whole number in decimal digits.
@inline(__always)
func appendDigits(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = UInt64(value.magnitude)
    let start = bytes.count
    repeat {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
    } while rest > 0
    bytes[start...].reverse()
}
