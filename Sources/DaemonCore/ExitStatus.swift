// How the daemon ends. Always holds: whoever starts it learns from the status alone whether
// starting it again can help (sysexits.h; systemd's RestartPreventExitStatus=).

/// What the process exits with (CLI.md, pickersyncd).
public enum ExitStatus: Int32, Sendable, Hashable {
    /// Stopped as asked: SIGTERM, SIGINT or `--idle-exit`.
    case success = 0
    /// A flag that is not understood (EX_USAGE).
    case usage = 64
    /// A form file that is no form (EX_DATAERR).
    case formFile = 65
    /// The machine refuses what every process gets: memory, an event loop (EX_OSERR).
    case system = 71
    /// The socket or the store cannot be created or read (EX_CANTCREAT).
    case cannotCreate = 73
    /// Another daemon already serves this socket or this store (EX_TEMPFAIL).
    case alreadyServed = 75
    /// The configuration is wrong (EX_CONFIG).
    case configuration = 78
}

/// Why the daemon does not start: the status, and a line for each reason.
public struct StartFailure: Error, Hashable, Sendable {
    /// What to exit with.
    public let status: ExitStatus
    /// What is wrong and what to do next, a line each; not yet escaped for a terminal.
    public let messages: [String]

    /// A failure for one reason or several.
    public init(_ status: ExitStatus, _ messages: String...) {
        self.init(status, messages)
    }

    /// A failure for the given reasons.
    public init(_ status: ExitStatus, _ messages: [String]) {
        precondition(!messages.isEmpty, "a failure says why")
        self.status = status
        self.messages = messages
    }
}
