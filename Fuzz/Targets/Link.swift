internal import EngineTestKit
internal import SyncCore

/// What other hosts and their server send: a message as it arrives, the content of an opened one, a
/// beacon, a cursor, an answer of JetStream. The first byte says which.
func fuzzLink(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    // Of a value without authors, both versions of the binary form say the same.
    switch first % 6 {
    case 0:
        guard let items = try? LinkItem.decode(rest), !items.isEmpty else { return }
        guard let again = try? LinkItem.decode(LinkItem.encode(items)) else {
            return law(false, "items that were written again are none")
        }
        law(again == items, "items that were written again are others")
    case 1:
        guard let beacon = try? Beacon(decoding: rest) else { return }
        law(beacon.encoded.dropFirst() == rest.dropFirst(), "a beacon has a second spelling")
    case 2:
        guard let cursor = try? LinkCursor(decoding: rest) else { return }
        law(cursor.encoded.dropFirst() == rest.dropFirst(), "a cursor has a second spelling")
    case 3:
        _ = try? JetStreamTalk.infoAnswer(rest, fleet: "ops")
        _ = try? JetStreamTalk.consumerAnswer(rest)
        _ = try? JetStreamTalk.published(rest, fleet: "ops")
    case 4:
        let lines = String(decoding: rest, as: UTF8.self).split(separator: "\n").map(String.init)
        let headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return LinkHeader(parts.first ?? "", parts.count > 1 ? parts[1] : "")
        }
        guard let read = try? LinkHeaders(headers) else { return }
        law((try? LinkHeaders(read.wire)) == read, "headers that were written again are others")
    default: fuzzLinkMachine(rest)
    }
}

/// A machine to which a server says anything: lines of subject, reply and payload.
private func fuzzLinkMachine(_ bytes: [UInt8]) {
    var now = Moment(wallMilliseconds: 0, monotonicNanoseconds: 0)
    var machine = LinkMachine(
        LinkMachine.Configuration(
            fleet: "ops", host: "a", run: 0, replica: ReplicaID(id: 1, epoch: 0), version: "1"),
        keys: .forTests(), cursor: nil, random: { 4 }, at: now)
    machine.attached(at: now)
    machine.up(LinkServer(name: "nats", version: "2", payloadMax: 1 << 20), at: now)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        now.monotonicNanoseconds += 300_000_000
        let parts = line.split(
            separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false
        ).map(Array.init)
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        machine.received(
            LinkArrival(
                subject: texts[0].replacing("IN", with: "_INBOX.a.0000000000000000"),
                reply: texts.count > 1 ? texts[1] : nil,
                payload: parts.count > 2 ? parts[2] : []),
            contexts: { _ in nil }, at: now)
        if let deadline = machine.deadline, deadline <= now.monotonicNanoseconds {
            machine.deadlinePassed(at: now)
        }
        while let action = machine.takeAction() {
            if case .take(let delivery) = action { machine.saved(through: delivery.order, at: now) }
        }
    }
}
