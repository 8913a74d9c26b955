import Foundation
import SyncCore
import TestKit
import Testing

@Suite("watch, wait and run against a daemon that comes and goes")
struct WatchCommandTests {
    let bench: Bench

    init() throws {
        bench = try Bench(applying: Bench.iceCream)
    }

    @Test("a watcher prints every change once and in order, also over a daemon that was killed")
    func kill() throws {
        let watch = try bench.launch(["watch", "-o", "json", "--initial", "scoops"])
        _ = watch.read(until: "\n")
        for scoops in [3, 4] { try bench.run("set", "scoops=\(scoops)") }
        try bench.stop(SIGKILL)
        #expect(try bench.run("get", "scoops").status == 69)
        try bench.start()
        for scoops in [5, 1] {
            #expect(try bench.run("--connect-timeout", "5", "set", "scoops=\(scoops)").status == 0)
        }
        _ = watch.read(until: "\"value\":1,")
        watch.signal(SIGTERM)
        let outcome = watch.outcome()
        let changes = try outcome.lines.map { try JSON(parsing: $0) }
        #expect(changes.compactMap { $0["value"]?.integerValue } == [2, 3, 4, 5, 1])
        let revisions = changes.compactMap { $0["revision"]?.integerValue }
        #expect(revisions.dropFirst() == [2, 3, 4, 5])
        #expect(outcome.err.split(separator: "\n").count == 2, "\(outcome.err)")
    }

