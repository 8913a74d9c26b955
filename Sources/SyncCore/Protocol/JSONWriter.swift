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

    /// Makes room for so many bytes in all.
    public mutating func reserveCapacity(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    // MARK: - Structure

    /// A comma where one belongs.
    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Appends a comma where one belongs, and what `body` writes: at most `room` bytes, whose
    /// number it returns. One check for room and ownership, where an append a byte would make many.
    @inline(__always)
    private mutating func append(
        room: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
    ) {
        let comma = needsComma ? 1 : 0
        bytes.append(addingCapacity: room + 1) { span in
            span.withUnsafeMutableBufferPointer { buffer, count in
                let place = buffer.baseAddress! + count
                place.initialize(to: UInt8(ascii: ","))
                let written = body(place + comma)
                count += comma + written
            }
        }
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
        let count = name.utf8CodeUnitCount
        append(room: count + 3) { place in
            place.initialize(to: UInt8(ascii: "\""))
            (place + 1).initialize(from: name.utf8Start, count: count)
            (place + count + 1).initialize(to: UInt8(ascii: "\""))
            (place + count + 2).initialize(to: UInt8(ascii: ":"))
            return count + 3
        }
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
        append(room: text.utf8CodeUnitCount) { place in
            place.initialize(from: text.utf8Start, count: text.utf8CodeUnitCount)
            return text.utf8CodeUnitCount
        }
    }

    /// A whole number of at most 64 bits, without a string in between.
    @inline(__always)
    public mutating func integer(_ value: some FixedWidthInteger) {
        digits(UInt64(value.magnitude), isNegative: value < 0)
    }

    private mutating func digits(_ magnitude: UInt64, isNegative: Bool) {
        append(room: 21) { place in
            var count = isNegative ? 2 : 1
            var rest = magnitude
            while rest >= 10 {
                rest /= 10
                count += 1
            }
            place.initialize(to: UInt8(ascii: "-"))
            rest = magnitude
            for index in stride(from: count - 1, through: isNegative ? 1 : 0, by: -1) {
                (place + index).initialize(to: UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            }
            return count
        }
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
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { quote($0) }
        if done == nil {
            var copy = text
            copy.withUTF8 { quote($0) }
        }
    }

    /// A string known to the program, which must need no escape.
    public mutating func string(static text: StaticString) {
        quotePlain(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A moment, a string of RFC 3339.
    public mutating func timestamp(_ moment: Timestamp) {
        append(room: Timestamp.textBytes + 2) { place in
            place.initialize(to: UInt8(ascii: "\""))
            moment.write(to: place + 1)
            (place + Timestamp.textBytes + 1).initialize(to: UInt8(ascii: "\""))
            return Timestamp.textBytes + 2
        }
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

    /// A value that is JSON already, as it stands.
    public mutating func raw(_ json: String) {
        var json = json
        json.withUTF8 { text in
            append(room: text.count) { place in
                if let start = text.baseAddress { place.initialize(from: start, count: text.count) }
                return text.count
            }
        }
    }

    // MARK: - Escapes

    /// A string in quotation marks; in one piece where it needs no escape.
    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                || SafeText.harmful(at: position, in: text) != nil
            {
                separate()
                bytes.append(UInt8(ascii: "\""))
                escape(text, from: position)
                bytes.append(UInt8(ascii: "\""))
                return
            }
            position += 1
        }
        quotePlain(text)
    }

    @inline(__always)
    private mutating func quotePlain(_ text: UnsafeBufferPointer<UInt8>) {
        append(room: text.count + 2) { place in
            place.initialize(to: UInt8(ascii: "\""))
            if let start = text.baseAddress {
                (place + 1).initialize(from: start, count: text.count)
            }
            (place + text.count + 1).initialize(to: UInt8(ascii: "\""))
            return text.count + 2
        }
    }

    /// Copies runs that stand for themselves at once; the first one ends at `position` or behind.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>, from position: Int) {
        var run = 0
        var position = position
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
