// A model of a nats-server with one stream, as far as a link sees it.
//
// It keeps a log with numbers, makes consumers and answers pulls. As the seed says, it answers like
// 2.9.10 or like 2.15.1. What it does wrong is what servers have done: it forgets its newest
// messages and gives their numbers again, its stream is deleted and made again, old messages go. It
// cannot read some messages, leaves them out, and counts them as waiting all the same. If these are
// the newest ones, it finds only later that its log ends before them.

internal import SeededRandom
package import SyncCore

package struct ModelStream {
    package struct Stored {
        package let sequence: UInt64
        package let message: LinkPublication
        /// When it was taken, in nanoseconds since 1970.
        package let nanoseconds: Int64
        /// Its index in `everTaken`.
        package let place: Int
        fileprivate let isWhole: Bool
    }

    private struct Consumer {
        let name: String
        let host: Int
        let wholes: Bool
        let start: UInt64
        var next: UInt64
        var delivered: UInt64 = 0
        var pulls: [Pull] = []
        /// Wholes that were too large for a pull, and are left out although they are counted.
        var leftOut = 0
    }

    private struct Pull {
        let inbox: String
        /// How many messages are left.
        var left: Int
        /// How many bytes are left; `nil`: any.
        var bytes: Int?
        /// When it ends.
        let until: UInt64
    }

    private let fleet: String
    /// The JetStream domain; empty: none.
    private let site: String
    /// Whether answers are those of 2.9.10.
    private let isOld: Bool
    private var lives = 0
    package private(set) var exists = false
    package private(set) var log: [Stored] = []
    package private(set) var last: UInt64 = 0
    /// The numbers of messages that cannot be read, and whether each is a part of a whole.
    private var unreadable: [(sequence: UInt64, isWhole: Bool)] = []
    /// Where the log really ends, until the server finds it.
    private var unknownEnd: UInt64?
    /// The numbers of the messages of the last two minutes, and when they came.
    private var ids: [String: (sequence: UInt64, at: UInt64)] = [:]
    private var consumers: [Consumer] = []
    private var lastConsumer = 0
    /// All messages that were ever taken, of all lives.
    package private(set) var everTaken: [LinkPublication] = []

    package init(fleet: String, site: String = "", isOld: Bool) {
        self.fleet = fleet
        self.site = site
        self.isOld = isOld
    }

    package var created: String { "2026-11-24T09:00:00.\(100 + lives)Z\(site)" }
    package var first: UInt64 {
        // What the server does not know to be lost, it still counts.
        log.first?.sequence ?? unknownEnd.map { $0 + 1 } ?? (isOld && last == 0 ? 0 : last + 1)
    }

    // MARK: Faults

    /// The newest messages are lost; their numbers are given again.
    package mutating func forgetTail(_ count: Int) {
        findEnd()
        let gone = min(count, log.count)
        log.removeLast(gone)
        last -= UInt64(gone)
        // The newest one can be read: of others, hosts say that the stream must be deleted.
        if let newest = log.last?.sequence { last = newest }
        unreadable.removeAll { $0.sequence > last }
        ids = [:]
        restart()
    }

    /// The newest messages are damaged. Until the server finds that its log ends before them, it
    /// counts them.
    package mutating func damageTail(_ count: Int) {
        findEnd()
        let damaged = log.suffix(count)
        guard let first = damaged.first else { return }
        unknownEnd = log.dropLast(count).last?.sequence ?? first.sequence - 1
        unreadable += damaged.map { ($0.sequence, $0.isWhole) }
        log.removeLast(damaged.count)
        ids = [:]
        restart()
    }

    /// The server finds where its log ends. Connections and consumers stay.
    package mutating func findEnd() {
        guard let end = unknownEnd.take() else { return }
        last = end
        unreadable.removeAll { $0.sequence > end }
    }

    /// Messages in the middle of the log are damaged.
    package mutating func damage(_ count: Int, at place: Int) {
        let end = log.count - 1
        guard end > 0 else { return }
        let first = min(place, end - 1)
        let damaged = first..<min(first + count, end)
        unreadable += log[damaged].map { ($0.sequence, $0.isWhole) }
        log.removeSubrange(damaged)
        restart()
    }

    /// The oldest messages are too old.
    package mutating func trim(_ count: Int) { log.removeFirst(min(count, log.count)) }

    /// An administrator deletes the stream.
    package mutating func delete() {
        exists = false
        log = []
        last = 0
        unreadable = []
        unknownEnd = nil
        ids = [:]
        consumers = []
    }

    /// Consumers are in memory.
    package mutating func restart() { consumers = [] }

    package mutating func disconnected(_ host: Int) { consumers.removeAll { $0.host == host } }

    // MARK: Requests

    /// What the server answers to a message of a host.
    package mutating func receive(
        _ message: LinkPublication, from host: Int, at now: UInt64
    ) -> [LinkArrival] {
        let stream = "PS_\(fleet)"
        let reply = message.reply ?? ""
        if LinkSubject(message.subject) != nil {
            guard !message.isEphemeral else { return [] }
            guard exists else { return [nobody(reply)] }
            return [publish(message, reply, now)]
        }
        let prefix = JetStreamTalk.prefix(of: site)
        switch message.subject {
        case "\(prefix).STREAM.INFO.\(stream)":
            return [exists ? info(reply, "info") : error(reply, 404, 10059, "stream not found")]
        case "\(prefix).STREAM.CREATE.\(stream)":
            if !exists {
                lives += 1
                exists = true
            }
            return [info(reply, "create")]
        case "\(prefix).CONSUMER.CREATE.\(stream)":
            guard exists else { return [error(reply, 404, 10059, "stream not found")] }
            return [consume(message, reply, host)]
        default:
            let name = message.subject.split(separator: ".").last.map(String.init)
            guard let place = consumers.firstIndex(where: { $0.name == name }),
                let json = try? JSON(parsing: message.payload),
                let batch = json["batch"]?.integerValue
            else { return [nobody(reply)] }
            consumers[place].pulls.append(
                Pull(
                    inbox: reply, left: Int(batch),
                    bytes: json["max_bytes"]?.integerValue.map { Int($0) / Self.smaller },
                    until: now + 10_000_000_000))
            return []
        }
    }

    /// Messages here have a few bytes, so a pull has so much less of them.
    private static let smaller = 128

    private mutating func publish(
        _ message: LinkPublication, _ reply: String, _ now: UInt64
    ) -> LinkArrival {
        let id = message.headers.first { $0.name == "Nats-Msg-Id" }?.value ?? ""
        if let known = ids[id], now - known.at < 120_000_000_000 {
            return json(
                reply,
                #"{"stream":"PS_\#(fleet)",\#(domain) "seq":\#(known.sequence),"duplicate": true}"#)
        }
        findEnd()
        last += 1
        ids[id] = (last, now)
        let isWhole =
            if case .whole? = LinkSubject(message.subject)?.content { true } else { false }
        log.append(
            Stored(
                sequence: last, message: message,
                nanoseconds: 1_795_511_636_000_000_000 + Int64(now) + Int64(everTaken.count),
                place: everTaken.count, isWhole: isWhole))
        everTaken.append(message)
        return json(reply, #"{"stream":"PS_\#(fleet)",\#(domain) "seq":\#(last)}"#)
    }

    private var domain: String { site.isEmpty ? "" : #" "domain":"\#(site)","# }

    private mutating func consume(
        _ message: LinkPublication, _ reply: String, _ host: Int
    ) -> LinkArrival {
        let config = (try? JSON(parsing: message.payload))?["config"]
        let start = UInt64(config?["opt_start_seq"]?.integerValue ?? 0)
        let wholes = config?["deliver_policy"]?.stringValue == "last_per_subject"
        lastConsumer += 1
        let consumer = Consumer(
            name: "\(site)c\(lastConsumer)", host: host, wholes: wholes, start: max(start, 1),
            next: max(start, 1))
        consumers.append(consumer)
        return json(
            reply,
            #"{"type":"x","stream_name":"PS_\#(fleet)","name":"\#(consumer.name)","#
                + #""num_pending":\#(pending(of: consumer).count + leftOut(for: consumer))}"#)
    }

    /// The messages that cannot be read and are counted for a consumer.
    private func leftOut(for consumer: Consumer) -> Int {
        unreadable.count {
            $0.sequence >= consumer.start && ($0.isWhole || !consumer.wholes)
        }
    }

    private func pending(of consumer: Consumer) -> ArraySlice<Stored> {
        // Sequences ascend, and a consumer is nearly always at the end.
        let before = log.lastIndex { $0.sequence < consumer.next }
        let wanted = log[(before.map { $0 + 1 } ?? 0)...]
        guard consumer.wholes else { return wanted }
        var newest: [String: UInt64] = [:]
        for stored in log where stored.isWhole {
            newest[stored.message.subject] = stored.sequence
        }
        return wanted.filter { $0.isWhole && newest[$0.message.subject] == $0.sequence }[...]
    }

    /// What consumers have for their pulls now.
    package mutating func deliver(at now: UInt64) -> [(host: Int, arrival: LinkArrival)] {
        var arrivals: [(host: Int, arrival: LinkArrival)] = []
        for place in consumers.indices where !consumers[place].pulls.isEmpty {
            var waiting = pending(of: consumers[place])
            let unreadable = leftOut(for: consumers[place])
            while !consumers[place].pulls.isEmpty {
                let pull = consumers[place].pulls[0]
                if pull.until <= now || pull.left == 0 {
                    consumers[place].pulls.removeFirst()
                    if pull.left > 0 {
                        arrivals.append(end(pull, isOld ? "408" : "404", of: place))
                    }
                    continue
                }
                guard let next = waiting.popFirst() else { break }
                let size = next.message.payload.count
                if let bytes = pull.bytes, size > bytes {
                    arrivals.append(end(consumers[place].pulls.removeFirst(), "409", of: place))
                    if consumers[place].wholes {
                        consumers[place].next = next.sequence + 1
                        consumers[place].leftOut += 1
                    } else {
                        waiting = pending(of: consumers[place])
                    }
                    continue
                }
                consumers[place].pulls[0].left -= 1
                consumers[place].pulls[0].bytes? -= size
                consumers[place].next = next.sequence + 1
                consumers[place].delivered += 1
                var arrival = next.message
                let account = isOld ? "" : "_.AB12."
                let tail = isOld ? "" : ".x7"
                arrival.reply =
                    "$JS.ACK.\(account)PS_\(fleet).\(consumers[place].name).1."
                    + "\(next.sequence).\(consumers[place].delivered).\(next.nanoseconds)."
                    + "\(waiting.count + unreadable + consumers[place].leftOut)\(tail)"
                arrivals.append((consumers[place].host, arrival))
            }
        }
        return arrivals
    }

    private func end(
        _ pull: Pull, _ status: String, of place: Int
    ) -> (host: Int, arrival: LinkArrival) {
        var headers = [LinkHeader("Status", status)]
        if status == "409" {
            headers.append(LinkHeader("Description", "Message Size Exceeds MaxBytes"))
        }
        return (
            consumers[place].host, LinkArrival(subject: pull.inbox, headers: headers, payload: [])
        )
    }

    // MARK: Answers

    private func info(_ reply: String, _ kind: String) -> LinkArrival {
        json(
            reply,
            #"{"type":"io.nats.jetstream.api.v1.stream_\#(kind)_response","config":{"#
                + #""name":"PS_\#(fleet)","subjects":["ps.\#(fleet).*.d.*","ps.\#(fleet).*.s.*"],"#
                + #""retention":"limits","discard":"old","storage":"file","max_msgs":-1,"#
                + #""max_age":604800000000000\#(isOld ? "" : #","metadata":{"a":"b"}"#)},"#
                + #""created":"\#(created)","state":{"first_seq":\#(first),"last_seq":\#(last)}}"#)
    }

    private func error(
        _ reply: String, _ code: Int, _ detail: Int, _ text: String
    ) -> LinkArrival {
        json(
            reply,
            #"{"type":"x","error":{"code":\#(code),"err_code":\#(detail),"#
                + #""description":"\#(text)"}}"#
        )
    }

    private func nobody(_ reply: String) -> LinkArrival { .nobody(reply) }

    private func json(_ reply: String, _ text: String) -> LinkArrival {
        LinkArrival(subject: reply, payload: Array(text.utf8))
    }
}

extension LinkPublication {
    /// The answer to a request that reaches nobody.
    static func nobody(_ reply: String) -> Self {
        Self(subject: reply, headers: [LinkHeader("Status", "503")], payload: [])
    }

    /// Whether it is of those who have a form open.
    package var isPresence: Bool {
        if case .presence? = LinkSubject(subject)?.content { true } else { false }
    }

    /// Whether all hosts that are connected get it, and nobody keeps it.
    package var isEphemeral: Bool {
        isPresence || LinkSubject(subject)?.content == .beacon
    }
}
