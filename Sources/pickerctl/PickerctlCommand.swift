internal import ArgumentParser
internal import SyncCore

/// The root of all commands.
struct PickerctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickerctl",
        abstract: "Get, set and watch the controls of shared forms.",
        discussion: """
            A field is FIELD or FORM/FIELD; the form is --form, else $PICKERSYNC_FORM, \
            else the only one there is.

            Exit status: 0 done, 1 a condition not met, 64 usage, 65 invalid value, 66 no \
            such form or field, 69 daemon not reachable, 75 conflict or quota, 77 \
            forbidden, 124 timed out, 130 interrupted.

            Example: pickerctl form apply ice-cream.yaml && pickerctl set flavor=vanilla
            """,
        version: "pickerctl \(Version.current)",
        subcommands: [
            OpenCommand.self, PickCommand.self,
            GetCommand.self, SetCommand.self, ToggleCommand.self, NextCommand.self,
            PreviousCommand.self, ResetCommand.self, LeaseCommand.self, PressCommand.self,
            DescribeCommand.self, WaitCommand.self, WatchCommand.self, RunCommand.self,
            HandleCommand.self, ProposeCommand.self, ProposalsCommand.self, ApproveCommand.self,
            RefuseCommand.self, WithdrawCommand.self, DumpCommand.self, LoadCommand.self,
            FormCommand.self, HistoryCommand.self, ExplainCommand.self, UndoCommand.self,
            RedoCommand.self, ConflictsCommand.self, ResolveCommand.self, WhoCommand.self,
            StatusCommand.self, LinkCommand.self, DoctorCommand.self, BackupCommand.self,
            RelayCommand.self,
            CompletionsCommand.self,
        ])

    /// Runs a command line; returns the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            let words = hoisted(arguments)
            if let request = FastPath.request(words) {
                try request.run()
            } else if let failure = unknownCommand(words) {
                throw failure
            } else {
                var command = try command(of: words)
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let failure as Failure {
            if failure.beginsWithPlace {
                Console.complain(failure.message)
            } else if !failure.message.isEmpty {
                Console.error(failure.message)
            }
            return failure.status.rawValue
        } catch {
            return report(error, arguments)
        }
    }

    /// Parses a command line.
    ///
    /// A parser of the whole tree also inspects the root and its hidden commands, which takes
    /// longer than most commands. So the named command parses its own words. If it cannot (an
    /// error, `--help`), the whole tree parses them again and writes the message. Tests compare
    /// both.
    static func command(of words: [String]) throws -> any ParsableCommand {
        try direct(words) ?? whole(words)
    }

    /// The result of the named command's own parser, if it succeeds.
    static func direct(_ words: [String]) -> (any ParsableCommand)? {
        guard let (leaf, rest) = leaf(words), let command = try? leaf.parseAsRoot(rest),
            type(of: command) == leaf
        else { return nil }
        return command
    }

    /// The result of the parser of the whole tree.
    static func whole(_ words: [String]) throws -> any ParsableCommand { try parseAsRoot(words) }

    /// The command without subcommands that the first words name, and the rest.
    static func leaf(_ words: [String]) -> (any ParsableCommand.Type, rest: [String])? {
        var commands = configuration.subcommands
        for (index, word) in words.enumerated() {
            guard let command = commands.first(where: { $0.configuration.commandName == word })
            else { return nil }
            commands = command.configuration.subcommands
            if commands.isEmpty { return (command, Array(words.dropFirst(index + 1))) }
        }
        return nil
    }

    /// The error if the first words name no command; `nil` if they do, or begin with an option.
    private static func unknownCommand(_ words: [String]) -> Failure? {
        var commands = configuration.subcommands
        var path: [String] = []
        for (place, word) in words.enumerated() where place > 0 || word != "help" {
            if word.hasPrefix("-") { return nil }
            guard let command = commands.first(where: { $0.configuration.commandName == word })
            else {
                let names = commands.compactMap { $0.configuration.commandName }
                return .noCommand(word, in: path, among: names + (path.isEmpty ? ["help"] : []))
            }
            commands = command.configuration.subcommands
            if commands.isEmpty { return nil }
            path.append(word)
        }
        return nil
    }

    /// Prints help and versions to standard output; an error in the command line is one line.
    private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
        let code = exitCode(for: error)
        if code.isSuccess {
            let console = Console(color: .never, isQuiet: true)
            do throws(Failure) {
                try console.text(fullMessage(for: error) + "\n")
                try console.flush()
            } catch {
                return error.status.rawValue
            }
            return code.rawValue
        }
        // A completing shell would show our message in the line that is being typed.
        if arguments.first == "---completion" { return code.rawValue }
        var line = words(of: error)
        if !line.contains(";") { line += "; see \(helpCommand(arguments))" }
        Console.error(line)
        return code.rawValue
    }

    /// An error in the command line, in our words.
    static func words(of error: any Error) -> String {
        ParserWording.line(
            message(for: error),
            kinds: [
                "TIME": UsageWords.since, "REVISION": UsageWords.revision,
            ])
    }

    private static func helpCommand(_ arguments: [String]) -> String {
        guard let first = arguments.first(where: { !$0.hasPrefix("-") }),
            let command = configuration.subcommands.first(where: {
                $0.configuration.commandName == first
            })
        else { return "pickerctl --help" }
        let second = arguments.drop { $0 != first }.dropFirst().first
        let isGroup = command.configuration.subcommands.contains {
            $0.configuration.commandName == second
        }
        return "pickerctl \(first)\(isGroup ? " \(second ?? "")" : "") --help"
    }

    /// Common options may be before the command; they are moved behind it for the parser.
    static func hoisted(_ arguments: [String]) -> [String] {
        let withValue = ["--socket", "--host", "--form", "-f", "--connect-timeout", "--color"]
        let flags = ["--no-autostart", "-q", "--quiet"]
        var options: [String] = []
        var rest = arguments[...]
        while let word = rest.first {
            if withValue.contains(word), rest.count > 1 {
                options += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if flags.contains(word)
                || withValue.contains(where: { word.hasPrefix($0 + "=") })
            {
                options.append(word)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        guard !options.isEmpty, let verb = rest.first, !verb.hasPrefix("-") else {
            return arguments
        }
        let isGroup = configuration.subcommands.contains {
            $0.configuration.commandName == verb && !$0.configuration.subcommands.isEmpty
        }
        let words = isGroup ? 2 : 1
        return Array(rest.prefix(words)) + options + rest.dropFirst(words)
    }
}

extension CommandConfiguration {
    /// A command without subcommands. As a subcommand it does not need the root's two hidden
    /// commands for completion scripts when it parses its own words.
    static func leaf(_ name: String, abstract: String, discussion: String = "") -> Self {
        CommandConfiguration(
            commandName: name, _superCommandName: "pickerctl", abstract: abstract,
            discussion: discussion)
    }
}
