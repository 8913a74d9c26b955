import ArgumentParser
import DaemonCore
import Glibc
import SyncCore

// The daemon's command line: flags in, an exit status out. What the flags mean is DaemonCore's.

struct PickerSyncD: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickersyncd",
        abstract: "Serve forms that many terminals share.",
        discussion: discussion,
        version: Version.current)

    @Option(help: ArgumentHelp("The socket to listen on.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The directory of the store.", valueName: "dir"))
    var stateDirectory: String?

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "When an edit is safe on the disk: commit, interval or memory.",
            valueName: "how"))
    var durability: String?

    @Option(help: ArgumentHelp("Members may connect and create forms.", valueName: "name"))
    var group: String?

    @Option(
        name: .customLong("form"),
        help: ArgumentHelp(
            "A form file to apply at start and at SIGHUP; may be repeated.", valueName: "file"))
    var forms: [String] = []

    @Option(
        help: ArgumentHelp("Exit after this time without a connection.", valueName: "duration"))
    var idleExit: String?

    @Option(help: ArgumentHelp("error, warning, notice, info or debug.", valueName: "level"))
    var logLevel: String?

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp("Set a limit; may be repeated.", valueName: "name=value"))
    var limits: [String] = []

    @Option(
        name: .customLong("link"),
        help: ArgumentHelp(
            "Share forms with other hosts: fleet, host, forms, key, bridge, mode, users or "
                + "streams; may be repeated.",
            valueName: "name=value"))
    var link: [String] = []

    @Option(
        help: ArgumentHelp("Make a key for a fleet in a new file, and exit.", valueName: "file"))
    var newFleetKey: String?

    @Flag(name: .customLong("limits"), help: "List the limits with their defaults, and exit.")
    var listsLimits = false

    @Flag(help: "Start a new replica: after a restore that the daemon cannot notice.")
    var newReplica = false

    @Option(
        help: ArgumentHelp(
            "Restore a backup, and exit; no daemon may run.", valueName: "file"))
    var restore: String?

    @Flag(help: "Show what would be done and how the store is, and exit.")
    var check = false

    private var flags: [(option: ConfigurationOption, values: [String])] {
        [
            (.socket, socket.map { [$0] } ?? []),
            (.stateDirectory, stateDirectory.map { [$0] } ?? []),
            (.durability, durability.map { [$0] } ?? []),
            (.group, group.map { [$0] } ?? []),
            (.forms, forms),
            (.idleExit, idleExit.map { [$0] } ?? []),
            (.logLevel, logLevel.map { [$0] } ?? []),
            (.limits, limits),
            (.link, link),
        ]
    }

    func run() throws {
        if listsLimits {
            for line in Self.limitLines { print(line) }
            return
        }
        if let newFleetKey {
            throw ExitCode(Daemon.makeFleetKey(newFleetKey).rawValue)
        }
        let sources = ConfigurationSources.here(flags: flags, file: config)
        if let restore, !check {
            throw ExitCode(Daemon.restore(sources, from: restore).rawValue)
        }
        guard check else {
            throw ExitCode(Daemon.run(sources, newReplica: newReplica).rawValue)
        }
        let report = Daemon.check(sources)
        for line in report.plan { print(line) }
        for problem in report.problems { Self.writeError("pickersyncd: \(problem)\n") }
        throw ExitCode(report.status.rawValue)
    }

    static func writeError(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

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

    /// Name, default and purpose of each limit.
    private static var limitLines: [String] {
        Limits.all.map { limit in
            let value = Limits()[keyPath: limit.path]
            let name = limit.name.padding(to: 27)
            return name + "\(value) \(limit.unit)".padding(to: 22) + limit.reason
        }
    }
}

extension String {
    /// The text with blanks behind it up to a width of ASCII characters.
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - utf8.count))
    }
}

extension ConfigurationSources {
    /// Flags, the environment and the place of this process.
    fileprivate static func here(
        flags: [(option: ConfigurationOption, values: [String])], file: String?
    ) -> ConfigurationSources {
        ConfigurationSources(
            flags: flags, file: file, environment: .take(), uid: geteuid(),
            workingDirectory: currentDirectory())
    }

    private static func currentDirectory() -> String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

if let usual = UsualArguments(Array(CommandLine.arguments.dropFirst())) {
    exit(Daemon.run(.here(flags: usual.flags, file: usual.file), newReplica: false).rawValue)
}
do {
    try PickerSyncD.parse().run()
} catch {
    let code = PickerSyncD.exitCode(for: error)
    if code.isSuccess || error is ExitCode { PickerSyncD.exit(withError: error) }
    let line = ParserWording.line(PickerSyncD.message(for: error))
    PickerSyncD.writeError("pickersyncd: \(line); see pickersyncd --help\n")
    exit(code.rawValue)
}
