import Foundation
import SyncCore
import TestKit
import Testing

/// Another user of this machine, where we may become one.
enum SecondUser {
    static let prefix = [
        "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
    ]

    /// Whether root runs this and the built program may be reached by others.
    static let isPossible: Bool = {
        guard getuid() == 0, FileManager.default.isExecutableFile(atPath: prefix[0]) else {
            return false
        }
        let outcome = try? ChildProcess.run(prefix + [builtProgram("pickerctl"), "--version"])
        return outcome?.status == 0
    }()
}

@Suite("the exit status says what happened, for each row of the table")
struct ExitStatusTests {
    private static let form = """
        form: f
        fields:
          - {id: a, type: picker, options: [x, y]}
          - {id: n, type: stepper, min: 0, max: 9}
          - {id: off, type: text, disabled: true}
          - {id: kept, type: toggle, locked: true}
          - {id: mine, type: toggle, access: {write: [owner]}}
          - {id: go, type: button, enabledWhen: {a: y}}
          - {id: note, type: text, multiline: true}
          - {id: key, type: secure}
        """

    @Test("0, 1, 124, 64, 65, 66 and 75 come from where the table says")
    func table() throws {
        let bench = try Bench(applying: Self.form)
        try bench.run("set", "a=y")
        let token = try #require(bench.run("get", "--context", "a").lines.last)
        try bench.run("set", "a=x")
        let empty = try bench.file("empty", "")
        let cases: [(arguments: [String], status: Int32)] = [
            (["get"], 0), (["set", "a=x"], 0), (["wait", "a=x"], 0),
            (["wait", "--timeout", "0", "a=x"], 0),
            (["watch", "--timeout", "0", "--until", "a=x"], 0),
            (["resolve", "a=x"], 1), (["form", "delete", "f"], 1),
            (["wait", "--timeout", "0.01", "a=y"], 124), (["watch", "--timeout", "0.01"], 124),
            (["wait", "--timeout", "nan", "a=x"], 64), (["frob"], 64), (["set", "a"], 64),
            (["set", "--context", "nonsense", "a=x"], 64),
            (["set", "--if-current", "nonsense", "a=x"], 64), (["get", "a.b"], 64),
            (["--socket", "", "get"], 64), (["get", "--form", ""], 64), (["press", "a"], 64),
            (["set", "key=open"], 64),
            (["set", "a=z"], 65), (["set", "n=10"], 65), (["set", "n=ten"], 65),
            (["set", "off=x"], 65), (["press", "go"], 65), (["form", "check", empty], 65),
            (["load", empty], 65),
            (["get", "b"], 66), (["--form", "g", "get"], 66), (["set", "b=1"], 66),
            (["load", "/nonexistent"], 66), (["form", "apply", "/nonexistent"], 66),
            (["set", "note=@/nonexistent"], 66), (["history", "b"], 66),
            (["run", "--", "/nonexistent"], 66), (["run", "--", "no-such-command"], 66),
            (["run", "--", "/etc/passwd"], 77),
            (["set", "--if-current", token, "a=y"], 75), (["redo"], 75),
        ]
        for (arguments, status) in cases {
            let outcome = try bench.launch(arguments).outcome()
            #expect(outcome.status == status, "\(arguments): \(outcome.err)")
            #expect(outcome.err.split(separator: "\n").count <= 1, "\(arguments): \(outcome.err)")
        }
    }

    @Test("^C is 130, of what waits and of what asks")
    func interrupted() throws {
        let bench = try Bench(applying: Self.form)
        for arguments in [["watch", "--initial"], ["watch", "--initial", "--exec", "echo x"]] {
            let running = try bench.launch(arguments)
            _ = running.read(until: "\n")
            running.signal(SIGINT)
            #expect(running.outcome().status == 130, "\(arguments)")
        }
    }

    @Test("69 with nobody there, 69 for another protocol, 75 for a quota, each with a next step")
    func daemonsRefusal() throws {
        let bench = try Bench(starting: false)
        #expect(try bench.run("get").status == 69)
        let fake = try FakeDaemon(bench.socket) { request in
            if request["method"] == "hello" {
                return FakeDaemon.refusal(
                    request, -32008, "unsupportedProtocol", "this daemon speaks protocol 2")
            }
            return nil
        }
        let get = try bench.run("get")
        #expect(get.status == 69)
        #expect(get.err.contains("protocol 2") && get.err.contains("of one version"), "\(get.err)")
        let doctor = try bench.run("doctor")
        #expect(doctor.status == 69)
        #expect(doctor.out.contains("another protocol"), "\(doctor.out)")
        fake.stop()
        let busy = try FakeDaemon(bench.socket) { request in
            FakeDaemon.refusal(request, -32005, "limit", "you have 9 subscriptions already")
        }
        defer { busy.stop() }
        let quota = try bench.run("status")
        #expect(quota.status == 75)
        #expect(quota.err.contains("ask for a higher limit"), "\(quota.err)")
    }

