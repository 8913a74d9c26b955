import Foundation
import TestKit
import Testing

@Suite("the live form in a real terminal", .serialized)
struct LiveTerminalTests {
    private static func has(_ program: String) -> Bool { installedProgram(program) != nil }

    @Test(
        "two panes share one daemon through its death, and the terminal is left as it was found",
        .enabled(if: has("tmux") && has("python3") && has("ps")))
    func panes() throws {
        try run("terminal.py", sourceTree.appending(path: "Examples/forms/ice-cream.yaml").path)
    }

    @Test(
        "on a terminal whose cells are read",
        .enabled(
            if: has("python3") && hasModules("pexpect", "pyte"), "needs pexpect and pyte"),
        arguments: ["accidents", "controls", "shared", "ends", "raw", "hostile"])
    func cells(_ stories: String) throws {
        try run("tty/\(stories).py")
    }

    /// Whether Python has these modules.
    private static func hasModules(_ names: String...) -> Bool {
        let script = "import " + names.joined(separator: ",")
        return (try? ChildProcess.run(["python3", "-c", script]))?.status == 0
    }

    /// Runs a script of this folder to its end.
    private func run(_ script: String, _ arguments: String...) throws {
        let outcome = try ChildProcess.run(
            ["python3", "Tests/PickerctlTests/Live/\(script)", builtProducts.path] + arguments)
        #expect(outcome.status == 0, "\(outcome.out)")
    }
}
