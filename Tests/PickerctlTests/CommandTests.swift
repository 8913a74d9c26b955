import Foundation
import SyncCore
import TestKit
import Testing

@Suite("every command as a process, against a daemon of its own")
struct CommandTests {
    let bench: Bench

    init() throws {
        bench = try Bench(applying: Bench.iceCream)
    }

    @Test("set says nothing, and get prints the bare value")
    func setGet() throws {
        let set = try bench.run("set", "flavor=vanilla", "scoops+=1", "days+=tue")
        #expect(set.status == 0)
        #expect(set.out == "" && set.err == "")
        #expect(try bench.run("get", "flavor").out == "vanilla\n")
        #expect(try bench.run("get", "scoops", "days").out == "scoops=3\ndays=mon,tue\n")
        #expect(try bench.run("get", "ice-cream/size").out == "\n")
        #expect(try bench.run("get", "-o", "json", "days").out == "[\n  \"mon\",\n  \"tue\"\n]\n")
        #expect(try bench.run("get", "-o", "env", "flavor").out.contains("PICKER_FLAVOR='vanilla'"))
        #expect(try bench.run("get", "-o", "yaml", "f*").out == "flavor: vanilla\n")
        #expect(
            try bench.run("get", "-o", "table", "flavor").lines.first?.hasPrefix("FIELD") == true)
    }

    @Test(
        "a refusal is one line with the next step, and a status of sysexits.h",
        arguments: [
            (
                ["get", "flavour"], 66,
                "no field \"flavour\" in form ice-cream; did you mean flavor?"
            ),
            (["set", "flavour=x"], 66, "did you mean flavor?"),
            (["set", "flavor=mint"], 65, "choose chocolate, vanilla or strawberry"),
            (["set", "scoops=9"], 65, "expected a number from 1 to 5"),
            (["set", "scoops=many"], 65, "expected a number"),
            (["set", "key=hunter2"], 64, "key=-"),
            (["set", "order=1"], 64, "pickerctl press order"),
            (["set", "nothing"], 64, "nothing=VALUE"), (["set"], 64, "pickerctl set --help"),
            (["frobnicate"], 64, "pickerctl --help"), (["get", "-o", "xml"], 64, "json"),
            (["--form", "nope", "get"], 66, "nope"), (["set", "a/x=1", "b/y=2"], 64, "one form"),
            (["form", "check", "/nonexistent"], 66, "/nonexistent"), (["run"], 64, "-- COMMAND"),
            (["toggle", "flavor"], 64, "picker"),
            (["resolve", "flavor=vanilla"], 1, "no conflict"),
            (["wait", "flavor=vanilla", "--timeout", "0.05"], 124, ""),
        ] as [([String], Int32, String)])
    func refusals(arguments: [String], status: Int32, words: String) throws {
        let outcome = try bench.launch(arguments).outcome()
        #expect(outcome.status == status, "\(outcome.err)")
        #expect(outcome.out == "")
        #expect(words.isEmpty || outcome.err.contains(words), "\(outcome.err)")
        let lines = outcome.err.split(separator: "\n")
        #expect(lines.count == (words.isEmpty ? 0 : 1))
        #expect(lines.allSatisfy { $0.hasPrefix("pickerctl: ") })
        #expect(try bench.run("get", "flavor", "scoops").out == "flavor=chocolate\nscoops=2\n")
    }

    @Test("relative edits are worked out by the daemon")
    func relative() throws {
        #expect(try bench.run("toggle", "cone").status == 0)
        #expect(try bench.run("next", "flavor").status == 0)
        #expect(try bench.run("get", "cone", "flavor").out == "cone=false\nflavor=vanilla\n")
        #expect(try bench.run("previous", "flavor").status == 0)
        #expect(try bench.run("previous", "--wrap", "flavor").status == 0)
        #expect(try bench.run("get", "flavor").out == "strawberry\n")
        #expect(try bench.run("reset", "flavor", "cone").status == 0)
        #expect(try bench.run("get", "flavor").out == "chocolate\n")
        #expect(try bench.run("press", "order").status == 0)
        #expect(try bench.run("get", "order").out == "1\n")
        try bench.run("set", "cone=false")
        #expect(try bench.run("press", "order").status == 65)
    }

    @Test("a secret comes by standard input or a file, and is shown only by --reveal")
    func secrets() throws {
        #expect(try bench.run("set", "key=-", input: "sesame\n").status == 0)
        #expect(try bench.run("get", "key").out == "\n")
        #expect(try bench.run("get", "--reveal", "key").out == "sesame\n")
        let path = try bench.file("secret", "second")
        #expect(try bench.run("set", "key=@\(path)").status == 0)
        #expect(try bench.run("get", "--reveal", "key").out == "second\n")
        for arguments in [["get"], ["dump"], ["history"], ["get", "-o", "env"], ["describe"]] {
            #expect(!(try bench.launch(arguments).outcome().out.contains("second")), "\(arguments)")
        }
    }

    @Test("a stale compare and set exits 75 and changes nothing")
    func compareAndSet() throws {
        try bench.run("set", "cone=false")
        let token = try #require(bench.run("get", "--context", "flavor").lines.last)
        #expect(try bench.run("set", "--if-current", token, "flavor=vanilla").status == 0)
        let stale = try bench.run("set", "--if-current", token, "flavor=strawberry")
        #expect(stale.status == 75)
        #expect(stale.err.contains("flavor is vanilla now"))
        #expect(try bench.run("get", "flavor").out == "vanilla\n")
    }

    @Test("a value into a pipe is its own bytes; in a line it is escaped")
    func rawAndEscaped() throws {
        let note = "two\nlines\tand \u{202E}more"
        #expect(try bench.run("set", "note=-", input: note + "\n").status == 0)
        #expect(try bench.run("get", "note").out == note + "\n")
        let listed = try bench.run("get", "note", "cone").out
        #expect(!listed.contains("\u{202E}"))
        #expect(listed.split(separator: "\n").count == 2)
    }

    @Test("describe tells all that a set needs")
    func describe() throws {
        let text = try bench.run("describe", "flavor").out
        for words in ["picker", "strawberry", "nobody", "anyone", "pickerctl set flavor=chocolate"]
        {
            #expect(text.contains(words), "\(words)")
        }
        let json = try JSON(parsing: try bench.run("describe", "-o", "json", "scoops").out)
        #expect(json["definition"]?["max"] == 5)
        #expect(json["state"]?["value"] == 2)
        #expect(json["may"]?["write"] == ["anyone"])
    }

    @Test("dump and load are each other's inverse, in one transaction")
    func presets() throws {
        try bench.run("set", "flavor=vanilla", "days=tue,wed", "size=m")
        for format in ["yaml", "json"] {
            let dump = try bench.run("dump", "-o", format).out
            #expect(!dump.contains("key") && !dump.contains("order") && !dump.contains("says"))
            try bench.run("set", "flavor=strawberry", "days=", "size=")
            let dry = try bench.run("load", "--dry-run", "-", input: dump)
            #expect(dry.lines.count == 3)
            #expect(try bench.run("load", "-", input: dump).status == 0)
            #expect(try bench.run("dump", "-o", format).out == dump)
        }
        let bad = try bench.run("load", "-", input: "flavor: strawberry\nscoops: 99\n")
        #expect(bad.status == 65)
        #expect(try bench.run("get", "flavor").out == "vanilla\n", "none of it was loaded")
    }

    @Test("history, undo and redo")
    func history() throws {
        try bench.run("set", "flavor=vanilla")
        try bench.run("set", "flavor=strawberry")
        #expect(try bench.run("undo").out == "flavor=vanilla\n")
        #expect(try bench.run("redo").out == "flavor=strawberry\n")
        let lines = try bench.run("history", "flavor").lines
        #expect(lines.count >= 4)
        #expect(lines.first?.contains("flavor=strawberry (was vanilla)") == true)
        #expect(try bench.run("history", "-n", "1", "-o", "json").lines.count == 1)
    }

    @Test("a message is overwritten, after a question, and the history says so")
    func redaction() throws {
        try bench.run("set", "flavor=vanilla", "-m", "hunter2")
        let revision = try #require(
            bench.run("history", "-n", "1").out.split(separator: " ").first.map(String.init))
        let form = bench.environment["PICKERSYNC_FORM"] ?? "ice-cream"
        let asked = try bench.launch(["history", form + "/", "--redact", revision]).outcome()
        #expect(asked.status != 0, "nobody can answer")
        #expect(try bench.run("history", "-n", "1").out.contains("hunter2"))
        let done = try bench.run(
            "history", form + "/", "--redact", revision, "-y", "-m", "a password")
        #expect(done.out.hasPrefix("\(form): the message of revision \(revision) is redacted"))
        let lines = try bench.run("history", "-n", "2").lines
        #expect(
            lines.first?.hasSuffix("redact: the message of \(revision)  \"a password\"") == true)
        #expect(lines.last?.hasSuffix("flavor=vanilla (was chocolate)  \"redacted\"") == true)
        for words in [["-y"], ["-m", "why"], ["--redact", "2", "--limit", "3"]] {
            #expect(try bench.launch(["history"] + words).outcome().status == 64, "\(words)")
        }
    }

    @Test("concurrent picks are a conflict until somebody resolves it")
    func conflicts() throws {
        try bench.apply(
            "form: ask\nfields:\n - {id: x, type: picker, options: [a, b, c], onConflict: ask}\n")
        bench.environment["PICKERSYNC_FORM"] = "ask"
        try bench.run("set", "x=a")
        let token = try #require(bench.run("get", "--context", "x").lines.last)
        try bench.run("set", "x=b")
        try bench.run("set", "--context", token, "x=c")
        let conflicts = try bench.run("conflicts")
        #expect(conflicts.status == 1)
        #expect(conflicts.lines.map { $0.prefix(3) } == ["x=c", "x=b"])
        #expect(try bench.run("resolve", "x=b").status == 0)
        #expect(try bench.run("conflicts").status == 0)
        #expect(try bench.run("get", "x").out == "b\n")
    }

    @Test("apply asks before a value is lost, and applies nothing when nobody can answer")
    func apply() throws {
        try bench.run("set", "flavor=vanilla")
        let less = Bench.iceCream.replacing("vanilla, ", with: "")
        let path = try bench.file("less.yaml", less)
        let dry = try bench.run("form", "apply", "--dry-run", path)
        #expect(dry.status == 0 && dry.out.contains("invalid: flavor"))
        let asked = try bench.run("form", "apply", path)
        #expect(asked.status == 1 && asked.err.contains("--yes"))
        #expect(try bench.run("get", "-o", "json", "flavor").out == "\"vanilla\"\n")
        #expect(try bench.run("form", "apply", "--yes", path).status == 0)
        #expect(try bench.run("describe", "flavor").out.contains("invalid: vanilla"))
        #expect(try bench.run("form", "list", "-o", "text").out == "ice-cream\n")
        #expect(try bench.run("form", "check", path).status == 0)
        let bad = try bench.run(
            "form", "check", "-", input: "form: x\nfields: [{id: a, type: b}]\n")
        #expect(bad.status == 65 && bad.err.contains("standard input:2"))
        let again = try bench.file("again.yaml", try bench.run("form", "show").out)
        #expect(try bench.run("form", "check", again).status == 0)
        #expect(try bench.run("form", "options", "size", "-", input: "xs\nxl\n").status == 0)
        #expect(try bench.run("set", "size=xl").status == 0)
        #expect(try bench.run("form", "delete", "ice-cream").status == 1)
        #expect(try bench.run("form", "delete", "--yes", "ice-cream").status == 0)
        #expect(try bench.run("get", "flavor").status == 66)
    }

    @Test("which form must be said where there are several, and they are named")
    func whichForm() throws {
        try bench.apply("form: second\nfields:\n - {id: a, type: toggle}\n")
        let outcome = try bench.run("get", "a")
        #expect(outcome.status == 64)
        #expect(outcome.err.contains("ice-cream or second"))
        #expect(try bench.run("get", "second/a").out == "false\n")
        #expect(try bench.run("--form", "second", "get", "a").out == "false\n")
        bench.environment["PICKERSYNC_FORM"] = "second"
        #expect(try bench.run("get", "a").out == "false\n")
    }

    @Test("run gives the values to the command, and its status back")
    func runs() throws {
        let script = "echo $PICKER_FORM $PICKER_FLAVOR $PICKER_DAYS; exit 7"
        let outcome = try bench.run("run", "--", "sh", "-c", script)
        #expect(outcome.status == 7)
        #expect(outcome.out == "ice-cream chocolate mon\n")
        #expect(try bench.run("run", "--", "no-such-command").status == 66)
    }

    @Test("status and doctor tell how it is, who tells who is there")
    func status() throws {
        #expect(try bench.run("status").out.contains("durability: commit"))
        let json = try JSON(parsing: try bench.run("status", "-o", "json").out)
        #expect(json["durability"] == "commit")
        #expect(try bench.run("status", "-o", "prometheus").out.contains("pickersync_"))
        #expect(try bench.run("doctor").status == 0)
        #expect(try bench.run("who").status == 0)
        try bench.stop()
        let doctor = try bench.run("doctor")
        #expect(doctor.status == 69)
        #expect(doctor.out.contains("BAD"))
        let get = try bench.run("get", "flavor")
        #expect(get.status == 69)
        #expect(get.err.contains("start pickersyncd --socket"))
    }

    @Test("completions know the daemon's forms, fields and options, and are silent without one")
    func completions() throws {
        for shell in ["bash", "zsh", "fish"] {
            let outcome = try bench.run("completions", shell)
            #expect(outcome.status == 0)
            #expect(outcome.out.contains("pickerctl"))
        }
        func complete() throws -> Bench.Outcome {
            let script = try bench.file("bash", bench.run("completions", "bash").out)
            return try bench.shell(
                "source \(script); COMP_WORDS=(pickerctl set fla); COMP_CWORD=2; "
                    + "COMP_LINE='pickerctl set fla'; COMP_POINT=17; _pickerctl pickerctl fla set; "
                    + "printf '%s\\n' \"${COMPREPLY[@]}\""
            ).outcome()
        }
        #expect(try complete().out.contains("flavor=vanilla"))
        try bench.stop()
        let silent = try complete()
        #expect(!silent.out.contains("flavor"))
        #expect(silent.err == "")
    }

    @Test("a tab runs nothing that somebody else wrote into an option or the name of a file")
    func hostileCompletions() throws {
        let traps = ["$(>option)", "`>tick`", "<(>pipe)", "${x:=y}", "a'b", "~", "ok-1", "größe"]
        let options = traps.map { "\"\($0)\"" }.joined(separator: ", ")
        try bench.apply("form: trap\nfields: [{id: p, type: picker, options: [\(options)]}]\n")
        let file = "$(>file).yaml"
        try Data().write(to: bench.folder.appending(path: file))
        try Data().write(to: bench.folder.appending(path: "plain.yaml"))
        let script = """
            source <(pickerctl completions bash)
            complete_line() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                COMP_TYPE=9; COMP_KEY=9; COMPREPLY=(); _pickerctl "$1" "${!#}" ""
                printf '%s\n' "${COMPREPLY[@]}"
            }
            complete_line pickerctl set trap/p=
            complete_line pickerctl open ''
            """
        let outcome = try bench.shell(script).outcome()
        #expect(outcome.lines.contains("trap/p=ok-1") && outcome.lines.contains("trap/p=größe"))
        #expect(outcome.lines.contains("plain.yaml"), "\(outcome.out) \(outcome.err)")
        #expect(!outcome.out.contains { "$`<>'~".contains($0) }, "\(outcome.out)")
        let made = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(Set(made).isDisjoint(with: ["option", "tick", "pipe", "file"]), "\(made)")
    }
}
