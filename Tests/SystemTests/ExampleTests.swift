import Foundation
import Testing

// What the project shows to people who come new: the client in Python, the scripted session.

private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

/// A program that is started, read from and ended.
private final class Program {
    private let process = Process()
    private let output: String

    init(_ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder)
        throws
    {
        output = folder("out-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: root)
        process.standardInput = FileHandle.nullDevice
        let handle = try #require(FileHandle(forWritingAtPath: output))
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    var said: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

@Suite("What is shown to people who come new", .serialized)
struct ExampleTests {
    @Test("the client in Python prints every change, and leaves with the daemon's goodbye")
    func watcherInPython() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let watcher = try Program(
            ["python3", "Examples/watch.py", "ice-cream", daemon.socket], in: folder)
        try eventually("the watcher's first line") { watcher.said.contains("watching ice-cream") }
        try writer.set("flavor", "vanilla")
        try writer.increment("scoops")
        try eventually("two changes") { watcher.said.contains("scoops=1") }
        daemon.signal(SIGTERM)
        #expect(watcher.wait() == 1)
        let lines = watcher.said.split(separator: "\n").map(String.init)
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
        let watcher = try Program(
            ["python3", "Examples/watch.py", "nothing", daemon.socket], in: folder)
        #expect(watcher.wait() == 1)
        #expect(watcher.said.contains("no form \"nothing\""), "\(watcher.said)")
    }

    @Test("the scripted session shows two watchers that saw the same over kill -9")
    func demo() throws {
        let folder = try TemporaryFolder()
        let session = try Program(
            ["scripts/demo"], environment: ["PICKERSYNC_BIN": builtExecutables], in: folder)
        #expect(session.wait() == 0, "\(session.said)")
        #expect(session.said.contains("saw the same 8 lines in the same order"), "\(session.said)")
        #expect(session.said.contains("conflict with chocolate"), "\(session.said)")
        #expect(session.said.contains("scoops=4"), "\(session.said)")
    }
}
