/// A request of the most frequent form: compact JSON without escapes, of a frequent method, with
/// known members. It is read from the bytes of its frame in one pass, without a tape.
///
/// Invariant: `MessageDecoder` reads the same request from the same bytes (PlainRequestTests). All
/// other text, valid or not, is left to `MessageDecoder`, so the rules are only there.
struct PlainRequest: ~Copyable {
    /// A part of the frame's text.
    typealias Text = UnsafeBufferPointer<UInt8>

    /// A method with its params.
    enum Content: ~Copyable {
        case ping
        /// Reads one field, or what matches one glob.
        case get(form: Text, field: Text)
        /// Sets one field.
        case set(Edit)
    }

    /// A change of one field.
    struct Edit: ~Copyable {
        let form: Text
        let field: Text
        let action: Change.Action
        /// What the sender had seen.
        let context: Text?
        /// Whether the context is the change's and not the request's.
        let hasOwnContext: Bool
        let idempotencyKey: Text?
    }

    /// The JSON text of the request's id.
    let id: Text
    let content: Content

    /// The request in the text of a frame, which must outlive it; `nil` if it is not a plain one.
    init?(_ text: UnsafeRawBufferPointer) {
        var reader = PlainReader(text.bindMemory(to: UInt8.self))
        guard let request = reader.request() else { return nil }
        self = request
    }

    fileprivate init(id: Text, content: consuming Content) {
        self.id = id
        self.content = content
    }
}

/// Reads a plain request. A result of `nil` or `false` ends the reading.
private struct PlainReader {
    typealias Text = PlainRequest.Text

    /// Longer ids and names are rare or wrong.
    private static let idBytesMax = 64
    private static let nameBytesMax = 63
    private static let contextBytesMax = 1024
    private static let elementsMax = 64

    private let base: UnsafePointer<UInt8>
    private let end: Int
    private var at = 0

    init(_ text: Text) {
        // An empty buffer may have no address, and nothing of it is read.
        base = text.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = text.count
    }

    // MARK: - Structure

    mutating func request() -> PlainRequest? {
        guard eat("{") else { return nil }
        var (id, method): (Text?, Text?)
        var params = Params()
        var (hasVersion, hasParams) = (false, false)
        repeat {
            switch initial {
            case UInt8(ascii: "j"):
                guard !hasVersion, eat("\"jsonrpc\":\"2.0\"") else { return nil }
                hasVersion = true
            case UInt8(ascii: "i"):
                guard id == nil, eat("\"id\":") else { return nil }
                id = self.id()
                if id == nil { return nil }
            case UInt8(ascii: "m"):
                guard method == nil, eat("\"method\":") else { return nil }
                method = string()
                if method == nil { return nil }
            case UInt8(ascii: "p"):
                guard !hasParams, eat("\"params\":"), read(&params) else { return nil }
                hasParams = true
            default: return nil
            }
        } while eat(",")
        guard eat("}"), at == end, hasVersion, let id, let method,
            let content = content(of: method, &params)
        else { return nil }
        return PlainRequest(id: id, content: content)
    }

    /// Takes the action out of the parameters, because a copy retains its parts.
    private func content(of method: Text, _ params: inout Params) -> PlainRequest.Content? {
        guard !params.isEmpty else { return isSame(method, "ping") ? .ping : nil }
        guard let form = params.form, let field = params.field else { return nil }
        if let action = params.action.take() {
            guard isSame(method, "state.set") else { return nil }
            return .set(
                PlainRequest.Edit(
                    form: form, field: field, action: action, context: params.context,
                    hasOwnContext: params.hasOwnContext, idempotencyKey: params.key))
        }
        guard isSame(method, "state.get"), params.context == nil, params.key == nil else {
            return nil
        }
        return .get(form: form, field: field)
    }

    private struct Params {
        var form: Text?
        var field: Text?
        var action: Change.Action?
        var context: Text?
        var hasOwnContext = false
        var key: Text?

        var isEmpty: Bool {
            form == nil && field == nil && action == nil && context == nil && key == nil
        }
    }

    private mutating func read(_ params: inout Params) -> Bool {
        guard eat("{") else { return false }
        if eat("}") { return true }
        repeat {
            if eat("\"form\":") {
                guard params.form == nil, let form = name() else { return false }
                params.form = form
            } else if eat("\"changes\":[") {
                guard params.field == nil, change(&params), eat("]") else { return false }
            } else if eat("\"fields\":[") {
                guard params.field == nil, let field = name(), eat("]") else { return false }
                params.field = field
            } else if eat("\"idempotencyKey\":") {
                guard params.key == nil, let key = name(), !key.isEmpty else { return false }
                params.key = key
            } else {
                guard context(&params) else { return false }
            }
        } while eat(",")
        return eat("}")
    }

