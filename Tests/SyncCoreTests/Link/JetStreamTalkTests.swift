// What is said with JetStream: the bytes of nats-server 2.9.10 and of 2.15.

import Testing

@testable import SyncCore

@Suite("Link: JetStream")
struct JetStreamTalkTests {
    /// The configuration that nats-server 2.9.10 answers for the stream that we make.
    private static let config =
        #""name":"PS_ops","subjects":["ps.ops.*.d.*","ps.ops.*.s.*"],"retention":"limits","#
        + #""max_consumers":-1,"max_msgs":-1,"max_bytes":1073741824,"max_age":604800000000000,"#
        + #""max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"old","storage":"file","#
        + #""num_replicas":1,"duplicate_window":120000000000,"allow_direct":false,"#
        + #""mirror_direct":false,"sealed":false,"deny_delete":true,"deny_purge":true"#

    private func info(_ config: String = Self.config, state: String) throws -> JetStreamInfo {
        let text =
            #"{"type":"io.nats.jetstream.api.v1.stream_info_response","total":0,"config":{"#
            + config + #"},"created":"2026-11-24T09:13:56.73059291Z","state":{"# + state + "}}"
        return try JetStreamTalk.infoAnswer(Array(text.utf8), fleet: "ops").get()
    }

    @Test("a stream's state is read, empty or not, of old servers and new ones")
    func states() throws {
        let empty = try info(
            state: #""messages":0,"first_seq":0,"first_ts":"0001-01-01T00:00:00Z","last_seq":0"#)
        #expect(
            empty
                == JetStreamInfo(
                    created: "2026-11-24T09:13:56.73059291Z", first: 0, last: 0,
                    ageMax: 604_800_000))
        let newer = Self.config + #","compression":"none","metadata":{"_nats.ver":"2.15.1"}"#
        let full = try info(newer, state: #""first_seq":7,"last_seq":9,"num_subjects":2"#)
        #expect(full.first == 7 && full.last == 9 && full.fault == nil)
    }

    @Test(
        "a configuration that would break a promise says what to change",
        arguments: [
            (#""retention":"limits""#, #""retention":"workqueue""#, "retention"),
            (#""discard":"old""#, #""discard":"new""#, "discard"),
            (#""storage":"file""#, #""storage":"memory""#, "storage"),
            (#""ps.ops.*.s.*""#, #""ps.ops.>""#, "list of subjects"),
            (#""max_msgs_per_subject":-1"#, #""max_msgs_per_subject":1"#, "max_msgs_per_subject"),
            (#""max_msgs":-1"#, #""max_msgs":100"#, "max_msgs"),
            (#""max_msg_size":-1"#, #""max_msg_size":65536"#, "max_msg_size"),
            (#""sealed":false"#, #""sealed":true"#, "sealed"),
            (#""max_age":604800000000000"#, #""max_age":60000000000"#, "max_age"),
        ])
    func faults(_ old: String, _ new: String, _ name: String) throws {
        let changed = Self.config.replacing(old, with: new)
        let fault = try info(changed, state: #""first_seq":0,"last_seq":0"#).fault
        #expect(fault?.contains("another \(name); set it to") == true, "\(fault ?? "none")")
    }

    @Test("what an administrator may choose is accepted")
    func choices() throws {
        let changed = Self.config.replacing(#""num_replicas":1"#, with: #""num_replicas":3"#)
            .replacing(#""max_bytes":1073741824"#, with: #""max_bytes":-1"#)
            .replacing(#""max_age":604800000000000"#, with: #""max_age":0"#)
        let info = try info(changed, state: #""first_seq":0,"last_seq":0"#)
        #expect(info.fault == nil && info.ageMax == nil)
    }

    @Test("refusals and what is not an answer are told apart")
    func refusals() throws {
        let missing =
            #"{"type":"x","error":{"code":404,"err_code":10059,"description":"stream not found"}}"#
        guard
            case .failure(let error) = try JetStreamTalk.infoAnswer(
                Array(missing.utf8), fleet: "ops")
        else {
            Issue.record("a refusal was read as an answer")
            return
        }
        #expect(error.isStreamMissing && error.code == 404)
        for text in ["", "{", "[]", "{}", #"{"error":{}}"#, #"{"name":"a.b","num_pending":1}"#] {
            #expect(throws: DecodeError.self) {
                try JetStreamTalk.consumerAnswer(Array(text.utf8))
            }
        }
    }

    @Test("an acknowledgement is of this fleet's stream")
    func acknowledgements() throws {
        let twice = Array(#"{"stream":"PS_ops", "seq":12,"duplicate": true}"#.utf8)
        #expect(try JetStreamTalk.published(twice, fleet: "ops").get().sequence == 12)
        #expect(throws: DecodeError.self) {
            try JetStreamTalk.published(twice, fleet: "other")
        }
    }

    @Test("the place of a delivery is read from both forms of its reply subject")
    func places() {
        let place = DeliveryPlace(
            stream: "PS_ops", consumer: "khQq9h9Q", sequence: 41, delivery: 2,
            nanoseconds: 1_795_511_636_731_839_828, pending: 7)
        for reply in [
            "$JS.ACK.PS_ops.khQq9h9Q.1.41.2.1795511636731839828.7",
            "$JS.ACK._.Ab12.PS_ops.khQq9h9Q.1.41.2.1795511636731839828.7",
            "$JS.ACK.hub.Ab12.PS_ops.khQq9h9Q.1.41.2.1795511636731839828.7.x9",
        ] {
            #expect(DeliveryPlace(reply: reply) == place, "\(reply)")
        }
        for reply in ["", "$JS.ACK.PS_ops.c.1.x.2.3.4", "$JS.API.a.b.c.d.e.f.g", "_INBOX.a"] {
            #expect(DeliveryPlace(reply: reply) == nil, "\(reply)")
        }
    }

    @Test(
        "how a pull ended is told by its status",
        arguments: [
            ("404", "No Messages", PullStatus.expired), ("408", "Request Timeout", .expired),
            ("409", "Message Size Exceeds MaxBytes", .tooLarge),
            ("409", "Consumer Deleted", .gone), ("409", "Server Shutdown", .gone),
            ("503", "", .gone), ("100", "Idle Heartbeat", .heartbeat),
        ])
    func statuses(code: String, text: String, status: PullStatus) {
        #expect(
            PullStatus([LinkHeader("Status", code), LinkHeader("Description", text)]) == status)
        #expect(PullStatus([LinkHeader("Ps-V", "1")]) == nil)
    }

    @Test("requests are on the subjects that a host may publish to")
    func requests() {
        #expect(JetStreamTalk.info(fleet: "ops").subject == "$JS.API.STREAM.INFO.PS_ops")
        let wholes = JetStreamTalk.consume(fleet: "ops", from: .wholes)
        #expect(wholes.subject == "$JS.API.CONSUMER.CREATE.PS_ops")
        let config = (try? JSON(parsing: wholes.payload))?["config"]
        #expect(config?["filter_subject"]?.stringValue == "ps.ops.*.s.*")
        let next = JetStreamTalk.next(fleet: "ops", consumer: "c", messages: 1, ofAnySize: true)
        #expect(next.subject == "$JS.API.CONSUMER.MSG.NEXT.PS_ops.c")
        #expect(
            String(decoding: next.payload, as: UTF8.self) == #"{"batch":1,"expires":10000000000}"#)
    }
}
