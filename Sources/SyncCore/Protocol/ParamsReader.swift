/// An error in the params of a request with its path. It becomes a `WireError` when the whole path
/// is known.
struct ParamsFault: Error {
    var path: String
    var problem: Problem

    enum Problem {
        /// Missing, of the wrong type, or unknown: `invalidParams`, with what was expected.
        case shape(String, expected: String?)
        /// A number that cannot be represented: `invalidValue`.
        case outOfBounds
        /// Too many or too large: `limit`, with the name and value of the limit.
        case limit(String, max: Int)
    }

    init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// A value of the wrong type or size.
    static func expected(_ expected: String, at path: String) -> ParamsFault {
        ParamsFault(path, .shape("should be \(expected)", expected: expected))
    }

    /// The same error with the path of the enclosing object.
    func inside(_ parent: String) -> ParamsFault {
        let joined =
            path.isEmpty ? parent : path.hasPrefix("[") ? parent + path : parent + "." + path
        return ParamsFault(joined, problem)
    }

    var wireError: WireError {
        let place = path.isEmpty ? "params" : path
        switch problem {
        case .shape(let message, let expected):
            return WireError(
                .invalidParams, "\(place) \(message)", path: place, expected: expected)
        case .outOfBounds:
            let expected = JSONError.Reason.boundsInWords
            return WireError(
                .invalidValue, "\(place) should be \(expected)", path: place, expected: expected)
        case .limit(let name, let max):
            return .limit(
                name, max: max, "\(place) is over the limit \(name) of \(max)", path: place)
        }
    }
}

extension JSONError.Reason {
    /// The numbers that can be represented, in words.
    static var boundsInWords: String {
        "an integer of 64 bits, or a decimal of at most 17 significant digits with an exponent "
            + "within ±15"
    }
}

/// Reads the members of an object from a client, each once, by name. At the end it rejects members
/// that were not read.
///
/// No method has more than 64 members, the bits of the mask. An object with more has an unknown one
/// among the first 64.
struct ParamsReader {
    private let object: JSONNode?
    private var taken: UInt64 = 0

    /// A reader of an object; without members if params were omitted.
    init(_ node: JSONNode?) throws(ParamsFault) {
        if let node, node.kind != .object {
            throw .expected("an object", at: "")
        }
        object = node
    }

    /// The member with this name, which is marked as known.
    @inline(__always)
    mutating func take(_ name: StaticString) -> JSONNode? {
        guard let object else { return nil }
        var place: UInt64 = 1
        for (key, value) in object.members {
            if key.matches(name) {
                taken |= place
                return value
            }
            place <<= 1
        }
        return nil
    }

    var hasTakenAll: Bool { object.map { $0.count == taken.nonzeroBitCount } ?? true }

    /// Rejects members that were not read. The names come from the peer, so they are shortened.
    func refuseUnknown() throws(ParamsFault) {
        guard let object, object.count != taken.nonzeroBitCount else { return }
        var place: UInt64 = 1
        for (key, _) in object.members {
            if taken & place == 0 {
                let name = String(key.string?.prefix(64) ?? "")
                throw ParamsFault(name, .shape("is not a member known here", expected: nil))
            }
            place <<= 1
        }
    }

    // MARK: - Members by type; an optional member that is missing is nil

    private func missing(_ name: StaticString, _ expected: String) -> ParamsFault {
        ParamsFault("\(name)", .shape("is missing", expected: expected))
    }

    mutating func optionalString(
        _ name: StaticString, bytesMax: Int
    ) throws(ParamsFault) -> String? {
        guard let node = take(name) else { return nil }
        guard let text = node.string, text.utf8.count <= bytesMax else {
            throw .expected("a string of at most \(bytesMax) bytes", at: "\(name)")
        }
        return text
    }

    mutating func string(_ name: StaticString, bytesMax: Int) throws(ParamsFault) -> String {
        guard let text = try optionalString(name, bytesMax: bytesMax) else {
            throw missing(name, "a string of at most \(bytesMax) bytes")
        }
        return text
    }

    /// A string that is shown to other users, so it must not contain control characters.
    mutating func optionalLabel(
        _ name: StaticString, bytesMax: Int
    ) throws(ParamsFault) -> String? {
        let text = try optionalString(name, bytesMax: bytesMax)
        if let text, !text.isFreeOfControls() {
            throw .expected("a string without control characters", at: "\(name)")
        }
        return text
    }

    /// The name of a form or field.
    mutating func name(_ name: StaticString, _ bounds: RequestBounds) throws(ParamsFault) -> String
    {
        try string(name, bytesMax: bounds.nameBytesMax)
    }

    mutating func optionalName(
        _ name: StaticString, _ bounds: RequestBounds
    ) throws(ParamsFault) -> String? {
        try optionalString(name, bytesMax: bounds.nameBytesMax)
    }

    /// A context token. The empty string is valid.
    mutating func context(_ bounds: RequestBounds) throws(ParamsFault) -> String? {
        guard let node = take("context") else { return nil }
        guard node.kind == .string else { throw .expected("a string", at: "context") }
        // A longer text may become short when escapes are resolved, but our tokens have no escapes.
        guard node.stringBytesMax <= bounds.contextBytesMax else {
            throw ParamsFault("context", .limit("contextBytesMax", max: bounds.contextBytesMax))
        }
        return node.string
    }

