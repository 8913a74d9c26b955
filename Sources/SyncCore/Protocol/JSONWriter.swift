/// Writes compact JSON directly as bytes.
///
/// Commas are added automatically. Names that the program knows are `StaticString`s and copied
/// unchanged. All other text is escaped so that even printing it to a terminal is harmless: beyond
/// RFC 8259, DEL, C1, line separators and bidirectional controls are written as `\uXXXX`. The
/// caller must close what it opens; the writer does not check it.
///
/// It writes to memory of its own, because the checks of an array for each part of a message cost
/// more than the part.
public struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The number of bytes in the output.
    public private(set) var count = 0
    /// Whether the output is in memory of its own.
    private(set) var isOwner: Bool
    private var needsComma = false

    /// A writer without output.
    public init() {
        start = UnsafeMutablePointer(bitPattern: 1)!
        capacity = 0
        isOwner = false
    }

    /// A writer to this memory, which must outlive it. Longer output moves to memory of its own.
    init(to memory: UnsafeMutableBufferPointer<UInt8>) {
        start = memory.baseAddress!
        capacity = memory.count
        isOwner = false
    }

    /// Passes to `result` what `body` writes. Short output needs only the stack.
    @inline(__always)
    static func write<Result>(
        _ body: (inout JSONWriter) -> Void, _ result: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { memory in
            var writer = JSONWriter(to: memory)
            body(&writer)
            return result(writer.output)
        }
    }

    @inline(__always)
    static func bytes(_ body: (inout JSONWriter) -> Void) -> [UInt8] { write(body) { Array($0) } }

    deinit { if isOwner { start.deallocate() } }

    /// A copy of the output.
    public var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: start, count: count)) }

    /// The output, valid until the next change.
    var output: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Returns the output and leaves the writer empty.
    public mutating func take() -> [UInt8] {
        let taken = bytes
        removeAll()
        return taken
    }

    /// Removes the output and keeps the memory.
    public mutating func removeAll() {
        count = 0
        needsComma = false
    }

    @inline(never)
    private mutating func grow(to total: Int) {
        let grown = max(total, 2 * capacity, 64)
        let next = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
        next.update(from: start, count: count)
        if isOwner { start.deallocate() }
        start = next
        capacity = grown
        isOwner = true
    }

    // MARK: - Frames

    /// Leaves space for the length of a frame, before any other output.
    mutating func beginFrame() {
        if capacity < Frame.headerBytes { grow(to: Frame.headerBytes) }
        count = Frame.headerBytes
    }

    /// Writes the length of the output after `beginFrame`.
    mutating func endFrame() {
        let length = count - Frame.headerBytes
        precondition(length > 0 && length <= UInt32.max, "a frame holds a message")
        UnsafeMutableRawPointer(start).storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
    }

    // MARK: - Structure

    /// The place of the next value or name, after the comma that it needs.
    var nextValue: Int { needsComma ? count + 1 : count }

    /// A comma if one is needed.
    @inline(__always)
    private mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Appends a byte, which is not a value.
    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        if count == capacity { grow(to: count &+ 1) }
        start[count] = byte
        count &+= 1
    }

    /// Appends a comma if needed, and what `body` writes: at most `bytesMax` bytes. `body` returns
    /// how many.
    @inline(__always)
    mutating func append(
        bytesMax: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
    ) {
        if capacity &- count <= bytesMax { grow(to: count &+ bytesMax &+ 1) }
        if needsComma {
            start[count] = UInt8(ascii: ",")
            count &+= 1
        }
        count &+= body(start + count)
        needsComma = true
    }

    /// Opens an object.
    public mutating func beginObject() {
        separate()
        put(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Opens an object whose first members are constant: JSON text from the bracket to the colon
    /// before the next value. One copy for the start of each message.
    @inline(__always)
    mutating func beginObject(text: StaticString) {
        literal(text)
        needsComma = false
    }

    /// The same for a text that is made once.
    @inline(__always)
    mutating func beginObject(text: [UInt8]) {
        raw(text)
        needsComma = false
    }

    /// Closes an object.
    public mutating func endObject() {
        put(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Opens an array.
    public mutating func beginArray() {
        separate()
        put(UInt8(ascii: "["))
        needsComma = false
    }

    /// Closes an array.
    public mutating func endArray() {
        put(UInt8(ascii: "]"))
        needsComma = true
    }

    /// The name of the member whose value comes next. It must be ASCII without escapes.
    @inline(__always)
    public mutating func key(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        append(bytesMax: count + 3) { place in
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
        put(UInt8(ascii: ":"))
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
        append(bytesMax: text.utf8CodeUnitCount) { place in
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
        append(bytesMax: 21) { place in
            var text = TextPlace(place)
            if isNegative { text.put(UInt8(ascii: "-")) }
            text.put(decimal: magnitude)
            return text.place - place
        }
    }

    /// A decimal number with its precision.
    public mutating func number(_ value: DecimalNumber) {
        if value.exponent == 0 {
            integer(value.significand)
        } else {
            raw(value.description)
        }
    }

    /// A string.
    public mutating func string(_ text: String) {
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { string($0) }
        if done == nil {
            var copy = text
            copy.withUTF8 { string($0) }
        }
    }

    /// A constant string, which must not need escapes.
    public mutating func string(static text: StaticString) {
        quotePlain(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
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
        json.withUnsafeBufferPointer { raw($0) }
    }

    /// JSON text, unchanged.
    public mutating func raw(_ json: String) {
        var json = json
        json.withUTF8 { raw($0) }
    }

    mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
        append(bytesMax: text.count) { place in
            if let start = text.baseAddress { place.initialize(from: start, count: text.count) }
            return text.count
        }
    }

    // MARK: - Escapes

    /// A string of UTF-8 text. It is copied while it is checked, and again only if a byte is
    /// neither printable ASCII nor free of escapes.
    mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
        if capacity &- count < text.count &+ 3 { grow(to: count &+ text.count &+ 3) }
        var place = start + count
        if needsComma {
            place.pointee = UInt8(ascii: ",")
            place += 1
        }
        place.pointee = UInt8(ascii: "\"")
        place += 1
        var position = 0
        while position &+ 8 <= text.count {
            let word = UnsafeRawPointer(text.baseAddress!).loadUnaligned(
                fromByteOffset: position, as: UInt64.self)
            guard isPlain(word) else { return quote(text, checked: position) }
            UnsafeMutableRawPointer(place + position).storeBytes(of: word, as: UInt64.self)
            position &+= 8
        }
        while position < text.count {
            let byte = text[position]
            guard byte &- 0x20 < 0x5F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                return quote(text, checked: position)
            }
            place[position] = byte
            position &+= 1
        }
        place[position] = UInt8(ascii: "\"")
        count = place - start &+ position &+ 1
        needsComma = true
    }

    /// The same for text whose first bytes need no escapes.
    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>, checked: Int) {
        for position in checked..<text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                || SafeText.harmful(at: position, in: text) != nil
            {
                separate()
                put(UInt8(ascii: "\""))
                escape(text, from: position)
                put(UInt8(ascii: "\""))
                return
            }
        }
        quotePlain(text)
    }

    /// Whether eight bytes certainly need no escapes: ASCII without control characters, quotation
    /// marks and backslashes. See `firstSpecialByte`.
    @inline(__always)
    private func isPlain(_ word: UInt64) -> Bool {
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
        append(bytesMax: text.count + 2) { place in
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
                put(text[run..<position])
                put(UInt8(ascii: "\\"))
                put(byte)
                position += 1
                run = position
            } else if let (scalar, length) = SafeText.harmful(at: position, in: text) {
                put(text[run..<position])
                appendEscape(scalar)
                position += length
                run = position
            } else {
                position += 1
            }
        }
        put(text[run..<position])
    }

    private mutating func put(_ run: Slice<UnsafeBufferPointer<UInt8>>) {
        needsComma = false
        raw(UnsafeBufferPointer(rebasing: run))
    }

    private mutating func appendEscape(_ scalar: UInt32) {
        put(UInt8(ascii: "\\"))
        switch scalar {
        case 0x08: put(UInt8(ascii: "b"))
        case 0x09: put(UInt8(ascii: "t"))
        case 0x0A: put(UInt8(ascii: "n"))
        case 0x0C: put(UInt8(ascii: "f"))
        case 0x0D: put(UInt8(ascii: "r"))
        default:
            put(UInt8(ascii: "u"))
            for shift: UInt32 in [12, 8, 4, 0] {
                let digit = UInt8(scalar >> shift & 0xF)
                put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            }
        }
    }
}
