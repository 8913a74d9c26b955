/// The strict scanner of RFC 8259: one pass over contiguous bytes, without recursion or copies.
///
/// It fills a tape (see `JSONTape`). The grammar is a state machine for the next token; the tape
/// itself stores the enclosing containers.
///
///     value ──> next ──`,`──> value | name        firstElement ──`]`──> next
///                 └──`]` `}`──> next | done        firstName ────`}`──> next
struct JSONScanner {
    let base: UnsafePointer<UInt8>
    let count: Int
    let depthMax: Int
    /// The buffer for entries during `scan`, and their number. A pointer, because the checks of an
    /// array for each entry are a large part of the cost.
    private var tape = UnsafeMutableBufferPointer<JSONTape.Entry>(start: nil, count: 0)
    private var entryCount = 0
    private var position = 0
    private var depth = 0
    /// The index of the innermost open container plus one; 0 at the top.
    private var open: UInt32 = 0
    /// Whether that is an object, and its number of values so far. Written to the tape when another
    /// container opens or this one closes.
    private var isInObject = false
    private var countInOpen: UInt32 = 0
    private var expected = Expected.value

    private enum Expected {
        case value, firstElement, name, firstName, next, done
    }

    private var marks = CombiningMarks.Run()
    /// Where a string has more combining marks in a row than `CombiningMarks.runMax`; `nil` if none
    /// has.
    private(set) var tooManyMarks: Int?

    /// Bytes that were scanned.
    var offset: Int { position }

    init(base: UnsafePointer<UInt8>, count: Int, depthMax: Int) {
        self.base = base
        self.count = count
        self.depthMax = depthMax
    }

    /// Scans the text to its end, or throws the first error. Returns `false` if the tape is full;
    /// then it must be called again with a longer tape with the same entries.
    mutating func scan(
        into tape: UnsafeMutableBufferPointer<JSONTape.Entry>
    ) throws(JSONError) -> Bool {
        self.tape = tape
        if position == 0, count >= 3, base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF {
            throw failure(.byteOrderMark)
        }
        while expected != .done {
            // A step writes at most one entry.
            guard entryCount < tape.count else { return false }
            skipSpace()
            guard position < count else { throw failure(.unexpectedEnd) }
            let byte = base[position]
            switch expected {
            case .value:
                try value(byte)
            case .firstElement:
                if byte == UInt8(ascii: "]") {
                    try close()
                } else {
                    try value(byte)
                }
            case .firstName:
                if byte == UInt8(ascii: "}") {
                    try close()
                } else {
                    try name(byte)
                }
            case .name:
                try name(byte)
            case .next:
                try next(byte)
            case .done:
                break
            }
        }
        skipSpace()
        guard position == count else { throw failure(.trailingBytes) }
        return true
    }

    private func failure(_ reason: JSONError.Reason) -> JSONError {
        JSONError(offset: position, reason: reason)
    }

    @inline(__always)
    private mutating func skipSpace() {
        while position < count {
            switch base[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    // MARK: - Structure

    @inline(__always)
    private mutating func value(
        _ byte: UInt8
    ) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "\""):
            try string()
            finished()
        case UInt8(ascii: "{"):
            try begin(.object)
            expected = .firstName
        case UInt8(ascii: "["):
            try begin(.array)
            expected = .firstElement
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number()
            finished()
        case UInt8(ascii: "t"):
            try literal("true", .true)
            finished()
        case UInt8(ascii: "f"):
            try literal("false", .false)
            finished()
        case UInt8(ascii: "n"):
            try literal("null", .null)
            finished()
        default:
            throw failure(.unexpectedByte)
        }
    }

    /// Counts a value in its container; at the top, this is the end.
    @inline(__always)
    private mutating func finished() {
        if open == 0 {
            expected = .done
        } else {
            countInOpen += 1
            expected = .next
        }
    }

    private mutating func begin(
        _ kind: JSONTape.Kind
    ) throws(JSONError) {
        guard depth < depthMax else { throw failure(.tooDeep) }
        depth += 1
        if open > 0 { tape[Int(open) - 1].count = countInOpen }
        countInOpen = 0
        isInObject = kind == .object
        write(
            JSONTape.Entry(
                start: UInt32(position), end: 0, next: open, count: 0, kind: kind,
                isComplex: false))
        open = UInt32(entryCount)
        position += 1
    }

    private mutating func close() throws(JSONError) {
        let index = Int(open) - 1
        position += 1
        depth -= 1
        let around = tape[index].next
        tape[index].next = UInt32(entryCount)
        tape[index].end = UInt32(position)
        tape[index].count = countInOpen
        if isInObject, countInOpen > 1 {
            let keys = JSONKeys(base: base, entries: UnsafePointer(tape.baseAddress!))
            if let repeated = keys.firstRepeated(in: index) {
                throw JSONError(offset: Int(tape[repeated].start) - 1, reason: .duplicateKey)
            }
        }
        open = around
        if open > 0 {
            isInObject = tape[Int(open) - 1].kind == .object
            countInOpen = tape[Int(open) - 1].count
        }
        finished()
    }

    @inline(__always)
    private mutating func name(
        _ byte: UInt8
    ) throws(JSONError) {
        guard byte == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
        try string()
        skipSpace()
        guard position < count else { throw failure(.unexpectedEnd) }
        guard base[position] == UInt8(ascii: ":") else { throw failure(.unexpectedByte) }
        position += 1
        expected = .value
    }