    /// A request may have one context.
    private mutating func context(_ params: inout Params) -> Bool {
        guard params.context == nil, eat("\"context\":"), let context = string(),
            context.count <= Self.contextBytesMax
        else { return false }
        params.context = context
        return true
    }

    private mutating func change(_ params: inout Params) -> Bool {
        guard eat("{") else { return false }
        repeat {
            if eat("\"field\":") {
                guard params.field == nil, let field = name() else { return false }
                params.field = field
            } else if initial == UInt8(ascii: "c") {
                guard context(&params) else { return false }
                params.hasOwnContext = true
            } else {
                guard params.action == nil, let action = action() else { return false }
                params.action = action
            }
        } while eat(",")
        return eat("}") && params.field != nil && params.action != nil
    }

    private mutating func action() -> Change.Action? {
        if eat("\"value\":") {
            return at < end && base[at] == UInt8(ascii: "[")
                ? scalars().map { .value(.array($0)) } : scalar().map { .value($0) }
        }
        if eat("\"increment\":") { return number().map { .increment($0) } }
        if eat("\"toggle\":true") { return .toggle }
        if eat("\"press\":true") { return .press }
        if eat("\"reset\":true") { return .reset }
        if eat("\"add\":") { return scalars().map { .add($0) } }
        if eat("\"remove\":") { return scalars().map { .remove($0) } }
        return nil
    }

    // MARK: - Values

    private mutating func id() -> Text? {
        let start = at
        if at < end, base[at] == UInt8(ascii: "\"") {
            guard string() != nil else { return nil }
        } else {
            guard number() != nil else { return nil }
        }
        return at - start <= Self.idBytesMax ? text(from: start) : nil
    }

    private mutating func scalars() -> [JSON]? {
        guard eat("[") else { return nil }
        var values: [JSON] = []
        if eat("]") { return values }
        repeat {
            guard values.count < Self.elementsMax, let value = scalar() else { return nil }
            values.append(value)
        } while eat(",")
        return eat("]") ? values : nil
    }

    private mutating func scalar() -> JSON? {
        guard at < end else { return nil }
        switch base[at] {
        case UInt8(ascii: "\""): return string().map { .string(String(plain: $0)) }
        case UInt8(ascii: "t"): return eat("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return eat("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return eat("null") ? .null : nil
        default: return number().map { .number($0) }
        }
    }

    /// A number without an exponent.
    private mutating func number() -> DecimalNumber? {
        let start = at
        _ = eat("-")
        let first = at
        guard digits() else { return nil }
        if base[first] == UInt8(ascii: "0"), at > first + 1 { return nil }
        let isInteger = !eat(".")
        if !isInteger { guard digits() else { return nil } }
        return DecimalNumber(grammatical: text(from: start), isInteger: isInteger)
    }

    private mutating func digits() -> Bool {
        let start = at
        while at < end, base[at] &- UInt8(ascii: "0") < 10 { at &+= 1 }
        return at > start
    }

    // MARK: - Text

    private func text(from start: Int) -> Text { Text(start: base + start, count: at &- start) }

    /// The first letter of the name of the next member; 0 at the end.
    @inline(__always)
    private var initial: UInt8 { at &+ 1 < end ? base[at &+ 1] : 0 }

    private mutating func name() -> Text? {
        guard let name = string(), name.count <= Self.nameBytesMax else { return nil }
        return name
    }

    /// The content of a string of printable ASCII without escapes.
    private mutating func string() -> Text? {
        guard eat("\"") else { return nil }
        let start = at
        while at &+ 8 <= end {
            let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
            if let special = firstSpecialByte(of: word) {
                at &+= special
                break
            }
            at &+= 8
        }
        while at < end {
            let byte = base[at]
            if byte == UInt8(ascii: "\"") {
                defer { at &+= 1 }
                return text(from: start)
            }
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\\") { return nil }
            at &+= 1
        }
        return nil
    }

    /// Skips this text if it is next. Returns whether it was.
    @inline(__always)
    private mutating func eat(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard at &+ count <= end, areSameBytes(base + at, text.utf8Start, count: count) else {
            return false
        }
        at &+= count
        return true
    }

    @inline(__always)
    private func isSame(_ text: Text, _ name: StaticString) -> Bool {
        text.count == name.utf8CodeUnitCount
            && areSameBytes(text.baseAddress!, name.utf8Start, count: text.count)
    }
}

extension String {
    /// Text that is ASCII. Short text is not examined again, as a decoder would.
    @inline(__always)
    init(plain text: UnsafeBufferPointer<UInt8>) {
        self.init(unsafeUninitializedCapacity: text.count) { place in
            place.baseAddress!.initialize(from: text.baseAddress!, count: text.count)
            return text.count
        }
    }
}
