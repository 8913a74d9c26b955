import Foundation
import TestKit
import Testing

@Suite("--timeout bounds the whole command", .timeLimit(.minutes(5)))
struct DeadlineTests {
    /// A daemon that answers the first requests and then never again.
    private static func daemon(_ path: String, answers: [String]) throws -> LyingDaemon {
        try LyingDaemon(path) { peer in
            for answer in answers {
                guard let request = peer.request() else { return }
                peer.answer(request, answer)
            }
            peer.wait()
        }
    }

    private static let form = """
        {"form":"f","version":1,"revision":1,"log":"l","definition":{"form":"f","fields":[\
        {"id":"go","type":"button","runs":"queue"},{"id":"a","type":"toggle"}]}}
        """
    private static let greeting = """
        {"protocol":1,"server":"pickersyncd/0","replica":"aaaaaaaaaaaaaaaa.1","features":["runs"],\
        "you":{"connection":1,"uid":0,"gid":0,"pid":1,"user":"root"},"limits":{"maxFrame":1048576}}
        """

    @Test(
        "a daemon that accepts and does not answer any more",
        arguments: [[], [greeting], [greeting, form]])
    func silence(answers: [String]) throws {
        let bench = try Bench(starting: false)
        let daemon = try Self.daemon(bench.socket, answers: answers)
        defer { daemon.stop() }
        for arguments in [
            ["wait", "--timeout", "1", "f/a=true"], ["watch", "--timeout", "1", "f/a"],
            ["watch", "--timeout", "1", "--until", "f/a=true"],
            ["press", "f/go", "--wait", "--timeout", "1"],
        ] {
            let outcome = try bench.launch(arguments).outcome()
            // Without --timeout this would be 69 after half a minute.
            #expect(outcome.status == 124, "\(arguments) \(answers.count): \(outcome.err)")
        }
    }

    @Test("a press that was answered, and whose outcome is not")
    func outcome() throws {
        let bench = try Bench(starting: false)
        let fields = """
            {"go":{"value":{"presses":1},"revision":2,"set":true,"at":"2026-11-23T19:58:58.328Z",\
            "by":{"user":"root","uid":0,"connection":1,"replica":"a43ab3355d7b.1"},\
            "runs":{"waiting":1,"running":[]},"press":"a43ab3355d7b.1:1"}}
            """
        let pressed = #"{"form":"f","revision":2,"context":"","fields":\#(fields)}"#
        let snapshot =
            #"{"form":"f","log":"l","revision":2,"context":"","resumed":false,"fields":\#(fields)}"#
        let answers = [Self.greeting, Self.form, pressed, snapshot]
        let daemon = try Self.daemon(bench.socket, answers: answers)
        defer { daemon.stop() }
        let press = try bench.run("press", "f/go", "--wait", "--timeout", "1")
        #expect(press.status == 124, "\(press.err)")
    }

    @Test("nobody listens, and --connect-timeout is longer")
    func nobody() throws {
        let bench = try Bench(starting: false)
        let outcome = try bench.run(
            "wait", "--no-autostart", "--connect-timeout", "5m", "--timeout", "1", "f/a=true")
        #expect(outcome.status == 124, "\(outcome.err)")
    }
}
