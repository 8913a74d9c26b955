// Parses every file that a person writes: forms, presets, the daemon's configuration.
//
// YAML means the 1.2 core schema plus merge keys; a text that begins with `{` is JSON and is parsed
// by the protocol's codec, since libyaml refuses JSON's surrogate escapes (FORM.md, File). Nothing
// here reads a file: the input is bytes, the output is a value with positions.

/// Parses YAML and JSON to a value with the positions of its parts.
public enum YAMLDocument {
    /// Limits of a document.
    public struct Limits: Sendable {
        /// Bytes of the file, and bytes of text in it once aliases are expanded: a definition
        /// travels in one frame, so more could not be applied (PROTOCOL.md, Limits and shares).
        public var bytesMax: Int
        /// Values once aliases are expanded. The limit is one value for each four bytes of the
        /// largest frame. No real file has as many.
        public var nodesMax: Int
        /// Lists and mappings inside each other, as on the wire (PROTOCOL.md, Errors).
        public var depthMax: Int
        /// Whether scalars with an application's own tag are accepted, as `{"!include":
        /// "file.yaml"}`. Files of other programs contain them; ours do not.
        public var takesOwnTags: Bool

        /// Bounds; the defaults are those of the protocol.
        public init(
            bytesMax: Int = 1 << 20, nodesMax: Int = 1 << 18, depthMax: Int = 32,
            takesOwnTags: Bool = false
        ) {
            self.bytesMax = bytesMax
            self.nodesMax = nodesMax
            self.depthMax = depthMax
            self.takesOwnTags = takesOwnTags
        }
    }

    /// The one value of a file called `name`; an empty file holds `null`.
    ///
    /// Fails with every issue that could be found, each with line and column.
    public static func parse(
        _ bytes: [UInt8], name: String, limits: Limits = Limits()
    ) throws(FileIssues) -> SourceTree {
        try checkEncoding(of: bytes, name: name, limits)
        if bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "{") {
            return try JSONSource.parse(bytes, name: name, limits: limits)
        }
        try checkLineBreaks(of: bytes, name: name)
        var composer = YAMLComposer(bytes, name: name, limits: limits)
        let tree = composer.compose()
        guard let tree, composer.issues.isEmpty else {
            let fallback = FileIssue(file: name, position: nil, message: "cannot be read")
            throw FileIssues(composer.issues.isEmpty ? [fallback] : composer.issues)
        }
        return tree
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (9...10).contains(byte) || byte == 13
    }

    private static func checkEncoding(
        of bytes: [UInt8], name: String, _ limits: Limits
    ) throws(FileIssues) {
        let expected = "UTF-8 without a byte order mark"
        func refuse(_ message: String, at offset: Int, expected: String) -> FileIssues {
            FileIssues(
                FileIssue(
                    file: name, position: bytes.position(ofByte: offset), message: message,
                    expected: expected))
        }
        guard bytes.count <= limits.bytesMax else {
            throw FileIssues(
                FileIssue(
                    file: name, position: nil, message: "a file of \(bytes.count) bytes",
                    expected: "at most \(limits.bytesMax)"))
        }
        switch (bytes.first, bytes.dropFirst().first, bytes.dropFirst(2).first) {
        case (0xEF, 0xBB, 0xBF):
            throw refuse("the file begins with a byte order mark", at: 0, expected: expected)
        case (0xFF, 0xFE, _), (0xFE, 0xFF, _), (0, _?, _), (_?, 0, _):
            throw refuse("the file is UTF-16 or UTF-32", at: 0, expected: expected)
        default: break
        }
        if let offset = bytes.firstInvalidUTF8 {
            throw refuse("a byte that is not UTF-8", at: offset, expected: expected)
        }
    }

    /// Refuses NEL, LINE SEPARATOR and PARAGRAPH SEPARATOR. YAML 1.1, and so libyaml, treats them
    /// as the end of a line; YAML 1.2 and editors do not. Otherwise they would be folded silently,
    /// and all later line numbers would be wrong.
    private static func checkLineBreaks(of bytes: [UInt8], name: String) throws(FileIssues) {
        var issues: [FileIssue] = []
        for (offset, byte) in bytes.enumerated() where byte == 0xC2 || byte == 0xE2 {
            let escape: String
            switch (byte, bytes[offset + 1], byte == 0xE2 ? bytes[offset + 2] : 0) {
            case (0xC2, 0x85, _): escape = "\\N"
            case (0xE2, 0x80, 0xA8): escape = "\\L"
            case (0xE2, 0x80, 0xA9): escape = "\\P"
            default: continue
            }
            issues.append(
                FileIssue(
                    file: name, position: bytes.position(ofByte: offset),
                    message: "a Unicode line separator",
                    expected: "a newline, or \(escape) inside double quotes"))
            if issues.count == FileIssues.issuesMax { break }
        }
        if !issues.isEmpty { throw FileIssues(issues) }
    }
}

extension [UInt8] {
    /// The line and column of a byte of UTF-8 text; of its end for an offset beyond it.
    func position(ofByte offset: Int) -> SourcePosition {
        var line = 1
        var column = 1
        var previous: UInt8 = 0
        for byte in prefix(Swift.max(offset, 0)) {
            switch byte {
            case UInt8(ascii: "\n") where previous == UInt8(ascii: "\r"): break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                line += 1
                column = 1
            // A continuation byte belongs to a scalar that was counted.
            case 0x80...0xBF: break
            default: column += 1
            }
            previous = byte
        }
        return SourcePosition(line: line, column: column)
    }

    /// Whether a position is a tab with only white space before it on its line. This is the most
    /// common mistake in YAML, and libyaml's message for it does not help.
    func indents(withTabAt position: SourcePosition) -> Bool {
        let lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(position.line - 1) else { return false }
        let line = lines[position.line - 1].prefix(position.column)
        return line.count == position.column && line.last == UInt8(ascii: "\t")
            && line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// The offset of the first invalid UTF-8 (RFC 3629), or `nil` if all of it is valid.
    var firstInvalidUTF8: Int? {
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = makeIterator()
        var offset = 0
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
