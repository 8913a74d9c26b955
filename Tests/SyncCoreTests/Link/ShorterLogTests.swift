import EngineTestKit
import Testing

@testable import SyncCore

@Suite("Link: a log that turns out to end earlier")
struct ShorterLogTests {
    private let bench = LinkBench()

    /// The machine has published, and the log has taken it as this message.
    private func publish(_ counter: UInt64, as sequence: Int) {
        bench.machine.add(
            LinkTransaction(
                form: "deploy", replica: ReplicaID(id: 1, epoch: 0), counters: counter...counter,
                bytes: [1]), at: bench.now)
        bench.work()
        bench.answer("ps.ops.a.d.deploy", #"{"stream":"PS_ops","seq":\#(sequence)}"#)
    }

    /// The server has nothing more to deliver, so the machine asks how long the log is.
    private func expire() {
        bench.receive(
            LinkArrival(
                subject: bench.reply(to: "$JS.API.CONSUMER.MSG.NEXT"),
                headers: [LinkHeader("Status", "408")], payload: []))
    }

    private func say(_ digest: UInt64, from host: String?) {
        guard let host else {
            bench.machine.beaconMade([("deploy", digest)], at: bench.now)
            return bench.work()
        }
        bench.say(
            Beacon(
                run: 1, replica: ReplicaID(id: 2, epoch: 0), linkedMilliseconds: 0, stream: "A",
                sequence: 0, acknowledged: 0, clock: 0, version: "1",
                forms: [Beacon.Form(name: "deploy", digest: digest, unsent: 0)]), from: host)
    }

    private var disagreements: [LinkReport] {
        bench.reports.filter { if case .disagreement = $0 { true } else { false } }
    }

    @Test("what it took and has no more does not keep hosts from seeing that they disagree")
    func shorter() {
        bench.goLive()
        publish(1, as: 90)
        say(5, from: nil)
        say(6, from: "b")
        #expect(disagreements.isEmpty, "the other host may not have read that message yet")
        expire()
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 0, last: 0))
        say(5, from: nil)
        say(6, from: "b")
        #expect(disagreements == [.disagreement(form: "deploy", host: "b")])
    }

    @Test("what it took after it was asked is there", arguments: [nil, 90])
    func crossing(before: Int?) {
        bench.goLive()
        if let before { publish(1, as: before) }
        expire()
        publish(2, as: 1)
        bench.answer("$JS.API.STREAM.INFO", LinkBench.info(first: 0, last: 0))
        say(5, from: nil)
        say(6, from: "b")
        #expect(disagreements.isEmpty)
    }
}
