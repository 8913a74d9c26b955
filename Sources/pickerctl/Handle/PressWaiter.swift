// `pickerctl press --wait`: shows a press until it has ended.

internal import PickerClient
internal import SyncCore

/// Waits for the outcome of one press.
struct PressWaiter {
    let session: Session
    let form: String
    let field: FieldOutline
    let press: String
    /// When to give up (monotonic nanoseconds).
    let deadline: UInt64?

    private var bar: ProgressBar
    /// When to ask for the outcome of a press that another host has: its progress is not told here
    /// (monotonic nanoseconds).
    private var asksAt: UInt64?
    private static let askPeriod: UInt64 = 1_000_000_000

    init(
        _ session: Session, _ form: String, _ field: FieldOutline, press: String, deadline: UInt64?
    ) {
        self.session = session
        self.form = form
        self.field = field
        self.press = press
        self.deadline = deadline
        bar = ProgressBar(title: field.label, isQuiet: session.settings.isQuiet)
    }

    /// Returns when the press is done.
    /// - Throws: the exit status of any other outcome.
    mutating func run() throws(Failure) {
        defer { bar.clear() }
        session.client.subscribe(StateSubscribe(form: form, fields: [field.id]))
        while true {
            bar.draw(at: MonotonicClock.now())
            let wake = [deadline, bar.deadline, asksAt].compactMap(\.self).min()
            switch try session.wait(until: wake) {
            case .event(let event): if try hasEnded(event) { return }
            case .readable, .deadline: break
            }
            if let time = asksAt, MonotonicClock.now() >= time, try ask() { return }
            if let deadline, MonotonicClock.now() >= deadline {
                bar.clear()
                throw .hasNotEnded(field.id, name: field.name)
            }
        }
    }

    private mutating func hasEnded(_ event: ClientEvent) throws(Failure) -> Bool {
        switch event {
        case .progress(let progress):
            if progress.press == press { bar.update(progress) }
        case .changed(let change):
            guard change.form == form else { break }
            let runs = change.changes.last { $0.field == field.id }?.state.runs
            if change.coalescedFrom == nil, let runs { return try hasEnded(runs) }
            return try ask()
        case .snapshot, .resumed: return try ask()
        case .formChanged(let change) where change.form == form:
            if case .deleted = change.content { throw .formDeleted(form) }
            return try ask()
        case .disconnected:
            asksAt = nil
            bar.stop("the daemon is away")
        case .subscriptionRefused(_, let error): throw Failure(error)
        default: break
        }
        return false
    }

    private mutating func hasEnded(_ runs: ButtonRuns) throws(Failure) -> Bool {
        if let last = runs.last, last.press == press { return try judge(last) }
        if let run = runs.running.first(where: { $0.press == press }) { return try judge(run) }
        return try ask()
    }

    private mutating func ask() throws(Failure) -> Bool {
        let request = Request.buttonOutcome(ButtonOutcome(form: form, press: press))
        let run: ButtonRun
        do throws(Failure) {
            run = try session.call(request) { json throws(DecodeError) in
                try RunResult(decoding: json).run
            }
        } catch {
            guard let host = field.json["handledAt"]?.stringValue, error.status == .unavailable
            else { throw error }
            // It goes on there, and the two may hear of each other again.
            bar.stop("\(host) does not answer")
            asksAt = MonotonicClock.now() + Self.askPeriod
            return false
        }
        asksAt = run.host == nil ? nil : MonotonicClock.now() + Self.askPeriod
        return try judge(run)
    }

    private mutating func judge(_ run: ButtonRun) throws(Failure) -> Bool {
        if !run.state.isFinal {
            bar.begin(run)
            return false
        }
        bar.clear()
        let line = "\(field.id) \(run.sentence)"
        guard run.state != .done else {
            session.console.note(line)
            return true
        }
        throw Failure(run.state.exitStatus, line)
    }
}

extension ButtonRun {
    /// What became of it, after the name of the button.
    var sentence: String {
        let by = handler.map { " by \($0.user)" } ?? ""
        let handled = handler.map { ", handled by \($0.user)" } ?? ""
        let said = text.map { ": \($0)" } ?? ""
        return switch state {
        case .waiting: "waits"
        case .running: "runs\(by)"
        case .done: "is done\(by)\(said)"
        case .failed: "failed\(handled)\(said)"
        case .cancelled: "was cancelled\(said)"
        case .dropped: "was replaced by a later press"
        case .unhandled: "was not handled; start pickerctl handle"
        case .timedOut: "took too long\(handled)"
        case .lost: "was lost: its handler\(handler.map { " \($0.user)" } ?? "") is gone"
        }
    }
}

extension RunState {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .done, .waiting, .running: .done
        case .failed: .notMet
        case .unhandled: .unavailable
        case .lost, .dropped: .temporary
        case .timedOut: .timedOut
        case .cancelled: .interrupted
        }
    }
}
