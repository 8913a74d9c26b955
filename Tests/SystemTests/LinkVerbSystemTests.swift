import Foundation
import TestKit
import Testing

@Suite("What one host has under way, from another over a NATS server")
struct LinkVerbSystemTests {
    @Test("a lease of one host is ended from the other, and not while they are cut off")
    func lease() throws {
        let fleet = try Fleet()
        let (one, two) = (fleet.hosts[0], fleet.hosts[1])
        try fleet.share()
        try one.must("set", "deploy/target=prod")
        try one.must("set", "deploy/target=lab", "--for", "1h")
        try eventually("the other host shows the lease") {
            try two.run("explain", "deploy/target").out.contains("@one's lease")
        }
        try two.must("lease", "deploy/target", "--end")
        try fleet.settle("the value is back on both") { one.values.contains("target=prod") }

        try one.must("set", "deploy/target=test", "--for", "1h")
        try eventually("the other host shows the next one") {
            try two.run("explain", "deploy/target").out.contains("@one's lease")
        }
        fleet.server.kill()
        try eventually("the other host is cut off") {
            try two.run("status").out.contains("cut off since")
        }
        let refused = try two.run("lease", "deploy/target", "--keep")
        #expect(refused.status == 69, "\(refused)")
        #expect(refused.out.contains("nothing was done"), "\(refused)")
        #expect(one.values.contains("target=test"))
    }

    @Test("a button with handledAt is pressed on one host and handled on the other")
    func press() throws {
        let fleet = try Fleet()
        let (one, two) = (fleet.hosts[0], fleet.hosts[1])
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "deploy.yaml",
            """
            form: deploy
            fields:
              - {id: version, type: text}
              - {id: start, type: button, runs: queue, waitsFor: 10m, handledAt: one}
            """)
        try one.must("form", "apply", file)
        try fleet.settle("the form is on both hosts") { true }
        let elsewhere = try two.run("handle", "deploy/start", "--", "true")
        #expect(elsewhere.status == 65, "\(elsewhere)")
        #expect(elsewhere.out.contains("handled at one"), "\(elsewhere)")
        let script = #"echo 50%; echo "for $PICKERSYNC_BY"; test "$PICKER_VERSION" != bad"#
        let handler = try one.start("handle", "deploy/start", "--", "sh", "-c", script)
        defer { handler.signal(SIGTERM) }
        try two.must("set", "deploy/version=42")
        try fleet.settle("the version is on both") { one.values.contains("version=42") }
        let done = try two.run("press", "deploy/start", "--wait")
        #expect(done.status == 0, "\(done)")
        try two.must("set", "deploy/version=bad")
        try fleet.settle("the next version is on both") { one.values.contains("version=bad") }
        let failed = try two.run("press", "deploy/start", "--wait")
        #expect(failed.status == 1, "\(failed)")
        #expect(failed.out.contains("start failed"), "\(failed)")
        try fleet.settle("both have all presses") {
            (try? two.run("get", "deploy/start").out) == "2\n"
        }
        let history = try one.run("history", "deploy", "-o", "json").out
        #expect(history.contains(#""host":"two""#), "\(history)")
    }
}
