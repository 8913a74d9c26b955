// The headers of a message between hosts.
//
// Invariants: headers have one spelling, so that each is bound to its body (associated data). What
// a receiver decides by headers alone is to skip a message that it already knows.

package struct LinkHeader: Hashable, Sendable {
    /// The name; compared as bytes.
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct LinkHeaders: Hashable, Sendable {
    /// A place among the parts of one message, counted from 1.
    package struct Part: Hashable, Sendable {
        package let index: Int
        package let count: Int

        /// The whole message in one part.
        package static let only = Part(index: 1, count: 1)
    }

    /// The version of messages that this daemon writes, and the highest that it reads.
    package static let version: UInt64 = 1
    /// The most parts of a message: one of `wholeBytesMax` at the smallest payload of a server.
    package static let partsMax = 16_384

    /// `Ps-V`. A later version keeps these headers and the sealing, so that an older host can tell
    /// that a message of it is authentic before it waits for an upgrade.
    package var version = Self.version
    /// `Ps-R`: the replica that publishes.
    package var replica: ReplicaID
    /// `Ps-N`: the counters of the dots in a bundle; `nil`, written `0-0`, for anything else.
    package var counters: ClosedRange<UInt64>?
    /// `Ps-Start`: 64 random bits of this start of the daemon.
    package var run: UInt64
    /// 64 random bits of this message, the same in all of its parts, and of a message that is sent
    /// again. The server drops a message with the `Nats-Msg-Id` of one before, so the id must
    /// belong to the content: counters alone are the same in two forms, and in a bundle that grew.
    package var number: UInt64
    /// `Ps-Part`.
    package var part: Part
    /// `Ps-K`: the id of the fleet key.
    package var key: UInt64

    package init(
        replica: ReplicaID, counters: ClosedRange<UInt64>?, run: UInt64, number: UInt64,
        part: Part = .only, key: UInt64
    ) {
        self.replica = replica
        self.counters = counters
        self.run = run
        self.number = number
        self.part = part
        self.key = key
    }

    private var bounds: (UInt64, UInt64) {
        counters.map { ($0.lowerBound, $0.upperBound) } ?? (0, 0)
    }

    /// The headers in the order of the associated data.
    package var wire: [LinkHeader] {
        Name.allCases.map { name in
            let value = String(unsafeUninitializedCapacity: Self.valueBytesMax) { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                var text = TextPlace(start)
                write(name, to: &text)
                return text.place - start
            }
            return LinkHeader(name.text, value)
        }
    }

    /// Appends the values in that order.
    func writeValues(to writer: inout CausalityWriter) {
        for name in Name.allCases {
            writer.text(bytesMax: Self.valueBytesMax) { write(name, to: &$0) }
        }
    }

    /// More bytes than a value has, also with those behind it that `TextPlace` may change.
    private static let valueBytesMax = 128

    private func write(_ name: Name, to text: inout TextPlace) {
        let (first, last) = bounds
        switch name {
        case .version: text.put(decimal: version)
        case .replica: replica.write(to: &text)
        case .counters:
            text.put(decimal: first)
            text.put(UInt8(ascii: "-"))
            text.put(decimal: last)
        case .run: text.put(word: run)
        case .part:
            text.put(decimal: UInt64(part.index))
            text.put(UInt8(ascii: "/"))
            text.put(decimal: UInt64(part.count))
        case .key: text.put(word: key)
        case .messageID:
            replica.write(to: &text)
            text.put(UInt8(ascii: ":"))
            text.put(decimal: first)
            text.put(UInt8(ascii: ":"))
            text.put(word: number)
            text.put(UInt8(ascii: ":"))
            text.put(decimal: UInt64(part.index))
        }
    }

    /// Reads headers. Those of others, such as what a server adds, are left out.
    ///
    /// - Throws: `header` for anything that `wire` would not have written.
    package init(_ headers: [LinkHeader]) throws(LinkRefusal) {
        var values: [String?] = Array(repeating: nil, count: Name.allCases.count)
        for header in headers {
            if let place = Name.texts.firstIndex(of: header.name) {
                guard values[place] == nil else { throw .header(header.name) }
                values[place] = header.value
            } else if header.name.hasPrefix("Ps-") {
                throw .header("Ps-")
            }
        }
        func read<Value>(
            _ name: Name, _ parse: (inout TokenScanner) throws(ContextTokenError) -> Value
        ) throws(LinkRefusal) -> Value {
            guard let value = values[name.rawValue] else { throw .header(name.text) }
            var scanner = TokenScanner(value.utf8)
            guard let parsed = try? parse(&scanner), scanner.isAtEnd else {
                throw .header(name.text)
            }
            return parsed
        }
        func pair(
            _ scanner: inout TokenScanner, _ separator: UInt8
        ) throws(ContextTokenError) -> (UInt64, UInt64) {
            let first = try scanner.number()
            try scanner.expect(separator, "a separator")
            return (first, try scanner.number())
        }
        version = try read(.version) { scanner throws(ContextTokenError) in
            try scanner.number()
        }
        guard version > 0 else { throw .header(Name.version.text) }
        replica = try read(.replica) { scanner throws(ContextTokenError) in
            try scanner.replica()
        }
        let bounds = try read(.counters) { scanner throws(ContextTokenError) in
            try pair(&scanner, UInt8(ascii: "-"))
        }
        guard bounds.0 <= bounds.1, bounds.0 > 0 || bounds.1 == 0 else {
            throw .header(Name.counters.text)
        }
        counters = bounds.0 > 0 ? bounds.0...bounds.1 : nil
        let parts = try read(.part) { scanner throws(ContextTokenError) in
            try pair(&scanner, UInt8(ascii: "/"))
        }
        guard (1...UInt64(Self.partsMax)).contains(parts.1), (1...parts.1).contains(parts.0) else {
            throw .header(Name.part.text)
        }
        part = Part(index: Int(parts.0), count: Int(parts.1))
        run = try read(.run) { scanner throws(ContextTokenError) in try scanner.word() }
        key = try read(.key) { scanner throws(ContextTokenError) in try scanner.word() }
        let id = try read(.messageID) { scanner throws(ContextTokenError) in
            let replica = try scanner.replica()
            try scanner.expect(UInt8(ascii: ":"), "`:`")
            let first = try scanner.number()
            try scanner.expect(UInt8(ascii: ":"), "`:`")
            let number = try scanner.word()
            try scanner.expect(UInt8(ascii: ":"), "`:`")
            return (replica, first, number, try scanner.number())
        }
        guard id.0 == replica, id.1 == bounds.0, id.3 == parts.0 else {
            throw .header(Name.messageID.text)
        }
        number = id.2
    }

    /// The headers, in the order of the associated data.
    private enum Name: Int, CaseIterable {
        case version, replica, counters, run, part, key
        /// The server's own name.
        case messageID

        /// None begins with another one: cnats 3.4.1 takes the one for the other.
        static let texts = ["Ps-V", "Ps-R", "Ps-N", "Ps-Start", "Ps-Part", "Ps-K", "Nats-Msg-Id"]

        var text: String { Self.texts[rawValue] }
    }
}

/// Why a message of another host is not taken.
package enum LinkRefusal: Error, Hashable, Sendable {
    /// The subject is none of the fleet's.
    case subject(String)
    /// A header is missing, occurs twice, or is malformed.
    case header(String)
    /// The message, or an item in it, is of a version that this daemon cannot read.
    case newerVersion(UInt64)
    /// It is sealed with a key that this host does not have.
    case otherKey(UInt64)
    /// It was changed, or published under another subject than it was sealed for.
    case notAuthentic
    case malformed(CausalityDecodeError)
    case tooLarge
}

extension LinkRefusal {
    /// The case, for counters.
    package var name: String {
        switch self {
        case .subject: "subject"
        case .header: "header"
        case .newerVersion: "newerVersion"
        case .otherKey: "otherKey"
        case .notAuthentic: "notAuthentic"
        case .malformed: "malformed"
        case .tooLarge: "tooLarge"
        }
    }
}

extension LinkRefusal: CustomStringConvertible {
    /// One line for a person.
    package var description: String {
        switch self {
        case .subject(let subject): "\(Self.shown(subject)) is not a subject of this fleet"
        case .header(let name): "the header \(Self.shown(name)) is missing or malformed"
        case .newerVersion(let version):
            "it has version \(version), and this daemon reads up to \(LinkHeaders.version); "
                + "upgrade it"
        case .otherKey(let key):
            "it is sealed with the fleet key \(key.hexDigits), which this host does not have"
        case .notAuthentic: "it was changed on its way, or it is another host's message"
        case .malformed(let error): "\(error)"
        case .tooLarge: "it is larger than a message may be"
        }
    }

    private static func shown(_ text: String) -> String {
        text.cut(toBytes: 128).escapedForDisplay()
    }
}

extension UInt64 {
    /// Sixteen lower hexadecimal digits.
    package var hexDigits: String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            var text = TextPlace(start)
            text.put(word: self)
            return text.place - start
        }
    }
}

extension String {
    /// The parts between an ASCII character, empty ones too. It compares bytes, as the server does.
    func fields(separatedBy separator: Unicode.Scalar) -> [Substring] {
        var fields: [Substring] = []
        fields.reserveCapacity(9)
        var rest = utf8[...]
        while let end = rest.firstIndex(of: UInt8(ascii: separator)) {
            fields.append(Substring(rest[..<end]))
            rest = rest[rest.index(after: end)...]
        }
        fields.append(Substring(rest))
        return fields
    }
}
