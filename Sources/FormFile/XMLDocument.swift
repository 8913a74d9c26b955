internal import SyncCore

// The XML that GSettings schemas are written in: elements, attributes, text, comments, CDATA,
// character references and the five entities of XML 1.0, in UTF-8.
//
// Invariants: a document type declaration is refused, so that no entity can be defined; depth,
// number of elements and attributes of an element are limited; an error has a line and a column.
// This replaces expat, because pickerctl is linked statically and reads no other XML.

/// An element with its contents.
public struct XMLElement: Hashable, Sendable {
    public let name: String
    /// In the order of the file.
    public private(set) var attributes: [(name: String, value: String)]
    public fileprivate(set) var children: [XMLElement] = []
    /// Its own text, without that of its children.
    public fileprivate(set) var text = ""

    /// The value of an attribute.
    public subscript(_ name: String) -> String? {
        attributes.first { $0.name == name }?.value
    }

    /// The children of that name.
    public func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// The first child of that name.
    public func first(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    fileprivate init(name: String, attributes: [(name: String, value: String)]) {
        self.name = name
        self.attributes = attributes
    }

    public static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.name == right.name && left.text == right.text && left.children == right.children
            && left.attributes.elementsEqual(right.attributes) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(text)
        hasher.combine(children)
    }
}

/// Reads XML.
public enum XMLDocument {
    /// The maximum nesting of elements.
    static let depthMax = 32
    /// Elements of a file: the largest schema of a desktop has some hundreds.
    static let elementsMax = 100_000
    /// Attributes of an element, which are compared with each other.
    static let attributesMax = 64

    /// The root element of a file called `name`.
    public static func parse(_ bytes: [UInt8], name: String) throws(FileIssues) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw FileIssues(
                FileIssue(
                    file: name, position: nil, message: "this is not UTF-8", expected: "UTF-8"))
        }
        guard !String(decoding: bytes, as: UTF8.self).hasTooManyMarks else {
            throw FileIssues(
                FileIssue(
                    file: name, position: nil, message: JSONError.Reason.tooManyMarks.inWords,
                    expected: CombiningMarks.expected))
        }
        var reader = XMLReader(bytes: bytes)
        do throws(XMLReader.Fault) {
            return try reader.document()
        } catch {
            throw FileIssues(
                FileIssue(
                    file: name, position: bytes.position(ofByte: error.offset),
                    message: error.message))
        }
    }
}

private struct XMLReader {
    struct Fault: Error {
        var offset: Int
        var message: String
    }

    let bytes: [UInt8]
    var offset = 0
    var elements = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    private func fault(_ message: String) -> Fault { Fault(offset: offset, message: message) }

    private func sees(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard sees(text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    private mutating func skipSpace() {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// Everything up to `end`; skips `end` too.
    private mutating func take(upTo end: StaticString, _ what: String) throws(Fault) -> String {
        let start = offset
        while offset < bytes.count {
            if sees(end) {
                let text = String(decoding: bytes[start..<offset], as: UTF8.self)
                _ = take(end)
                return text
            }
            offset += 1
        }
        offset = start
        throw fault("\(what) does not end")
    }

    mutating func document() throws(Fault) -> XMLElement {
        try skipMisc()
        guard sees("<") else { throw fault("this is not XML: it has no element") }
        let root = try element(depth: 0)
        try skipMisc()
        guard offset == bytes.count else { throw fault("there is more behind the root element") }
        return root
    }

    /// Space, comments and processing instructions between elements.
    private mutating func skipMisc() throws(Fault) {
        while true {
            skipSpace()
            if take("<!--") {
                _ = try take(upTo: "-->", "the comment")
            } else if take("<?") {
                _ = try take(upTo: "?>", "the processing instruction")
            } else if sees("<!") {
                throw fault("a document type is not allowed")
            } else {
                return
            }
        }
    }

    private mutating func name() throws(Fault) -> String {
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: ":"), 0x80...0xFF:
                offset += 1
                continue
            default: break
            }
            break
        }
        guard offset > start else { throw fault("a name was expected here") }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func element(depth: Int) throws(Fault) -> XMLElement {
        guard depth < XMLDocument.depthMax else { throw fault("elements are too deep") }
        elements += 1
        guard elements <= XMLDocument.elementsMax else {
            throw fault("there are too many elements")
        }
        offset += 1
        let name = try name()
        var element = XMLElement(name: name, attributes: try attributes())
        if take("/>") { return element }
        guard take(">") else { throw fault("> was expected here") }
        while true {
            guard offset < bytes.count else { throw fault("<\(name)> does not end") }
            if take("</") {
                let end = try self.name()
                guard end == name else { throw fault("</\(end)> ends <\(name)>") }
                skipSpace()
                guard take(">") else { throw fault("> was expected here") }
                return element
            } else if take("<!--") {
                _ = try take(upTo: "-->", "the comment")
            } else if take("<![CDATA[") {
                element.text += try take(upTo: "]]>", "the CDATA section")
            } else if take("<?") {
                _ = try take(upTo: "?>", "the processing instruction")
            } else if sees("<") {
                element.children.append(try self.element(depth: depth + 1))
            } else {
                element.text += try characters(upTo: UInt8(ascii: "<"))
            }
        }
    }

    private mutating func attributes() throws(Fault) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        while true {
            let before = offset
            skipSpace()
            if sees(">") || sees("/>") { return found }
            guard offset > before else { throw fault("a space was expected here") }
            let name = try name()
            guard !found.contains(where: { $0.name == name }) else {
                throw fault("\(name) is given twice")
            }
            guard found.count < XMLDocument.attributesMax else {
                throw fault("the element has more than \(XMLDocument.attributesMax) attributes")
            }
            skipSpace()
            guard take("=") else { throw fault("= was expected here") }
            skipSpace()
            guard sees("\"") || sees("'") else { throw fault("a quote was expected here") }
            let quote = bytes[offset]
            offset += 1
            let value = try characters(upTo: quote)
            guard offset < bytes.count else { throw fault("the value of \(name) does not end") }
            offset += 1
            found.append((name, value))
        }
    }

    /// Text with its references resolved, up to a byte, which is not consumed.
    private mutating func characters(upTo end: UInt8) throws(Fault) -> String {
        var text: [UInt8] = []
        while offset < bytes.count, bytes[offset] != end {
            switch bytes[offset] {
            case UInt8(ascii: "&"): text += try reference().utf8
            case UInt8(ascii: "<"): throw fault("< is not allowed here; write &lt;")
            default:
                text.append(bytes[offset])
                offset += 1
            }
        }
        let found = String(decoding: text, as: UTF8.self)
        // References may make more of them than are in the file.
        guard !found.hasTooManyMarks else { throw fault(JSONError.Reason.tooManyMarks.inWords) }
        return found
    }

    private mutating func reference() throws(Fault) -> String {
        let start = offset
        offset += 1
        let word = try take(upTo: ";", "the reference")
        switch word {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let digits = word.dropFirst(word.hasPrefix("#x") ? 2 : 1)
        if word.hasPrefix("#"), digits.first.map({ $0 != "+" && $0 != "-" }) ?? false,
            let number = UInt32(digits, radix: word.hasPrefix("#x") ? 16 : 10),
            let scalar = Unicode.Scalar(number)
        {
            return String(scalar)
        }
        offset = start
        throw fault("&\(word.prefix(20)); is not a known reference")
    }
}
