import Foundation
import TestKit
import Testing

/// A host of a fleet: a daemon and its bridge.
final class LinkedHost {
    let name: String
    private let folder: TemporaryFolder
    private let server: NatsServer
    /// The files of the fleet key, of which the first one seals.
    var keys: [String]
    private let streams: [String]
    private var daemon: DaemonProcess?
    private var bridge: ChildProcess?

    /// Starts a host.
    ///
    /// - Parameters:
    ///   - password: that of its user at the server, if the server has users.
    ///   - streams: the sites of the fleet, that of this host first.
    ///   - ca: who has signed the server's certificate, if it has one.
    init(
        _ name: String, of server: NatsServer, key: String, seed: String? = nil,
        password: String? = nil, streams: [String] = [], ca: String? = nil
    ) throws {
        self.name = name
        self.server = server
        keys = [key]
        self.streams = streams
        folder = try TemporaryFolder()
        let user = password.map { "\(name):\($0)@" } ?? ""
        let address = ca == nil ? "nats://\(user)127.0.0.1" : "tls://\(user)localhost"
        var configuration = "servers: [\"\(address):\(server.port)\"]\n"
        if let ca { configuration += "ca: \(ca)\n" }
        if let seed {
            _ = try folder.write("seed", seed + "\n")
            configuration += "nkey: \(Fleet.nkey.key)\nseed: seed\n"
        }
        _ = try folder.write("link.yaml", configuration)
        try startDaemon()
        try startBridge()
    }

    func startDaemon() throws {
        let link =
            ["fleet=ops", "host=\(name)", "forms=*"] + keys.map { "key=\($0)" }
            + streams.map { "streams=\($0)" }
        daemon = try DaemonProcess(folder, more: link.flatMap { ["--link", $0] }).ready()
    }

    func startBridge() throws {
        bridge = try ChildProcess([
            builtProgram("pickersync-link"), "--config", folder("link.yaml"), "--socket",
            folder("sock"),
        ])
    }

    /// kill -9.
    func killDaemon() throws { try daemon?.killHard() }

    /// kill -9: this host alone is cut off.
    func killBridge() {
        bridge?.signal(SIGKILL)
        bridge = nil
    }

    /// A command of `pickerctl` for this daemon.
    private func command(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return [builtProgram("pickerctl")] + words[..<end]
            + ["--socket", folder("sock"), "--no-autostart"] + words[end...]
    }

    func run(_ words: String...) throws -> ChildProcess.Outcome { try run(words) }

    func run(_ words: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(command(words))
    }

    func start(_ words: String...) throws -> ChildProcess { try ChildProcess(command(words)) }

    /// Runs a command that must succeed.
    func must(_ words: String...) throws {
        let outcome = try run(words)
        #expect(outcome.status == 0, "\(words): \(outcome.out)\(outcome.err)")
    }

    /// All values of the form, as lines.
    var values: String { (try? run("get", "--form", "deploy").out) ?? "" }

    /// Whether the link is up and has the same of the form as the other host.
    var agrees: Bool { agrees(with: 1) }

    func agrees(with others: Int) -> Bool {
        let status = try? run("link", "status").out
        return status?.contains("deploy: agrees with \(others) of \(others) hosts\n") == true
            && status?.contains("nothing unsent") == true
    }
}

/// Two hosts and a server.
final class Fleet {
    let server: NatsServer
    let hosts: [LinkedHost]
    private let folder: TemporaryFolder
    var key: String { folder("key") }

