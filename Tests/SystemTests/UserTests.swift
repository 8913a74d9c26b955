import Foundation
import TestKit
import Testing

/// Several real users and the real daemon (FORM.md, Access): it believes the kernel alone.
@Suite("Several users and the real daemon", .serialized, .enabled(if: canBeAnybody))
struct UserTests {
    private static let alice: UInt32 = 61_001
    private static let bob: UInt32 = 61_002
    private static let mallory: UInt32 = 61_666
    private static let team: UInt32 = 61_100
    private static let creators: UInt32 = 61_200

    /// A daemon that everybody reaches.
    private final class Scene {
        let folder = try! TemporaryFolder()
        let daemon: DaemonProcess

        init(_ more: [String] = []) throws {
            let listener = try openListener(folder)
            daemon = try DaemonProcess(
                folder, arguments: ["--state-directory", folder("state")] + more,
                passing: [listener.descriptor]
            ).ready()
        }

        func client(_ uid: UInt32, gid: UInt32? = nil, groups: [UInt32] = []) throws -> WireClient {
            let path = folder("open")
            return try asUser(uid, gid: gid, groups: groups) { try WireClient(path) }
        }
    }

    private func kind(_ client: WireClient, _ method: String, _ params: Object) throws -> String {
        let answer = try client.answer(method, params)
        guard let error = answer["error"] as? Object else { return "ok" }
        return (error["data"] as? Object)?["kind"] as? String ?? "?"
    }

    private func set(_ client: WireClient, _ field: String, _ action: Object) throws -> String {
        let change = action.merging(["field": field]) { $1 }
        return try kind(client, "state.set", ["form": "guarded", "changes": [change]])
    }

    private static var guarded: Object {
        [
            "form": "guarded",
            "access": [
                "read": ["uid:\(alice)", "uid:\(bob)", "gid:\(team)"], "write": ["uid:\(alice)"],
                "press": ["gid:\(team)"], "reveal": ["uid:\(alice)"], "admin": ["owner"],
            ],
            "fields": [
                ["id": "name", "type": "text", "maxLength": 40] as Object,
                [
                    "id": "open", "type": "text", "maxLength": 40,
                    "access": ["write": ["uid:\(bob)"]],
                ],
                ["id": "fixed", "type": "text", "maxLength": 40, "locked": true],
                ["id": "go", "type": "button"],
                ["id": "mine", "type": "button", "access": ["press": ["uid:\(alice)"]]],
                ["id": "secret", "type": "secure"],
                ["id": "other", "type": "secure", "access": ["reveal": ["uid:\(bob)"]]],
            ],
        ]
    }