    @inline(__always)
    private mutating func next(
        _ byte: UInt8
    ) throws(JSONError) {
        if byte == UInt8(ascii: ",") {
            position += 1
            expected = isInObject ? .name : .value
        } else if byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            try close()
        } else {
            throw failure(.unexpectedByte)
        }
    }

    // MARK: - Scalars

    private mutating func literal(
        _ text: StaticString, _ kind: JSONTape.Kind
    ) throws(JSONError) {
        let start = position
        for index in 0..<text.utf8CodeUnitCount {
            guard position < count else { throw failure(.unexpectedEnd) }
            guard base[position] == text.utf8Start[index] else { throw failure(.unexpectedByte) }
            position += 1
        }
        append(kind, from: start, to: position, isComplex: false)
    }

    @inline(__always)
    private mutating func write(_ entry: JSONTape.Entry) {
        tape[entryCount] = entry
        entryCount &+= 1
    }

    @inline(__always)
    private mutating func append(
        _ kind: JSONTape.Kind, from start: Int, to end: Int, isComplex: Bool
    ) {
        write(
            JSONTape.Entry(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
                next: UInt32(truncatingIfNeeded: entryCount + 1), count: 0, kind: kind,
                isComplex: isComplex))
    }

    private mutating func number() throws(JSONError) {
        let start = position
        var isComplex = false
        if base[position] == UInt8(ascii: "-") { position += 1 }
        if position < count, base[position] == UInt8(ascii: "0") {
            position += 1
            if position < count, isDigit(base[position]) { throw failure(.invalidNumber) }
        } else {
            try digits()
        }
        if position < count, base[position] == UInt8(ascii: ".") {
            isComplex = true
            position += 1
            try digits()
        }
        if position < count, base[position] | 0x20 == UInt8(ascii: "e") {
            isComplex = true
            position += 1
            if position < count,
                base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-")
            {
                position += 1
            }
            try digits()
        }
        append(.number, from: start, to: position, isComplex: isComplex)
    }

    private mutating func digits() throws(JSONError) {
        guard position < count else { throw failure(.unexpectedEnd) }
        guard isDigit(base[position]) else { throw failure(.invalidNumber) }
        repeat { position += 1 } while position < count && isDigit(base[position])
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private mutating func string() throws(JSONError) {
        position += 1
        let start = position
        var hasEscapes = false
        while true {
            skipPlain()
            guard position < count else { throw failure(.unexpectedEnd) }
            let byte = base[position]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try escape()
            } else if byte < 0x20 {
                throw failure(.controlCharacter)
            } else {
                try multibyte(byte)
            }
        }
        append(.string, from: start, to: position, isComplex: hasEscapes)
        position += 1
    }

    /// Skips ASCII that is not escaped, eight bytes at a time if possible.
    @inline(__always)
    private mutating func skipPlain() {
        while position + 8 <= count {
            let word = UnsafeRawPointer(base).loadUnaligned(
                fromByteOffset: position, as: UInt64.self)
            if let special = firstSpecialByte(of: word) {
                position += special
                return
            }
            position += 8
        }
        while position < count {
            let byte = base[position]
            if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C { return }
            position += 1
        }
    }

    private mutating func escape() throws(JSONError) {
        guard position + 1 < count else {
            position = count
            throw failure(.unexpectedEnd)
        }
        switch base[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let start = position
            let unit = try hexadecimal()
            guard unit & 0xF800 == 0xD800 else { return note(unit, from: start) }
            guard unit < 0xDC00 else {
                throw JSONError(offset: start, reason: .loneSurrogate)
            }
            guard position < count else { throw failure(.unexpectedEnd) }
            guard base[position] == UInt8(ascii: "\\") else {
                throw JSONError(offset: start, reason: .loneSurrogate)
            }
            guard position + 1 < count else { throw failure(.unexpectedEnd) }
            guard base[position + 1] == UInt8(ascii: "u") else {
                throw JSONError(offset: start, reason: .loneSurrogate)
            }
            let second = try hexadecimal()
            guard second & 0xFC00 == 0xDC00 else {
                throw JSONError(offset: start, reason: .loneSurrogate)
            }
            note(0x10000 + (unit & 0x3FF) << 10 | (second & 0x3FF), from: start)
        default:
            throw failure(.invalidEscape)
        }
    }

    /// Counts a scalar that ends here.
    @inline(__always)
    private mutating func note(_ scalar: UInt32, from start: Int) {
        guard marks.isTooLong(with: scalar, from: start, to: position) else { return }
        tooManyMarks = tooManyMarks ?? start
    }

    /// Reads `\uXXXX` and moves behind it.
    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        position += 2
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < count else { throw failure(.unexpectedEnd) }
            guard let digit = hexadecimalDigit(base[position]) else {
                throw failure(.invalidEscape)
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    /// Skips one scalar of two to four bytes (RFC 3629, section 4).
    private mutating func multibyte(_ lead: UInt8) throws(JSONError) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEC, 0xEE...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw failure(.invalidUTF8)
        }
        guard position + length <= count, second.contains(base[position + 1]) else {
            throw failure(.invalidUTF8)
        }
        for offset in 2..<max(length, 2) where base[position + offset] & 0xC0 != 0x80 {
            throw failure(.invalidUTF8)
        }
        let start = position
        position += length
        // U+0300, the first mark, begins with CC.
        if lead >= 0xCC { note(scalar(at: start, length: length), from: start) }
    }

    /// The scalar of two to four valid bytes.
    private func scalar(at start: Int, length: Int) -> UInt32 {
        var value = UInt32(base[start]) & (0xFF >> UInt32(length + 1))
        for offset in 1..<length { value = value << 6 | UInt32(base[start + offset] & 0x3F) }
        return value
    }
}
