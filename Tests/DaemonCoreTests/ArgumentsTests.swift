import DaemonCore
import Testing

@Suite("The daemon's command line")
struct ArgumentsTests {
    @Test("every option has its value behind it, lists have several")
    func usual() throws {
        let none = try Arguments([])
        #expect(none.flags.isEmpty && none[.config] == nil)
        let read = try Arguments([
            "--config", "/etc/p.yaml", "--limit", "maxFrame=70000", "--durability", "memory",
            "--form", "a.yaml", "--limit=fieldsMax=3", "--form", "b.yaml",
        ])
        #expect(read[.config] == "/etc/p.yaml")
        #expect(read.flags.map(\.option) == [.durability, .forms, .limits])
        #expect(
            read.flags.map(\.values)
                == [["memory"], ["a.yaml", "b.yaml"], ["maxFrame=70000", "fieldsMax=3"]])
    }

    @Test("every option of the configuration can be given", arguments: ConfigurationOption.allCases)
    func every(option: ConfigurationOption) throws {
        for words in [[option.flag, "value"], [option.flag + "=value"]] {
            let read = try Arguments(words)
            #expect(read.flags.count == 1 && read.flags[0].option == option)
            #expect(read.flags[0].values == ["value"])
        }
    }

    @Test("the last of several values counts, and a value may begin with a hyphen or be empty")
    func values() throws {
        let read = try Arguments([
            "--socket", "/s", "--socket=/t", "--group=-x", "--form=", "--config", "-",
        ])
        #expect(read[.socket] == "/t" && read[.group] == "-x" && read[.form] == "")
        #expect(read[.config] == "-")
        #expect(read.flags.first?.values == ["/t"])
    }

    @Test(
        "what has no value",
        arguments: [
            ("-h", Argument.help), ("--help", .help), ("--version", .version), ("--check", .check),
            ("--limits", .limits), ("--new-replica", .newReplica),
        ])
    func switches(word: String, argument: Argument) throws {
        let read = try Arguments([word, "--socket", "/s", word])
        #expect(read.contains(argument) && read.flags.count == 1)
        #expect(try !Arguments([]).contains(argument))
    }

    @Test(
        "a mistake is named, with what to write instead",
        arguments: [
            (["--nope"], "no option --nope"),
            (["--sokcet", "/s"], "no option --sokcet; did you mean --socket?"),
            (["-socket"], "no option -socket"),
            (["-x"], "no option -x"),
            (["--=1"], "no option --"),
            (["--socket"], "--socket has no value; write --socket PATH"),
            (["--limit", "--check"], "--limit has no value; write --limit NAME=VALUE"),
            (["--check=yes"], "--check accepts no value; write --check alone"),
            (["serve"], "one argument too many: serve"),
            (["-"], "one argument too many: -"),
            (["--", "--socket", "x"], "too many arguments: --socket x"),
        ])
    func mistakes(words: [String], line: String) {
        #expect(throws: Arguments.Mistake.self) { try Arguments(words) }
        do throws(Arguments.Mistake) { _ = try Arguments(words) } catch {
            #expect(error.line == line)
        }
    }

    @Test("the help names every argument, and fits in 80 columns")
    func help() {
        let lines = Arguments.help.split(separator: "\n", omittingEmptySubsequences: false)
        for argument in Argument.allCases where argument != .dump {
            #expect(lines.contains { $0.hasPrefix("  ") && $0.contains("--" + argument.rawValue) })
        }
        #expect(lines.allSatisfy { $0.utf8.count <= 80 })
    }
}
