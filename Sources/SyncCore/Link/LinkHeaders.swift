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
        let (first, last) = bounds
        return [
            LinkHeader(Name.version, "\(version)"),
            LinkHeader(Name.replica, "\(replica)"),
            LinkHeader(Name.counters, "\(first)-\(last)"),
            LinkHeader(Name.run, run.hexDigits),
            LinkHeader(Name.part, "\(part.index)/\(part.count)"),
            LinkHeader(Name.key, key.hexDigits),
            LinkHeader(
                Name.messageID, "\(replica):\(first):\(number.hexDigits):\(part.index)"),
        ]
    }

    /// Reads headers. Those of others, such as what a server adds, are left out.
    ///
    /// - Throws: `header` for anything that `wire` would not have written.
    package init(_ headers: [LinkHeader]) throws(LinkRefusal) {
        var values: [String: String] = [:]
        for header in headers
        where header.name.hasPrefix("Ps-") || header.name == Name.messageID {
            guard values.updateValue(header.value, forKey: header.name) == nil else {
                throw .header(header.name)
            }
        }
        let version = try Self.read(Name.version, values, as: Self.number)
        guard version > 0 else { throw .header(Name.version) }
        let bounds = try Self.read(Name.counters, values) { Self.pair($0, separator: "-") }
        let parts = try Self.read(Name.part, values) { Self.pair($0, separator: "/") }
        guard (1...UInt64(Self.partsMax)).contains(parts.1), (1...parts.1).contains(parts.0) else {
            throw .header(Name.part)
        }
        guard bounds.0 <= bounds.1, bounds.0 > 0 || bounds.1 == 0 else {
            throw .header(Name.counters)
        }
        let number = try Self.read(Name.messageID, values) { text -> UInt64? in
            let fields = text.fields(separatedBy: ":")
            return fields.count == 4 ? UInt64(hexDigits: fields[2]) : nil
        }
        self.init(
            replica: try Self.read(Name.replica, values) { ReplicaID($0) },
            counters: bounds.0 > 0 ? bounds.0...bounds.1 : nil,
            run: try Self.read(Name.run, values) { UInt64(hexDigits: $0[...]) },
            number: number, part: Part(index: Int(parts.0), count: Int(parts.1)),
            key: try Self.read(Name.key, values) { UInt64(hexDigits: $0[...]) })
        self.version = version
        let spelled = wire
        guard values.count == spelled.count else { throw .header("Ps-") }
        for header in spelled where values[header.name]?.isSameBytes(as: header.value) != true {
            throw .header(header.name)
        }
    }

    /// No name begins with another one: cnats 3.4.1 takes the one for the other.
    private enum Name {
        static let version = "Ps-V"
        static let replica = "Ps-R"
        static let counters = "Ps-N"
        static let run = "Ps-Start"
        static let part = "Ps-Part"
        static let key = "Ps-K"
        /// The server's own name.
        static let messageID = "Nats-Msg-Id"
    }

    private static func read<Value>(
        _ name: String, _ values: [String: String], as parse: (String) -> Value?
    ) throws(LinkRefusal) -> Value {
        guard let value = values[name].flatMap(parse) else { throw .header(name) }
        return value
    }

    private static func number(_ text: String) -> UInt64? { UInt64(text) }

    private static func pair(_ text: String, separator: Unicode.Scalar) -> (UInt64, UInt64)? {
        let fields = text.fields(separatedBy: separator)
        guard fields.count == 2, let first = UInt64(fields[0]), let last = UInt64(fields[1]) else {
            return nil
        }
        return (first, last)
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
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The number with exactly these sixteen digits.
    init?(hexDigits text: Substring) {
        guard text.utf8.count == 16, let value = UInt64(text, radix: 16),
            // Neither a sign nor a capital letter.
            text.utf8.allSatisfy({ $0 >= UInt8(ascii: "a") || $0 & 0xf0 == 0x30 })
        else { return nil }
        self = value
    }
}

extension String {
    /// The parts between an ASCII character, empty ones too. It compares bytes, as the server does.
    func fields(separatedBy separator: Unicode.Scalar) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }
}