    @Test("--since tells what came after, --count ends it, a glob chooses")
    func since() throws {
        for flavor in ["vanilla", "strawberry", "chocolate"] {
            try bench.run("set", "flavor=\(flavor)", "scoops+=1")
        }
        let outcome = try bench.run("watch", "--since", "2", "--count", "2", "f*")
        #expect(outcome.status == 0)
        #expect(
            outcome.lines.map { $0.prefix { $0 != " " } } == [
                "flavor=strawberry", "flavor=chocolate",
            ])
        #expect(outcome.out.contains("(was vanilla)"))
        #expect(outcome.out.contains("revision 3"))
    }

    @Test("--until and wait return at once where it holds, and when it comes to hold")
    func until() throws {
        #expect(try bench.run("wait", "flavor=chocolate", "cone=true").status == 0)
        #expect(try bench.run("watch", "--until", "flavor=chocolate").status == 0)
        let wait = try bench.launch(["wait", "flavor=vanilla", "scoops=4"])
        let watch = try bench.launch([
            "watch", "-o", "value", "--initial", "--until", "scoops=4", "scoops",
        ])
        _ = watch.read(until: "2\n")
        try bench.run("set", "flavor=vanilla")
        try bench.run("set", "scoops=4")
        #expect(wait.outcome().status == 0)
        let outcome = watch.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.out == "2\n4\n")
        #expect(try bench.run("watch", "--timeout", "0.05").status == 124)
    }

    @Test("--exec runs one child a change, in order, with the change in variables and as JSON")
    func exec() throws {
        let script =
            "read -r json; echo \"$PICKER_FIELD $PICKER_VALUE $PICKER_WAS $PICKER_REVISION $json\"; "
            + "[ $PICKER_VALUE != 4 ]"
        let watch = try bench.launch([
            "watch", "scoops", "--initial", "--count", "4", "--exec", script,
        ])
        _ = watch.read(until: "\n")
        for scoops in [3, 4, 5] { try bench.run("set", "scoops=\(scoops)") }
        let outcome = watch.outcome()
        #expect(outcome.status == 0)
        #expect(
            outcome.lines.map { $0.prefix { $0 != "{" } } == [
                "scoops 2  1 ", "scoops 3 2 2 ", "scoops 4 3 3 ", "scoops 5 4 4 ",
            ])
        #expect(outcome.err.contains("ended with status 1"), "a failing child is told")
        let json = try #require(outcome.lines.last?.drop { $0 != "{" })
        #expect(try JSON(parsing: String(json))["was"] == 4)
    }

    @Test("^C ends the watch with 130, and its child with it")
    func interrupted() throws {
        let watch = try bench.launch([
            "watch", "scoops", "--initial", "--exec", "echo $$; exec sleep 600",
        ])
        let pid = try #require(Int32(watch.read(until: "\n").split(separator: "\n").first ?? ""))
        watch.signal(SIGINT)
        #expect(watch.outcome().status == 130)
        #expect(Glibc.kill(pid, 0) == -1, "the child is gone")
    }

    @Test("--debounce folds what comes in a burst into one")
    func debounce() throws {
        let watch = try bench.launch([
            "watch", "-o", "json", "--debounce", "0.4", "--count", "2", "--initial", "scoops",
        ])
        _ = watch.read(until: "\n")
        for scoops in [3, 4, 5] { try bench.run("set", "scoops=\(scoops)") }
        let lines = try watch.outcome().lines.map { try JSON(parsing: $0) }
        #expect(lines.last?["value"] == 5)
        #expect(lines.last?["was"] == 2)
        #expect(lines.last?["coalesced"]?["from"] == 2)
    }

    @Test("run --restart-on-change ends the command and starts it with the new values")
    func restart() throws {
        let run = try bench.launch([
            "run", "--restart-on-change", "--debounce", "0", "--", "sh", "-c",
            "echo start $PICKER_FLAVOR; exec sleep 600",
        ])
        _ = run.read(until: "start chocolate\n")
        try bench.run("set", "flavor=vanilla")
        _ = run.read(until: "start vanilla\n")
        run.signal(SIGTERM)
        let outcome = run.outcome()
        #expect(outcome.status == 128 + SIGTERM)
        #expect(outcome.out == "start chocolate\nstart vanilla\n")
    }

    @Test("a watch of a form that is deleted says so")
    func deleted() throws {
        let watch = try bench.launch(["watch", "--initial"])
        _ = watch.read(until: "\n")
        try bench.run("form", "delete", "--yes", "ice-cream")
        let outcome = watch.outcome()
        #expect(outcome.status == 66)
        #expect(outcome.err.contains("was deleted"))
    }

    @Test("wait and --until see a value that existed for only one revision")
    func passing() throws {
        let running = [
            try bench.launch(["wait", "scoops=4"]),
            try bench.launch(["watch", "-o", "value", "--initial", "--until", "scoops=4", "scoops"]
            ),
            try bench.launch([
                "watch", "--initial", "--until", "scoops=4", "--exec", "echo $PICKER_VALUE",
                "scoops",
            ]),
        ]
        for watch in running.dropFirst() { _ = watch.read(until: "2\n") }
        let client = try WireClient(bench.socket)
        // The wait is there once the form has its third subscriber.
        try eventually("three subscribers") {
            let forms = try client.call("form.list")["forms"] as? [Object]
            return forms?.first?["subscribers"] as? Int == 3
        }
        for scoops in [3, 4, 5, 1] {
            let change: Object = ["field": "scoops", "value": scoops]
            try client.send("state.set", ["form": "ice-cream", "changes": [change]], id: 1)
        }
        let outcomes = running.map { $0.outcome() }
        #expect(outcomes.map(\.status) == [0, 0, 0])
        #expect(outcomes.map(\.out) == ["", "2\n3\n4\n", "2\n3\n4\n"])
    }

    @Test("--latest skips to the newest and says from where on")
    func latest() throws {
        let gate = bench.folder.appending(path: "gate").path
        // Nothing tells when the watch has read the changes, and one that is late folds less. So it
        // is tried until all are in one line; what each line says holds in every try.
        try eventually("three changes in one line") {
            try bench.run("set", "scoops=2")
            try? FileManager.default.removeItem(atPath: gate)
            let watch = try bench.launch([
                "watch", "scoops", "--latest", "--initial", "--until", "scoops=5", "--exec",
                "echo $PICKER_VALUE $PICKER_WAS from=$PICKER_COALESCED; "
                    + "while [ ! -e '\(gate)' ]; do sleep 0.05; done",
            ])
            _ = watch.read(until: "2 from=\n")
            for scoops in [3, 4, 5] { try bench.run("set", "scoops=\(scoops)") }
            usleep(300_000)
            _ = try bench.file("gate", "")
            let lines = watch.outcome().lines.map { $0.split(separator: " ") }
            #expect(lines.first == ["2", "from="])
            #expect(lines.last?.first == "5")
            for (before, line) in zip(lines, lines.dropFirst()) {
                try #require(line.count == 3)
                #expect(line[1] == before[0])
                let step = (Int(line[0]) ?? 0) - (Int(before[0]) ?? 0)
                #expect((line[2] == "from=") == (step == 1))
            }
            return lines.count == 2
        }
    }

    @Test("--since beyond the newest revision says so, and shows nothing that was")
    func future() throws {
        let watch = try bench.run("watch", "--since", "99", "--timeout", "0")
        #expect(watch.status == 124)
        #expect(watch.out == "")
        #expect(watch.err.contains("revision 99 does not exist yet"), "\(watch.err)")
    }

    @Test("^C ends the child and what the child started")
    func group() throws {
        let watch = try bench.launch([
            "watch", "scoops", "--initial", "--exec", "sleep 600 & echo $!; wait",
        ])
        let pid = try #require(Int32(watch.read(until: "\n").split(separator: "\n").first ?? ""))
        watch.signal(SIGINT)
        #expect(watch.outcome().status == 130)
        while Glibc.kill(pid, 0) == 0, try !Self.isZombie(pid) { usleep(10_000) }
    }

    @Test("a watch ends when its reader is gone, without another change to tell")
    func readerGone() throws {
        let outcome = try bench.shell(
            "set -o pipefail; pickerctl watch --initial | head -n 1"
        ).outcome()
        #expect(outcome.lines.count == 1)
        #expect(outcome.err == "")
        #expect(outcome.status == 141)
    }

    @Test("a command whose standard output is closed writes nothing to the daemon instead")
    func noStandardOutput() throws {
        let script = "pickerctl get >&- <&-; pickerctl set scoops=4 >&- <&-"
        #expect(try bench.shell(script).outcome().status == 0)
        #expect(try bench.run("get", "scoops").out == "4\n")
        let refused = try JSON(parsing: try bench.run("status", "-o", "json").out)
        #expect(refused["counters"]?["refused"] == 0)
    }

    @Test("a reader that closed its end ends the command quietly")
    func closedPipe() throws {
        let running = try bench.shell("pickerctl watch --initial | head -n 1")
        _ = running.read(until: "\n")
        try bench.run("set", "scoops=3")
        try bench.run("set", "scoops=4")
        let outcome = running.outcome()
        #expect(outcome.lines.count == 1)
        #expect(outcome.err == "")
    }

    @Test("the user's own daemon is started once, however many ask at the same time")
    func autostart() throws {
        let home = try Bench(starting: false)
        home.environment = [
            "HOME": home.folder.path, "XDG_RUNTIME_DIR": home.folder.path, "PICKERSYNC_SOCKET": "",
            "XDG_STATE_HOME": "",
        ]
        #expect(try home.run("--no-autostart", "get").status == 69)
        let all = try (0..<4).map { _ in try home.launch(["status", "-o", "json"]) }
        let replies = try all.map { try JSON(parsing: $0.outcome().out) }
        let pids = Set(replies.compactMap { $0["replica"]?.stringValue })
        #expect(pids.count == 1)
        let log = try String(
            contentsOfFile: home.folder.path + "/.local/state/pickersync/pickersyncd.log",
            encoding: .utf8)
        #expect(log.split(separator: "\n").count { $0.hasPrefix("ready: ") } == 1)
        // It is nobody's child: its lock or socket tells its process.
        let pid = try #require(try Self.daemonProcess(of: home.folder.path))
        Glibc.kill(pid, SIGTERM)
        while Glibc.kill(pid, 0) == 0, try !Self.isZombie(pid) { usleep(10_000) }
    }

    /// The process whose command line names this folder's socket.
    private static func daemonProcess(of folder: String) throws -> pid_t? {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = pid_t(name),
                let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { continue }
            let line = String(decoding: data, as: UTF8.self)
            if line.contains("pickersyncd"), line.contains(folder) { return pid }
        }
        return nil
    }

    private static func isZombie(_ pid: pid_t) throws -> Bool {
        let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat").map {
            String(decoding: $0, as: UTF8.self)
        }
        return stat?.contains(") Z ") ?? true
    }
}
