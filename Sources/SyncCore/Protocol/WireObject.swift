// The objects of messages, alone and in lists: how they are written and read.

/// An object of a message: writes its members into an open object.
package protocol WireObject {
    func encodeMembers(into writer: inout JSONWriter)
}

extension WireObject {
    /// Writes the object.
    package func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        encodeMembers(into: &writer)
        writer.endObject()
    }
}

/// An object of a message that can be read; unknown members are ignored. The path is for errors.
package protocol WireReadable {
    init(decoding json: JSON, path: String) throws(DecodeError)
}

extension JSONWriter {
    /// A member with an object; nothing for `nil`.
    mutating func member(_ name: StaticString, _ object: (some WireObject)?) {
        guard let object else { return }
        key(name)
        object.encode(into: &self)
    }

    /// A member with an array of objects.
    mutating func member(_ name: StaticString, _ objects: [some WireObject]) {
        array(name, objects) { $1.encode(into: &$0) }
    }

    /// A member with an array; `body` writes each element.
    mutating func array<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements,
        _ body: (inout JSONWriter, Elements.Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }

    /// A member with an object whose members `body` writes.
    mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        beginObject()
        body(&self)
        endObject()
    }
}

extension WireReader {
    /// A member with an object; `nil` if it is missing.
    func inner<Object: WireReadable>(_ name: StaticString) throws(DecodeError) -> Object? {
        guard let json = self[name] else { return nil }
        return try Object(decoding: json, path: "\(path).\(name)")
    }

    /// A member with an object, which must be there.
    func existing<Object: WireReadable>(_ name: StaticString) throws(DecodeError) -> Object {
        try Object(decoding: try value(name), path: "\(path).\(name)")
    }

    /// A moment, which must be there.
    func existing(_ name: StaticString) throws(DecodeError) -> Timestamp {
        guard let moment = try moment(name) else {
            throw mistyped(name, "a moment of RFC 3339 in UTC")
        }
        return moment
    }

    /// A member with an array of objects.
    func objects<Object: WireReadable>(_ name: StaticString) throws(DecodeError) -> [Object] {
        try each(name) { json, path throws(DecodeError) in try Object(decoding: json, path: path) }
    }

    /// The elements of an array; none if it is missing.
    func list<Element>(
        _ name: StaticString, _ body: (JSON, String) throws(DecodeError) -> Element
    ) throws(DecodeError) -> [Element] {
        self[name] == nil ? [] : try each(name, body)
    }

    /// The objects of an array; none if it is missing.
    func list<Object: WireReadable>(_ name: StaticString) throws(DecodeError) -> [Object] {
        self[name] == nil ? [] : try objects(name)
    }
}
