import Foundation
import Testing

@Suite("the live form in a real terminal", .serialized)
struct LiveTerminalTests {
    /// Whether a program is installed.
    private static func has(_ program: String) -> Bool {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    @Test(
        "two panes share one daemon through its death, and the terminal is left as it was found",
        .enabled(if: has("tmux") && has("python3") && has("ps")))
    func panes() throws {
        let root = Self.here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        try run(
            "terminal.py", root.appending(path: "Examples/forms/ice-cream.yaml").path)
    }

    @Test(
        "on a terminal whose cells are read",
        .enabled(
            if: has("python3") && hasModules("pexpect", "pyte"), "needs pexpect and pyte"),
        arguments: ["accidents", "controls", "shared", "ends", "raw"])
    func cells(_ stories: String) throws {
        try run("tty/\(stories).py")
    }

    private static let here = URL(filePath: #filePath).deletingLastPathComponent()

    /// Whether Python has these modules.
    private static func hasModules(_ names: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import " + names.joined(separator: ",")]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Runs a script of this folder to its end.
    private func run(_ script: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["python3", Self.here.appending(path: script).path, Bench.products.path] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let said = String(
            decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
    }
}
