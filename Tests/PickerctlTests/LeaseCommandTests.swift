import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("values that end by themselves, from the command line")
struct LeaseCommandTests {
    private static let form = """
        form: deploy
        fields:
          - {id: maintenance, type: toggle}
          - {id: traffic, type: stepper, max: 100}
          - {id: short, type: stepper, max: 100, leaseMax: 1h}
          - {id: go, type: button}
        """

    let bench: Bench

    init() throws {
        bench = try Bench(applying: Self.form)
    }

    private func lease(_ field: String) throws -> JSON? {
        let client = try WireClient(bench.socket)
        let answer = try client.call("state.get", ["form": "deploy", "fields": [field]])
        let bytes = try JSONSerialization.data(withJSONObject: answer)
        return try JSON(parsing: [UInt8](bytes))["fields"]?[field]?["lease"]
    }

    @Test("--for and --until-time set a lease; lease moves, keeps and ends it")
    func times() throws {
        try bench.run("set", "traffic=50")
        #expect(try bench.run("set", "traffic=20", "--for", "2h30m").status == 0)
        let until = try #require(try lease("traffic")?["until"]?.stringValue)
        let end = try #require(Timestamp(until))
        let left = end.milliseconds - LocalTime.now.milliseconds
        #expect(left > 2 * 3_600_000 && left <= 9_000_000)
        #expect(try lease("traffic")?["then"] == ["value": 50])
        try bench.run("lease", "traffic", "--until-time", "2100-01-01T00:00:00Z")
        #expect(try lease("traffic")?["until"] == "2100-01-01T00:00:00.000Z")
        #expect(try bench.run("lease", "traffic", "--end", "-m", "test is over").status == 0)
        #expect(try bench.run("get", "traffic").out == "50\n")
        let line = try bench.run("history", "-n", "1").out
        #expect(line.contains("ended traffic=50 (was 20)  \"test is over\""), "\(line)")
        try bench.run("set", "traffic=30", "--until-time", "23:59:59")
        #expect(try bench.run("lease", "traffic", "--keep").status == 0)
        #expect(try lease("traffic") == nil)
        #expect(try bench.run("get", "traffic").out == "30\n")
        let over = try bench.run("lease", "traffic", "--end")
        #expect(over.status == 75 && over.err.contains("its lease has ended"), "\(over.err)")
    }

    @Test(
        "what cannot be is refused with a sentence",
        arguments: [
            (["set", "traffic+=1", "--for", "1h"], 64, "an increment of traffic cannot end"),
            (["set", "traffic=1", "--for", "soon"], 64, "is not from 1s to 3650d"),
            (["set", "traffic=1", "--for", "0"], 64, "is not from 1s to 3650d"),
            (["set", "traffic=1", "--until-time", "25:00"], 64, "is not a time"),
            (["set", "traffic=1", "--until-time", "2001-01-01T00:00:00Z"], 64, "over"),
            (["set", "traffic=1", "--for", "1h", "--until-time", "18:00"], 64, "exclude"),
            (["set", "traffic=1", "--while"], 64, "--while needs a command"),
            (["set", "traffic=1", "--", "sleep", "1"], 64, "sleep"),
            (["set", "short=1", "--for", "2h"], 75, "lasts at most 1h; choose an earlier end"),
            (["lease", "traffic"], 64, "choose one of --for"),
            (["lease", "traffic", "--keep", "--end"], 64, "choose one of --for"),
            (["lease", "go", "--end"], 64, "go is a button"),
        ])
    func misuse(_ words: [String], _ status: Int32, _ why: String) throws {
        let outcome = try bench.launch(words).outcome()
        #expect(outcome.status == status, "\(outcome.err)")
        #expect(outcome.err.contains(why), "\(outcome.err)")
    }

    @Test("--while: the values end with the command, whose status is ours")
    func whileCommand() throws {
        let outcome = try bench.run(
            "set", "maintenance=true", "--while", "--", "/bin/sh", "-c",
            "\(builtProgram("pickerctl")) get maintenance; exit 7")
        #expect(outcome.status == 7, "\(outcome.err)")
        #expect(outcome.out == "true\n")
        #expect(try bench.run("get", "maintenance").out == "false\n")
    }

    @Test("--while: what cannot be set or started is told first")
    func whileRefused() throws {
        let refused = try bench.run("set", "traffic=999", "--while", "--", "/bin/echo", "started")
        #expect(refused.status == 65 && refused.out.isEmpty)
        #expect(refused.err.hasPrefix("pickerctl: "))
        let missing = try bench.run("set", "traffic=5", "--while", "--", "no-such-command")
        #expect(missing.status == 127, "\(missing.err)")
        #expect(missing.err.hasPrefix("pickerctl: "))
        let directory = try bench.run("set", "traffic=5", "--while", "--", "/usr")
        #expect(directory.status == 127, "\(directory.err)")
        #expect(try bench.run("get", "traffic").out == "0\n")
    }

    @Test("example 5: a restart keeps the lease; the end comes 30 s after kill -9")
    func example5() throws {
        let holder = try bench.launch(["set", "maintenance=true", "--while", "--", "sleep", "150"])
        try bench.run("wait", "--timeout", "60", "maintenance=true")
        let id = try #require(try lease("maintenance")?["id"]?.stringValue)
        try bench.stop(SIGTERM)
        try bench.start()
        // A resumed lease outlives the time that a lost one has.
        #expect(try bench.run("wait", "--timeout", "35", "maintenance=false").status == 124)
        #expect(try lease("maintenance")?["id"]?.stringValue == id)
        kill(holder.pid, SIGKILL)
        #expect(try bench.run("wait", "--timeout", "120", "maintenance=false").status == 0)
        _ = holder.outcome()
    }
}
