import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("what is read: labels, environments, presets, who is there, what was done")
struct ReadingTests {
    let bench: Bench

    init() throws {
        bench = try Bench(applying: Bench.iceCream)
    }

    @Test("a label reads as its text, where it is named; all leaves it out of what is read back")
    func labels() throws {
        #expect(try bench.run("get", "says").out == "Chocolate!\n")
        #expect(try bench.run("get", "-o", "json", "says").out == "\"Chocolate!\"\n")
        #expect(try bench.run("get", "says", "cone").out == "says=Chocolate!\ncone=true\n")
        #expect(try bench.run("get", "-o", "table").out.contains("Chocolate!"))
        for format in ["text", "json", "yaml", "env"] {
            #expect(!(try bench.run("get", "-o", format).out.contains("Chocolate!")), "\(format)")
        }
    }

    @Test("a watch of a label is told its text when that changes, and only then")
    func watchedLabel() throws {
        let watch = try bench.launch(["watch", "-o", "value", "--initial", "--count", "2", "says"])
        _ = watch.read(until: "\n")
        try bench.run("set", "scoops=4")
        try bench.run("set", "flavor=vanilla")
        #expect(watch.outcome().out == "Chocolate!\nVanilla!\n")
    }

    @Test("a field beside the whole form is refused, not left out")
    func wholeFormAndField() throws {
        let form = (bench.environment["PICKERSYNC_FORM"] ?? "ice-cream") + "/"
        for words in [["get"], ["history"], ["history", "--plot"], ["watch", "--count", "1"]] {
            let outcome = try bench.launch(words + [form, "nothing"]).outcome()
            #expect(outcome.status == 64 && outcome.out.isEmpty, "\(words)")
            #expect(
                outcome.err
                    == "pickerctl: \(form) is the whole form; leave it out, or leave out nothing\n")
        }
    }

    @Test("a button and a secret that are named are shown, the secret as nothing")
    func named() throws {
        try bench.run("set", "key=-", input: "sesame")
        #expect(try bench.run("get", "order", "key", "cone").out == "order=0\nkey=\ncone=true\n")
    }

    @Test("pick --non-interactive prints a value that may not be edited; pick alone refuses it")
    func pickedToRead() throws {
        try bench.apply(
            """
            form: gauges
            fields:
              - {id: heat, type: gauge, max: 9, default: 5}
              - {id: seats, type: stepper, max: 9, default: 3, disabled: true}
            """)
        for (field, value) in [("heat", "5\n"), ("seats", "3\n")] {
            let shown = try bench.run("pick", "gauges/\(field)", "--non-interactive")
            #expect(shown.out == value && shown.status == 0, "\(shown.err)")
            let asked = try bench.run("pick", "gauges/\(field)", input: "7\n")
            #expect(asked.out.isEmpty && asked.status == 65, "\(asked.err)")
        }
    }

    @Test("who tells everybody who has the form open, where, and on which field; not itself")
    func who() throws {
        #expect(try bench.run("who").err.contains("nobody has form ice-cream open"))
        let client = try WireClient(bench.socket)
        try client.call("hello", ["protocol": 1, "client": "raw/1", "tty": "pts/77"])
        try client.call("state.subscribe", ["form": "ice-cream", "presence": true])
        try client.call("presence.update", ["form": "ice-cream", "focus": "flavor"])
        let bystander = try WireClient(bench.socket)
        try bystander.call("state.subscribe", ["form": "ice-cream"])
        for _ in 0..<5 {
            let lines = try bench.run("who").lines
            #expect(lines.count == 2, "\(lines)")
            let words = lines.last?.split(separator: " ").map(String.init) ?? []
            #expect(Array(words.dropFirst()) == ["pts/77", "raw/1", "flavor"])
        }
        let json = try bench.run("who", "-o", "json").lines.map { try JSON(parsing: $0) }
        #expect(json.count == 1)
        #expect(json.first?["focus"] == "flavor")
    }

    @Test("a subscription of no fields is told of nobody's edits, and of everybody's presence")
    func noFields() throws {
        let client = try WireClient(bench.socket)
        let answer = try client.call(
            "state.subscribe",
            ["form": "ice-cream", "fields": [String](), "presence": true])
        #expect((answer["fields"] as? Object)?.isEmpty == true)
        try bench.run("set", "flavor=vanilla")
        try client.call("ping")
        #expect(!client.notifications.contains { $0["method"] as? String == "state.changed" })
    }

    @Test("an apply of what was applied last says so, and before the fact too")
    func unchanged() throws {
        let path = try bench.file("ice.yaml", Bench.iceCream)
        for arguments in [["form", "apply", path], ["form", "apply", "--dry-run", path]] {
            let outcome = try bench.launch(arguments).outcome()
            #expect(outcome.out == "form ice-cream unchanged, version 1\n")
        }
    }

    @Test("history counts the fields of an apply, and lists them as JSON")
    func history() throws {
        let line = try #require(bench.run("history").lines.last)
        #expect(line.hasSuffix("apply: 9 fields"), "\(line)")
        let json = try JSON(
            parsing: try #require(bench.run("history", "-o", "json").lines.last))
        #expect(json["changes"]?.arrayValue?.count == 9)
    }

    @Test("a shell that evaluates -o env has the very values, whatever is in them")
    func environment() throws {
        let note = "it's $(touch x) `id` \"q\" \\ end\nnext * line ; & | ${HOME} 日本"
        try bench.run("set", "note=-", input: note)
        let script = try bench.run("get", "-o", "env").out
        let outcome = try bench.shell("eval \"$1\"; printf %s \"$PICKER_NOTE\"", script).outcome()
        #expect(outcome.out == note)
        #expect(!FileManager.default.fileExists(atPath: bench.folder.path + "/x"))
    }

    @Test("a file and standard input lose one newline at their end, and only one")
    func trailingNewline() throws {
        for (input, kept) in [
            ("a\n", "a"), ("a\n\n", "a\n"), ("a", "a"), ("", ""), ("\n", ""), ("a\r\n", "a"),
        ] {
            #expect(try bench.run("set", "note=-", input: input).status == 0)
            #expect(try bench.run("get", "note").out == kept + "\n", "\(input.debugDescription)")
            let path = try bench.file("note", input)
            #expect(try bench.run("set", "note=@\(path)").status == 0)
            #expect(try bench.run("get", "note").out == kept + "\n", "\(input.debugDescription)")
        }
        #expect(try bench.run("set", "note=-", input: "\u{1B}[31m").status == 65)
    }

    @Test("every example form dumps and loads again, in both formats")
    func roundTrips() throws {
        try bench.run("form", "delete", "--yes", "ice-cream")
        let forms = sourceTree.appending(
            path: "Examples/forms")
        let files = try FileManager.default.contentsOfDirectory(atPath: forms.path).sorted()
        #expect(!files.isEmpty)
        for file in files where file.hasSuffix(".yaml") {
            let applied = try bench.run("form", "apply", forms.appending(path: file).path)
            #expect(applied.status == 0, "\(file): \(applied.err)")
            let name = String(file.dropLast(5))
            for format in ["yaml", "json"] {
                let dump = try bench.run("--form", name, "dump", "-o", format).out
                #expect(dump.contains(name))
                let load = try bench.run("load", "-", input: dump)
                #expect(load.status == 0, "\(file): \(load.err)")
                let dry = try bench.run("load", "--dry-run", "-", input: dump)
                #expect(dry.out == "" && dry.err.contains("nothing would change"), "\(dry.out)")
            }
        }
    }

    @Test("a form can be begun and made of what there is, and what comes out is good")
    func making() throws {
        let path = bench.folder.appending(path: "My Form.yaml").path
        #expect(try bench.run("form", "new", path).status == 0)
        #expect(try bench.run("form", "new", path).status == 1, "it is not written over")
        #expect(try bench.run("form", "check", path).out.contains("form my-form is valid"))
        let sources = [
            ("values.json", #"{"a b":1,"a_b":2,"l":["x","y"],"g":{"on":true},"9":"n","value":""}"#),
            ("values.env", "export A='x y'\n# no\nN=3\nB=true\n"),
            (
                "ha.yaml",
                "input_select:\n  m: {options: [home, away], initial: away}\n"
                    + "input_number:\n  v: {min: 0, max: 10, step: 1}\n"
            ),
        ]
        for (name, text) in sources {
            let made = try bench.run("form", "import", try bench.file(name, text))
            #expect(made.status == 0, "\(name): \(made.err)")
            let checked = try bench.run("form", "check", "-", input: made.out)
            #expect(checked.status == 0, "\(name): \(checked.err)\n\(made.out)")
        }
        #expect(try bench.run("form", "import", bench.file("empty", "")).status == 65)
    }

    @Test("every command has a line of its own and an example in its help")
    func help() throws {
        let dump = try JSON(parsing: try bench.run("--experimental-dump-help").out)
        var commands = dump["command"]?["subcommands"]?.arrayValue ?? []
        commands += commands.flatMap { $0["subcommands"]?.arrayValue ?? [] }
        #expect(commands.count > 25)
        for command in commands {
            let name = command["commandName"]?.stringValue ?? ""
            if ["help", "open", "pick"].contains(name) { continue }
            #expect(command["abstract"]?.stringValue?.isEmpty == false, "\(name)")
            #expect(command["discussion"]?.stringValue?.contains("Example: ") == true, "\(name)")
        }
    }
}
