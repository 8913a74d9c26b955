import Foundation
import TestKit
import Testing

@Suite(
    "at a terminal",
    .enabled(if: installedProgram("script") != nil, "needs script of util-linux"))
struct TerminalTests {
    let bench: Bench

    init() throws {
        bench = try Bench(applying: Bench.iceCream)
    }

    /// A command line at a terminal of its own; what is typed is sent when `after` was shown.
    private func atTerminal(
        _ line: String, environment: [String: String] = [:],
        typing: [(after: String, keys: String)] = []
    ) throws -> Bench.Outcome {
        var variables = ["PATH": builtProducts.path + ":/usr/bin:/bin", "TERM": "xterm"]
        variables["PICKERSYNC_SOCKET"] = bench.socket
        variables["HOME"] = bench.folder.path
        let script = try #require(installedProgram("script"))
        let process = try ChildProcess(
            [script, "-qec", line, "/dev/null"], environment: variables.merging(environment) { $1 },
            isEnvironmentWhole: true, input: .open, errorsApart: false)
        for (after, keys) in typing {
            process.read(until: after)
            process.type(keys)
        }
        return process.outcome()
    }

    @Test("headings are bold, unless the environment or the terminal says no")
    func colors() throws {
        let line = "pickerctl get -o table flavor"
        #expect(try atTerminal(line).out.contains("\u{1B}[1m"))
        for variable in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let outcome = try atTerminal(line, environment: variable)
            #expect(!outcome.out.contains("\u{1B}"), "\(variable)")
        }
    }

    @Test("a value is shown with its dangerous characters as text")
    func escaped() throws {
        try bench.run("set", "note=-", input: "a\u{202E}b")
        let shown = try atTerminal("pickerctl get note").out
        #expect(!shown.contains("\u{202E}"))
        #expect(shown.contains("202E"))
    }

    @Test("what would be lost is asked about, and no is the answer of a mere Enter")
    func asks() throws {
        let outcome = try atTerminal(
            "pickerctl form delete ice-cream", typing: [("[y/N]", "\r")])
        #expect(outcome.status == 1)
        #expect(outcome.out.contains("form ice-cream is unchanged"))
        let yes = try atTerminal(
            "pickerctl form delete ice-cream", typing: [("[y/N]", "y\r")])
        #expect(yes.status == 0, "\(yes.out)")
        #expect(try bench.run("form", "list", "-o", "text").out == "")
    }

    @Test("an edit says what came of it, on a terminal alone and not with -q")
    func reports() throws {
        try bench.apply(
            "form: ice-cream\nfields:\n"
                + " - {id: traffic, type: slider, min: 0, max: 100, step: 5, default: 35}\n"
                + " - {id: on, type: toggle}\n - {id: key, type: secure}\n")
        for (command, line) in [
            ("set traffic+=500", "traffic 35 → 100, the highest"),
            ("set traffic=13", "traffic 100 → 15, the step nearest to 13"),
            ("set traffic=15", "traffic 15, unchanged"), ("toggle on", "on false → true"),
            ("reset traffic on", "traffic 15 → 35\r\non true → false"),
            ("set key=@/etc/hostname", "key set"), ("set -q traffic=50", ""),
            ("set traffic=60 | cat", ""), ("set -o json traffic=70", "{"),
        ] {
            let shown = try atTerminal("pickerctl \(command)")
            #expect(shown.status == 0)
            #expect(line.isEmpty ? shown.out.isEmpty : shown.out.hasPrefix(line), "\(shown.out)")
        }
    }

    @Test("a button that asks is pressed after a yes, and not after a mere Enter")
    func presses() throws {
        try bench.apply(
            "form: ice-cream\nfields:\n - {id: wipe, type: button, confirm: Really wipe?}\n")
        let no = try atTerminal("pickerctl press wipe", typing: [("Really wipe? [y/N]", "\r")])
        #expect(no.status == 1)
        #expect(no.out.contains("wipe was not pressed"), "\(no.out)")
        let yes = try atTerminal("pickerctl press wipe", typing: [("Really wipe? [y/N]", "y\r")])
        #expect(yes.status == 0)
        #expect(yes.out.contains("wipe pressed"), "\(yes.out)")
        #expect(try bench.run("get", "wipe").out == "1\n")
    }

    @Test("run --restart-on-change gives its command the terminal, and ^C ends both")
    func restarts() throws {
        let outcome = try atTerminal(
            "pickerctl run --restart-on-change -- sh -c 'echo ready; read x; echo \"got $x\"; "
                + "exec sleep 600'",
            typing: [("ready", "hello\r"), ("got hello", "\u{3}")])
        #expect(outcome.status == 130, "\(outcome.out)")
    }

    @Test(
        "fish offers options of the running daemon",
        .enabled(if: installedProgram("fish") != nil, "needs fish"))
    func fish() throws {
        let script = try bench.file("fish", try bench.run("completions", "fish").out)
        let outcome = try atTerminal(
            "fish --no-config -i -C 'function fish_prompt; echo rea\"\"dy; end'",
            typing: [
                ("ready", "source \(script); complete -C 'pickerctl set fla'; echo en''d\r"),
                ("end", "exit\r"),
            ])
        #expect(outcome.out.contains("flavor=strawberry"), "\(outcome.out)")
    }

    @Test(
        "zsh offers options of the running daemon",
        .enabled(if: installedProgram("zsh") != nil, "needs zsh"))
    func zsh() throws {
        let script = try bench.file("zsh", try bench.run("completions", "zsh").out)
        let setUp =
            "PS1='now> '; autoload -U compinit; compinit -u -D; source \(script); "
            + "compdef _pickerctl pickerctl; echo do''ne\r"
        let outcome = try atTerminal(
            "PS1='ready ' exec zsh -f -i",
            typing: [
                ("ready ", setUp), ("done", "pickerctl set fla\t\t"),
                ("flavor=strawberry", "\u{15}exit\r"),
            ])
        #expect(outcome.out.contains("flavor=vanilla"), "\(outcome.out)")
    }
}
