// What is said with JetStream: five requests in JSON on subjects, and their answers.
//
// NATS ADR-8 and ADR-13 have the forms; nats-server 2.9.10 and 2.15 answer these alike. Members
// that an answer has beyond ours are ignored. Consumers are pulled, without acknowledgement, and
// kept in memory: a reader's place is its cursor alone.

package struct JetStreamRequest: Hashable, Sendable {
    package var subject: String
    /// JSON, or nothing.
    package var payload: [UInt8]
}

/// Why the server refused a request.
package struct JetStreamError: Error, Hashable, Sendable {
    /// The status, as in HTTP.
    package var code: Int64
    /// What exactly, in JetStream's numbers; 0 if it does not say.
    package var detail: Int64
    /// One line from the server, at most 256 bytes without control characters.
    package var text: String

    package var isStreamMissing: Bool { detail == 10059 }
}

package struct JetStreamInfo: Hashable, Sendable {
    /// The text of the moment when it was made, which names this life of the stream.
    package var created: String
    /// The sequence of the first message that it keeps.
    package var first: UInt64
    /// The sequence of the newest message, kept or not; 0 if it never had one.
    package var last: UInt64
    /// How long it keeps a message, in milliseconds; `nil`: for ever.
    package var ageMax: UInt64?
    /// What of its configuration would break a promise of the link, and what to change.
    package var fault: String?
}

/// From where a consumer reads.
package enum ConsumerStart: Hashable, Sendable {
    /// The message with this sequence, or the first one after it.
    case sequence(UInt64)
    /// The first message that the stream keeps.
    case all
    /// The newest whole of each form and host.
    case wholes
}

package struct JetStreamConsumer: Hashable, Sendable {
    package var name: String
    /// How many messages it will deliver, as of now.
    package var pending: UInt64
}

/// What the stream says about a message that it delivers, in the message's reply subject.
package struct DeliveryPlace: Hashable, Sendable {
    package var stream: String
    package var consumer: String
    package var sequence: UInt64
    /// The number of this delivery of the consumer, from 1 without gaps.
    package var delivery: UInt64
    /// When the stream took it, in nanoseconds since 1970.
    package var nanoseconds: Int64
    /// How many messages are to come after it.
    package var pending: UInt64
}

extension DeliveryPlace {
    /// Reads `$JS.ACK.STREAM.CONSUMER.TRIES.SEQUENCE.DELIVERY.TIME.PENDING`, or the form of ADR-15,
    /// which has a domain and an account before the stream.
    package init?(reply: String) {
        let tokens = reply.fields(separatedBy: ".")
        guard tokens.count == 9 || tokens.count >= 11, tokens[0] == "$JS", tokens[1] == "ACK"
        else { return nil }
        let fields = tokens[(tokens.count == 9 ? 2 : 4)...].prefix(7).map(String.init)
        guard let sequence = UInt64(fields[3]), let delivery = UInt64(fields[4]),
            let nanoseconds = Int64(fields[5]), let pending = UInt64(fields[6])
        else { return nil }
        self.init(
            stream: fields[0], consumer: fields[1], sequence: sequence, delivery: delivery,
            nanoseconds: nanoseconds, pending: pending)
    }
}

/// How a pull ended, or why nothing was delivered: a message without content.
package enum PullStatus: Hashable, Sendable {
    /// Nothing more came in the time of the pull (404, 408).
    case expired
    /// The next message is larger than the pull allows (409).
    case tooLarge
    /// The consumer is gone, nobody answers the subject, or the server stops (409, 503).
    case gone
    /// Nothing to do (100).
    case heartbeat

    /// The status of a message with these headers; `nil` for one with content.
    package init?(_ headers: [LinkHeader]) {
        func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        switch value("Status") {
        case nil: return nil
        case "404", "408": self = .expired
        case "100": self = .heartbeat
        case "409" where value("Description")?.hasPrefix("Message Size Exceeds") == true:
            self = .tooLarge
        default: self = .gone
        }
    }
}

