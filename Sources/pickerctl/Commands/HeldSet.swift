// `set --while -- COMMAND`: values that last as long as a command runs.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// The values and the command.
///
///     set ──refused──▶ (we exit)
///      └──done──▶ running ──connection lost──▶ away ──greeted, resume──▶ running
///                    └──command ended──▶ the leases that are ours end ──▶ (we exit)
struct HeldSet {
    private let request: SetRequest
    private let command: [String]
    /// A holder must send something at least each ten seconds.
    private static let pingSeconds = 5.0
    private static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    init(_ request: SetRequest, _ command: [String]) {
        self.request = request
        self.command = command
    }

    func run() throws(Failure) {
        let session = Session(request.settings)
        guard let path = RunCommand.find(command[0]) else { throw Failure.notStarted(command[0]) }
        let result = try request.set(lease: .connection, session)
        let leases = result.fields.compactMap { field in
            field.state.lease.map { (field: field.id, id: $0.id) }
        }
        let signals = SignalPipe(Self.forwarded + [SIGCHLD])
        let child: ChildProcess
        do throws(Failure) {
            child = try ChildProcess.start(
                path: path, command, environment: inheritedEnvironment())
        } catch {
            try end(leases, result.form, session)
            throw Failure.notStarted(path)
        }
        // The answer may be that of an earlier connection.
        resume(leases, result.form, session)
        let status = try hold(leases, result.form, child, signals, session)
        // The command's status is ours, also where the daemon is away.
        try? end(leases, result.form, session)
        Glibc.exit(status)
    }

    /// Holds the leases until the command has ended; returns its status.
    private func hold(
        _ leases: [(field: String, id: String)], _ form: String, _ child: ChildProcess,
        _ signals: SignalPipe, _ session: Session
    ) throws(Failure) -> Int32 {
        // The command is the terminal's foreground job.
        let ownsTerminal = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
        signal(SIGTTOU, SIG_IGN)
        if ownsTerminal { tcsetpgrp(STDIN_FILENO, child.pid) }
        defer { if ownsTerminal { tcsetpgrp(STDIN_FILENO, getpgrp()) } }
        var pingAt = MonotonicClock.now().adding(seconds: Self.pingSeconds)
        while true {
            if let ending = child.ending() { return ending.shellStatus }
            switch try session.wait(until: pingAt, also: [signals.descriptor]) {
            case .event(.greeted): resume(leases, form, session)
            case .event: break
            case .readable:
                for number in signals.take() where number != SIGCHLD { child.signal(number) }
            case .deadline:
                session.client.submit(.ping)
                pingAt = MonotonicClock.now().adding(seconds: Self.pingSeconds)
            }
        }
    }

    private func resume(
        _ leases: [(field: String, id: String)], _ form: String, _ session: Session
    ) {
        for lease in leases {
            session.client.submit(
                .stateLease(StateLease(form: form, field: lease.field, .resume(lease.id))))
        }
    }

    /// Ends the leases that are in force; others end when the connection does.
    private func end(
        _ leases: [(field: String, id: String)], _ form: String, _ session: Session
    ) throws(Failure) {
        let fields = try session.snapshot(form, leases.map(\.field)).fields
        for lease in leases where fields[lease.field]?.lease?.id == lease.id {
            try session.call(.stateLease(StateLease(form: form, field: lease.field, .end)))
        }
    }
}
