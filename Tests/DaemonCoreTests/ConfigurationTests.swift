import FormFile
import Foundation
import SyncCore
import Testing

@testable import DaemonCore

/// Loads with a file's text instead of a file system.
private func load(
    flags: [(option: ConfigurationOption, values: [String])] = [], file: String? = nil,
    environment: [String: String] = ["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/ada"],
    uid: UInt32 = 7, text: String? = nil
) throws(StartFailure) -> Configuration {
    let sources = ConfigurationSources(
        flags: flags, file: file, environment: ProcessEnvironment(environment), uid: uid,
        workingDirectory: "/srv")
    return try Configuration.load(sources) { _ throws(FileIssues) in text.map { Array($0.utf8) } }
}

private func failure(_ body: () throws -> Configuration) -> StartFailure? {
    do { _ = try body() } catch { return error as? StartFailure }
    return nil
}

@Suite("Configuration")
struct ConfigurationTests {
    /// One option from the weakest source to the strongest.
    struct Row: Sendable, CustomTestStringConvertible {
        let option: ConfigurationOption
        let file: String
        let variable: String
        let flag: String
        let shown: @Sendable (Configuration) -> String
        /// Default, file, variable, flag.
        let expected: [String]

        var testDescription: String { option.rawValue }
    }

    static let rows: [Row] = [
        Row(
            option: .socket, file: "socket: /f/sock", variable: "/e/sock", flag: "/g/sock",
            shown: { $0.socket },
            expected: ["/run/user/7/pickersync/sock", "/f/sock", "/e/sock", "/g/sock"]),
        Row(
            option: .stateDirectory, file: "state-directory: f", variable: "e", flag: "g",
            shown: { $0.stateDirectory },
            expected: [
                "/home/ada/.local/state/pickersync", "/home/ada/.config/pickersync/f", "/srv/e",
                "/srv/g",
            ]),
        Row(
            option: .durability, file: "durability: interval", variable: "memory", flag: "commit",
            shown: { $0.durability.rawValue },
            expected: ["commit", "interval", "memory", "commit"]),
        Row(
            option: .group, file: "group: 100", variable: "users", flag: "staff",
            shown: { $0.group ?? "-" }, expected: ["-", "100", "users", "staff"]),
        Row(
            option: .forms, file: "forms: [a.yaml, /b.yaml]", variable: "c.yaml:/d.yaml",
            flag: "e.yaml", shown: { $0.forms.joined(separator: " ") },
            expected: [
                "", "/home/ada/.config/pickersync/a.yaml /b.yaml", "/srv/c.yaml /d.yaml",
                "/srv/e.yaml",
            ]),
        Row(
            option: .idleExit, file: "idle-exit: 10min", variable: "60", flag: "never",
            shown: { $0.idleExitSeconds.map { "\($0)" } ?? "never" },
            expected: ["never", "600", "60", "never"]),
        Row(
            option: .logLevel, file: "log-level: error", variable: "debug", flag: "notice",
            shown: { $0.logLevel.name }, expected: ["info", "error", "debug", "notice"]),
        Row(
            option: .limits, file: "limits: {maxFrame: 64KiB, formsMax: 3}",
            variable: "maxFrame=128KiB:fieldsMax=4", flag: "maxFrame=1MiB",
            shown: { "\($0.limits.maxFrame) \($0.limits.formsMax) \($0.limits.fieldsMax)" },
            expected: [
                "1048576 1000 10000", "65536 3 10000", "131072 3 4", "1048576 3 4",
            ]),
    ]

