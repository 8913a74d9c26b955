// An error of a command: one line on standard error and an exit status of sysexits.h.
//
// The line says what, why, and what to do next. Scripts use the status (docs: CLI, Exit status).

internal import PickerClient
internal import SyncCore

/// Exit statuses: those of sysexits.h, timeout(1) and shells.
enum ExitStatus: Int32 {
    case done = 0
    /// A condition was not met, a question was answered with no, or a part failed.
    case notMet = 1
    case usage = 64
    /// An invalid value, a disabled control, an invalid form file.
    case data = 65
    /// The form, field or file does not exist.
    case noInput = 66
    /// The daemon cannot be reached, cannot write, or speaks another protocol.
    case unavailable = 69
    /// An error of ours or of the daemon.
    case software = 70
    /// A conflict or a limit: try again.
    case temporary = 75
    case noPermission = 77
    case timedOut = 124
    /// The command of `--while` cannot be started, as in a shell.
    case notStarted = 127
    /// 128 plus the signal's number, as in a shell.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143
    /// Nobody reads standard output: the status that a shell shows for SIGPIPE.
    case closedPipe = 141
}

/// Why a command failed, in one line.
struct Failure: Error {
    var status: ExitStatus
    var message: String
    /// Whether the message begins with `FILE:LINE:COLUMN:`, which must be at the start of the line.
    var beginsWithPlace = false

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A status without a message: for the condition of `wait` and for a closed pipe.
    static func silent(_ status: ExitStatus) -> Failure { Failure(status, "") }

    static func usage(_ message: String) -> Failure { Failure(.usage, message) }
}

extension WireError {
    /// Whether it is about `-m`, `--for` or `--until-time`.
    fileprivate var isOfOptions: Bool {
        needs != nil || ["message", "lease", "lease.until", "until"].contains(path)
    }
}

extension Failure {
    /// An error of the daemon, in a line with the next step.
    init(_ error: WireError) {
        let status: ExitStatus =
            switch error.kind {
            case .notFound: .noInput
            case .invalidParams where error.isOfOptions: .usage
            case .invalidValue, .disabled, .invalidParams: .data
            case .conflict, .limit, .busy: .temporary
            case .forbidden, .approvalNeeded: .noPermission
            case .unavailable, .unsupportedProtocol: .unavailable
            case .parse, .invalidRequest, .frameTooLarge, .methodNotFound, .internal: .software
            }
        var line = error.message
        if let expected = error.expected, !line.contains(expected),
            !line.contains(Wording.advice(expected))
        {
            line = Wording.refusal(line, expected: expected)
        }
        if !error.similar.isEmpty, !line.contains("did you mean") {
            line += "; " + Wording.didYouMean(error.similar)
        }
        for problem in error.problems.prefix(1) where !line.contains(problem.message) {
            line += "; \(problem.path.isEmpty ? "" : problem.path + ": ")\(problem.message)"
        }
        if error.problems.count > 1 { line += " (and \(error.problems.count - 1) more)" }
        if let step = Self.nextStep(error, in: line) { line += "; \(step)" }
        self.init(status, line)
    }

    private static func nextStep(_ error: WireError, in line: String) -> String? {
        switch error.kind {
        case .conflict where !error.fields.isEmpty:
            let now = error.fields.prefix(3).map { "\($0.id) is \(ValueText.short($0.state))" }
            let step = line.contains("again") ? "" : "; read again and decide"
            return now.joined(separator: ", ") + " now" + step
        case .unavailable: return "see pickerctl status"
        case .limit where error.limit == "leaseMax": return "choose an earlier end"
        case .limit: return "try again later, or ask for a higher limit"
        case .unsupportedProtocol: return "install a pickerctl and a pickersyncd of one version"
        case .notFound where error.similar.isEmpty && error.field == nil:
            return line.contains("pickerctl") ? nil : "see pickerctl form list"
        case .notFound where error.similar.isEmpty:
            return line.contains("pickerctl") ? nil : "see pickerctl describe"
        case .forbidden where !line.contains("; only ") && !line.contains("on other hosts"):
            return "pickerctl describe shows who may"
        case .internal: return "the daemon's log has the details"
        default: return nil
        }
    }

