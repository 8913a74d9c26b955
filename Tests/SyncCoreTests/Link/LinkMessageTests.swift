// Messages between hosts: what goes out comes in, whole or in parts; nothing else does.

import EngineTestKit
import TestKit
import Testing

@testable import SyncCore

@Suite("Link: messages")
struct LinkMessageTests {
    private let keys = LinkKeys.forTests()
    private let subject = LinkSubject(fleet: "ops", host: "web1", .whole(form: "deploy"))!

    private func headers(counters: ClosedRange<UInt64>? = 5...9) -> LinkHeaders {
        LinkHeaders(
            replica: ReplicaID(id: 0x3f9a, epoch: 1), counters: counters, run: 7, number: 11,
            key: 1)
    }

    private func refusal(_ body: () throws -> Void) -> LinkRefusal? {
        do {
            try body()
            return nil
        } catch {
            return error as? LinkRefusal
        }
    }

    @Test("a subject has one spelling, and names one host")
    func subjects() {
        for text in [
            "ps.ops.web1.d.deploy", "ps.ops.web1.s.team-1", "ps.ops.web1.p.deploy", "ps.ops.web1.b",
        ] {
            #expect(LinkSubject(text)?.text == text)
        }
        for text in [
            "", "ps", "ps.ops.web1.d", "ps.ops.web1.b.deploy", "ps.ops.web1.d.", "ps.ops..d.x",
            "ps.ops.*.d.x", "ps.ops.web1.d.Deploy", "ps.ops.web1.x.deploy", "ps.ops.web1.d.a.b",
            "qs.ops.web1.b", "ps.o ps.web1.b",
        ] {
            #expect(LinkSubject(text) == nil, "\(text)")
        }
        #expect(LinkSubject(fleet: "o.ps", host: "a", .beacon) == nil)
        #expect(LinkSubject(fleet: "ops", host: "", .beacon) == nil)
    }

