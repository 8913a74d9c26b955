import SyncCore
import Testing

@testable import TerminalUI
@testable import pickerctl

/// The same situations as sentences, as they are read to somebody.
extension LiveScreenTests {
    /// What is read to somebody who keeps every value.
    func sentences(_ bench: LiveBench) -> String {
        var model = bench.model
        model.around.environment = Look.ascii.environment
        var form = LineForm(model, isPerson: true)
        form.begin()
        var commands: [LiveCommand] = []
        var answers = 0
        while form.question != .command, answers < 1_000 {
            form.answer("", &commands)
            answers += 1
        }
        return form.takeOutput().joined(separator: "\n") + "\n"
    }

    @Test(
        "every example form as sentences", arguments: ["controls", "deploy", "ice-cream", "income"])
    func accessible(_ name: String) throws {
        let text = sentences(try LiveBench(example: name, columns: 80, lines: 24))
        try ScreenGolden.compare(text, with: "\(name)-accessible.txt", shown: text)
    }

    @Test("a busy moment as sentences")
    func accessibleConflict() throws {
        let text = sentences(try busy(80, 24))
        try ScreenGolden.compare(text, with: "conflict-accessible.txt", shown: text)
    }

    @Test("what waits for approval as sentences")
    func accessibleApproval() throws {
        var model = try proposals(80, 24).model
        model.around.environment = Look.ascii.environment
        var form = LineForm(model, isPerson: true)
        form.begin()
        var commands: [LiveCommand] = []
        for line in [":proposals", ":approve 13 fine", "no"] { form.answer(line, &commands) }
        let text = form.takeOutput().joined(separator: "\n") + "\n"
        try ScreenGolden.compare(text, with: "proposals-accessible.txt", shown: text)
    }

    @Test("a runbook at work as sentences")
    func accessibleRuns() throws {
        let text = sentences(try runbook(80, 24))
        try ScreenGolden.compare(text, with: "runbook-accessible.txt", shown: text)
    }
}
