import DaemonCore
import Testing

@Suite("The command lines that units and people write")
struct UsualArgumentsTests {
    @Test("every option has its value behind it, lists have several")
    func usual() throws {
        let none = try #require(UsualArguments([]))
        #expect(none.flags.isEmpty && none.file == nil)
        let read = try #require(
            UsualArguments([
                "--config", "/etc/p.yaml", "--limit", "maxFrame=70000", "--durability", "memory",
                "--form", "a.yaml", "--limit", "fieldsMax=3", "--form", "b.yaml",
            ]))
        #expect(read.file == "/etc/p.yaml")
        #expect(read.flags.map(\.option) == [.limits, .durability, .forms])
        #expect(
            read.flags.map(\.values)
                == [["maxFrame=70000", "fieldsMax=3"], ["memory"], ["a.yaml", "b.yaml"]])
    }

    @Test(
        "every option but the flags without a value is read",
        arguments: ConfigurationOption.allCases)
    func every(option: ConfigurationOption) throws {
        let read = try #require(UsualArguments([option.flag, "value"]))
        #expect(read.flags.count == 1 && read.flags[0].option == option)
    }

    @Test(
        "whatever else is written is the parser's",
        arguments: [
            ["--help"], ["--version"], ["--check"], ["--new-replica"], ["--restore", "file"],
            ["--socket"], ["--socket=/s"], ["--socket", "--check"], ["--socket", "-x"],
            ["--socket", "/s", "--socket", "/t"], ["--config", "a", "--config", "b"],
            ["serve"], ["--sock", "/s"], ["--", "--socket"], ["-h"],
        ])
    func others(arguments: [String]) {
        #expect(UsualArguments(arguments) == nil)
    }
}
