// Runs a program with the form's values in its environment, and optionally again at each change.

internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "run", abstract: "Run a command with the form's values in its environment.",
        discussion: """
            The variables are PICKER_FORM and one for each field, such as PICKER_FLAVOR=vanilla, \
            without secrets. The exit status is the command's.

            Example: pickerctl run --restart-on-change -- ./server
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "Run it again at each change: SIGTERM, then SIGKILL after the grace.")
    var restartOnChange = false
    @Option(
        help: ArgumentHelp("Time between SIGTERM and SIGKILL.", valueName: "duration"),
        transform: Duration.seconds)
    var grace: Double = 5
    @Option(
        help: ArgumentHelp("Restart after this time without changes.", valueName: "duration"),
        transform: Duration.seconds)
    var debounce: Double = 0.05
    @Argument(parsing: .postTerminator, help: "The command, after --.") var command: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError(
                UsageWords.nothing(to: "run", write: "pickerctl run -- COMMAND"))
        }
    }

    func run() throws {
        let session = Session(common.settings)
        let form = try session.form()
        let path = try Self.executable(command[0])
        if restartOnChange {
            let status = try Restarter(self, session, form, path).run()
            Glibc.exit(status)
        }
        let outline = try session.outline(form)
        let fields = try session.snapshot(form).fields
        session.client.close()
        let environment = Self.environment(outline, fields)
        // The program replaces this process, so it has its signals, terminal and status.
        signal(SIGPIPE, SIG_DFL)
        _ = withCStrings(command) { arguments in
            withCStrings(environment) { execve(path, arguments, $0) }
        }
        throw Failure.system(.notMet, path, errno)
    }

    /// The inherited environment and the form's values, which take precedence.
    static func environment(_ form: FormOutline, _ fields: [NamedField]) -> [String] {
        let items = fields.filter { form[$0.id]?.holdsValue ?? true }.map {
            Selection.Item(name: $0.id, value: $0.state.value, state: $0.state)
        }
        let own = Environment.variables(form.id, items)
        let kept = inheritedEnvironment().filter { entry in
            !own.contains { entry.hasPrefix($0.name + "=") }
        }
        // A value in the environment cannot contain the byte NUL, which ends it.
        return kept
            + own.filter { !$0.value.utf8.contains(0) }.map { "\($0.name)=\($0.value)" }
    }

    /// The path of a command, or why it cannot be run.
    static func executable(_ name: String) throws(Failure) -> String {
        guard let path = find(name), let facts = FileFacts.at(path) else {
            throw .noCommandFile(name)
        }
        guard facts.kind == .regular, access(path, X_OK) == 0 else {
            throw .notExecutable(path)
        }
        return path
    }

    /// Finds a command like a shell: a path unchanged, a name in `PATH`.
    static func find(_ name: String) -> String? {
        if name.contains("/") { return name }
        for folder in (environmentVariable("PATH") ?? "/usr/bin:/bin").split(separator: ":") {
            let path = "\(folder)/\(name)"
            if access(path, X_OK) == 0, FileFacts.at(path)?.kind == .regular { return path }
        }
        return nil
    }
}

/// `--restart-on-change`: the program, and what restarts it.
///
///     running --change--> ending --child gone--> running with the new values
///     running --child gone--> resting --change--> running
private final class Restarter {
    private let command: RunCommand
    private let session: Session
    private let form: String
    private let path: String
    private var outline: FormOutline
    private let signals = SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD])
    private var child: ChildProcess?
    private var changeDue: UInt64?
    private var killDue: UInt64?
    private let ownsTerminal = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()

    init(
        _ command: RunCommand, _ session: Session, _ form: String, _ path: String
    ) throws(Failure) {
        outline = try session.outline(form)
        self.command = command
        self.session = session
        self.form = form
        self.path = path
    }

    /// Runs until a signal; returns the exit status.
    func run() throws(Failure) -> Int32 {
        // The child is the terminal's foreground job. Passing that on and back must not stop this
        // process.
        signal(SIGTTOU, SIG_IGN)
        defer { if ownsTerminal { tcsetpgrp(STDIN_FILENO, getpgrp()) } }
        session.client.subscribe(StateSubscribe(form: form))
        while true {
            let deadline = [changeDue, killDue].compactMap(\.self).min()
            switch try session.wait(until: deadline, also: [signals.descriptor]) {
            case .event(let event): try handle(event)
            case .readable:
                if let status = try handleSignals() { return status }
            case .deadline: break
            }
            try runDue()
        }
    }

    private func handle(_ event: ClientEvent) throws(Failure) {
        switch event {
        case .snapshot(let result, let previous) where previous.isEmpty:
            if child == nil, result.form == form { try start() }
        case .snapshot, .changed, .formChanged:
            if case .formChanged(let change) = event {
                guard case .defined(let content) = change.content else {
                    child?.end(graceSeconds: command.grace)
                    throw .formDeleted(form)
                }
                outline = FormOutline(content.definition)
            }
            changeDue = MonotonicClock.now().adding(seconds: command.debounce)
        case .subscriptionRefused(_, let error): throw Failure(error)
        default: break
        }
    }

    private func runDue() throws(Failure) {
        let now = MonotonicClock.now()
        if let due = changeDue, now >= due {
            changeDue = nil
            if let child {
                if killDue == nil {
                    child.signal(SIGTERM)
                    killDue = now.adding(seconds: command.grace)
                }
            } else {
                try start()
            }
        }
        if let due = killDue, now >= due {
            child?.signal(SIGKILL)
            killDue = nil
        }
    }

    private func start() throws(Failure) {
        let fields = session.client.fields(of: form)
        let environment = RunCommand.environment(outline, fields)
        let process = try ChildProcess.start(
            path: path, command.command, environment: environment)
        child = process
        if ownsTerminal { tcsetpgrp(STDIN_FILENO, process.pid) }
    }

    /// ^Z has stopped only the child, which is the foreground job. This process stops too, so that
    /// the shell shows its prompt, and continues together with the child: the job control of
    /// credentials(7) and setpgid(2).
    private func suspend(_ child: ChildProcess) {
        tcsetpgrp(STDIN_FILENO, getpgrp())
        kill(0, SIGTSTP)
        if tcgetpgrp(STDIN_FILENO) == getpgrp() { tcsetpgrp(STDIN_FILENO, child.pid) }
        child.signal(SIGCONT)
    }

    /// The exit status if a signal or the end of the child determines it.
    private func handleSignals() throws(Failure) -> Int32? {
        for number in signals.take() {
            switch number {
            case SIGCHLD:
                if ownsTerminal, let child, child.hasStopped() { suspend(child) }
                guard let ending = child?.ending() else { continue }
                child = nil
                if ownsTerminal { tcsetpgrp(STDIN_FILENO, getpgrp()) }
                // ^C at the terminal reached only the child, but is meant for both.
                if ending == .signalled(SIGINT) || ending == .signalled(SIGQUIT) {
                    return ending.shellStatus
                }
                if killDue != nil {
                    killDue = nil
                    try start()
                } else {
                    session.console.note(
                        "\(command.command[0]) \(ending.inWords); waiting for a change")
                }
            case SIGINT, SIGTERM, SIGHUP, SIGQUIT:
                guard let child else { return 128 + number }
                child.signal(number)
                let deadline = MonotonicClock.now().adding(seconds: command.grace)
                while MonotonicClock.now() < deadline {
                    if let ending = child.ending() { return ending.shellStatus }
                    usleep(5_000)
                }
                child.end(graceSeconds: 0)
                return 128 + number
            default: child?.signal(number)
            }
        }
        return nil
    }
}