    /// An idempotency key. An empty one is rejected, because a client that forgot to set it would
    /// have all its requests treated as repetitions of the first.
    mutating func idempotencyKey(_ bounds: RequestBounds) throws(ParamsFault) -> String? {
        let key = try optionalString("idempotencyKey", bytesMax: bounds.keyBytesMax)
        guard key != "" else {
            throw .expected(
                "a string of 1 to \(bounds.keyBytesMax) bytes", at: "idempotencyKey")
        }
        return key
    }

    /// The message that says why something is changed: one line, which others see.
    mutating func message(_ bounds: RequestBounds) throws(ParamsFault) -> String? {
        if hasTakenAll { return nil }
        guard let node = take("message") else { return nil }
        let expected =
            "one line of 1 to \(bounds.messageCharactersMax) characters and at most "
            + "\(bounds.messageBytesMax) bytes"
        guard let text = node.string else { throw .expected(expected, at: "message") }
        func fault(_ why: String) -> ParamsFault {
            ParamsFault("message", .shape("\(why); write \(expected)", expected: expected))
        }
        guard text.utf8.count <= bounds.messageBytesMax else {
            throw fault("has \(text.utf8.count) bytes")
        }
        guard text.count <= bounds.messageCharactersMax else {
            throw fault("has \(text.count) characters")
        }
        guard !text.unicodeScalars.contains(where: SafeText.isHarmful) else {
            throw fault("has a control or direction character")
        }
        guard text.contains(where: { !$0.isWhitespace }) else { throw fault("is empty") }
        return text
    }

    mutating func optionalBool(_ name: StaticString) throws(ParamsFault) -> Bool? {
        guard let node = take(name) else { return nil }
        guard let flag = node.bool else { throw .expected("true or false", at: "\(name)") }
        return flag
    }

    /// A flag: `true` is the only value of the member.
    mutating func flag(_ name: StaticString) throws(ParamsFault) -> Bool {
        guard let node = take(name) else { return false }
        guard node.bool == true else { throw .expected("true", at: "\(name)") }
        return true
    }

    mutating func optionalInteger(
        _ name: StaticString, in range: ClosedRange<Int64>
    ) throws(ParamsFault) -> Int64? {
        guard let node = take(name) else { return nil }
        guard let value = node.integer, range.contains(value) else {
            let expected =
                range.upperBound == .max
                ? range.lowerBound == .min ? "an integer" : "an integer from \(range.lowerBound)"
                : "an integer from \(range.lowerBound) to \(range.upperBound)"
            throw .expected(expected, at: "\(name)")
        }
        return value
    }

    mutating func integer(
        _ name: StaticString, in range: ClosedRange<Int64>
    ) throws(ParamsFault) -> Int64 {
        guard let value = try optionalInteger(name, in: range) else {
            throw missing(name, "an integer")
        }
        return value
    }

    /// One of an enumeration's raw values.
    mutating func optionalChoice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: StaticString, as: Choice.Type
    ) throws(ParamsFault) -> Choice? {
        guard let node = take(name) else { return nil }
        guard node.stringBytesMax <= 64, let text = node.string,
            let choice = Choice(rawValue: text)
        else {
            let choices = Choice.allCases.map { "\"\($0.rawValue)\"" }
            throw .expected(Wording.oneOf(choices), at: "\(name)")
        }
        return choice
    }

    mutating func optionalJSON(_ name: StaticString) throws(ParamsFault) -> JSON? {
        guard let node = take(name) else { return nil }
        do {
            return try node.json()
        } catch {
            throw ParamsFault("\(name)", .outOfBounds)
        }
    }

    mutating func array(_ name: StaticString) throws(ParamsFault) -> JSONNode {
        guard let node = take(name) else { throw missing(name, "an array") }
        guard node.kind == .array else { throw .expected("an array", at: "\(name)") }
        return node
    }

    /// The elements of an array as trees.
    mutating func values(
        _ name: StaticString, countMax: Int? = nil, limit: String = ""
    ) throws(ParamsFault) -> [JSON] {
        let array = try array(name)
        if let countMax, array.count > countMax {
            throw ParamsFault("\(name)", .limit(limit, max: countMax))
        }
        var values: [JSON] = []
        values.reserveCapacity(array.count)
        for element in array.elements {
            do {
                values.append(try element.json())
            } catch {
                throw ParamsFault("\(name)[\(values.count)]", .outOfBounds)
            }
        }
        return values
    }

    /// The names or globs of an array; `nil` if it is missing.
    mutating func optionalNames(
        _ name: StaticString, countMax: Int, limit: String, _ bounds: RequestBounds
    ) throws(ParamsFault) -> [String]? {
        guard let node = take(name) else { return nil }
        guard node.kind == .array else { throw .expected("an array of strings", at: "\(name)") }
        guard node.count <= countMax else {
            throw ParamsFault("\(name)", .limit(limit, max: countMax))
        }
        var names: [String] = []
        names.reserveCapacity(node.count)
        for element in node.elements {
            guard let text = element.string, text.utf8.count <= bounds.nameBytesMax else {
                throw .expected(
                    "a string of at most \(bounds.nameBytesMax) bytes",
                    at: "\(name)[\(names.count)]")
            }
            names.append(text)
        }
        return names
    }
}
