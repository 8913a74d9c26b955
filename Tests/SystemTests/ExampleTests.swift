import Foundation
import TestKit
import Testing

// What the project shows to people who come new: the client in Python, the scripted session.

@Suite("What is shown to people who come new", .serialized)
struct ExampleTests {
    @Test("the client in Python prints every change, and leaves with the daemon's goodbye")
    func watcherInPython() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let watcher = try ChildProcess(
            ["python3", "Examples/watch.py", "ice-cream", daemon.socket], errorsApart: false)
        watcher.read(until: "watching ice-cream")
        try writer.set("flavor", "vanilla")
        try writer.increment("scoops")
        watcher.read(until: "scoops=1")
        daemon.signal(SIGTERM)
        let outcome = watcher.outcome()
        #expect(outcome.status == 1)
        let lines = outcome.lines
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0] == "watching ice-cream from revision 1")
        #expect(lines[1].hasPrefix("2\tflavor=\"vanilla\"\t"), "\(lines)")
        #expect(lines[2].hasPrefix("3\tscoops=1\t"), "\(lines)")
        #expect(lines[3] == "the daemon left: shutdown")
    }

    @Test("a form that is not there ends the client in Python with the daemon's own words")
    func watcherOfNothing() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let watcher = try ChildProcess.run(
            ["python3", "Examples/watch.py", "nothing", daemon.socket])
        #expect(watcher.status == 1)
        #expect(watcher.out.contains("no form \"nothing\""), "\(watcher.out)")
    }

    @Test("the scripted session shows two watchers that saw the same over kill -9")
    func demo() throws {
        let session = try ChildProcess.run(
            ["scripts/demo"], environment: ["PICKERSYNC_BIN": builtProducts.path])
        #expect(session.status == 0, "\(session.out)")
        #expect(session.out.contains("saw the same 8 lines in the same order"), "\(session.out)")
        #expect(session.out.contains("conflict with chocolate"), "\(session.out)")
        #expect(session.out.contains("scoops=4"), "\(session.out)")
    }

    @Test("two hosts go on alone while the server is gone, and have the same afterwards")
    func linkDemo() throws {
        let session = try ChildProcess.run(
            ["scripts/demo-link"],
            environment: ["PICKERSYNC_BIN": builtProducts.path, "DEMO": "script"])
        #expect(session.status == 0, "\(session.out)")
        #expect(session.out.contains("2 unsent"), "\(session.out)")
        let after = session.out.components(separatedBy: "The network is healed").last ?? ""
        #expect(after.components(separatedBy: "replicas=6\ntraffic=30").count == 3, "\(after)")
        #expect(after.contains("agrees with 1 of 1 hosts"), "\(after)")
    }
}
