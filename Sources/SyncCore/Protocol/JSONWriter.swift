/// Writes compact JSON directly as bytes.
///
/// Commas are added automatically. Names that the program knows are `StaticString`s and copied
/// unchanged. All other text is escaped so that even printing it to a terminal is harmless: beyond
/// RFC 8259, DEL, C1, line separators and bidirectional controls are written as `\uXXXX`. The
/// caller must close what it opens; the writer does not check it.
public struct JSONWriter: Sendable {
    /// The output so far.
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    /// A writer that appends to these bytes.
    public init(appendingTo bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    /// Returns the bytes and leaves the writer empty, so that the buffer has one owner.
    public mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        needsComma = false
        return taken
    }

    /// Removes the output and keeps the capacity.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Reserves capacity for this many bytes in total.
    public mutating func reserveCapacity(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    // MARK: - Structure

    /// A comma if one is needed.
    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Appends a comma if needed, and what `body` writes: at most `room` bytes; `body` returns how
    /// many. It checks capacity and ownership once instead of for each byte.
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

    /// Opens an object whose first members are constant: JSON text from the bracket to the colon
    /// before the next value. One copy for the start of each message.
    @inline(__always)
    mutating func beginObject(text: StaticString) {
        literal(text)
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

    /// The name of the member whose value comes next. It must be ASCII without escapes.
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

    /// The name of the member whose value comes next: any text.
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

    /// An integer of at most 64 bits, without an intermediate string.
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
            var index = count
            let first = isNegative ? 1 : 0
            while index > first {
                index &-= 1
                (place + index).initialize(to: UInt8(truncatingIfNeeded: rest % 10) &+ 0x30)
                rest /= 10
            }
            return count
        }
    }

    /// A decimal number with its precision.
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

    /// A constant string, which must not need escapes.
    public mutating func string(static text: StaticString) {
        quotePlain(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A string without escapes, whose bytes `body` appends.
    private mutating func plain(_ body: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        body(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// The token of a causal context.
    mutating func token(_ context: CausalContext) {
        plain { ContextToken.append(context, to: &$0) }
    }

    /// A timestamp, a string of RFC 3339.
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

    /// JSON text, unchanged; also members for an open object.
    public mutating func raw(_ json: [UInt8]) {
        json.withUnsafeBufferPointer { rawBytes($0) }
    }

    /// JSON text, unchanged.
    public mutating func raw(_ json: String) {
        var json = json
        json.withUTF8 { rawBytes($0) }
    }

    private mutating func rawBytes(_ text: UnsafeBufferPointer<UInt8>) {
        append(room: text.count) { place in
            if let start = text.baseAddress { place.initialize(from: start, count: text.count) }
            return text.count
        }
    }

    // MARK: - Escapes

    /// A string in quotation marks; one copy if it needs no escapes.
    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < text.count {
            if position + 8 <= text.count, isPlain(text, at: position) {
                position += 8
                continue
            }
            let byte = text[position]
            let isQuoted = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            // The last bytes of a text, and all of a short one: nearly always letters.
            if byte &- 0x20 < 0x5F && !isQuoted {
                position += 1
                continue
            }
            if isQuoted || SafeText.harmful(at: position, in: text) != nil {
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

    /// Whether eight bytes certainly need no escapes: ASCII without control characters, quotation
    /// marks and backslashes. Same test as `JSONScanner.skipPlain`.
    @inline(__always)
    private func isPlain(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> Bool {
        let word = UnsafeRawPointer(text.baseAddress!).loadUnaligned(
            fromByteOffset: position, as: UInt64.self)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let slashes = word ^ (ones &* 0x5C)
        let deletes = word ^ (ones &* 0x7F)
        let special =
            (word &- ones &* 0x20) | (quotes &- ones) | (slashes &- ones) | (deletes &- ones) | word
        return special & (ones &* 0x80) == 0
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

    /// Copies runs without escapes at once. The first run ends at `position` or later.
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