    @Test(
        "what an older daemon does not know is 69, before anything is changed",
        arguments: [
            (["set", "f/a=on", "-m", "why"], "messages"),
            (["set", "f/a=on", "--for", "1h"], "leases"), (["lease", "f/a", "--end"], "leases"),
            (["press", "f/b", "--wait"], "runs"), (["handle", "f/b", "--", "true"], "runs"),
            (["explain", "f/a"], "explain"), (["propose", "f/a=on"], "proposals"),
            (["approve", "f/1", "--yes"], "proposals"), (["proposals"], "proposals"),
        ])
    func olderDaemon(words: [String], feature: String) throws {
        let bench = try Bench(starting: false)
        let fake = try FakeDaemon(bench.socket) { request in
            let result: String
            switch request["method"]?.stringValue {
            case "hello":
                result =
                    #"{"protocol":1,"server":"pickersyncd/0","replica":"3f9a.1","features":["undo"],"#
                    + #""you":{"connection":1,"uid":0,"gid":0,"pid":1,"user":"me"},"limits":{}}"#
            case "ping": result = "{}"
            case "form.get":
                result =
                    #"{"form":"f","version":1,"log":"910a2dec8902","revision":1,"definition":{"#
                    + #""form":"f","fields":[{"id":"a","type":"toggle"},"#
                    + #"{"id":"b","type":"button","runs":"queue"}]}}"#
            default: return FakeDaemon.refusal(request, -32601, "methodNotFound", "not expected")
            }
            let id = request["id"]?.encodedText ?? "1"
            return #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
        }
        defer { fake.stop() }
        let outcome = try bench.launch(words).outcome()
        #expect(outcome.status == 69, "\(outcome.err)")
        #expect(outcome.err.contains("this daemon does not know \(feature); upgrade it"))
    }

    @Test("what listens there and is not a daemon is told as that")
    func noDaemon() throws {
        let bench = try Bench(starting: false)
        let fake = try FakeDaemon(bench.socket) { _ in "HTTP/1.1 400 Bad Request" }
        defer { fake.stop() }
        let get = try bench.run("get")
        #expect(get.status == 69)
        #expect(get.err.contains("does not speak pickersync"), "\(get.err)")
        #expect(try bench.run("doctor").out.contains("is not pickersyncd"))
    }

    @Test("a store that cannot be written is 69, told by doctor, and reading goes on")
    func unavailable() throws {
        let bench = try Bench(starting: false)
        try bench.start(fileBlocksMax: 700)
        try bench.apply(Self.form)
        let client = try WireClient(bench.socket)
        var last = try bench.run("get", "n")
        for round in 0..<40 where last.status == 0 {
            let text = String(repeating: "\(round % 10)", count: 4_000)
            for _ in 0..<8 {
                for note in [text, ""] {
                    let changes = [["field": "note", "value": note]]
                    try client.send("state.set", ["form": "f", "changes": changes], id: 1)
                }
            }
            last = try bench.run("set", "note=\(round)")
        }
        #expect(last.status == 69, "\(last.err)")
        #expect(last.err.contains("reading still works"), "\(last.err)")
        #expect(try bench.run("get", "n").status == 0)
        let doctor = try bench.run("doctor")
        // It tries again by itself, and may be at it just now.
        #expect(
            doctor.out.contains("the store cannot be written")
                || doctor.out.contains("being rebuilt") || doctor.out.contains("store: writable"),
            "\(doctor.out)")
    }

    @Test(
        "77 is for those who may not: the socket, the field, the form, the secret",
        .enabled(if: SecondUser.isPossible, "needs root, setpriv, and a build that others may run"))
    func forbidden() throws {
        let bench = try Bench(applying: Self.form)
        let closed = try bench.launch(["get"], asSecondUser: true).outcome()
        #expect(closed.status == 77, "\(closed.err)")
        #expect(closed.err.contains("pickerctl doctor"))
        let doctor = try bench.launch(["doctor"], asSecondUser: true).outcome()
        #expect(doctor.status == 77)
        #expect(doctor.out.contains("for uid 0 alone"), "\(doctor.out)")
        chmod(bench.socket, 0o660)
        #expect(
            try bench.launch(["doctor"], asSecondUser: true).outcome().out.contains("usermod -aG"))
        chmod(bench.socket, 0o666)
        let cases: [(arguments: [String], status: Int32)] = [
            (["set", "a=y"], 0), (["set", "mine=true"], 77), (["set", "a=x", "mine=true"], 77),
            (["form", "delete", "--yes", "f"], 77), (["get", "--reveal", "key"], 77),
            (["form", "options", "a", "q"], 77), (["set", "kept=true"], 65), (["get", "a"], 0),
        ]
        for (arguments, status) in cases {
            let outcome = try bench.launch(arguments, asSecondUser: true).outcome()
            #expect(outcome.status == status, "\(arguments): \(outcome.err)")
        }
        #expect(try bench.run("get", "a").out == "y\n", "a transaction that fell left nothing")
        chmod(bench.folder.path, 0o700)
        let shut = try bench.launch(["doctor"], asSecondUser: true).outcome()
        #expect(shut.status == 77)
        #expect(shut.out.contains("may not enter it"), "\(shut.out)")
        chmod(bench.folder.path, 0o755)
    }
}
