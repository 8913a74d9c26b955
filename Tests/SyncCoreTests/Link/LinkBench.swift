import EngineTestKit

@testable import SyncCore

/// A machine with a server that the test plays.
final class LinkBench {
    var machine: LinkMachine
    var now = Moment(wallMilliseconds: 1_000_000, monotonicNanoseconds: 1)
    var published: [LinkPublication] = []
    var taken: [LinkDelivery] = []
    var reports: [LinkReport] = []
    var closes: [String] = []
    var wholesAsked: [String] = []
    /// What the store has of each form.
    var known: CausalContext?
    private var delivery: UInt64 = 0

    init(cursor: LinkCursor? = nil, outboxBytesMax: Int = 1 << 20) {
        var configuration = LinkMachine.Configuration(
            fleet: "ops", host: "a", run: 0xa, replica: ReplicaID(id: 1, epoch: 0), version: "1")
        configuration.limits.linkOutboxBytesMax = outboxBytesMax
        machine = LinkMachine(
            configuration, keys: .forTests(), cursor: cursor, random: { 7 }, at: now)
        machine.attached(at: now)
    }

    func up(payloadMax: Int = 1 << 20) {
        machine.up(LinkServer(name: "nats1", version: "2.9.10", payloadMax: payloadMax), at: now)
        work()
    }

    func work() {
        while let action = machine.takeAction() {
            switch action {
            case .publish(let message): published.append(message)
            case .take(let delivery): taken.append(delivery)
            case .report(let report): reports.append(report)
            case .close(let reason): closes.append(reason)
            case .makeWhole(let form, _): wholesAsked.append(form)
            case .subscribe, .makeBeacon, .present, .hear, .hostsChanged, .wholeTaken,
                .transactionsTaken:
                break
            }
        }
    }

    /// The reply subject of the newest request on a subject with this prefix.
    func reply(to prefix: String) -> String {
        published.last { $0.subject.hasPrefix(prefix) }?.reply ?? ""
    }

    func receive(_ arrival: LinkArrival) {
        machine.received(arrival, contexts: { _ in self.known }, at: now)
        work()
    }

    func answer(_ prefix: String, _ json: String) {
        receive(LinkArrival(subject: reply(to: prefix), payload: Array(json.utf8)))
    }

    static func info(first: Int, last: Int) -> String {
        #"{"config":{"subjects":["ps.ops.*.d.*","ps.ops.*.s.*"],"retention":"limits","#
            + #""discard":"old","storage":"file","max_age":0},"created":"A","#
            + #""state":{"first_seq":\#(first),"last_seq":\#(last)}}"#
    }

    /// An empty stream is read: the machine is live.
    func goLive() {
        up()
        answer("$JS.API.STREAM.INFO", Self.info(first: 0, last: 0))
        answer("$JS.API.CONSUMER.CREATE", #"{"name":"w","num_pending":0}"#)
        answer("$JS.API.CONSUMER.CREATE", #"{"name":"c","num_pending":0}"#)
    }

    func message(
        _ content: [UInt8], form: String, host: String = "b",
        counters: ClosedRange<UInt64>? = 1...1,
        version: UInt64 = LinkHeaders.version
    ) -> LinkPublication {
        let subject = LinkSubject(fleet: "ops", host: host, .bundles(form: form))!
        var headers = LinkHeaders(
            replica: ReplicaID(id: 2, epoch: 0), counters: counters, run: 0xb, number: 1, key: 1)
        headers.version = version
        let sealed = LinkMessage.seal(
            content, as: headers, to: subject, payloadMax: 1 << 20, with: .forTests())![0]
        return LinkPublication(
            subject: subject.text, headers: sealed.headers.wire, payload: sealed.body)
    }

    /// The stream delivers the next message.
    func deliver(_ message: LinkPublication, consumer: String = "c", pending: Int = 0) {
        delivery += 1
        var message = message
        message.reply = "$JS.ACK.PS_ops.\(consumer).1.\(delivery).\(delivery).0.\(pending)"
        receive(message)
    }

    func pass(seconds: UInt64) {
        now.monotonicNanoseconds += seconds * 1_000_000_000
        machine.deadlinePassed(at: now)
        work()
    }

    func say(_ beacon: Beacon, from host: String) {
        let subject = LinkSubject(fleet: "ops", host: host, .beacon)!
        let headers = LinkHeaders(
            replica: beacon.replica, counters: nil, run: beacon.run, number: 1, key: 1)
        let sealed = LinkMessage.seal(
            LinkItem.encode([LinkItem(.beacon, beacon.encoded)]), as: headers, to: subject,
            payloadMax: 1 << 20, with: .forTests())![0]
        receive(
            LinkArrival(
                subject: subject.text, headers: sealed.headers.wire, payload: sealed.body))
    }
}
