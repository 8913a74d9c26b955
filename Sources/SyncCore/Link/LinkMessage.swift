// A message between hosts: items, sealed under the fleet key and bound to its subject and headers.
//
// The body of a part is `1 ‖ nonce ‖ XChaCha20-Poly1305 ‖ tag`, the format of a sealed secret. All
// parts of a message opened and joined are the codec's version and the items: a kind, a length and
// bytes each. The parts are pieces of bytes, not of a form: a piece of a form under the context of
// all of it would remove the rest.
//
// Invariants: what a server changed, moved to another subject or made up is not opened. Decoding
// gives items or throws, and its memory is proportional to the number of bytes.

/// What seals and opens messages: functions of the shell, which has the key.
package struct LinkKeys: Sendable {
    /// The id of the key that seals.
    package var id: UInt64
    /// The ids of the keys that open; two while the fleet changes its key.
    package var opening: [UInt64]
    /// Seals; `nil` if that fails. `associated` is authenticated with it.
    package var seal: @Sendable (_ plaintext: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// Opens with the key of that id; `nil` if the bytes are not what `seal` gave.
    package var open:
        @Sendable (_ key: UInt64, _ sealed: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// A digest of bytes, the same in every run on this host.
    package var digest: @Sendable (_ bytes: [UInt8]) -> UInt64

    package init(
        id: UInt64, opening: [UInt64],
        seal: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]?,
        open: @escaping @Sendable (UInt64, [UInt8], [UInt8]) -> [UInt8]?,
        digest: @escaping @Sendable ([UInt8]) -> UInt64
    ) {
        self.id = id
        self.opening = opening
        self.seal = seal
        self.open = open
        self.digest = digest
    }
}

/// One item of a message. The bytes are the engine's.
package struct LinkItem: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case transaction = 1
        /// The whole state of a form.
        case whole = 2
        /// A host is gone for ever.
        case retired = 4
        case beacon = 6
        /// Who has a form open.
        case presence = 7
        /// Behind a beacon: its daemon stops.
        case leaving = 128
        /// Nothing: the message of a test of the link.
        case test = 129
        /// What a host has under way in a form: see LinkWords.swift.
        case underWay = 130
        case verb = 131
        case verbAnswer = 132
    }

    /// The first byte of items, and of what is authenticated with them.
    static let codecVersion: UInt8 = 1

    /// Kinds from here on may be skipped by a daemon that does not know them.
    static let skippable: UInt8 = 128

    package var kind: Kind
    package var bytes: [UInt8]

    package init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    package static func encode(_ items: [LinkItem]) -> [UInt8] {
        var writer = CausalityWriter()
        writer.byte(LinkItem.codecVersion)
        for item in items {
            writer.byte(item.kind.rawValue)
            writer.blob(item.bytes)
        }
        return writer.bytes
    }

    /// The items of a message, without those that may be skipped.
    package static func decode(_ bytes: [UInt8]) throws(LinkRefusal) -> [LinkItem] {
        var items: [LinkItem] = []
        do throws(CausalityDecodeError) {
            var reader = CausalityReader(bytes)
            let version = try reader.byte()
            guard version == LinkItem.codecVersion else {
                throw .unsupportedVersion(version)
            }
            repeat {
                let kind = try reader.byte()
                let content = try reader.blob()
                if let kind = Kind(rawValue: kind), kind != .test {
                    items.append(LinkItem(kind, content))
                } else if kind < skippable {
                    throw .unsupportedVersion(kind)
                }
            } while !reader.isAtEnd
        } catch {
            if case .unsupportedVersion(let version) = error {
                throw .newerVersion(UInt64(version))
            }
            throw .malformed(error)
        }
        return items
    }
}

/// A part of a message, sealed, as it is on the wire.
package struct LinkMessage: Hashable, Sendable {
    package var subject: LinkSubject
    package var headers: LinkHeaders
    package var body: [UInt8]

    /// A part as it arrived.
    package init(subject: LinkSubject, headers: LinkHeaders, body: [UInt8]) {
        self.subject = subject
        self.headers = headers
        self.body = body
    }

    /// The bytes of a payload that sealing and headers take at most.
    static let overheadMax = 512
    /// The most bytes of headers and body in one message: a part is opened and sealed in well under
    /// a millisecond, and fits in a frame between daemon and bridge.
    package static let payloadMax = 256 << 10
    /// Bytes of the largest frame between daemon and bridge: the payload as base64, and the rest.
    static let frameBytesMax = 512 << 10
    /// The least payload of a server with which a link works, in bytes.
    package static let payloadMin = 1536

    /// A message in parts that a server takes.
    ///
    /// - Parameter payloadMax: bytes of headers and body that the server takes in one message, at
    ///   least `payloadMin`.
    /// - Returns: `nil` if the key cannot seal.
    package static func seal(
        _ content: [UInt8], as headers: LinkHeaders, to subject: LinkSubject, payloadMax: Int,
        with keys: LinkKeys
    ) -> [LinkMessage]? {
        let length = max(payloadMax, payloadMin) - overheadMax
        let count = max(1, (content.count + length - 1) / length)
        guard count <= LinkHeaders.partsMax else { return nil }
        var parts: [LinkMessage] = []
        for index in 0..<count {
            var headers = headers
            headers.part = LinkHeaders.Part(index: index + 1, count: count)
            headers.key = keys.id
            let piece = content[index * length..<min((index + 1) * length, content.count)]
            guard let body = keys.seal(Array(piece), associated(subject, headers)) else {
                return nil
            }
            parts.append(LinkMessage(subject: subject, headers: headers, body: body))
        }
        return parts
    }

    /// The piece of the content that is in this part.
    ///
    /// - Throws: `newerVersion` if the message is authentic and of one; otherwise why it is not
    ///   authentic.
    package func open(with keys: LinkKeys) throws(LinkRefusal) -> [UInt8] {
        guard keys.opening.contains(headers.key) else { throw .otherKey(headers.key) }
        guard let piece = keys.open(headers.key, body, Self.associated(subject, headers)) else {
            throw .notAuthentic
        }
        guard headers.version <= LinkHeaders.version else { throw .newerVersion(headers.version) }
        return piece
    }

    /// What is authenticated with the body: the fleet and the host are in the subject.
    private static func associated(_ subject: LinkSubject, _ headers: LinkHeaders) -> [UInt8] {
        var writer = CausalityWriter()
        writer.byte(LinkItem.codecVersion)
        writer.string(subject.text)
        headers.writeValues(to: &writer)
        return writer.bytes
    }
}
