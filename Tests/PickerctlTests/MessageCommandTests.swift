import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("-m says why, and history shows and finds it")
struct MessageCommandTests {
    private static let form = """
        form: shared
        fields:
          - {id: traffic, type: stepper, max: 100, message: required}
          - {id: flag, type: toggle}
          - {id: color, type: picker, options: [red, blue]}
          - {id: go, type: button}
        """

    let bench: Bench

    init() throws {
        bench = try Bench(applying: Self.form)
    }

    private func newest() throws -> String? {
        let line = try #require(try bench.run("history", "-n", "1", "-o", "json").lines.first)
        return try JSON(parsing: line)["message"]?.stringValue
    }

    @Test(
        "every command that changes something takes a message",
        arguments: [
            ["set", "traffic=5"], ["toggle", "flag"], ["next", "color"], ["previous", "color"],
            ["reset", "flag"], ["press", "go"], ["undo", "color"], ["redo", "color"],
            ["form", "options", "color", "green"],
        ])
    func everyCommand(_ words: [String]) throws {
        try bench.run("set", "color=blue", "flag=true")
        try bench.run("set", "color=red")
        if words[0] == "redo" || words[0] == "next" { try bench.run("undo", "color") }
        if words[0] == "next" { try bench.run("redo", "color") }
        if words[0] == "previous" { try bench.run("set", "color=blue") }
        let outcome = try bench.launch(words + ["-m", "INC-231: é"]).outcome()
        #expect(outcome.status == 0, "\(outcome.err)")
        #expect(try newest() == "INC-231: é")
    }

    @Test("a preset and a form file are applied with a message; a deletion too")
    func files() throws {
        try bench.run("load", "-", "--message", "friday", input: "traffic: 9\n")
        #expect(try newest() == "friday")
        let other = Self.form + "\n  - {id: more, type: toggle}\n"
        let applied = try bench.run("form", "apply", "-", "-m", "one more", input: other)
        #expect(applied.status == 0, "\(applied.err)")
        #expect(try newest() == "one more")
        #expect(try bench.run("form", "delete", "--yes", "shared", "-m", "gone").status == 0)
    }

    @Test("a message comes from a file or standard input, without its last line end")
    func sources() throws {
        let file = try bench.file("why", "from a file\n")
        try bench.run("set", "flag=true", "-m", "@" + file)
        #expect(try newest() == "from a file")
        try bench.run("set", "flag=false", "-m", "-", input: "from input\n")
        #expect(try newest() == "from input")
        #expect(try bench.run("set", "flag=true", "-m", "@" + file + "-not").status == 66)
        let two = try bench.file("two", "two\nlines\n")
        let refused = try bench.run("set", "flag=true", "-m", "@" + two)
        #expect(refused.status == 64)
        #expect(refused.err.contains("message has a control"), "\(refused.err)")
    }

    @Test("what needs a message exits 64 without one, and says how to give it")
    func required() throws {
        let refused = try bench.run("set", "traffic=5")
        #expect(refused.status == 64)
        #expect(
            refused.err
                == "pickerctl: traffic is changed only with a message that says why; give one with -m\n"
        )
    }

    @Test("history shows messages, and --grep finds them, users and fields")
    func history() throws {
        try bench.run("set", "flag=true", "-m", "Deploy of 1.4")
        try bench.run("set", "color=blue")
        try bench.run("set", "traffic=5", "-m", "INC-231")
        #expect(try bench.run("history", "-n", "1").out.hasSuffix("  \"INC-231\"\n"))
        #expect(try bench.run("history", "--grep", "deploy").lines.count == 1)
        #expect(try bench.run("history", "--grep", "colo").lines.count == 2)
        #expect(try bench.run("history", "--grep", NSUserName()).lines.count == 4)
        #expect(try bench.run("history", "--grep", "nothing").out.isEmpty)
        #expect(try bench.run("history", "--grep", "deploy", "-n", "1").lines.count == 1)
    }
}
