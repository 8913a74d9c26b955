// Exit statuses. The status alone says whether starting the daemon again can help (sysexits.h;
// systemd's RestartPreventExitStatus=).

/// What the process exits with.
public enum ExitStatus: Int32, Sendable, Hashable {
    /// Stopped as asked: SIGTERM, SIGINT or `--idle-exit`.
    case success = 0
    /// An unknown or invalid flag (EX_USAGE).
    case usage = 64
    /// An invalid form file (EX_DATAERR).
    case formFile = 65
    /// The system refuses basic resources: memory, an event loop (EX_OSERR).
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
    /// The exit status.
    public let status: ExitStatus
    /// What is wrong and what to do next, one line each; not yet escaped for a terminal.
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
