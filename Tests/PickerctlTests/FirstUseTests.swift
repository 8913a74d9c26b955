import ArgumentParser
import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

/// Two forms, one of them with buttons that ask.
private let deploy = """
    form: deploy
    sections:
      - title: Target
        fields:
          - {id: environment, type: picker, label: Environment, options: [staging, production]}
          - {id: traffic, type: slider, label: Traffic, min: 0, max: 100, step: 5, default: 35}
          - {id: errors, type: gauge, min: 0, max: 9, readOnly: true}
          - {id: truck, type: toggle}
      - title: Go
        fields:
          - {id: note, type: text, maxLength: 5}
          - {id: token, type: secure}
          - {id: start, type: button, label: Start}
          - {id: rollback, type: button, label: Roll back, confirm: Really roll back?}
          - {id: wipe, type: button, label: Wipe, role: destructive}
          - {id: says, type: label, text: "to ${environment}"}
    """

@Suite("commands as people write them the first time")
struct FirstUseTests {
    let bench: Bench

    init() throws {
        bench = try Bench(applying: deploy)
    }

    @Test(
        "a mistake is one line with what to write instead",
        arguments: [
            (["gte"], 64, #"no command "gte"; did you mean get?"#),
            (["nope"], 64, #"no command "nope"; see pickerctl --help"#),
            (["gte", "--help"], 64, #"no command "gte"; did you mean get?"#),
            (["form", "lsit"], 64, #"no command "form lsit"; did you mean form list?"#),
            (["help", "nope"], 64, #"no command "nope"; see pickerctl --help"#),
            (["help", "form", "aply"], 64, #"no command "form aply"; did you mean form apply?"#),
            (
                ["get", "deploy", "traffic"], 66,
                #"no field "deploy" in form deploy; it is the form: write deploy/FIELD, or -f deploy"#
            ),
            (["set", "traffic", "20"], 64, "no value for traffic; did you mean traffic=20?"),
            (["set", "traffic=", "20"], 64, "no value for traffic; did you mean traffic=20?"),
            (["set", "traffic", "=", "20"], 64, "no value for traffic; did you mean traffic=20?"),
            (["set", "traffic", "+=5"], 64, "no value for traffic; did you mean traffic+=5?"),
            (
                ["set", "note", "it's", "me"], 64,
                #"no value for note; did you mean note='it'\''s me'?"#
            ),
            (["set", "=5"], 64, #""=5" has no field; write pickerctl set FIELD=VALUE"#),
            (["set", "deploy/=5"], 64, #""deploy/=5" has no field;"#),
            (["wait", "!=5"], 64, #""!=5" has no field;"#),
            (["form", "options", "environment", ""], 65, "an option has no tag;"),
            (["set", "traffic"], 64, "traffic has no value; write pickerctl set traffic=VALUE"),
            (
                ["set", "deploy", "version=1 2"], 64,
                "if it is the form, write pickerctl set -f deploy 'version=1 2'"
            ),
            (
                ["wait", "environment", "staging"], 64,
                "no value for environment; did you mean environment=staging?"
            ),
            (
                ["wait", "environment=mint"], 65,
                #""mint" is not an option; choose staging or production"#
            ),
            (
                ["wait", "environment!=stagng"], 65,
                #""stagng" is not an option; did you mean staging?"#
            ),
            (
                ["wait", "traffic=13"], 65,
                #""13" is not a value of traffic; expected a number from 0 to 100 in steps of 5"#
            ),
            (["wait", "note=longer"], 65, "longer than"),
            (
                ["wait", "token=x"], 64,
                "token is secret and cannot be compared; choose another field"
            ),
            (
                ["watch", "--until", "environment=mint"], 65,
                #""mint" is not an option; choose staging or production"#
            ),
            (
                ["wait", "--timeout", "1x", "truck=true"], 64,
                #""1x" is not a value of --timeout; expected a duration such as 5, 500ms"#
            ),
            (
                ["set", "environment=mint"], 65,
                #""mint" is not an option; choose staging or production"#
            ),
            (["reset", "zz*"], 66, "no field of form deploy matches zz*"),
            (
                ["reset", "deploy/"], 64,
                "deploy is a form, not a field; write pickerctl reset deploy/FIELD"
            ),
            (["toggle", "traffic"], 64, "cannot toggle traffic, which is a slider;"),
            (["press", "deploy/traffic"], 64, "use pickerctl set deploy/traffic+=1"),
            (["press", "-f", "deploy", "traffic"], 64, "use pickerctl set deploy/traffic+=1"),
            (["set", "deploy/rollback=1"], 64, "press it with pickerctl press deploy/rollback"),
            (["press", "rollback"], 1, "no terminal to confirm on; use --yes"),
            (["press", "wipe"], 1, "no terminal to confirm on; use --yes"),
            (["form", "delete", "deploy"], 1, "no terminal to confirm on; use --yes"),
            (["open", "deploy/trafic"], 66, #"no field "trafic" in form deploy; did you mean"#),
        ] as [([String], Int32, String)])
    func mistakes(arguments: [String], status: Int32, words: String) throws {
        let outcome = try bench.launch(arguments).outcome()
        #expect(outcome.status == status, "\(outcome.err)")
        #expect(outcome.out == "")
        #expect(
            outcome.err.hasPrefix("pickerctl: ") && outcome.err.contains(words), "\(outcome.err)")
        #expect(outcome.err.split(separator: "\n").count == 1)
    }

    @Test("a form may be a positional argument, with a slash or not, or an option; texts name it")
    func forms() throws {
        for several in [false, true] {
            if several { try bench.apply(Bench.iceCream) }
            let whole: [[String]] =
                [["deploy"], ["deploy/"]] + (several ? [["-f", "deploy"]] : [])
            for words in whole + [["--form=deploy"]] {
                let describe = try bench.launch(["describe"] + words).outcome().out
                #expect(
                    describe.contains("pickerctl press deploy/rollback"), "\(words): \(describe)")
                let history = try bench.launch(["history"] + words).outcome()
                #expect(history.out.contains("apply: 10 fields"), "\(words): \(history.err)")
                #expect(try bench.launch(["get"] + words).outcome().out.contains("traffic=35\n"))
                #expect(try bench.launch(["dump"] + words).outcome().out.contains("form: deploy"))
                #expect(try bench.launch(["conflicts"] + words).outcome().status == 0)
                #expect(try bench.launch(["who"] + words).outcome().err.contains("form deploy"))
                let open = try bench.launch(["open"] + words).outcome()
                #expect(open.out.contains("Environment: Staging"), "\(words): \(open.err)")
                let watch = ["watch", "--initial", "--count", "1"] + words
                #expect(try bench.launch(watch).outcome().out.contains("environment"))
                #expect(
                    try bench.launch(["form", "show"] + words).outcome().out.contains("Target"))
            }
            #expect(try bench.run("get", "deploy/traffic").out == "35\n")
            #expect(try bench.run("history", "deploy/traffic").out.contains("apply traffic=35"))
            #expect(try bench.run("describe", "deploy/traffic").lines.count > 3)
            #expect(try bench.run("open", "deploy/traffic").status == 0)
        }
        let which = try bench.run("get", "traffic")
        #expect(which.status == 64)
        #expect(which.err.contains("which form? choose deploy or ice-cream with -f"))
        #expect(try bench.run("dump", "deploy", "-f", "ice-cream").status == 64)
    }

    @Test("a pattern chooses fields wherever fields are named")
    func patterns() throws {
        try bench.run("set", "traffic=50", "truck=true", "environment=production")
        let history = try bench.run("history", "-n", "1", "tr*").out
        #expect(history.contains("traffic=50 (was 35), truck=true"), "\(history)")
        #expect(!history.contains("environment"))
        #expect(try bench.run("describe", "-o", "json", "tr*").out.hasPrefix("["))
        #expect(try bench.run("toggle", "tr*").status == 0)
        #expect(try bench.run("get", "truck").out == "false\n")
        #expect(try bench.run("next", "env*", "--wrap").status == 0)
        #expect(try bench.run("get", "environment").out == "staging\n")
        let reset = try bench.run("reset", "*")
        #expect(reset.status == 0, "\(reset.err)")
        #expect(try bench.run("get", "traffic").out == "35\n")
    }

    @Test("a button that asks is pressed with --yes or PICKERSYNC_YES=1, and no other by itself")
    func press() throws {
        #expect(try bench.run("press", "start").status == 0)
        #expect(try bench.run("press", "rollback").status == 1)
        #expect(try bench.run("get", "rollback", "wipe").out == "rollback=0\nwipe=0\n")
        #expect(try bench.run("press", "--yes", "rollback").status == 0)
        #expect(try bench.run("press", "-y", "wipe").status == 0)
        bench.environment["PICKERSYNC_YES"] = "0"
        #expect(try bench.run("press", "wipe").status == 1)
        bench.environment["PICKERSYNC_YES"] = "1"
        #expect(try bench.run("press", "wipe").status == 0)
        #expect(try bench.run("get", "rollback", "wipe").out == "rollback=1\nwipe=2\n")
    }

    @Test("open without a terminal prints the whole form, and what its input did not answer")
    func openPrints() throws {
        let whole = try bench.run("open", "deploy")
        #expect(whole.status == 0)
        #expect(
            whole.lines == [
                "Form: deploy", "Section: Target", "Environment: Staging", "Traffic: 35",
                "errors: 0", "truck: off", "Section: Go", "note: empty", "token: not set",
                "Start: button", "Roll back: button", "Wipe: button", "to Staging",
            ], "\(whole.out)")
        let answered = try bench.run("open", "deploy", input: "production\n")
        #expect(answered.status == 0)
        for line in whole.lines.dropFirst(7) {
            let line = line == "to Staging" ? "to Production" : line
            #expect(answered.lines.contains(line), "\(line): \(answered.out)")
        }
        #expect(try bench.run("get", "environment").out == "production\n")
    }

    @Test("status is ten lines; the limits and all the rest are asked for")
    func status() throws {
        let lines = try bench.run("status").lines
        #expect(lines.count == 10, "\(lines)")
        #expect(lines.first == "socket: \(bench.socket)")
        #expect(lines.contains("writable: true") && lines.contains("durability: commit"))
        #expect(lines.contains { $0.hasSuffix("subscriptions: 0") })
        let limits = try bench.run("status", "--limits").lines
        #expect(limits.count == Limits.all.count)
        #expect(limits.contains("historyDaysMax: 7 days"))
        let all = try bench.run("status", "--all").lines
        #expect(all.count > 60 && all.contains("  commitFailures: 0"))
        #expect(try bench.run("status", "--limits", "--all").status == 64)
        #expect(try bench.run("status", "--all", "-o", "json").status == 64)
    }

    @Test("spans of time in their two largest units")
    func spans() {
        let spans: [(Int64, String)] = [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3_600, "1 h"),
            (90_061, "1 d 1 h"), (86_400 + 60, "1 d"),
        ]
        for (seconds, text) in spans { #expect(StatusRequest.span(seconds) == text) }
    }

    @Test("what an editor reads begins with file, line and column")
    func editors() throws {
        let path = try bench.file("bad.yaml", "form: f\nfields:\n  - {id: a, type: pickr}\n  - 3\n")
        let check = try bench.run("form", "check", path)
        #expect(check.status == 65)
        let lines = check.err.split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("\(path):") }, "\(check.err)")
        #expect(
            lines.first == #"\#(path):3:19: fields[0].type: found "pickr"; did you mean picker?"#)
        let apply = try bench.run("form", "apply", path)
        #expect(apply.err.hasPrefix("\(path):3:19:"))
        #expect(apply.err.contains("pickerctl: \(path) has 2 errors; nothing was applied"))
        let good = try bench.file("good.yaml", deploy)
        #expect(try bench.run("form", "check", good).out == "\(good): form deploy is valid\n")
    }

    @Test("an import names each line that it cannot read")
    func imports() throws {
        let path = try bench.file(
            ".env", "# a comment\n\nexport A=1\nB = 2\nnothing\nC=\"open\nD='x y'  \nA=2\n")
        let outcome = try bench.run("form", "import", path)
        #expect(outcome.status == 0)
        #expect(outcome.out.contains("id: A") && outcome.out.contains("default: x y"))
        let notes = outcome.err.split(separator: "\n").map(String.init)
        let leftOut = "not NAME=VALUE; the line is left out"
        #expect(
            notes == [
                "pickerctl: \(path):4: \(leftOut)", "pickerctl: \(path):5: \(leftOut)",
                "pickerctl: \(path):6: \(leftOut)",
                "pickerctl: \(path):8: A is there twice; the last value is used",
            ], "\(outcome.err)")
        let group = try bench.run("form", "import", "-", input: "a: 1\nempty: {}\nlist: [{}]\n")
        #expect(group.err.contains("empty is left out") && group.err.contains("list is left out"))
        let broken = bench.folder.appending(path: "x.env")
        try Data([0x41, 0x3D, 0xFF]).write(to: broken)
        #expect(try bench.run("form", "import", broken.path).status == 65)
    }

    @Test("a duration is what the daemon's configuration calls one")
    func durations() throws {
        for text in ["0.05", "50ms", "0.05s", "0s"] {
            #expect(
                try bench.run("wait", "--timeout", text, "truck=true").status == 124, "\(text)")
        }
        let accepted: [(String, Double)] = [
            ("5", 5), ("1m", 60), ("10min", 600), ("1h", 3_600), ("1d", 86_400), ("2.5s", 2.5),
            ("500ms", 0.5), ("10 min", 600),
        ]
        for (text, seconds) in accepted { #expect(DurationText.seconds(text) == seconds) }
        for text in ["", "s", "-1", "1x", "nan", "inf", "1e3", "0x10", "1..2", "1 2", "never"] {
            #expect(DurationText.seconds(text) == nil, "\(text)")
        }
        for line in ["wait --timeout 1m a=b", "watch --debounce 50ms", "get --connect-timeout 1s"] {
            #expect(FastPath.request(line.split(separator: " ").map(String.init)) != nil)
        }
    }

    // MARK: Completion

    private func words(_ line: String...) -> [String] {
        ["pickerctl"] + line + ["--socket", bench.socket]
    }

    @Test("a shell is offered forms, files, and fields below their form")
    func completion() throws {
        let folder = bench.folder.appending(path: "forms")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: "a.yaml"))
        try Data().write(to: folder.appending(path: "b.txt"))
        #expect(Completion.forms(words("open", ""), 1, "") == ["deploy"])
        #expect(Completion.fields(words("describe", ""), 1, "").contains("traffic"))
        try bench.apply(Bench.iceCream)
        #expect(Completion.forms(words("form", "show", ""), 2, "") == ["deploy", "ice-cream"])
        let open = Completion.formsAndFiles(words("open", "\(folder.path)/"), 1, "\(folder.path)/")
        #expect(open == ["deploy", "ice-cream", "\(folder.path)/a.yaml"])
        #expect(Completion.readable(words("get", ""), 1, "") == ["deploy/", "ice-cream/"])
        let below = Completion.readable(words("get", "deploy/"), 1, "deploy/")
        #expect(below.contains("deploy/traffic") && below.contains("deploy/says"))
        #expect(Completion.fields(words("history", "ice"), 1, "ice").contains("ice-cream/flavor"))
        #expect(
            Completion.assignments(words("set", "deploy/"), 1, "deploy/")
                .contains("deploy/environment=staging"))
        #expect(
            Completion.fields(words("press", "-f", "deploy", ""), 3, "", [.button])
                == ["start", "rollback", "wipe"])
    }

    @Test("bash completes a form, and a field below it")
    func bash() throws {
        let script = """
            source <(pickerctl completions bash)
            complete_line() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
                COMP_TYPE=9; COMP_KEY=9; COMPREPLY=(); _pickerctl "$1" "${!#}" ""; echo "${COMPREPLY[@]}"
            }
            complete_line pickerctl open dep
            complete_line pickerctl describe deploy/tra
            """
        let outcome = try bench.shell(script).outcome()
        #expect(outcome.lines.first == "deploy", "\(outcome.out) \(outcome.err)")
        #expect(outcome.lines.last == "deploy/traffic", "\(outcome.out) \(outcome.err)")
    }

    // MARK: ArgumentParser

    @Test(
        "what ArgumentParser says is said in our words",
        arguments: [
            ("get --fom x", "no option --fom; did you mean --form?"),
            ("get --zzzzzzzz", "no option --zzzzzzzz"), ("get -Z", "no option -Z"),
            ("get -o xml", #""xml" is not a value of -o; choose text, json, yaml, env or table"#),
            ("dump -o xml", #""xml" is not a value of -o; choose yaml or json"#),
            ("get --form", "--form has no value; write --form FORM"),
            ("get --quiet=x", "--quiet accepts no value; write --quiet alone"),
            ("press a b", "one argument too many: b"), ("press a b c", "too many arguments: b c"),
            ("set", "missing argument FIELD=VALUE…"), ("pick", "missing argument FIELD"),
            (
                "wait --timeout 1x a=b",
                #""1x" is not a value of --timeout; expected a duration such"#
            ),
            ("watch --count x", #""x" is not a value of --count; expected a whole number"#),
            ("history -n x", #""x" is not a value of -n; expected a whole number"#),
            ("completions csh", #""csh" is not a value of SHELL; choose bash, zsh or fish"#),
        ])
    func parserWords(_ line: String, _ words: String) {
        let arguments = line.split(separator: " ").map(String.init)
        do {
            _ = try PickerctlCommand.whole(arguments)
            Issue.record("\(line) was read")
        } catch {
            let text = PickerctlCommand.words(of: error)
            #expect(text.hasPrefix(words), "\(line): \(text)")
            #expect(!text.contains("'"), "\(line): \(text)")
        }
    }

    @Test("options whose hyphens alone make them similar are not suggested")
    func hyphensAreNotSimilar() {
        #expect(
            ParserWording.line("Error: Unknown option '--json'. Did you mean '--plot'?")
                == "no option --json")
        #expect(
            ParserWording.line("Error: Unknown option '--fom'. Did you mean '--form'?")
                == "no option --fom; did you mean --form?")
    }

    // MARK: Reports

    @Test("what came of an edit is told with the values before and after")
    func reports() throws {
        let field = FormOutline(
            [
                "form": "f",
                "fields": [["id": "t", "type": "slider", "min": 0, "max": 100, "step": 5]],
            ]
        ).fields[0]
        func state(_ value: JSON) -> FieldState {
            FieldState(value: value, revision: 1, isSet: true)
        }
        func line(_ action: Change.Action, _ was: JSON, _ now: JSON?) -> String {
            EditReport.line(
                Change(field: "t", action), field, state(was), now.map(state))
        }
        #expect(line(.increment(DecimalNumber(500)), 35, 100) == "t 35 → 100, the highest")
        #expect(line(.increment(DecimalNumber(-500)), 35, 0) == "t 35 → 0, the lowest")
        #expect(line(.value(13), 35, 15) == "t 35 → 15, the step nearest to 13")
        #expect(line(.value(20), 35, 20) == "t 35 → 20")
        #expect(line(.value(35), 35, nil) == "t 35, unchanged")
        #expect(line(.increment(DecimalNumber(5)), 100, nil) == "t 100, unchanged, the highest")
        #expect(line(.reset, 35, .null) == "t 35 → —")
    }
}
