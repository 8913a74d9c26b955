import TestKit
import Testing

@testable import pickerctl

/// Both readers of a command line are held to each other: whatever plain words read,
/// ArgumentParser reads alike. `PLAIN_SEED` replays a drawing.
@Suite("a command line means the same however it is read")
struct PlainWordsTests {
    /// The commands that read plain words, with options of theirs.
    private static let verbs: [(words: [String], options: [String])] = [
        (["get"], ["-o", "--output", "--context", "--reveal"]),
        (
            ["set"],
            [
                "-o", "--output", "--context", "--if-current", "-m", "--message", "--for",
                "--until-time",
            ]
        ),
        (["lease"], ["--for", "--until-time", "--keep", "--end", "-m", "-o"]),
        (
            ["watch"],
            [
                "-o", "--output", "--since", "--initial", "--count", "--timeout", "--debounce",
                "--until", "--exec", "--latest",
            ]
        ),
        (["wait"], ["--timeout"]), (["toggle"], ["-m"]), (["next"], ["--wrap", "--message"]),
        (["previous"], ["--wrap"]), (["reset"], []), (["press"], ["--yes", "-y"]),
        (["describe"], ["-o", "--output"]), (["explain"], ["-o", "--output", "--at"]),
        (
            ["history"],
            ["-o", "--output", "-n", "--limit", "--before", "--since", "--plot", "--grep"]
        ),
        (["undo"], ["--anyone", "-o", "--output"]), (["redo"], ["--anyone", "-o", "--output"]),
        (["conflicts"], ["-o", "--output"]), (["resolve"], []), (["who"], ["-o", "--output"]),
        (["status"], ["-o", "--output", "--limits", "--all"]),
        (["dump"], ["-o", "--output", "--set-only"]),
        (["load"], ["--dry-run", "--context"]), (["form", "list"], ["-o", "--output"]),
        (["form", "show"], ["-o", "--output"]), (["form", "check"], []), (["doctor"], []),
    ]
    private static let common = [
        "--socket", "--host", "--form", "-f", "--no-autostart", "--connect-timeout", "-q",
        "--quiet",
        "--color",
    ]
    private static let values = [
        "flavor", "flavor=vanilla", "a+=1", "json", "text", "yaml", "value", "env", "table", "svg",
        "csv", "2026-11-21",
        "prometheus", "auto", "never", "0", "1", "5", "2.5", "1e3", "nan", "inf", "+4", "0x10",
        "10000000000000000000000", "1m", "500ms", "f/x", "*", "käse", "e\u{301}", "true", "get",
        "help",
    ]
    private static let odd = [
        "", "-", "--", "-x", "--help", "-h", "--version", "-qo", "-ojson", "-o=json", "--outpu",
        "--output=", "--form=\u{338}x", "--count=-1", "-1", "--quiet=yes", "--no-quiet",
        "---completion", "--generate-completion-script", "\u{301}", "-\u{301}", "=", "--=x",
    ]

    private static func line(_ random: inout SplitMix64) -> [String] {
        func one<T>(_ all: [T]) -> T { all[Int(random.next() % UInt64(all.count))] }
        let verb = one(verbs)
        var line = verb.words
        for _ in 0..<(random.next() % 6) {
            switch random.next() % 16 {
            case 0..<6: line.append(one(values))
            case 6..<10 where !verb.options.isEmpty: line += [one(verb.options), one(values)]
            case 10: line.append(one(verb.options + common))
            case 11: line.append(one(verb.options + common) + "=" + one(values))
            case 12, 13: line += [one(common), one(values)]
            case 14: line.append(one(odd))
            default: line.append(one(values))
            }
        }
        return line
    }

    private static func isSame<Request: PlainRequest>(
        _ plain: Request, _ command: any PlainCommand
    ) -> Bool {
        command.request as? Request == plain
    }

