internal import CYAML
internal import SyncCore

// libyaml's event parser as a Swift value. Only this code accesses its memory.
//
// The reader owns the parser and a copy of the bytes, both freed in its deinitializer. Each event
// is copied into Swift values before libyaml's own is deleted, so nothing outlives a call.

/// One step of a YAML stream (YAML 1.2.2, 3.1: the serialization tree), with where it begins.
struct YAMLEvent {
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias(String)
        case scalar(String, isPlain: Bool)
        case sequenceStart
        case sequenceEnd
        case mappingStart
        case mappingEnd
    }

    var kind: Kind
    var position: SourcePosition
    var anchor: String?
    var tag: String?

    /// Whether a text of it has more combining marks in a row than a form may have.
    var hasTooManyMarks: Bool {
        let text =
            switch kind {
            case .alias(let name): name
            case .scalar(let text, _): text
            default: ""
            }
        return [text, anchor ?? "", tag ?? ""].contains(where: \.hasTooManyMarks)
    }
}

/// What libyaml found wrong with the text.
struct YAMLSyntaxError: Error {
    var message: String
    /// How to fix it, if known.
    var expected: String?
    /// `nil` if libyaml gives only an offset in bytes.
    var position: SourcePosition?
    var byteOffset: Int
}

struct YAMLEventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// A reader of UTF-8. If memory allocation fails, the first event is an error.
    init(_ text: [UInt8]) {
        // The parser keeps pointers into itself, so it needs an address of its own.
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        bytes = .allocate(capacity: max(text.count, 1))
        _ = bytes.initialize(from: text)
        guard yaml_parser_initialize(parser) == 1 else { return }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        bytes.deallocate()
    }

    /// The next event. Do not call it after an error or the end of the stream.
    mutating func next() throws(YAMLSyntaxError) -> YAMLEvent {
        guard parser.pointee.read_handler != nil else {
            throw YAMLSyntaxError(message: "out of memory", position: nil, byteOffset: 0)
        }
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        defer { yaml_event_delete(&event) }
        return Self.copy(of: event)
    }

    private static func copy(of event: yaml_event_t) -> YAMLEvent {
        let position = SourcePosition(event.start_mark)
        switch event.type {
        case YAML_STREAM_END_EVENT: return YAMLEvent(kind: .streamEnd, position: position)
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, position: position)
        case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, position: position)
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, position: position)
        case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, position: position)
        case YAML_ALIAS_EVENT:
            let name = text(event.data.alias.anchor) ?? ""
            return YAMLEvent(kind: .alias(name), position: position)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let content = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return YAMLEvent(
                kind: .scalar(
                    String(decoding: content, as: UTF8.self),
                    isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE),
                position: position, anchor: text(scalar.anchor), tag: text(scalar.tag))
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return YAMLEvent(
                kind: .sequenceStart, position: position, anchor: text(start.anchor),
                tag: text(start.tag))
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return YAMLEvent(
                kind: .mappingStart, position: position, anchor: text(start.anchor),
                tag: text(start.tag))
        default: return YAMLEvent(kind: .streamStart, position: position)
        }
    }

    private static func text(_ characters: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        characters.map { String(cString: $0) }
    }

    private func syntaxError() -> YAMLSyntaxError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "out of memory"
        if parser.pointee.error == YAML_READER_ERROR {
            let offset = Int(clamping: parser.pointee.problem_offset)
            return YAMLSyntaxError(message: problem, position: nil, byteOffset: offset)
        }
        let mark = SourcePosition(parser.pointee.problem_mark)
        // The mark of the context is the start of the construct that is not closed.
        let start = SourcePosition(parser.pointee.context_mark)
        var message = problem
        if let context = parser.pointee.context.map({ String(cString: $0) }) {
            message += " \(context)"
            if start < mark { message += " from \(start.line):\(start.column) on" }
        }
        return YAMLSyntaxError(
            message: message, expected: Self.remedy(for: problem, begun: start), position: mark,
            byteOffset: 0)
    }

    /// How to fix libyaml's most frequent errors (its scanner.c and parser.c).
    private static func remedy(for problem: String, begun start: SourcePosition) -> String? {
        switch problem {
        case "did not find expected '-' indicator", "did not find expected key":
            "the indentation of line \(start.line)"
        case "mapping values are not allowed in this context":
            "quotes around a text that holds a colon and a space, or a line of its own for each key"
        case "found character that cannot start any token":
            "quotes around a text that begins with it"
        case "found unexpected end of stream": "the quote that ends the text"
        default: nil
        }
    }
}

extension SourcePosition {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
    }
}