    /// An error of the client.
    init(_ failure: ClientFailure) {
        switch failure {
        case .refused(let error), .incompatible(let error): self.init(error)
        case .unreachable(let error, let resolution):
            self.init(.unreachable(error), Self.line(error, resolution))
        case .launch(let error, let resolution):
            self.init(.unavailable, Self.line(error, resolution))
        case .lost:
            self.init(
                .unavailable,
                "the connection was lost before the daemon answered, so the edit may or may not "
                    + "have been made; see pickerctl history")
        case .timedOut(let seconds):
            let whole = Int(seconds.rounded(.up))
            self.init(
                .unavailable,
                "the daemon did not answer within \(whole) second\(whole == 1 ? "" : "s"), so the "
                    + "edit may or may not have been made; see pickerctl doctor")
        case .violation(let reason):
            self.init(
                .unavailable, "the peer does not speak pickersync (\(reason)); see pickerctl doctor"
            )
        }
    }

    private static func line(_ error: ConnectError, _ resolution: SocketResolution) -> String {
        let path = resolution.path
        switch error {
        case .remote(let host, let status, let lastLine):
            return remote(host, status, lastLine)
        case .timedOut where resolution.host != nil:
            return "\(path) did not answer in time; try ssh \(path)"
        case .missing where resolution.rule == .system, .refused where resolution.rule == .system:
            return "no daemon answers on \(path); systemctl start pickersyncd.socket"
        case .missing, .refused:
            return resolution.mayStart
                ? "no daemon answers on \(path); start pickersyncd, or leave out --no-autostart"
                : "no daemon answers on \(path); start \(startCommand(resolution))"
        case .forbidden:
            return "\(path) may not be opened by this user; join its group, see pickerctl doctor"
        case .nameTooLong:
            return "the socket's path is longer than \(StreamSocket.pathBytesMax) bytes: \(path); "
                + "choose a shorter one with --socket"
        case .unsafeFolder(let folder):
            return "\(path) is not used, since somebody else could have made it: \(folder.path): "
                + "\(folder.words); see pickerctl doctor"
        case .stranger(let path, let uid):
            return "the process that listens on \(path) is of uid \(uid), so it is not your "
                + "daemon; nothing was sent; see pickerctl doctor"
        case .timedOut:
            return "the daemon on \(path) does not accept connections; see pickerctl doctor"
        case .failed(let path, let errno):
            return "\(path): \(describe(errno: errno)); see pickerctl doctor"
        }
    }

    /// Why there is no connection with another machine. 127 is a shell's status for a command that
    /// it does not find, 255 that of ssh(1) for its own errors.
    private static func remote(_ host: String, _ status: Int32, _ lastLine: String?) -> String {
        var said = lastLine ?? "ssh ended with status \(status)"
        for prefix in ["pickerctl: ", "ssh: "] where said.hasPrefix(prefix) {
            said.removeFirst(prefix.count)
        }
        switch status {
        case 127: return "\(host): pickerctl is not installed there; install it"
        case 255: return "\(host): \(said); try ssh \(host)"
        default: return "\(host): \(said)"
        }
    }

    /// The command that starts a daemon on a socket again with its store. Another state directory
    /// would open another store.
    static func startCommand(_ resolution: SocketResolution) -> String {
        let command = "pickersyncd --socket \(ValueText.shellWord(resolution.path))"
        guard let state = resolution.stateDirectory else { return command }
        return command + " --state-directory \(ValueText.shellWord(state))"
    }

    private static func line(_ error: LaunchError, _ resolution: SocketResolution) -> String {
        switch error {
        case .executableNotFound:
            "no daemon answers on \(resolution.path), and there is no pickersyncd beside pickerctl "
                + "or in PATH to start; install pickersyncd, or name a socket with --socket"
        case .noStateDirectory:
            "a daemon needs a home directory; set HOME or XDG_STATE_HOME"
        case .directory(let path, let reason):
            "a daemon cannot be started: \(path): \(reason); see pickerctl doctor"
        case .spawn(let errno):
            "a daemon cannot be started: \(describe(errno: errno)); see pickerctl doctor"
        case .ended(_, let lastLine, let log):
            "the daemon stopped at once: \(lastLine ?? "no message"); see \(log)"
        case .timedOut(let log):
            "the daemon was started but does not accept connections yet; see \(log)"
        case .connect(let error):
            line(error, resolution)
        }
    }
}

extension ExitStatus {
    fileprivate static func unreachable(_ error: ConnectError) -> ExitStatus {
        if case .forbidden = error { return .noPermission }
        return .unavailable
    }
}
