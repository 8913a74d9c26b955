// The daemon's command line. One table says what can be given; the help and the manual are made
// from it.
//
// ArgumentParser is not used here: its tables, and Foundation behind it, make each start longer and
// the program larger.

internal import SyncCore

/// What can be given to the daemon. The raw value is the name without hyphens.
public enum Argument: String, Sendable, CaseIterable {
    case socket
    case stateDirectory = "state-directory"
    case config
    case durability
    case group
    case form
    case idleExit = "idle-exit"
    case logLevel = "log-level"
    case limit
    case link
    case newFleetKey = "new-fleet-key"
    case limits
    case newReplica = "new-replica"
    case restore
    case check
    case version
    case help
    /// The table as JSON, in ArgumentParser's shape, for the scripts that write the manual.
    case dump = "experimental-dump-help"

    /// The name of its value; `nil`: it has none.
    var valueName: String? {
        switch self {
        case .socket: "path"
        case .stateDirectory: "dir"
        case .config, .form, .newFleetKey, .restore: "file"
        case .durability: "how"
        case .group: "name"
        case .idleExit: "duration"
        case .logLevel: "level"
        case .limit, .link: "name=value"
        case .limits, .newReplica, .check, .version, .help, .dump: nil
        }
    }

    /// What it does.
    var about: String {
        switch self {
        case .socket: "The socket to listen on."
        case .stateDirectory: "The directory of the store."
        case .config: "The configuration file."
        case .durability: "When an edit is safe on the disk: commit, interval or memory."
        case .group: "Members may connect and create forms."
        case .form: "A form file to apply at start and at SIGHUP; may be repeated."
        case .idleExit: "Exit after this time without a connection."
        case .logLevel: "error, warning, notice, info or debug."
        case .limit: "Set a limit; may be repeated."
        case .link:
            "Share forms with other hosts: fleet, host, forms, key, bridge, mode, users or "
                + "streams; may be repeated."
        case .newFleetKey: "Make a key for a fleet in a new file, and exit."
        case .limits: "List the limits with their defaults, and exit."
        case .newReplica:
            "Start a new replica: after a restore that the daemon cannot notice."
        case .restore: "Restore a backup, and exit; no daemon may run."
        case .check: "Show what would be done and how the store is, and exit."
        case .version: "Show the version."
        case .help: "Show help information."
        case .dump: ""
        }
    }

    /// The option of the configuration that it sets.
    var option: ConfigurationOption? {
        ConfigurationOption.allCases.first { $0.flag == "--" + rawValue }
    }

    var isRepeating: Bool { [.form, .limit, .link].contains(self) }

    /// `-h, --help`, `--socket <path>`.
    fileprivate var synopsis: String {
        (self == .help ? "-h, --" : "--") + rawValue + (valueName.map { " <\($0)>" } ?? "")
    }
}

/// The arguments that the daemon was given.
public struct Arguments: Sendable {
    private var given: [(argument: Argument, value: String)] = []

    /// Why a command line is refused.
    public struct Mistake: Error, Hashable {
        /// One line, without a full stop.
        public let line: String
    }

