// The link machine in single conversations; Simulation/Link has the long ones.

import EngineTestKit
import Testing

@testable import SyncCore

@Suite("Link: machine")
struct LinkMachineTests {
    private static let item = LinkItem.encode([LinkItem(.transaction, [1])])

    private func transaction(_ counter: UInt64, bytes: Int = 1) -> LinkTransaction {
        LinkTransaction(
            form: "deploy", replica: ReplicaID(id: 1, epoch: 0), counters: counter...counter,
            bytes: [UInt8](repeating: 1, count: bytes))
    }

    @Test("a host that never read the log reads the wholes, then the log, then is live")
    func firstTime() {
        let bench = LinkBench()
        #expect(bench.machine.phase == .down)
        bench.up()
        #expect(bench.machine.phase == .inspecting)
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 0, last: 0))
        #expect(bench.machine.phase == .readingAgain)
        #expect(bench.reports == [.readsAgain(.neverRead)])
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"w","num_pending":0}"#)
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"c","num_pending":0}"#)
        #expect(bench.machine.phase == .live)
        bench.deliver(bench.message(Self.item, form: "deploy"))
        #expect(bench.taken.last?.items == [LinkItem(.transaction, [1])])
        #expect(bench.taken.last?.cursor?.streams.first?.place.sequence == 1)
    }

    @Test("wholes are pulled without a bound in bytes: a server leaves out one that is too large")
    func wholesOfAnySize() {
        let bench = LinkBench()
        func pulls() -> [String] {
            bench.published.filter { $0.subject.contains(".MSG.NEXT.") }
                .map { String(decoding: $0.payload, as: UTF8.self) }
        }
        bench.up()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 2))
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"w","num_pending":1}"#)
        #expect(pulls() == [#"{"batch":16,"expires":10000000000}"#])
        bench.deliver(bench.message(Self.item, form: "deploy"), consumer: "w")
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"c","num_pending":2}"#)
        #expect(pulls().last == #"{"batch":254,"expires":10000000000,"max_bytes":1048576}"#)
    }

    @Test("while the log is read, the machine says how much is left, and how old it is")
    func behind() {
        let bench = LinkBench()
        func behind() -> [Int64] {
            [Int64(bench.machine.behind.messages), bench.machine.behind.milliseconds]
        }
        bench.up()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 3))
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"w","num_pending":0}"#)
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"c","num_pending":3}"#)
        #expect(bench.machine.phase == .reading)
        #expect(behind() == [3, 0])
        bench.deliver(bench.message(Self.item, form: "deploy"), pending: 2)
        #expect(behind() == [2, 1_000_000])
        bench.deliver(bench.message(Self.item, form: "deploy"), pending: 1)
        bench.deliver(bench.message(Self.item, form: "deploy"), pending: 0)
        #expect(bench.machine.phase == .live)
        #expect(behind() == [0, 0])
    }

    @Test("a stream that this host may not make is a sentence with the permission")
    func missingStream() {
        let bench = LinkBench()
        bench.up()
        bench.answer(
            "$JS.API.STREAM.INFO",
            #"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#)
        #expect(bench.machine.phase == .creating)
        bench.pass(seconds: 5)
        #expect(bench.machine.phase == .refused)
        #expect(
            bench.machine.refusalReason?.contains("$JS.API.STREAM.CREATE.PS_ops") == true)
        bench.pass(seconds: 30)
        #expect(bench.machine.phase == .inspecting)
    }

    @Test("a server that does not answer is left, with what to check")
    func silence() {
        let bench = LinkBench()
        bench.up()
        bench.pass(seconds: 5)
        #expect(bench.machine.phase == .down)
        #expect(bench.closes.first?.contains("check that it has JetStream") == true)
    }

    @Test("a server that does not deliver what its log has is refused, with what to delete there")
    func damagedLog() {
        let bench = LinkBench()
        bench.goLive()
        func expire() {
            bench.receive(
                LinkArrival(
                    subject: bench.reply(to: "$JS.API.CONSUMER.MSG.NEXT"),
                    headers: [LinkHeader("Status", "408")], payload: []))
        }
        func fail() {
            for _ in 0..<2 {
                expire()
                bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 9))
            }
        }
        fail()
        #expect(bench.machine.phase == .inspecting)
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 9))
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"d","num_pending":6}"#)
        fail()
        #expect(bench.machine.phase == .refused)
        #expect(
            bench.machine.refusalReason?.contains("behind message 0 of its log, up to 9") == true)
        #expect(bench.machine.refusalReason?.contains("delete the stream PS_ops") == true)
    }

    @Test(
        "messages that a server leaves out, as it cannot read them, do not keep a host from going on"
    )
    func unreadableMessages() {
        let bench = LinkBench()
        func expire() {
            bench.receive(
                LinkArrival(
                    subject: bench.reply(to: "$JS.API.CONSUMER.MSG.NEXT"),
                    headers: [LinkHeader("Status", "408")], payload: []))
        }
        bench.up()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 1))
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"w","num_pending":1}"#)
        #expect(bench.machine.phase == .readingAgain)
        expire()
        #expect(bench.machine.phase == .reading)
        bench.answer("$JS.API.CONSUMER.CREATE", #"{"name":"c","num_pending":3}"#)
        bench.deliver(bench.message(Self.item, form: "deploy"), pending: 2)
        expire()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 1))
        #expect(bench.machine.phase == .live)
        #expect(bench.machine.behind == (0, 0))
        #expect(bench.reports.last == .leftOut(messages: 2, site: ""))
    }

    @Test("a stream that was deleted is made again only after the server had time to remove it")
    func deletedStream() {
        let bench = LinkBench()
        bench.goLive()
        bench.machine.down(at: bench.now)
        bench.up()
        func created() -> Int {
            bench.published.filter { $0.subject.hasPrefix("$JS.API.STREAM.CREATE") }.count
        }
        let missing = #"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#
        bench.answer("$JS.API.STREAM.INFO", missing)
        #expect(created() == 0)
        bench.pass(seconds: 6)
        bench.answer("$JS.API.STREAM.INFO", missing)
        #expect(created() == 1)
    }

    @Test("a host that has just come, or come back, is told soon what this one has")
    func newcomer() {
        let bench = LinkBench()
        bench.goLive()
        bench.pass(seconds: 2)
        bench.machine.beaconMade([], at: bench.now)
        bench.work()
        bench.pass(seconds: 1)
        func beacon(run: UInt64, linked: UInt64 = 0) -> Beacon {
            Beacon(
                run: run, replica: ReplicaID(id: 2, epoch: 0), linkedMilliseconds: linked,
                stream: "A", sequence: 0, acknowledged: 0, clock: 0, version: "1", forms: [])
        }
        /// Whether a beacon is due one second after the one of another host.
        func isAnswered(_ beacon: Beacon) -> Bool {
            let periodically = bench.machine.deadline
            bench.say(beacon, from: "b")
            let soon = bench.now.monotonicNanoseconds + LinkMachine.beaconDelay
            return bench.machine.deadline == soon && periodically.map { $0 > soon } == true
        }
        #expect(isAnswered(beacon(run: 1)))
        for (linked, isBack) in [(1_900, true), (3_900, false), (0, true), (100_000, false)] {
            bench.pass(seconds: 1)
            bench.machine.beaconMade([], at: bench.now)
            bench.work()
            bench.pass(seconds: 1)
            // It may have missed the beacon before, if it was linked since.
            #expect(isAnswered(beacon(run: 1, linked: UInt64(linked))) == isBack)
        }
    }

    @Test("a host that has left the fleet soon takes all others for away, until it is back")
    func cutOff() {
        let bench = LinkBench()
        bench.goLive()
        bench.machine.beaconMade([("deploy", 0)], at: bench.now)
        let heard = bench.now.wallMilliseconds
        bench.say(
            Beacon(
                run: 1, replica: ReplicaID(id: 2, epoch: 0), linkedMilliseconds: 0, stream: "A",
                sequence: 0, acknowledged: 0, clock: 0, version: "1",
                forms: [Beacon.Form(name: "deploy", digest: 0, unsent: 0)]), from: "b")
        func away() -> Int64? {
            let hosts = bench.machine.hosts(sharing: "deploy", at: bench.now)
            #expect(hosts.map(\.host) == ["b"])
            #expect(hosts.first?.awaySince == bench.machine.awaySince("b", at: bench.now))
            return hosts.first?.awaySince
        }
        #expect(away() == nil)
        // The time does not begin again each time that the bridge finds no server.
        for _ in 0..<4 {
            bench.machine.down(at: bench.now)
            bench.pass(seconds: 1)
            #expect(away() == nil)
        }
        bench.pass(seconds: 1)
        #expect(away() == heard)
        bench.goLive()
        #expect(away() == nil)
        // It has not been heard of for half a minute.
        bench.pass(seconds: 31)
        #expect(away() == heard)
    }

    @Test("a beacon that does not fit in a message is reported")
    func largeBeacon() {
        let bench = LinkBench()
        bench.goLive()
        for (forms, isReported) in [(4_000, false), (40_000, true)] {
            let before = bench.published.count
            bench.machine.beaconMade((0..<forms).map { ("form\($0)", 0) }, at: bench.now)
            bench.work()
            #expect(bench.reports.contains(.beaconTooLarge(forms: forms)) == isReported)
            #expect(bench.published.count == before + (isReported ? 0 : 1))
        }
    }

    @Test("a server that takes only tiny messages is refused")
    func tinyPayload() {
        let bench = LinkBench()
        bench.up(payloadMax: 1_000)
        #expect(bench.machine.refusalReason?.contains("max_payload") == true)
    }

    @Test("a message of a newer version holds its form alone, and a restart tries it again")
    func held() throws {
        let bench = LinkBench()
        bench.goLive()
        bench.deliver(bench.message(Self.item, form: "deploy"))
        bench.deliver(bench.message(Self.item, form: "team", version: 2))
        #expect(bench.reports.contains(.held(form: "team", .newerVersion(2))))
        #expect(bench.machine.heldForms == ["team"])
        bench.deliver(bench.message(Self.item, form: "team"))
        bench.deliver(bench.message(Self.item, form: "deploy", counters: 2...2))
        let forms = bench.taken.filter { !$0.items.isEmpty }.map(\.form)
        #expect(forms == ["deploy", "deploy"])
        let cursor = try #require(bench.taken.last?.cursor)
        #expect(cursor.streams[0].place.sequence == 4)
        #expect(cursor.streams[0].held.map(\.place.sequence) == [1])
        let again = LinkBench(cursor: try LinkCursor(decoding: cursor.encoded))
        again.up()
        again.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 4))
        #expect(again.machine.phase == .verifying)
        let request = again.published.last { $0.subject.contains("CONSUMER.CREATE") }
        let json = try JSON(parsing: request?.payload ?? [])
        #expect(json["config"]?["opt_start_seq"]?.integerValue == 1)
    }

    @Test("a form that the engine does not take waits, and goes on when it is released")
    func released() throws {
        let bench = LinkBench()
        bench.goLive()
        bench.deliver(bench.message(Self.item, form: "deploy"))
        bench.deliver(bench.message(Self.item, form: "team"))
        bench.machine.hold(try #require(bench.taken.last), at: bench.now)
        bench.deliver(bench.message(Self.item, form: "deploy", counters: 2...2))
        #expect(bench.taken.last?.cursor?.streams[0].held.map(\.form) == ["team"])
        bench.machine.release("team", at: bench.now)
        bench.work()
        #expect(bench.machine.heldForms == [])
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 1, last: 3))
        let request = bench.published.last { $0.subject.contains("CONSUMER.CREATE") }
        let json = try JSON(parsing: request?.payload ?? [])
        #expect(json["config"]?["opt_start_seq"]?.integerValue == 1)
    }

    @Test("a bundle whose writes are here may remove what came after it, so it is joined")
    func joinedAgain() {
        let bench = LinkBench()
        bench.goLive()
        bench.known = CausalContext(dots: [Dot(ReplicaID(id: 2, epoch: 0), 1)])
        bench.deliver(bench.message(Self.item, form: "deploy"))
        #expect(bench.taken.last?.items.count == 1)
    }

    @Test("broken and foreign messages are dropped, said, and do not stop the next one")
    func dropped() {
        let bench = LinkBench()
        bench.goLive()
        var broken = bench.message(Self.item, form: "deploy")
        broken.payload[30] ^= 1
        bench.deliver(broken)
        var moved = bench.message(Self.item, form: "deploy")
        moved.subject = "ps.ops.c.d.deploy"
        bench.deliver(moved)
        bench.deliver(LinkPublication(subject: "ps.ops.b.d.deploy", payload: []))
        var forged = bench.message(Self.item, form: "deploy")
        forged.headers[0].value = "2"
        bench.deliver(forged)
        bench.deliver(bench.message(Self.item, form: "deploy"))
        #expect(bench.taken.last?.items.count == 1)
        let refusals = bench.reports.compactMap { report -> LinkRefusal? in
            if case .dropped(_, let refusal) = report { refusal } else { nil }
        }
        #expect(refusals == [.notAuthentic, .notAuthentic, .header("Ps-V"), .notAuthentic])
        #expect(bench.machine.heldForms == [])
    }

    @Test("of two machines with one name the later one yields, and says which setting to change")
    func twins() {
        func beacon(linked: UInt64) -> Beacon {
            Beacon(
                run: 0xc, replica: ReplicaID(id: 3, epoch: 0), linkedMilliseconds: linked,
                stream: "A", sequence: 0, acknowledged: 0, clock: 0, version: "1", forms: [])
        }
        let bench = LinkBench()
        bench.goLive()
        bench.pass(seconds: 10)
        bench.say(beacon(linked: 500), from: "a")
        #expect(bench.machine.phase == .live)
        bench.say(beacon(linked: 50_000), from: "a")
        #expect(bench.machine.phase == .refused)
        #expect(bench.machine.refusalReason?.contains("link.host") == true)
        bench.pass(seconds: 20)
        bench.say(beacon(linked: 70_000), from: "a")
        bench.pass(seconds: 20)
        #expect(bench.machine.phase == .refused)
        bench.pass(seconds: 10)
        #expect(bench.machine.phase == .inspecting)
    }

    @Test("of two that came at about the same time one yields, however long a beacon takes")
    func twinsAtOnce() {
        for (run, phase) in [(9, LinkPhase.live), (11, .refused)] as [(UInt64, LinkPhase)] {
            for linked in [200, 1_000, 2_000] as [UInt64] {
                let bench = LinkBench()
                bench.goLive()
                bench.pass(seconds: 1)
                bench.say(
                    Beacon(
                        run: run, replica: ReplicaID(id: 3, epoch: 0), linkedMilliseconds: linked,
                        stream: "A", sequence: 0, acknowledged: 0, clock: 0, version: "1",
                        forms: []), from: "a")
                #expect(bench.machine.phase == phase)
            }
        }
    }

    @Test("an outbox that is full gives way to a whole, and nothing is sent out of order")
    func overflow() {
        let bench = LinkBench(outboxBytesMax: 300)
        for counter in 1...3 as ClosedRange<UInt64> {
            bench.machine.add(transaction(counter, bytes: 99), at: bench.now)
        }
        #expect(bench.machine.unsent == (3, 297))
        bench.machine.add(transaction(4, bytes: 99), at: bench.now)
        bench.work()
        #expect(bench.reports == [.overflowed(form: "deploy")])
        #expect(bench.machine.unsent.transactions == 1, "the whole that is due")
        #expect(bench.machine.unsent(of: "deploy") == 1)
        bench.goLive()
        #expect(bench.wholesAsked == ["deploy"])
        bench.machine.wholeMade("deploy", ([5], CausalContext()), at: bench.now)
        bench.work()
        #expect(bench.published.last?.subject == "ps.ops.a.s.deploy")
        bench.answer("ps.ops.a.s.deploy", #"{"stream":"PS_ops","seq":1}"#)
        #expect(bench.machine.unsent(of: "deploy") == 0)
    }

    @Test("what was not acknowledged is sent again, the same, after 5 s and on a new connection")
    func resends() throws {
        let bench = LinkBench()
        bench.goLive()
        bench.machine.add(transaction(1), at: bench.now)
        bench.work()
        let first = try #require(bench.published.last)
        #expect(first.subject == "ps.ops.a.d.deploy")
        bench.published = []
        bench.pass(seconds: 5)
        #expect(bench.published.first { $0.subject == first.subject } == first)
        let full = #"{"stream":"PS_ops","error":{"code":503,"description":"no space"}}"#
        bench.receive(LinkArrival(subject: first.reply ?? "", payload: Array(full.utf8)))
        #expect(bench.machine.unpublished == "no space (503)")
        bench.machine.down(at: bench.now)
        #expect(bench.machine.unpublished == nil)
        bench.published = []
        bench.up()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 0, last: 0))
        #expect(bench.published.first { $0.subject == first.subject } == first)
        bench.receive(
            LinkArrival(
                subject: first.reply ?? "", payload: Array(#"{"stream":"PS_ops","seq":1}"#.utf8)))
        #expect(bench.machine.unsent.transactions == 0)
    }
}
