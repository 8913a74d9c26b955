import EngineTestKit
import SyncCore

/// Two hosts that share the form of `Bench`, and a stream that keeps nothing: each edit of the
/// first host is published, acknowledged, delivered to both and joined by the second.
final class LinkBench {
    /// A host, and what has its place among its consumers.
    private struct Host {
        let bench: Bench
        let bridge: UInt64
        var decoder = ServerMessageDecoder()
        var consumers = 0
        var delivered = 0
    }

    private static let bridgeUID: UInt32 = 77
    private var hosts: [Host]
    private var sequence = 0

    /// - Parameter joins: whether there is a second host.
    init(joins: Bool) throws {
        hosts = try (0..<(joins ? 2 : 1)).map { number in
            let bench = try Bench(
                durability: .commit, subscribers: 0, replica: UInt64(0xa + number),
                link: LinkConfiguration(
                    fleet: "ops", host: "h\(number)", forms: [Glob("bench")],
                    bridgeUID: Self.bridgeUID))
            return Host(
                bench: bench, bridge: bench.listen(uid: Self.bridgeUID, user: "pickersync-link"))
        }
        for place in hosts.indices {
            send(.linkAttach, to: place)
            send(
                .linkUp(LinkUp(server: "n", version: "", maxPayload: 1 << 20, rttUs: 1)), to: place)
            carry()
        }
        hosts[0].bench.applyForm()
        carry()
    }

    /// Edits of the first host, each on all hosts before the next comes.
    func set(_ count: Int) {
        hosts[0].bench.run(count, atOnce: 1, thenEach: carry) { Bench.set($0) }
        let newest = Bench.value((count - 1) % 64)
        for host in hosts {
            precondition(host.bench.ask(Bench.get).contains(newest), "an edit did not arrive")
        }
    }

    private func send(_ request: Request, to place: Int) {
        let host = hosts[place]
        host.bench.send(request.frame(id: nil), to: host.bridge)
        host.bench.settle()
    }

    private func send(_ arrival: LinkTransfer, to place: Int) {
        send(.linkMessage(arrival), to: place)
    }

    /// Does what the daemons tell their bridges, until they want nothing more.
    private func carry() {
        var hasWork = true
        while hasWork {
            hasWork = false
            for place in hosts.indices {
                let bytes = hosts[place].bench.takeHeard()
                guard !bytes.isEmpty else { continue }
                hasWork = true
                for case .notification(.linkDo(.publish(let message))) in messages(bytes, place) {
                    answer(message, of: place)
                }
            }
        }
    }

    private func messages(_ bytes: [UInt8], _ place: Int) -> [ServerMessage] {
        var messages: [ServerMessage] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard let decoded = try? hosts[place].decoder.decode(Array(rest.prefix(length))) else {
                preconditionFailure("the daemon's frames can be read")
            }
            messages += decoded
            rest = rest.dropFirst(length)
        }
        return messages
    }

    /// What a NATS server does with a message.
    private func answer(_ message: LinkTransfer, of place: Int) {
        let reply = message.reply ?? ""
        func json(_ text: String) {
            send(LinkTransfer(subject: reply, data: Array(text.utf8)), to: place)
        }
        if message.subject.hasPrefix("ps.") {
            guard message.reply != nil else { return }
            sequence += 1
            json(#"{"stream":"PS_ops","seq":\#(sequence)}"#)
            for place in hosts.indices { deliver(message, to: place) }
        } else if message.subject.hasPrefix("$JS.API.STREAM.INFO.") {
            json(
                #"{"config":{"name":"PS_ops","subjects":["ps.ops.*.d.*","ps.ops.*.s.*"],"#
                    + #""retention":"limits","discard":"old","storage":"file","max_msgs":-1,"#
                    + #""max_age":604800000000000},"created":"2026-01-01T00:00:00Z","#
                    + #""state":{"first_seq":1,"last_seq":\#(sequence)}}"#)
        } else if message.subject.hasPrefix("$JS.API.CONSUMER.CREATE.") {
            hosts[place].consumers += 1
            hosts[place].delivered = 0
            json(#"{"name":"c\#(hosts[place].consumers)","num_pending":0}"#)
        }
    }

    private func deliver(_ message: LinkTransfer, to place: Int) {
        hosts[place].delivered += 1
        var arrival = message
        arrival.reply =
            "$JS.ACK.PS_ops.c\(hosts[place].consumers).1.\(sequence).\(hosts[place].delivered)"
            + ".1795000000000000000.0"
        send(arrival, to: place)
    }
}