/// The requests and their answers.
package enum JetStreamTalk {
    /// How long a pull waits for messages, in seconds.
    static let pullSeconds: Int64 = 10
    /// How long the server keeps a consumer that nobody pulls, in seconds.
    static let consumerSeconds: Int64 = 60
    static let pullMessagesMax = 256
    /// The most wholes of a pull, which has no bound in bytes.
    static let pullWholesMax = 16
    static let pullBytesMax: Int64 = 1 << 20
    private static let nanoseconds: Int64 = 1_000_000_000
    /// How long our own stream keeps a message, in milliseconds: 7 days.
    static let ageMax: Int64 = 7 * 86_400_000
    /// The least age with which a link works, in milliseconds: an hour.
    static let ageMin: Int64 = 3_600_000

    // MARK: Requests

    /// Where the requests go of the JetStream domain of a site; empty: of the server's own.
    package static func prefix(of site: String) -> String {
        site.isEmpty ? "$JS.API" : "$JS.\(site).API"
    }

    /// Asks for the state of the fleet's stream.
    package static func info(fleet: String, site: String = "") -> JetStreamRequest {
        request("STREAM.INFO", fleet, site, "", nil)
    }

    package static func create(fleet: String, site: String = "") -> JetStreamRequest {
        request(
            "STREAM.CREATE", fleet, site, "",
            [
                "name": .string(LinkSubject.stream(of: fleet)),
                "subjects": .array(LinkSubject.kept(by: fleet).map { .string($0) }),
                "retention": "limits", "discard": "old", "storage": "file",
                "max_age": .integer(ageMax * 1_000_000), "max_bytes": .integer(1 << 30),
                "max_consumers": -1, "max_msgs": -1, "max_msg_size": -1,
                "duplicate_window": .integer(120 * nanoseconds),
                "deny_delete": true, "deny_purge": true, "num_replicas": 1,
            ])
    }

    package static func consume(
        fleet: String, site: String = "", from start: ConsumerStart
    ) -> JetStreamRequest {
        var members: [(String, JSON)] = [
            ("ack_policy", "none"), ("replay_policy", "instant"), ("mem_storage", true),
            ("num_replicas", 1), ("inactive_threshold", .integer(consumerSeconds * nanoseconds)),
        ]
        switch start {
        case .sequence(let sequence):
            members.append(("deliver_policy", "by_start_sequence"))
            members.append(("opt_start_seq", .integer(sequence)))
        case .all:
            members.append(("deliver_policy", "all"))
        case .wholes:
            members.append(("deliver_policy", "last_per_subject"))
            members.append(("filter_subject", .string(LinkSubject.wholes(of: fleet))))
        }
        return request(
            "CONSUMER.CREATE", fleet, site, "",
            [
                "stream_name": .string(LinkSubject.stream(of: fleet)),
                "config": .object(JSONObject(members)),
            ])
    }

    /// Pulls messages.
    ///
    /// - Parameter ofAnySize: whether messages may be larger than a pull may bring.
    package static func next(
        fleet: String, site: String = "", consumer: String, messages: Int,
        ofAnySize: Bool = false
    ) -> JetStreamRequest {
        var members: [(String, JSON)] = [
            ("batch", .integer(messages)),
            ("expires", .integer(pullSeconds * nanoseconds)),
        ]
        if !ofAnySize { members.append(("max_bytes", .integer(pullBytesMax))) }
        return request(
            "CONSUMER.MSG.NEXT", fleet, site, ".\(consumer)", .object(JSONObject(members)))
    }

    private static func request(
        _ name: String, _ fleet: String, _ site: String, _ rest: String, _ payload: JSON?
    ) -> JetStreamRequest {
        JetStreamRequest(
            subject: "\(prefix(of: site)).\(name).\(LinkSubject.stream(of: fleet))\(rest)",
            payload: payload?.encoded ?? [])
    }

    // MARK: Answers

    /// An answer, or the server's refusal of the request.
    package typealias Answer<Value> = Result<Value, JetStreamError>

    package static func infoAnswer(
        _ bytes: [UInt8], fleet: String
    ) throws(DecodeError) -> Answer<JetStreamInfo> {
        try answer(bytes) { reader throws(DecodeError) in
            let state = try WireReader(try reader.value("state"), "answer.state")
            let config = try WireReader(try reader.value("config"), "answer.config")
            let age = try config.integer("max_age") / 1_000_000
            return JetStreamInfo(
                created: try reader.string("created").cut(toBytes: 64),
                first: try state.exactly("first_seq"), last: try state.exactly("last_seq"),
                ageMax: age > 0 ? UInt64(age) : nil,
                fault: try fault(of: config, fleet: fleet, age: age))
        }
    }

    package static func consumerAnswer(
        _ bytes: [UInt8]
    ) throws(DecodeError) -> Answer<JetStreamConsumer> {
        try answer(bytes) { reader throws(DecodeError) in
            let name = try reader.string("name")
            // The name becomes a token of a subject.
            guard LinkSubject.isName(name) else { throw reader.mistyped("name", "a name") }
            return JetStreamConsumer(name: name, pending: try reader.exactly("num_pending"))
        }
    }

    /// The answer to a message that was published: its sequence, and the domain of the stream.
    package static func published(
        _ bytes: [UInt8], fleet: String
    ) throws(DecodeError) -> Answer<(sequence: UInt64, domain: String)> {
        try answer(bytes) { reader throws(DecodeError) in
            guard try reader.string("stream") == LinkSubject.stream(of: fleet) else {
                throw reader.mistyped("stream", "the stream of this fleet")
            }
            return (try reader.exactly("seq"), reader["domain"]?.stringValue ?? "")
        }
    }

    private static func answer<Value>(
        _ bytes: [UInt8], _ read: (WireReader) throws(DecodeError) -> Value
    ) throws(DecodeError) -> Answer<Value> {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw .json(error)
        }
        let reader = try WireReader(json, "answer")
        guard let refused = reader["error"] else { return .success(try read(reader)) }
        let error = try WireReader(refused, "answer.error")
        return .failure(
            JetStreamError(
                code: try error.integer("code"), detail: error["err_code"]?.integerValue ?? 0,
                text: (error["description"]?.stringValue ?? "").cut(toBytes: 256)
                    .escapedForDisplay()))
    }

    /// What would break a promise, and how to repair it.
    private static func fault(
        of config: WireReader, fleet: String, age: Int64
    ) throws(DecodeError) -> String? {
        let stream = LinkSubject.stream(of: fleet)
        func change(_ name: StaticString, _ value: String) -> String {
            "the stream \(stream) has another \(name); set it to \(value), or delete the stream"
        }
        let fixed: [(name: StaticString, value: String)] = [
            ("retention", "limits"), ("discard", "old"), ("storage", "file"),
        ]
        for (name, value) in fixed {
            if try config.string(name) != value { return change(name, value) }
        }
        let kept = LinkSubject.kept(by: fleet)
        guard Set(try config.strings("subjects")) == Set(kept) else {
            return change("list of subjects", kept.joined(separator: ", "))
        }
        for name: StaticString in ["max_msgs", "max_msgs_per_subject"]
        where (config[name]?.integerValue ?? -1) > 0 {
            return change(name, "-1")
        }
        let sizeMax = config["max_msg_size"]?.integerValue ?? -1
        if sizeMax > 0, sizeMax < LinkMessage.payloadMax { return change("max_msg_size", "-1") }
        for name: StaticString in ["no_ack", "sealed"]
        where config[name]?.boolValue == true {
            return change(name, "false")
        }
        return age > 0 && age < ageMin ? change("max_age", "an hour or more") : nil
    }
}