    @Test("who may read, write, press, reveal and administer is as the form says, by field too")
    func table() throws {
        let scene = try Scene()
        let root = try WireClient(scene.folder("open"))
        try root.call("form.apply", ["definition": Self.guarded])
        for field in ["secret", "other"] {
            let change: Object = ["field": field, "value": "hidden"]
            try root.call("state.set", ["form": "guarded", "changes": [change]])
        }
        let alice = try scene.client(Self.alice)
        let bob = try scene.client(Self.bob)
        let member = try scene.client(61_003, groups: [Self.team])
        let mallory = try scene.client(Self.mallory)
        let people = [alice, bob, member, mallory]
        let f = "forbidden"
        func expect(_ expected: [String], _ what: String, _ ask: (WireClient) throws -> String)
            throws
        {
            #expect(try people.map(ask) == expected, "\(what) by alice, bob, a member, mallory")
        }
        let form: Object = ["form": "guarded"]
        try expect(["ok", "ok", "ok", f], "reading") { try kind($0, "state.get", form) }
        try expect(["ok", "ok", "ok", f], "the definition") { try kind($0, "form.get", form) }
        try expect(["ok", "ok", "ok", f], "subscribing") { try kind($0, "state.subscribe", form) }
        try expect(["ok", "ok", "ok", f], "the history") { try kind($0, "state.history", form) }
        try expect(["ok", "ok", "ok", f], "explaining") {
            try kind($0, "state.explain", ["form": "guarded", "field": "name"])
        }
        try expect(["ok", f, f, f], "name") { try set($0, "name", ["value": "\($0)"]) }
        try expect([f, "ok", f, f], "open") { try set($0, "open", ["value": "\($0)"]) }
        try expect(["disabled", f, f, f], "fixed") { try set($0, "fixed", ["value": "x"]) }
        try expect([f, f, "ok", f], "go") { try set($0, "go", ["press": true]) }
        try expect(["ok", f, f, f], "mine") { try set($0, "mine", ["press": true]) }
        let secret: Object = ["form": "guarded", "field": "secret"]
        try expect(["ok", f, f, f], "revealing") { try kind($0, "state.reveal", secret) }
        let other: Object = ["form": "guarded", "field": "other"]
        try expect([f, "ok", f, f], "revealing the other") { try kind($0, "state.reveal", other) }
        try expect([f, f, f, f], "applying") {
            try kind($0, "form.apply", ["definition": Self.guarded])
        }
        try expect([f, f, f, f], "creating") {
            try kind($0, "form.apply", ["definition": WireClient.form])
        }
        try expect([f, f, f, f], "setting options") {
            try kind(
                $0, "form.setOptions", ["form": "guarded", "field": "name", "options": ["x"]])
        }
        try expect([f, f, f, f], "deleting") { try kind($0, "form.delete", form) }
        try expect([f, f, f, f], "taking back anyone's edit of fixed") {
            try kind($0, "state.undo", ["form": "guarded", "scope": "anyone", "field": "fixed"])
                .replacingOccurrences(of: "conflict", with: f)
        }
        try expect([f, f, f, f], "taking a backup") { try kind($0, "server.backup", [:]) }
        #expect(try set(root, "fixed", ["value": "root may"]) == "ok")
        #expect(try kind(root, "form.delete", form) == "ok")
        // Refusals are in the log with uid and pid; what was revealed is, too, without its value.
        let said = scene.daemon.said
        let refused: [(uid_t, String)] = [
            (Self.mallory, "read guarded"), (Self.bob, "write guarded/name"),
            (Self.alice, "write guarded/open"), (61_003, "write guarded/fixed"),
            (Self.alice, "press guarded/go"), (Self.bob, "press guarded/mine"),
            (Self.bob, "reveal guarded/secret"), (Self.alice, "reveal guarded/other"),
            (Self.alice, "administer guarded"), (Self.bob, "create form ice-cream"),
            (61_003, "administer guarded"), (Self.mallory, "make a backup"),
        ]
        for (uid, what) in refused {
            let line = "forbidden: \(uid) (uid \(uid), pid \(getpid())) may not \(what)"
            #expect(said.contains(line), "\(line)")
        }
        #expect(said.contains("revealed guarded/secret"))
        #expect(!said.contains("hidden"))
    }

    @Test("who created a form owns it; the members of --group may create, and nobody else")
    func owners() throws {
        let scene = try Scene(["--group", "\(Self.creators)"])
        let creator = try scene.client(Self.alice, groups: [Self.creators])
        let colleague = try scene.client(Self.bob, groups: [Self.creators])
        let stranger = try scene.client(Self.mallory)
        let apply: Object = ["definition": WireClient.form]
        #expect(try kind(stranger, "form.apply", apply) == "forbidden")
        #expect(try kind(creator, "form.apply", apply) == "ok")
        #expect(try kind(colleague, "form.apply", apply) == "forbidden")
        #expect(try kind(stranger, "state.get", ["form": "ice-cream"]) == "ok")
        #expect(try kind(colleague, "form.delete", ["form": "ice-cream"]) == "forbidden")
        #expect(try kind(creator, "form.delete", ["form": "ice-cream"]) == "ok")
    }

    @Test("a client cannot say that it is somebody else, and later privileges change nothing")
    func claims() throws {
        let scene = try Scene()
        let mallory = try scene.client(Self.mallory, gid: 61_667)
        let hello = try mallory.call(
            "hello",
            ["protocol": 1, "client": "root", "tty": "/dev/tty1", "uid": 0, "user": "root"])
        let you = hello["you"] as? Object
        #expect(you?["uid"] as? Int == Int(Self.mallory) && you?["gid"] as? Int == 61_667)
        #expect(you?["user"] as? String == "\(Self.mallory)")
        // The thread that asks now is root's; who connected was not.
        #expect(try kind(mallory, "form.apply", ["definition": WireClient.form]) == "forbidden")
    }