    /// `link` has no row: a flag gives one member only, and some of them are necessary.
    @Test("the link of a stronger source replaces that of a weaker one")
    func link() throws {
        let text = "link: {fleet: ops, host: web1, forms: [deploy, \"team-*\"], key: k}"
        let file = try #require(try load(text: text).link)
        #expect(file.fleet == "ops")
        #expect(file.host == "web1")
        #expect(file.forms == ["deploy", "team-*"])
        #expect(file.keys == ["/home/ada/.config/pickersync/k"])
        let environment = ["HOME": "/h", "PICKERSYNC_LINK": "fleet=e:host=web2:forms=a:forms=b"]
        #expect(try load(environment: environment, text: text).link?.forms == ["a", "b"])
        let flags = [
            (option: ConfigurationOption.link, values: ["fleet=f", "host=web3", "forms=*"])
        ]
        let all = try #require(try load(flags: flags, environment: environment, text: text).link)
        #expect(all.fleet == "f")
        #expect(all.forms == ["*"])
        #expect(all.keys == [])
        let changing = "link: {fleet: ops, forms: [a], key: [/new, old]}"
        #expect(
            try load(text: changing).link?.keys == ["/new", "/home/ada/.config/pickersync/old"])
        let many = "link: {fleet: ops, forms: [a], key: [a, b, c]}"
        #expect(failure { try load(text: many) }?.status == .configuration)
        #expect(try load().link == nil)
        #expect(failure { try load(text: "link: {forms: [a]}") }?.status == .configuration)
        #expect(failure { try load(text: "link: {fleet: ops}") }?.status == .configuration)
        #expect(failure { try load(text: "link: {fleet: ops, hots: a}") }?.status == .configuration)
    }

    @Test("every option is in the table")
    func tableIsWhole() {
        #expect(
            Self.rows.map(\.option) == ConfigurationOption.allCases.filter { $0 != .link })
    }

    @Test("flags win over the environment, the environment over the file", arguments: rows)
    func precedence(row: Row) throws {
        var environment = ["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/ada"]
        #expect(row.shown(try load(environment: environment)) == row.expected[0])
        #expect(row.shown(try load(environment: environment, text: row.file)) == row.expected[1])
        environment[row.option.variable] = row.variable
        #expect(row.shown(try load(environment: environment, text: row.file)) == row.expected[2])
        let flags = [(option: row.option, values: [row.flag])]
        let all = try load(flags: flags, environment: environment, text: row.file)
        #expect(row.shown(all) == row.expected[3])
    }

    @Test("an empty variable is an unset one")
    func emptyVariable() throws {
        let environment = [
            "XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/h", "PICKERSYNC_DURABILITY": "",
        ]
        #expect(try load(environment: environment).durability == .commit)
    }

    @Test(
        "every mistake in a file is reported with its line and column, and the start fails with 78")
    func mistakesInFile() throws {
        let text = """
            sockt: /x
            durability: sometimes
            limits:
              maxFrame: 12
              maxFrames: 1MiB
              formsMax: many
            forms: {a: b}
            idle-exit: -3
            log-level: true
            """
        let failure = try #require(failure { try load(file: "/c.yaml", text: text) })
        #expect(failure.status == .configuration)
        let places = ["1:1", "2:13", "4:13", "5:3", "6:13", "7:8", "8:12", "9:12"]
        #expect(failure.messages.count == places.count)
        for (message, place) in zip(failure.messages, places) {
            #expect(message.hasPrefix("/c.yaml:\(place): "), "\(message)")
        }
        #expect(failure.messages[2].contains("4096 to 67108864 bytes"))
        #expect(failure.messages[1].contains("commit, interval or memory"))
    }

    @Test("a wrong flag is a mistake of usage, a wrong variable one of configuration")
    func statuses() throws {
        let flags = [(option: ConfigurationOption.durability, values: ["never"])]
        let usage = try #require(failure { try load(flags: flags) })
        #expect(usage.status == .usage)
        #expect(usage.messages.first?.hasPrefix("--durability: ") == true)
        let environment = ["HOME": "/h", "PICKERSYNC_LOG_LEVEL": "loud"]
        let both = try #require(failure { try load(flags: flags, environment: environment) })
        #expect(both.status == .configuration)
        #expect(both.messages.count == 2)
    }

    @Test("a file that was asked for must be there, the usual one need not")
    func missingFile() throws {
        #expect(failure { try load(file: "/nowhere.yaml") }?.status == .configuration)
        let environment = ["XDG_RUNTIME_DIR": "/r", "HOME": "/h", "PICKERSYNC_CONFIG": "c.yaml"]
        let failure = try #require(failure { try load(environment: environment) })
        #expect(failure.messages == ["/srv/c.yaml: no such file"])
        #expect(try load().file == nil)
    }

    @Test("a file of comments alone sets nothing")
    func emptyFile() throws {
        let configuration = try load(text: "# nothing yet\n")
        #expect(configuration.durability == .commit)
    }

    @Test("root and a system unit serve the system's places, a user its own")
    func places() throws {
        let root = try load(environment: ["HOME": "/root", "XDG_RUNTIME_DIR": "/r"], uid: 0)
        #expect(root.socket == "/run/pickersync/sock")
        #expect(root.stateDirectory == "/var/lib/pickersync")
        let unit = try load(
            environment: [
                "STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "RUNTIME_DIRECTORY": "/run/a",
            ])
        #expect(unit.socket == "/run/a/sock")
        #expect(unit.stateDirectory == "/var/lib/a")
        let user = try load(environment: ["XDG_RUNTIME_DIR": "/r", "XDG_STATE_HOME": "/s"])
        #expect(user.socket == "/r/pickersync/sock")
        #expect(user.stateDirectory == "/s/pickersync")
        let relative = try load(
            environment: ["XDG_RUNTIME_DIR": "/r", "XDG_STATE_HOME": "s", "HOME": "/h"])
        #expect(relative.stateDirectory == "/h/.local/state/pickersync")
    }

    @Test("without a home the message says what to set, and the socket has a place in any case")
    func noPlaces() throws {
        let failure = try #require(failure { try load(environment: [:]) })
        #expect(failure.status == .configuration)
        #expect(failure.messages.count == 1)
        #expect(failure.messages.contains { $0.contains("--state-directory") })
        _ = try load(flags: [(.stateDirectory, ["/s"])], environment: [:])
        let configuration = try load(environment: ["HOME": "/h"], uid: 3_999_999_999)
        #expect(configuration.socket == "/tmp/pickersync-3999999999/sock")
    }

    @Test("a socket's path of 107 bytes is the longest")
    func longSocket() throws {
        let longest = "/" + String(repeating: "a", count: 106)
        #expect(try load(flags: [(.socket, [longest])]).socket == longest)
        #expect(failure { try load(flags: [(.socket, [longest + "a"])]) }?.status == .usage)
    }

    @Test(
        "every limit takes both ends of its range and nothing beyond",
        arguments: Limits.all.map(\.name))
    func limitRanges(name: String) throws {
        let limit = try #require(Limits.all.first { $0.name == name })
        for value in [limit.range.lowerBound, limit.range.upperBound] {
            let configuration = try load(flags: [(.limits, ["\(name)=\(value)"])])
            #expect(configuration.limits[keyPath: limit.path] == value)
        }
        for value in [
            "\(limit.range.lowerBound - 1)", "\(limit.range.upperBound + 1)", "", "x",
            "99999999999999999999", "-1", "1.5",
        ] {
            #expect(
                failure { try load(flags: [(.limits, ["\(name)=\(value)"])]) } != nil, "\(value)")
        }
    }
}

@Suite("Units")
struct UnitsTests {
    @Test(
        "bytes are written with binary units",
        arguments: [
            ("0", 0), ("4096", 4096), ("1B", 1), ("64KiB", 65_536), ("1 MiB", 1 << 20),
            ("2GiB", 2 << 30), ("1KB", nil), ("KiB", nil), ("1  KiB", nil), ("1.5MiB", nil),
            ("9223372036854775807GiB", nil), ("9223372036854775808", nil), ("٣", nil), ("+1", nil),
        ] as [(String, Int?)])
    func bytes(text: String, value: Int?) {
        #expect(Units.bytes(text) == value)
    }

    @Test(
        "times are seconds unless they say otherwise",
        arguments: [
            ("600", 600), ("600s", 600), ("10min", 600), ("2h", 7_200), ("1d", 86_400),
            ("never", 0), ("0", 0), ("min", nil), ("1ms", nil), ("1w", nil), ("", nil),
        ] as [(String, Int?)])
    func seconds(text: String, value: Int?) {
        #expect(Units.seconds(text) == value)
    }
}