    /// An example of the documentation of NATS.
    static let nkey = (
        key: "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4",
        seed: "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    )

    init(
        _ names: [String] = ["one", "two"], authorization: String = "", seed: String? = nil
    ) throws {
        let folder = try TemporaryFolder()
        let server = try NatsServer(authorization: authorization)
        self.folder = folder
        self.server = server
        try Self.makeKey(folder("key"))
        hosts = try names.map { try LinkedHost($0, of: server, key: folder("key"), seed: seed) }
    }

    static func makeKey(_ file: String) throws {
        let made = try ChildProcess.run([builtProgram("pickersyncd"), "--new-fleet-key", file])
        #expect(made.status == 0, "\(made.err)")
    }

    /// Makes the form on the first host, and waits until the second has it.
    func share() throws {
        let file = try folder.write(
            "deploy.yaml",
            """
            form: deploy
            fields:
              - {id: target, type: picker, options: [test, prod, lab]}
              - {id: note, type: text}
              - {id: count, type: stepper, min: 0, max: 1000}
            """)
        try hosts[0].must("form", "apply", file)
        try settle("the form is on both hosts") { true }
    }

    /// Waits until both hosts have the same, and say so, and a condition holds.
    func settle(_ what: String, _ condition: () -> Bool) throws {
        try eventually("\(what): \(hosts.map(\.values)), \(statuses)") {
            let values = hosts[0].values
            return !values.isEmpty && hosts.allSatisfy { $0.values == values } && condition()
                && hosts.allSatisfy(\.agrees)
        }
    }

    private var statuses: [String] {
        hosts.map { host in (try? host.run("link", "status")).map { $0.out + $0.err } ?? "" }
    }
}

@Suite("Two hosts share a form over a NATS server")
struct LinkSystemTests {
    @Test("edits cross both ways; what was edited while cut off meets after it, on both the same")
    func cutAndHealed() throws {
        let fleet = try Fleet()
        let (one, two) = (fleet.hosts[0], fleet.hosts[1])
        try fleet.share()
        try one.must("set", "deploy/target=prod")
        try two.must("set", "deploy/note=hello")
        try fleet.settle("both edits are on both hosts") {
            one.values.contains("target=prod") && one.values.contains("note=hello")
        }

        fleet.server.kill()
        try eventually("both say that they are cut off") {
            try fleet.hosts.allSatisfy { try $0.run("status").out.contains("cut off since") }
        }
        try one.must("set", "deploy/count+=3")
        try two.must("set", "deploy/count+=4")
        try one.must("set", "deploy/target=lab")
        try two.must("set", "deploy/target=test")
        try two.must("set", "deploy/note=alone")
        let unsent = try one.run("link", "status").out
        #expect(unsent.contains(", 2 unsent ("), "\(unsent)")
        #expect(unsent.contains("deploy: 2 unsent"), "\(unsent)")
        try fleet.server.start()
        try fleet.settle("increments add up, and of two values one is on both hosts") {
            one.values.contains("count=7") && one.values.contains("note=alone")
        }
        let version = try ChildProcess.run(["nats-server", "--version"]).out
            .split(separator: "v").last?.trimmingCharacters(in: .whitespacesAndNewlines)
        let status = try one.run("link", "status", "-o", "json").out
        #expect(status.contains("\"serverVersion\": \"\(version ?? "?")\""), "\(status)")
        #expect(try two.run("status").out.contains("deploy agrees with 1 of 1 hosts"))
        let metrics = try one.run("status", "-o", "prometheus").out
        #expect(metrics.contains("\npickersync_link_up 1\n"), "\(metrics)")
        #expect(metrics.contains("\npickersync_link_agrees{host=\"two\"} 1\n"), "\(metrics)")
        #expect(metrics.contains("\npickersync_link_wholes_total{why=\"shared\"} "), "\(metrics)")
        let test = try one.run("link", "test")
        #expect(test.status == 0, "\(test.err)")
        for part in ["bridge to server", "acknowledged", "back through", "durable in the store"] {
            #expect(test.out.contains(part), "\(test.out)")
        }
        let history = try two.run("history", "deploy", "-o", "json").out
        #expect(history.contains(#""host":"one""#), "\(history)")
    }

    @Test("of two forms of one name somebody chooses one; a deleted form is deleted on both")
    func formsOfOneName() throws {
        let fleet = try Fleet()
        let (one, two) = (fleet.hosts[0], fleet.hosts[1])
        fleet.server.kill()
        let folder = try TemporaryFolder()
        for (host, value) in [(one, "ours"), (two, "theirs")] {
            let file = try folder.write(
                "deploy.yaml", "form: deploy\nfields: [{id: note, type: text}]\n")
            try host.must("form", "apply", file)
            try host.must("set", "deploy/note=\(value)")
        }
        try fleet.server.start()
        for command in ["status", "doctor"] {
            try eventually("\(command) says that the form waits") {
                try one.run(command).out.contains("deploy waits: another host has another form")
            }
        }
        let open = try one.run("link", "form", "deploy")
        #expect(open.status == 75 && open.out.contains("say which one stays"), "\(open.out)")
        try one.must("link", "form", "deploy", "--take-theirs")
        try fleet.settle("both have the other one") { one.values.contains("note=theirs") }
        try two.must("form", "delete", "--yes", "deploy")
        try eventually("it is deleted on both") {
            try one.run("form", "list").out.contains("deploy") == false
        }
    }

