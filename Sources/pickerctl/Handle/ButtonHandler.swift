// Takes presses and runs the command.
//
//     free --assigned--> running --command ends--> finishing --answered--> free
//                          |  ^
//     connection lost      v  | the ticket still holds
//                         alone --20 s--> SIGTERM --8 s--> SIGKILL
//
// A run that the daemon has ended is abandoned: its command is ended and nothing is reported.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// One run of `pickerctl handle`.
final class ButtonHandler {
    private let session: Session
    private var outline: FormOutline
    /// The buttons; `nil` for all with `runs`.
    private let buttons: [String]?
    private let path: String
    private let command: [String]
    private let signals = SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGCHLD])

    private var job: HandledPress?
    /// The request `button.handle` that is not answered yet.
    private var asked: Ticket?
    private var hasBegun = false
    /// The request `button.finish` that is not answered yet.
    private var finishing: (ticket: Ticket, request: ButtonFinish)?
    /// When to send it again (monotonic nanoseconds).
    private var finishDue: UInt64?
    /// A press that was assigned before the outcome of the last one is committed.
    private var next: ButtonAssigned?
    private var isLost = false
    /// The signal that ends this process as soon as its press has ended.
    private var ending: Int32?

    /// Seconds without the daemon until the command gets SIGTERM.
    static let aloneSeconds = 20.0
    /// Seconds between SIGTERM and SIGKILL.
    static let graceSeconds = 8.0

    init(
        _ session: Session, _ outline: FormOutline, buttons: [String]?, path: String,
        command: [String]
    ) {
        self.session = session
        self.outline = outline
        self.buttons = buttons
        self.path = path
        self.command = command
    }

    /// Handles presses until a signal; returns the exit status.
    func run() throws(Failure) -> Int32 {
        defer { job?.kill() }
        try session.require("runs")
        session.client.subscribe(StateSubscribe(form: outline.id, fields: buttons))
        askForPresses()
        while true {
            if let ending, job == nil, finishing == nil { return 128 + ending }
            let deadline = [job?.deadline, finishDue].compactMap(\.self).min()
            let descriptors = [signals.descriptor] + (job?.descriptors ?? [])
            switch try session.wait(until: deadline, also: descriptors) {
            case .event(let event): try handle(event)
            case .readable(let descriptor):
                if descriptor == signals.descriptor {
                    takeSignals()
                } else {
                    job?.read(descriptor)
                }
            case .deadline: break
            }
            job?.endIfDue(at: MonotonicClock.now())
            reportProgress()
            try finishIfEnded()
            if let due = finishDue, MonotonicClock.now() >= due, let finishing {
                finishDue = nil
                self.finishing?.ticket = session.client.submit(.buttonFinish(finishing.request))
            }
        }
    }

    // MARK: Events

    private func handle(_ event: ClientEvent) throws(Failure) {
        switch event {
        case .greeted:
            try session.require("runs")
            if isLost { session.console.note("connected again") }
            isLost = false
            askForPresses()
        case .disconnected:
            if !isLost { session.console.note("connection lost; waiting for the daemon") }
            isLost = true
            job?.endLater(seconds: Self.aloneSeconds)
        case .answered(let tickets, let outcome):
            if let asked, tickets.contains(asked) { try handling(outcome) }
            if let finishing, tickets.contains(finishing.ticket) { try finished(outcome) }
        case .assigned(let assigned): try start(assigned)
        case .cancelled(let cancelled):
            guard let job, job.assigned.press == cancelled.press else { return }
            session.console.note("press \(cancelled.press) \(Self.words(cancelled))")
            if cancelled.state != nil { job.isAbandoned = true }
            job.endNow(graceSeconds: Self.graceSeconds)
        case .formChanged(let change) where change.form == outline.id:
            guard case .defined(let content) = change.content else {
                throw .formDeleted(outline.id)
            }
            outline = FormOutline(content.definition)
        case .subscriptionRefused(_, let error): throw Failure(error)
        default: break
        }
    }

    /// Why a run is to end, after the name of the press.
    private static func words(_ cancelled: ButtonCancelled) -> String {
        if cancelled.state == .timedOut { return "takes too long" }
        return cancelled.by.map { "was cancelled by \($0.user)" } ?? "has ended"
    }

    private func askForPresses() {
        let tickets = [job?.assigned.ticket].compactMap(\.self)
        asked = session.client.submit(
            .buttonHandle(
                ButtonHandle(
                    form: outline.id, fields: ending == nil ? buttons : [], tickets: tickets)))
    }

    private func handling(_ outcome: RequestOutcome) throws(Failure) {
        asked = nil
        switch outcome {
        case .result(let json):
            guard let result = try? HandleResult(decoding: json) else { return }
            if !hasBegun {
                let names = result.fields.map { "\(result.form)/\($0)" }
                session.console.note("handling \(names.joined(separator: ", "))")
            }
            hasBegun = true
            guard let job else { return }
            if result.tickets.contains(job.assigned.ticket) {
                job.staysAlive()
            } else if finishing == nil {
                session.console.note("press \(job.assigned.press) has ended without its handler")
                job.isAbandoned = true
                job.endNow(graceSeconds: Self.graceSeconds)
            }
        case .refused(let error): throw Failure(error)
        case .superseded, .lost, .otherReplica: break
        }
    }

    // MARK: Presses

    private func start(_ assigned: ButtonAssigned) throws(Failure) {
        // A press that comes while this process ends waits at the daemon for another handler.
        guard job == nil, ending == nil else { return }
        guard finishing == nil else {
            next = assigned
            return
        }
        var fields: [NamedField] = []
        for (id, value) in assigned.values.objectValue?.members ?? [] {
            fields.append(
                NamedField(id: id, state: FieldState(value: value, revision: 0, isSet: true)))
        }
        var own: [(name: String, value: String)] = [
            ("PICKERSYNC_PRESS", assigned.press), ("PICKERSYNC_BUTTON", assigned.field),
            ("PICKERSYNC_BY", assigned.by.user), ("PICKERSYNC_AT", assigned.at.description),
            ("PICKERSYNC_MESSAGE", assigned.message ?? ""),
        ]
        if assigned.isAgain { own.append(("PICKERSYNC_AGAIN", "1")) }
        let environment =
            RunCommand.environment(outline, fields).filter { entry in
                !own.contains { entry.hasPrefix($0.name + "=") }
            } + own.map { "\($0.name)=\($0.value)" }
        session.console.note("press \(assigned.press) of \(assigned.field) by \(assigned.by.user)")
        do throws(Failure) {
            job = try HandledPress(assigned, path, command, environment)
        } catch {
            finish(assigned, .failed, text: error.message, status: nil)
        }
    }

    private func reportProgress() {
        guard !isLost, let job, !job.isAbandoned,
            let line = job.takeProgress(at: MonotonicClock.now())
        else { return }
        _ = session.client.submit(
            .buttonProgress(
                ButtonProgress(
                    press: job.assigned.press, ticket: job.assigned.ticket,
                    fraction: line.fraction, text: line.text)))
    }

    private func finishIfEnded() throws(Failure) {
        guard let job, let ending = job.ending() else { return }
        self.job = nil
        session.console.note("\(command[0]) \(ending.inWords)")
        if job.isAbandoned { return }
        let isDone = ending == .exited(0)
        finish(
            job.assigned, isDone ? .done : .failed, text: isDone ? job.text : job.lastError,
            status: ending.shellStatus)
    }

    private func finish(
        _ assigned: ButtonAssigned, _ outcome: ButtonFinish.Outcome, text: String?, status: Int32?
    ) {
        let request = ButtonFinish(
            press: assigned.press, ticket: assigned.ticket, outcome: outcome, text: text,
            status: status.map { Int64($0) })
        finishing = (session.client.submit(.buttonFinish(request)), request)
    }

    private func finished(_ outcome: RequestOutcome) throws(Failure) {
        if case .refused(let error) = outcome {
            guard error.kind != .unavailable else {
                finishDue = MonotonicClock.now().adding(seconds: 1)
                return
            }
            session.console.note(error.message)
        }
        finishing = nil
        finishDue = nil
        guard let assigned = next else { return }
        next = nil
        try start(assigned)
    }

    private func takeSignals() {
        for number in signals.take() where number != SIGCHLD {
            ending = number
            askForPresses()
            job?.endNow(graceSeconds: Self.graceSeconds)
        }
    }
}