    @Test("headers have one spelling; those of others do not disturb")
    func headerSpelling() throws {
        for counters in [nil, 5...9, 1...UInt64.max] as [ClosedRange<UInt64>?] {
            let headers = headers(counters: counters)
            let foreign = [LinkHeader("Nats-Stream-Source", "x"), LinkHeader("Via", "y")]
            #expect(try LinkHeaders(headers.wire + foreign) == headers)
        }
        let wire = headers().wire
        for index in wire.indices {
            var missing = wire
            missing.remove(at: index)
            #expect(refusal { _ = try LinkHeaders(missing) } == .header(wire[index].name))
            #expect(
                refusal { _ = try LinkHeaders(wire + [wire[index]]) } == .header(wire[index].name))
        }
    }

    @Test(
        "a header that is spelled otherwise is refused",
        arguments: [
            ("Ps-V", "01"), ("Ps-V", "x"), ("Ps-V", "0"), ("Ps-R", "3F9a.1"), ("Ps-R", "3f9a"),
            ("Ps-N", "5"), ("Ps-N", "9-5"), ("Ps-N", "0-5"), ("Ps-N", "05-9"), ("Ps-Start", "7"),
            ("Ps-Part", "0/1"), ("Ps-Part", "2/1"), ("Ps-Part", "1/99999"), ("Ps-K", ""),
            ("Nats-Msg-Id", "3f9a.1:5:000000000000000b:2"), ("Nats-Msg-Id", "x"), ("Ps-X", "1"),
        ])
    func misspelled(name: String, value: String) {
        var wire = headers().wire.filter { $0.name != name }
        wire.append(LinkHeader(name, value))
        let refusal = refusal { _ = try LinkHeaders(wire) }
        if case .header? = refusal { return }
        Issue.record("\(name): \(value) gives \(String(describing: refusal))")
    }

    @Test("an authentic message of a newer version says which version is needed")
    func newerVersion() throws {
        var newer = headers()
        newer.version = 2
        let message = try #require(
            LinkMessage.seal([1], as: newer, to: subject, payloadMax: 1_536, with: keys))[0]
        let read = LinkMessage(
            subject: subject, headers: try LinkHeaders(message.headers.wire), body: message.body)
        #expect(refusal { _ = try read.open(with: keys) } == .newerVersion(2))
        // A message that is not sealed with the key does not make a form wait for an upgrade.
        var forged = message
        forged.headers.version = 3
        #expect(refusal { _ = try forged.open(with: keys) } == .notAuthentic)
        #expect(refusal { _ = try LinkItem.decode([1, 5, 0]) } == .newerVersion(5))
        #expect(refusal { _ = try LinkItem.decode([2, 1, 0]) } == .newerVersion(2))
    }

    @Test("items come back; kinds from 128 on are skipped; every cut is refused")
    func items() throws {
        let items = [
            LinkItem(.transaction, [1, 2, 3]), LinkItem(.whole, []),
            LinkItem(.retired, [UInt8](repeating: 9, count: 300)),
        ]
        let content = LinkItem.encode(items)
        #expect(try LinkItem.decode(content) == items)
        #expect(try LinkItem.decode(content + [129, 1, 5]) == items)
        let ends = [1 + 1 + 1 + 3, 1 + 1 + 1 + 3 + 2]
        for count in 0..<content.count {
            let decoded = try? LinkItem.decode(Array(content.prefix(count)))
            #expect((decoded != nil) == ends.contains(count), "cut at \(count)")
        }
    }

    @Test("a message goes in parts that a server takes, and is opened from them in any order")
    func parts() throws {
        let content = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let parts = try #require(
            LinkMessage.seal(
                content, as: headers(counters: nil), to: subject, payloadMax: 1_536, with: keys))
        #expect(parts.count == 5)
        for part in parts {
            let size =
                part.body.count
                + part.headers.wire.reduce(12) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
            #expect(size <= 1_536)
        }
        var collector = PartCollector()
        var joined: [UInt8]?
        for part in parts.shuffled() {
            #expect(joined == nil)
            joined = try collector.take(
                part.open(with: keys), of: part.subject, part.headers, before: .start, at: 0)?
                .content
        }
        #expect(joined == content)
        #expect(collector.before == nil)
    }

    @Test("a changed byte, another subject, another header or another key opens nothing")
    func authentic() throws {
        let message = try #require(
            LinkMessage.seal(
                [1, 2, 3], as: headers(), to: subject, payloadMax: 1_536, with: keys))[0]
        #expect(try message.open(with: keys) == [1, 2, 3])
        for index in message.body.indices {
            var changed = message
            changed.body[index] ^= 1
            #expect(refusal { _ = try changed.open(with: keys) } == .notAuthentic)
        }
        var moved = message
        moved.subject = LinkSubject(fleet: "ops", host: "web2", .whole(form: "deploy"))!
        #expect(refusal { _ = try moved.open(with: keys) } == .notAuthentic)
        for change in [
            { $0.counters = 5...10 }, { $0.replica = ReplicaID(id: 1, epoch: 1) }, { $0.run = 8 },
            { $0.number = 12 },
        ] as [(inout LinkHeaders) -> Void] {
            var altered = message
            change(&altered.headers)
            #expect(refusal { _ = try altered.open(with: keys) } == .notAuthentic)
        }
        #expect(refusal { _ = try message.open(with: .forTests([2])) } == .otherKey(1))
        #expect(try message.open(with: .forTests([2, 1])) == [1, 2, 3])
    }

    @Test("mutated messages are refused or the same, and never trap")
    func mutated() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "LINK_SEED"))
        let content = LinkItem.encode([LinkItem(.transaction, [1, 2, 3]), LinkItem(.whole, [4])])
        let beacon = Beacon(
            run: 1, replica: ReplicaID(id: 1, epoch: 0), linkedMilliseconds: 1, stream: "A",
            sequence: 3, acknowledged: 2, clock: -5, version: "1",
            forms: [.init(name: "deploy", digest: 7, unsent: 0)], site: "hub",
            others: [.init(site: "berlin", stream: "B", sequence: 9, isReached: true)]
        ).encoded
        let only = LinkCursor.Stream(
            created: "A", place: .init(sequence: 1, digest: 2),
            held: [.init(form: "deploy", place: .start)])
        var other = only
        other.site = "berlin"
        let cursors = [[only], [only, other]].map { LinkCursor($0).encoded }
        for _ in 0..<3_000 {
            func mutate(_ bytes: [UInt8]) -> [UInt8] {
                var bytes = bytes
                for _ in 0...random.next() % 3 {
                    let place = Int(random.next() % UInt64(bytes.count))
                    bytes[place] = UInt8(truncatingIfNeeded: random.next())
                }
                return bytes
            }
            _ = try? LinkItem.decode(mutate(content))
            // Behind the first byte, the version: a value without a host is the same in each.
            let mutatedBeacon = mutate(beacon)
            if let read = try? Beacon(decoding: mutatedBeacon) {
                #expect(read.encoded.dropFirst() == mutatedBeacon.dropFirst())
            }
            for cursor in cursors.map(mutate) {
                if let read = try? LinkCursor(decoding: cursor) {
                    #expect(read.encoded.dropFirst() == cursor.dropFirst())
                }
            }
        }
    }

    @Test("a store of a fleet with one stream has the cursor that it had before there were sites")
    func cursorOfOne() throws {
        let held = LinkCursor.Held(form: "deploy", place: .start)
        let one = LinkCursor.Stream(
            created: "A", place: .init(sequence: 1, digest: 2), held: [held])
        let bytes: [UInt8] = [1, 1, 0x41, 1, 2, 1, 6] + Array("deploy".utf8) + [0, 0, 0]
        #expect(LinkCursor([one]).encoded == bytes)
        #expect(try LinkCursor(decoding: bytes) == LinkCursor([one]))
        let none = LinkCursor([])
        #expect(try LinkCursor(decoding: none.encoded) == none)
    }

    @Test("first parts of messages without end take little memory")
    func firstParts() throws {
        var collector = PartCollector()
        for number in 0..<10_000 {
            let other = try #require(
                LinkSubject(fleet: "ops", host: "web1", .whole(form: "f\(number)")))
            var first = headers()
            first.part = LinkHeaders.Part(index: 1, count: LinkHeaders.partsMax)
            _ = try collector.take([1], of: other, first, before: .start, at: UInt64(number))
        }
        #expect(collector.forget(at: .max).count == PartCollector.messagesMax)
    }

    @Test("parts of two messages are never joined, and the cursor waits before the first part")
    func twoMessages() throws {
        var collector = PartCollector()
        func part(_ index: Int, number: UInt64) throws -> LinkHeaders {
            var wire = headers().wire
            wire[4].value = "\(index)/2"
            let hex = String(number, radix: 16)
            wire[6].value =
                "3f9a.1:5:" + String(repeating: "0", count: 16 - hex.count) + hex + ":\(index)"
            return try LinkHeaders(wire)
        }
        let before = LinkCursor.Place(sequence: 3, digest: 9)
        #expect(
            try collector.take([1], of: subject, part(1, number: 1), before: before, at: 0) == nil)
        #expect(collector.before == before)
        // The host died; another run sends the same again.
        #expect(
            try collector.take([2], of: subject, part(2, number: 2), before: .start, at: 5) == nil)
        #expect(collector.before == .start)
        let joined = try collector.take([1], of: subject, part(1, number: 2), before: nil, at: 6)
        #expect(joined?.content == [1, 2])
        // The host died for good: its message is forgotten in the end.
        _ = try collector.take([1], of: subject, part(1, number: 3), before: before, at: 10)
        #expect(collector.forget(at: collector.deadline! - 1).isEmpty)
        #expect(collector.forget(at: collector.deadline!) == [subject])
        #expect(collector.before == nil)
    }
}
