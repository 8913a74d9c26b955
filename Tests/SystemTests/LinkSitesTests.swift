import Foundation
import TestKit
import Testing

/// A server at each of two sites, the second a leaf node of the first, with the configurations that
/// `pickersync-link` prints; a host at the first and two at the second. All use TLS.
private final class Sites {
    let hub: NatsServer
    let berlin: NatsServer
    let hosts: [LinkedHost]
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let made = try ChildProcess.run([
            builtProgram("pickersyncd"), "--new-fleet-key", folder("key"),
        ])
        #expect(made.status == 0, "\(made.err)")
        let signed = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder("server.key"), "-out",
            folder("server.pem"),
        ])
        #expect(signed.status == 0, "\(signed.err)")
        let certificate = ["--certificate", folder("server.pem"), "--key", folder("server.key")]
        let atHub = try Self.printed(
            ["--stream", "hub", "--stream", "berlin", "web1"] + certificate)
        let atBerlin = try Self.printed(
            ["--stream", "berlin", "--stream", "hub", "--leaf-of", "hub", "db1", "db2"]
                + certificate + ["--ca", folder("server.pem")])
        let address = "127.0.0.1:\(try NatsServer.freePort())"
        hub = try NatsServer(configuration: atHub.replacing("0.0.0.0:7422", with: address))
        berlin = try NatsServer(
            configuration: atBerlin.replacing(
                "PASSWORD@ADDRESS:7422", with: "\(Self.password(of: "berlin", atHub))@\(address)"))
        let servers = [hub, berlin, berlin]
        hosts = try zip(["web1", "db1", "db2"], servers).map { name, server in
            let isAtHub = name == "web1"
            return try LinkedHost(
                name, of: server, key: folder("key"),
                password: Self.password(of: name, isAtHub ? atHub : atBerlin),
                streams: isAtHub ? ["hub", "berlin"] : ["berlin", "hub"],
                ca: folder("server.pem"))
        }
    }

    private static func printed(_ words: [String]) throws -> String {
        let outcome = try ChildProcess.run(
            [builtProgram("pickersync-link"), "--print-nats-config", "--fleet", "ops"] + words)
        #expect(outcome.status == 0, "\(outcome.err)")
        return outcome.out
    }

    private static func password(of user: String, _ configuration: String) -> String {
        let rest = configuration.split(separator: "user: \(user), password: \"").last ?? ""
        return String(rest.prefix { $0 != "\"" })
    }

    /// Makes the form on the host at the hub.
    func share() throws {
        let file = try folder.write(
            "deploy.yaml",
            """
            form: deploy
            fields:
              - {id: note, type: text}
              - {id: count, type: stepper, min: 0, max: 1000}
            """)
        try hosts[0].must("form", "apply", file)
        try settle(hosts, "the form is on all hosts") { true }
    }

    /// Waits until these hosts have the same, and say so, and a condition holds.
    func settle(_ hosts: [LinkedHost], _ what: String, _ condition: () -> Bool) throws {
        func statuses() -> [String] {
            self.hosts.map { host in
                host.values + ((try? host.run("link", "status")).map { $0.out + $0.err } ?? "")
            }
        }
        try eventually("\(what): \(statuses())") {
            let values = hosts[0].values
            return !values.isEmpty && hosts.allSatisfy { $0.values == values } && condition()
                && hosts.allSatisfy { $0.agrees(with: hosts.count - 1) }
        }
    }
}

@Suite("Hosts at two sites share a form, each over the NATS server of its site")
struct LinkSitesTests {
    @Test("a site that is cut off goes on among its hosts, and after it all have the same")
    func cutAndHealed() throws {
        let sites = try Sites()
        let (web1, db1, db2) = (sites.hosts[0], sites.hosts[1], sites.hosts[2])
        try sites.share()
        try db2.must("set", "deploy/note=hello")
        try sites.settle(sites.hosts, "an edit at the leaf is at the hub") {
            web1.values.contains("note=hello")
        }
        let test = try db1.run("link", "test")
        #expect(test.status == 0, "\(test.err)")

        sites.hub.kill()
        try db1.must("set", "deploy/count+=2")
        try db2.must("set", "deploy/count+=3")
        try web1.must("set", "deploy/count+=1")
        try db2.must("set", "deploy/note=berlin")
        try eventually("the site has the same, and says that the hub is away") {
            try [db1, db2].allSatisfy { host in
                let status = try host.run("link", "status")
                return host.values.contains("count=5") && host.values.contains("note=berlin")
                    && status.status == 1 && status.out.contains("cut off from hub")
                    && status.out.contains("nothing unsent") && status.out.contains("site: berlin")
                    && status.out.contains("hub: not read since ")
            }
        }
        #expect(try db1.run("doctor").out.contains("cut off from hub"))
        let metrics = try db1.run("status", "-o", "prometheus").out
        #expect(metrics.contains(#"pickersync_link_stream_up{site="hub"} 0"#), "\(metrics)")
        #expect(metrics.contains(#"pickersync_link_stream_up{site="berlin"} 1"#), "\(metrics)")
        // A host that was killed meanwhile reads its site's log on.
        try db2.killDaemon()
        try db2.startDaemon()
        try db1.must("set", "deploy/count+=10")
        try eventually("it is linked again") {
            db2.values.contains("count=15")
        }

        try sites.hub.start()
        try sites.settle(sites.hosts, "all have everything") {
            web1.values.contains("count=16") && web1.values.contains("note=berlin")
        }
        let status = try db1.run("link", "status")
        #expect(status.status == 0 && status.out.contains("hub: its log is read"), "\(status.out)")
        let log = try web1.run("link", "status", "-o", "json").out
        #expect(!log.contains(#""disagreements":1"#), "\(log)")
    }
}
