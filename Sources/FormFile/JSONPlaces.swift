internal import SyncCore

// The positions of the parts of a JSON text.
//
// The protocol's codec parses the JSON. This code walks a text that the codec has accepted a second
// time, only to find positions. Both have the same order of elements and members, which is enough
// for a tree of positions. If the codec refused the text, this code walks the part before the
// mistake.

struct JSONPlaces {
    /// The context of a position in a text: its path and, for a repeated name, the name and its
    /// first position.
    struct Surroundings {
        var path: [PathStep] = []
        var key: (name: String, first: SourcePosition)?
    }

    private let bytes: ArraySlice<UInt8>
    private var offset = 0
    private var line = 1
    private var column = 1

    // Kept for `surroundings` alone: a name costs more than a place.
    private let isTracing: Bool
    private var path: [PathStep] = []
    private var names: [[(name: String, position: SourcePosition)]] = []

    /// The positions in a text that the codec has accepted. For any other text the tree is
    /// arbitrary.
    static func read(_ bytes: [UInt8]) -> SourceNode {
        var reader = JSONPlaces(bytes: bytes[...], isTracing: false)
        return reader.value()
    }

    /// The context of the byte at `offset`. The codec found no error before it.
    static func surroundings(of offset: Int, in bytes: [UInt8]) -> Surroundings {
        var reader = JSONPlaces(bytes: bytes.prefix(offset), isTracing: true)
        _ = reader.value()
        var found = Surroundings(path: reader.path)
        var rest = JSONPlaces(bytes: bytes[...], isTracing: true)
        rest.offset = min(offset, bytes.count)
        if rest.next == UInt8(ascii: "\"") {
            let name = rest.string()
            let first = reader.names.last?.first { $0.name.isSameBytes(as: name) }
            found.key = first.map { (name, $0.position) }
        }
        return found
    }

    private init(bytes: ArraySlice<UInt8>, isTracing: Bool) {
        self.bytes = bytes
        self.isTracing = isTracing
    }

    private var next: UInt8? { offset < bytes.endIndex ? bytes[offset] : nil }
    private var position: SourcePosition { SourcePosition(line: line, column: column) }

    private mutating func advance() {
        switch bytes[offset] {
        case UInt8(ascii: "\n") where offset > 0 && bytes[offset - 1] == UInt8(ascii: "\r"): break
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            line += 1
            column = 1
        case 0x80...0xBF: break
        default: column += 1
        }
        offset += 1
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            advance()
        }
    }

    private mutating func value() -> SourceNode {
        skipSpace()
        var node = SourceNode(value: position)
        switch next {
        case UInt8(ascii: "{"): members(of: &node)
        case UInt8(ascii: "["): elements(of: &node)
        case UInt8(ascii: "\""): _ = string()
        default: literal()
        }
        skipSpace()
        return node
    }

    private mutating func elements(of node: inout SourceNode) {
        advance()
        skipSpace()
        while next != UInt8(ascii: "]") {
            let before = offset
            path.append(.index(node.children.count))
            node.children.append(value())
            // The walk ends here; the path keeps its last value.
            guard next != nil, offset > before || next == UInt8(ascii: ",") else { return }
            path.removeLast()
            if next == UInt8(ascii: ",") { advance() }
            skipSpace()
        }
        advance()
    }

    private mutating func members(of node: inout SourceNode) {
        advance()
        skipSpace()
        if isTracing { names.append([]) }
        while let byte = next, byte != UInt8(ascii: "}") {
            let before = offset
            let key = position
            let name = byte == UInt8(ascii: "\"") ? string() : ""
            if isTracing {
                names[names.count - 1].append((name, key))
                path.append(.key(name))
            }
            skipSpace()
            if next == UInt8(ascii: ":") { advance() }
            var member = value()
            member.key = key
            node.children.append(member)
            guard next != nil, offset > before else { return }
            if isTracing { path.removeLast() }
            if next == UInt8(ascii: ",") { advance() }
            skipSpace()
        }
        guard next != nil else { return }
        if isTracing { names.removeLast() }
        advance()
    }

    /// Skips a string. Returns its text while tracing, otherwise an empty string.
    private mutating func string() -> String {
        let start = offset
        advance()
        while let byte = next, byte != UInt8(ascii: "\"") {
            advance()
            if byte == UInt8(ascii: "\\"), next != nil { advance() }
        }
        if next != nil { advance() }
        guard isTracing else { return "" }
        let written = [UInt8](bytes[start..<offset])
        let json: JSON? = try? JSON(parsing: written)
        return json?.stringValue ?? ""
    }

    private mutating func literal() {
        while let byte = next {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09:
                return
            default: advance()
            }
        }
    }
}
