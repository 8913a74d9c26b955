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
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", here.appending(path: "terminal.py").path, Bench.products.path,
            root.appending(path: "Examples/forms/ice-cream.yaml").path,
        ]
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