    @Test("kill -9 of bridge, daemon and server: nothing that was answered is lost")
    func killed() throws {
        let fleet = try Fleet()
        let (one, two) = (fleet.hosts[0], fleet.hosts[1])
        try fleet.share()
        one.killBridge()
        try one.must("set", "deploy/count+=1")
        try two.must("set", "deploy/count+=10")
        try one.startBridge()
        try fleet.settle("after the bridge was killed") { one.values.contains("count=11") }

        try one.must("set", "deploy/count+=100")
        try one.killDaemon()
        try two.must("set", "deploy/note=meanwhile")
        try one.startDaemon()
        try fleet.settle("after the daemon was killed") {
            one.values.contains("count=111") && one.values.contains("note=meanwhile")
        }

        fleet.server.kill()
        try two.killDaemon()
        try one.must("set", "deploy/target=prod")
        try two.startDaemon()
        try two.must("set", "deploy/count+=200")
        try fleet.server.start()
        try fleet.settle("after server and daemon were killed") {
            two.values.contains("count=311") && two.values.contains("target=prod")
        }
    }

    @Test("only the user of the bridge may speak for it, and a daemon without a link says so")
    func refusals() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        try withExtendedLifetime(daemon) {
            let answer = try WireClient(folder("sock")).answer("link.attach")
            #expect("\(answer)".contains("not linked"), "\(answer)")
        }
        let fleet = try Fleet(["one"])
        try fleet.hosts[0].must("status")
        let repair = try fleet.hosts[0].run("link", "repair", "nothing")
        #expect(repair.status == 66, "\(repair.err)")
    }

    @Test("the fleet changes its key host by host, and nothing is refused or read again")
    func newKey() throws {
        let fleet = try Fleet()
        try fleet.share()
        let new = fleet.key + "-new"
        try Fleet.makeKey(new)
        var count = 0
        for keys in [[fleet.key, new], [new, fleet.key], [new]] {
            for host in fleet.hosts {
                host.keys = keys
                try host.killDaemon()
                try host.startDaemon()
                count += 1
                try host.must("set", "deploy/count+=1")
                try fleet.settle("with \(keys)") { host.values.contains("count=\(count)") }
            }
        }
        for host in fleet.hosts {
            let status = try host.run("link", "status", "-o", "json").out.filter { $0 != " " }
            #expect(status.contains(#""refused":{}"#), "\(status)")
            #expect(status.contains(#""readsAnew":{}"#), "\(status)")
        }
    }

    @Test("two hosts of one name: one of them is linked, the other says why it is not")
    func twins() throws {
        let fleet = try Fleet(["same", "same"])
        try eventually("one of them yields") {
            try fleet.hosts.contains {
                try $0.run("link", "status").out.contains("another machine is linked as same")
            }
        }
    }

    @Test("the how-to, followed from one host to three")
    func howTo() throws {
        let run = try ChildProcess.run([
            "python3", "Tests/SystemTests/several_hosts.py", builtProducts.path,
            "docs/how-to/several-hosts.md",
        ])
        #expect(run.status == 0, "\(run.out)\(run.err)")
        if !run.out.contains("followed") {
            FileHandle.standardError.write(Data("SKIPPED: \(run.out)".utf8))
        }
    }

    @Test("a server that knows its users by nkeys; the seed of another user is refused")
    func nkey() throws {
        let users = "authorization { users: [ { nkey: \(Fleet.nkey.key) } ] }"
        let fleet = try Fleet(authorization: users, seed: Fleet.nkey.seed)
        try fleet.share()
        let other = "SUAAOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYHA4DQOBZ5FE"
        let stranger = try Fleet(["one"], authorization: users, seed: other)
        try eventually("the link says why it is down") {
            try stranger.hosts[0].run("link", "status").out.lowercased().contains("authorization")
        }
    }

    @Test("a credential without a permission: the link names it, and the daemon goes on")
    func permission() throws {
        let fleet = try Fleet(
            ["one"],
            authorization: """
                authorization { users: [ { user: a, password: b, permissions: {
                    publish: ["ps.ops.one.>"], subscribe: ["_INBOX.one.>", "ps.ops.*.b"] } } ]
                    timeout: 5 }
                no_auth_user: a
                """)
        let missing = [
            "publish to $JS.API.STREAM.INFO.PS_ops", "publish to $JS.API.CONSUMER.CREATE.PS_ops",
            "publish to $JS.API.CONSUMER.MSG.NEXT.PS_ops.check", "subscribe to ps.ops.*.p.>",
        ]
        for command in [["link", "status"], ["doctor"]] {
            try eventually("\(command): it names each that is missing, and no other") {
                let said = try fleet.hosts[0].run(command).out
                return missing.allSatisfy(said.contains) && !said.contains("to ps.ops.one.b")
                    && !said.contains("to ps.ops.*.b")
            }
        }
        try fleet.hosts[0].must("status")
    }
}