    /// Reads the arguments after the program's name.
    public init(_ arguments: [String]) throws(Mistake) {
        var (left, others) = (arguments[...], [String]())
        while let word = left.popFirst() {
            guard word.hasPrefix("-"), word.utf8.count > 1 else {
                others.append(word)
                continue
            }
            if word == "--" {
                others += left
                break
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let argument = try Self.argument(named: String(parts[0]))
            var value = parts.count > 1 ? String(parts[1]) : nil
            if let name = argument.valueName {
                if value == nil, let next = left.first,
                    !next.hasPrefix("-") || next == "-"
                {
                    value = left.removeFirst()
                }
                guard value != nil else {
                    throw Mistake(
                        line: "\(parts[0]) has no value; write \(parts[0]) \(name.uppercased())")
                }
            } else if value != nil {
                throw Mistake(line: "\(parts[0]) accepts no value; write \(parts[0]) alone")
            }
            given.append((argument, value ?? ""))
        }
        if others.count == 1 { throw Mistake(line: "one argument too many: \(others[0])") }
        if !others.isEmpty {
            throw Mistake(line: "too many arguments: \(others.joined(separator: " "))")
        }
    }

    private static func argument(named word: String) throws(Mistake) -> Argument {
        if word == "-h" { return .help }
        let bare = String(word.drop { $0 == "-" })
        if word.hasPrefix("--"), let argument = Argument(rawValue: bare) { return argument }
        let names = Argument.allCases.filter { $0 != .dump }.map(\.rawValue)
        let near = Similar.names(to: bare, among: names).first
        throw Mistake(line: "no option \(word)" + (near.map { "; did you mean --\($0)?" } ?? ""))
    }

    /// Whether an argument was given.
    public func contains(_ argument: Argument) -> Bool { self[argument] != nil }

    /// The value of an argument, or the last of several; `nil`: it was not given.
    public subscript(argument: Argument) -> String? { values(of: argument).last }

    private func values(of argument: Argument) -> [String] {
        given.filter { $0.argument == argument }.map(\.value)
    }

    /// The options of the configuration with their values, for `ConfigurationSources.flags`.
    public var flags: [(option: ConfigurationOption, values: [String])] {
        Argument.allCases.compactMap { argument in
            let values = values(of: argument)
            guard let option = argument.option, let last = values.last else { return nil }
            return (option, argument.isRepeating ? values : [last])
        }
    }
}

// MARK: - Help

extension Arguments {
    private static let abstract = "Serve forms that many terminals share."

    private static let discussion = """
        Each option is also a key of the configuration file and an environment variable \
        (PICKERSYNC_STATE_DIRECTORY; PICKERSYNC_FORMS, PICKERSYNC_LIMITS and PICKERSYNC_LINK are \
        lists with colons). Flags win over the environment, the environment over the file, which \
        is --config, PICKERSYNC_CONFIG, or /etc/pickersync/pickersyncd.yaml for the system's \
        daemon and $XDG_CONFIG_HOME/pickersync/pickersyncd.yaml for a user's own.

        SIGTERM and SIGINT stop it after a goodbye to all clients, a second one at once; SIGHUP \
        reads the configuration and the forms again. Exit status: 0 stopped as requested, 64 \
        usage, 65 form file, 73 socket or store cannot be created, 75 another daemon serves \
        them, 78 configuration.
        """

    /// The columns of the help, and where its second one begins.
    private static let (columns, indent) = (80, 26)

    /// The text of `--help`.
    public static var help: String {
        var lines = ["OVERVIEW: " + abstract, ""]
        lines += discussion.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { wrapped($0, at: columns) }
        lines += ["", "USAGE: pickersyncd <options>", "", "OPTIONS:"]
        for argument in Argument.allCases where argument != .dump {
            let about = wrapped(argument.about[...], at: columns - indent)
            let synopsis = "  " + argument.synopsis
            let blanks = String(repeating: " ", count: max(1, indent - synopsis.utf8.count))
            lines.append(synopsis + blanks + about[0])
            for line in about.dropFirst() {
                lines.append(String(repeating: " ", count: indent) + line)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The lines of a paragraph, of at most so many columns of ASCII.
    private static func wrapped(_ paragraph: Substring, at columns: Int) -> [String] {
        var lines = [""]
        for word in paragraph.split(separator: " ") {
            let last = lines.count - 1
            if lines[last].isEmpty {
                lines[last] = String(word)
            } else if lines[last].utf8.count + 1 + word.utf8.count <= columns {
                lines[last] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// The table as JSON text.
    public static var dump: String {
        let tree: JSON = [
            "command": [
                "commandName": "pickersyncd", "abstract": .string(abstract),
                "discussion": .string(discussion),
                "arguments": .array(Argument.allCases.filter { $0 != .dump }.map(json)),
            ]
        ]
        var writer = JSONWriter()
        writer.value(tree)
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    private static func json(_ argument: Argument) -> JSON {
        func name(_ kind: String, _ text: String) -> JSON {
            ["kind": .string(kind), "name": .string(text)]
        }
        let long = name("long", argument.rawValue)
        return [
            "kind": argument.valueName == nil ? "flag" : "option",
            "names": .array((argument == .help ? [name("short", "h")] : []) + [long]),
            "preferredName": long, "abstract": .string(argument.about),
            "valueName": .string(argument.valueName ?? argument.rawValue),
            "isOptional": true, "isRepeating": .bool(argument.isRepeating),
            "shouldDisplay": true,
        ]
    }
}