    @Test("socket, store and key are the daemon's alone, and nobody writes beside them")
    func modes() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        func mode(_ path: String) throws -> Int {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return facts[.posixPermissions] as? Int ?? -1
        }
        #expect(try mode(folder("sock")) == 0o600)
        #expect(try mode(folder("state")) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder("state")) {
            #expect(try mode(folder("state") + "/" + name) & 0o077 == 0, "\(name)")
        }
        chmod(folder.path, 0o755)
        let path = folder("sock")
        #expect(throws: POSIXError.self) { try asUser(Self.mallory) { try WireClient(path) } }
        _ = daemon
    }

    @Test("what an unprivileged user sends makes the daemon write nowhere but in its own directory")
    func writesAtHome() throws {
        let folder = try TemporaryFolder()
        let listener = try openListener(folder)
        let daemon = try DaemonProcess(
            folder, arguments: ["--state-directory", folder("state")],
            passing: [listener.descriptor]
        ).ready()
        let root = try WireClient(folder("open"))
        try root.apply()
        let trace = folder("trace")
        let words = [
            "/usr/bin/strace", "-f", "-qq", "-e", "trace=%file", "-o", trace, "-p", "\(daemon.pid)",
        ]
        var argv = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var strace: pid_t = 0
        #expect(posix_spawn(&strace, words[0], nil, nil, &argv, nil) == 0)
        defer {
            // The kernel detaches the traced process when the tracer ends.
            kill(strace, SIGKILL)
            waitpid(strace, nil, 0)
        }
        try eventually("strace is there") {
            let status = try String(contentsOfFile: "/proc/\(daemon.pid)/status", encoding: .utf8)
            return !status.contains("TracerPid:\t0")
        }
        let path = folder("open")
        let mallory = try asUser(Self.mallory) { try WireClient(path) }
        for name in ["../../etc/passwd", "/etc/cron.d/x", "ice-cream/../../x", "\u{0}", "-", "."] {
            for method in ["form.get", "form.delete", "state.get", "state.history"] {
                _ = try mallory.answer(method, ["form": name])
            }
            _ = try mallory.answer("form.apply", ["definition": ["form": name, "fields": []]])
            _ = try mallory.answer(
                "state.set",
                ["form": "ice-cream", "changes": [["field": name, "value": name] as Object]])
        }
        for _ in 0..<50 { try mallory.increment("scoops") }
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        for line in text.split(separator: "\n")
        where line.contains("O_WRONLY") || line.contains("O_RDWR") || line.contains("O_CREAT")
            || line.contains("unlink") || line.contains("rename") || line.contains("mkdir")
        {
            #expect(line.contains(folder("state")), "\(line)")
        }
    }

    @Test("a flood by one user leaves another most of what they have alone")
    func flood() throws {
        let scene = try Scene(["--durability", "memory"])
        let root = try WireClient(scene.folder("open"))
        try root.apply()
        let bystander = try scene.client(Self.bob)
        let flooders = try (0..<40).map { _ in try scene.client(Self.mallory) }
        let ping = WireClient.frame(#"{"jsonrpc":"2.0","id":1,"method":"server.status"}"#)
        let burst = (0..<400).flatMap { _ in ping }
        // More than the daemon reads ahead; what does not fit waits in the sockets.
        for flooder in flooders { flooder.sendWhatFits(burst) }
        for _ in 0..<200 { try bystander.increment("scoops") }
        let status = try bystander.call("server.status")
        let requests = (status["counters"] as? Object)?["requests"] as? Int ?? 0
        #expect(requests < 40 * 400, "the bystander was served before the flood was over")
    }

    @Test("a flood of edits leaves another's history and undo, over a kill as well")
    func history() throws {
        let scene = try Scene(["--limit", "historyRevisionsMax=200", "--limit", "undoDepthMax=50"])
        try WireClient(scene.folder("open")).apply()
        var alice = try scene.client(Self.alice)
        for flavor in ["vanilla", "strawberry"] { try alice.set("flavor", flavor) }
        let mallory = try scene.client(Self.mallory)
        // The store is asked to prune each thousand revisions.
        for _ in 0..<1_200 { try mallory.increment("scoops") }
        try scene.daemon.killHard()
        unlink(scene.folder("open"))
        let listener = try openListener(scene.folder)
        let daemon = try DaemonProcess(
            scene.folder,
            arguments: [
                "--state-directory", scene.folder("state"), "--limit", "historyRevisionsMax=200",
                "--limit", "undoDepthMax=50",
            ], passing: [listener.descriptor]
        ).ready()
        defer { withExtendedLifetime(daemon) {} }
        alice = try scene.client(Self.alice)
        let page = try alice.call("state.history", ["form": "ice-cream", "field": "flavor"])
        let entries = page["entries"] as? [Object] ?? []
        #expect(entries.map { $0["revision"] as? Int } == [3, 2, 1])
        let all = try alice.call("state.history", ["form": "ice-cream", "limit": 1000])
        let revisions = (all["entries"] as? [Object] ?? []).compactMap { $0["revision"] as? Int }
        #expect(revisions.count < 700 && revisions.first == 1_203)
        for flavor in ["vanilla", "chocolate"] {
            try alice.call("state.undo", ["form": "ice-cream"])
            #expect(try alice.value("flavor") as? String == flavor)
        }
        let error = try alice.answer("state.undo", ["form": "ice-cream"])["error"] as? Object
        #expect((error?["data"] as? Object)?["kind"] as? String == "conflict")
        #expect(try alice.value("scoops") as? Int == 1_200)
    }
}
