import DaemonCore
import Foundation
import SyncCore
import TestKit
import Testing

// The manual pages as `make install` writes them.

/// The pages, written once for all tests.
private let manual = Result { () throws -> TemporaryFolder in
    let folder = try TemporaryFolder()
    let written = try run(["scripts/generate-manual", builtProducts.path, folder.path])
    guard written.status == 0 else { throw Unwritten(description: written.out) }
    return folder
}

private struct Unwritten: Error, CustomStringConvertible {
    let description: String
}

/// A page as roff, with the escapes of option names taken out.
private func source(_ page: String) throws -> String {
    let section = String(page.last ?? "1")
    return try String(
        contentsOfFile: manual.get()("man\(section)/\(page)"), encoding: .utf8
    ).replacing("\\-", with: "-")
}

/// A command as `--experimental-dump-help` tells it.
private struct HelpCommand: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }
        var kind: String
        var names: [Name]?
        var shouldDisplay: Bool
    }
    var commandName: String
    var arguments: [Argument]?
    var subcommands: [HelpCommand]?

    /// The options that people can read of, as they are typed.
    var flags: [String] {
        (arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }.map {
            ($0.kind == "long" ? "--" : "-") + $0.name
        }
    }
}

private func help(_ program: String) throws -> HelpCommand {
    struct Dump: Decodable { var command: HelpCommand }
    let said = try run([builtProgram(program), "--experimental-dump-help"])
    return try JSONDecoder().decode(Dump.self, from: Data(said.out.utf8)).command
}

/// Whether a page lists an option: a tagged item, or one of a synopsis.
private func lists(_ page: String, _ flag: String) -> Bool {
    page.split(separator: "\n").contains {
        $0.hasPrefix(".It ")
            && "\($0) ".replacing(" ,", with: "").contains("Fl \(flag.dropFirst()) ")
    }
}

@Suite("the manual")
struct ManualTests {
    @Test("every command has a page with all its options")
    func commands() throws {
        let root = try help("pickerctl")
        let commands = (root.subcommands ?? []).filter { $0.commandName != "help" }
        #expect(commands.count > 20)
        let overview = try source("pickerctl.1")
        for command in commands {
            let name = "pickerctl-\(command.commandName)"
            let page = try source("\(name).1")
            #expect(overview.contains(".It Xr \(name) 1"), "pickerctl(1) does not name \(name)")
            for part in [command] + (command.subcommands ?? []) {
                for flag in part.flags {
                    #expect(lists(page, flag), "\(name)(1) does not say \(flag)")
                }
            }
            for part in command.subcommands ?? [] {
                #expect(
                    page.contains(".Ss \(part.commandName)\n"), "\(name)(1): \(part.commandName)")
            }
        }
    }

    @Test("every option of the daemon is on its page, with its key and its variable")
    func daemon() throws {
        let (page, file) = try (source("pickersyncd.1"), source("pickersyncd.yaml.5"))
        for flag in try help("pickersyncd").flags {
            #expect(lists(page, flag), "pickersyncd(1) does not say \(flag)")
        }
        for option in ConfigurationOption.allCases {
            #expect(page.contains(".Ev \(option.variable) "), "\(option.variable)")
            #expect(file.contains(".It Cm \(option.rawValue)\n"), "\(option.rawValue)")
        }
        for limit in Limits.all {
            let value = Limits()[keyPath: limit.path]
            #expect(
                file.contains(".It Cm \(limit.name)\n\(value) \(limit.unit):\n"), "\(limit.name)")
        }
    }

    @Test("the protocol's page names every method and every kind of error")
    func wire() throws {
        let page = try source("pickersync-protocol.7")
        for method in Method.allCases {
            #expect(page.contains("\\fB\(method.rawValue)\\fR"), "\(method.rawValue)")
        }
        for kind in ErrorKind.allCases {
            #expect(page.contains("\\fB\(kind.rawValue)\\fR"), "\(kind.rawValue)")
        }
    }

    @Test("each page says what it is, gives an example and where to read on")
    func sections() throws {
        let folder = try manual.get()
        let pages = files(below: folder.url)
        let names = Set(pages.map { $0.split(separator: "/").last.map(String.init) ?? "" })
        for path in pages {
            let text = try String(contentsOfFile: folder(path), encoding: .utf8)
            var wanted = ["NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"]
            if path.hasPrefix("man1/") { wanted += ["SYNOPSIS", "EXIT STATUS", "ENVIRONMENT"] }
            for section in wanted {
                #expect(text.contains("\n.Sh \(section)\n"), "\(path) has no \(section)")
            }
            for line in text.split(separator: "\n") where line.hasPrefix(".Xr picker") {
                let words = line.split(separator: " ")
                #expect(names.contains("\(words[1]).\(words[2])"), "\(path): \(line)")
            }
        }
    }

    @Test(
        "mandoc and man find nothing to say",
        .enabled(if: installedProgram("mandoc") != nil && installedProgram("man") != nil))
    func lint() throws {
        let folder = try manual.get()
        let pages = files(below: folder.url).map { folder($0) }
        // What it says of the pages goes to standard output; that Debian keeps no index of its
        // own pages goes to standard error.
        let said = try run(["sh", "-c", "mandoc -Tlint -W style \"$@\" 2>/dev/null", "sh"] + pages)
        // These pages are installed nowhere yet; that they refer to each other is tested above.
        let meant = said.lines.filter { !$0.contains("referenced manual not found") }
        #expect(meant.isEmpty, "\(meant.joined(separator: "\n"))")
        for page in pages {
            let shown = try run(
                ["sh", "-c", "man --warnings -l \"$0\" 2>&1 >/dev/null", page],
                environment: ["MANWIDTH": "80", "LC_ALL": "C.UTF-8"])
            #expect(shown.out.isEmpty, "\(page): \(shown.out)")
        }
    }
}