    @Test("whatever plain words read, ArgumentParser reads alike")
    func readAlike() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "PLAIN_SEED"))
        var plain = 0
        for _ in 0..<1_500 {
            let line = Self.line(&random)
            guard let request = FastPath.request(line) else { continue }
            plain += 1
            let parsed = try? PickerctlCommand.whole(line)
            guard let command = parsed as? any PlainCommand else {
                Issue.record("ArgumentParser refuses \(line), which was read as \(request)")
                continue
            }
            let isSame = Self.isSame(request, command)
            #expect(isSame, "\(line): \(request), but \(command.request)")
        }
        #expect(plain > 300, "the lines that are drawn are hardly ever plain")
    }

    @Test("a command that reads its words itself reads what the whole tree reads")
    func leavesReadAlike() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "PLAIN_SEED"))
        var direct = 0
        for _ in 0..<300 {
            let line = Self.line(&random)
            guard let command = PickerctlCommand.direct(line) else { continue }
            direct += 1
            let whole = try? PickerctlCommand.whole(line)
            #expect(
                whole.map { String(reflecting: $0) } == String(reflecting: command), "\(line)")
        }
        #expect(direct > 50)
    }

    @Test(
        "what scripts write needs no ArgumentParser",
        arguments: [
            "get", "get flavor", "get -o json", "get flavor --form ice-cream", "get --context",
            "set flavor=vanilla", "set -q scoops+=1 cone=true", "set a=1 --if-current abc -o json",
            "watch", "watch --initial --count 1 flavor", "watch -o value --timeout 2.5 *",
            "watch flavor --exec ./run --latest", "watch --until flavor=vanilla --debounce 0.1",
            "wait --timeout 60 state=ready", "wait a=1 b!=2", "toggle maintenance",
            "next --wrap flavor", "previous flavor", "toggle maintenance -m INC-231",
            "set maintenance=on --for 2h30m -m INC-231", "lease traffic --for 1h",
            "lease traffic --keep", "history --grep INC-231", "reset flavor scoops", "reset tr*",
            "press rollback",
            "press --yes rollback", "get -f deploy", "dump deploy", "conflicts deploy/",
            "who deploy",
            "status --limits", "status --all", "wait --timeout 1m state=ready",
            "describe", "describe flavor -o json", "history -n 5 flavor", "history --before 12",
            "explain flavor", "explain flavor --at 12 -o json", "undo", "undo flavor --anyone",
            "redo -o json", "conflicts", "resolve flavor=vanilla",
            "who --form deploy", "status -o prometheus", "dump --set-only", "dump -o json",
            "load --dry-run friday.yaml", "form list -o text", "form show deploy",
            "form check a.yaml b.yaml", "get --socket=/tmp/s --color=never flavor",
            "get --connect-timeout 3 --no-autostart flavor", "doctor", "doctor --socket /tmp/s",
        ])
    func usualLinesArePlain(_ line: String) {
        #expect(FastPath.request(line.split(separator: " ").map(String.init)) != nil)
    }

    @Test(
        "what is unusual is ArgumentParser's to read or to refuse",
        arguments: [
            ["get", "--help"], ["get", "--", "flavor"], ["get", "--form", "--quiet", "x"],
            ["get", "-qo", "json"], ["get", "-q", "--quiet"], ["get", "-o", "xml"], ["get", ""],
            ["get", "--form"], ["get", "--form="], ["get", "--nope"], ["set"], ["wait"],
            ["press", "a", "b"], ["undo", "a", "b"], ["watch", "--count", "0"],
            ["watch", "--count", "1", "--count", "2"], ["watch", "--latest"],
            ["watch", "--timeout", "-1"], ["status", "--limits", "--all"],
            ["wait", "--timeout", "1x", "a=1"], ["watch", "--since", "x"], ["history", "-n", "0"],
            ["set", "a=1", "--context", "x", "--if-current", "y"], ["load"], ["form"],
            ["form", "x"],
            ["load", "-"], ["form", "check"], ["open"], ["help"], [],
        ])
    func unusualLinesAreNot(_ line: [String]) {
        #expect(FastPath.request(line) == nil)
    }
}
