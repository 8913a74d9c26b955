// The presses of a form that actions of this program work on.
//
//     assigned ──▶ running ──the action returns or throws──▶ finishing ──answered──▶ (none)
//                    │  ▲
//         the daemon │  │ its ticket
//           is gone  ▼  │ still holds
//                   alone ──20 s, or the ticket holds no more──▶ the task is cancelled
//
// The daemon gives one press at a time to a connection, the next perhaps before it answers the
// outcome. A daemon that gives more than `runsMax` is not believed. A run whose task was cancelled
// is finished as any other, and the daemon decides whether it still counts.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// Runs the actions of a form's buttons, and reports their outcome.
final class PressRunner: Sendable {
    private struct Run {
        let ticket: String
        let task: Task<Void, Never>
    }

    private struct State {
        /// By press.
        var runs: [String: Run] = [:]
        /// Actions whose outcome the daemon has not answered. Two may be of one press: an earlier
        /// run that is lost may not have ended when the press is given again.
        var active = 0
        /// Counts how often the daemon went and came.
        var turns = 0
    }

    private let form: String
    private let machine: FormMachine
    private let state = Mutex(State())

    /// How long the actions go on without the daemon, in seconds. Others take their presses after
    /// 30 seconds (`reclaimSeconds`).
    private static let aloneSeconds: Int64 = 20
    /// The most presses that are worked on or reported at once. More are neither.
    private static let runsMax = 16
    /// Seconds between two tries to report an outcome that the daemon's store cannot take.
    private static let retrySeconds: Int64 = 1

    init(form: String, machine: FormMachine) {
        self.form = form
        self.machine = machine
    }

    // MARK: The daemon

    /// Takes presses of these buttons, and holds the runs again that have begun.
    func handle(_ buttons: [String]) {
        let tickets = state.withLock { state in
            state.turns += 1
            return state.runs.values.map(\.ticket).sorted()
        }
        let request = ButtonHandle(form: form, fields: buttons, tickets: tickets)
        machine.ask(.buttonHandle(request)) { [self] outcome in
            switch outcome {
            case .result(let json):
                guard let result = try? HandleResult(decoding: json) else { return }
                cancel { tickets.contains($0) && !result.tickets.contains($0) }
            case .refused(let error):
                machine.log?(.error, "presses are not handled: \(error)", ["form": form])
            case .superseded, .lost, .otherReplica: break
            }
        }
    }

    /// The daemon is gone.
    func disconnected() {
        let turn = state.withLock { state -> Int? in
            state.turns += 1
            return state.runs.isEmpty ? nil : state.turns
        }
        guard let turn else { return }
        Task { [self] in
            try? await Task.sleep(for: .seconds(Self.aloneSeconds))
            if state.withLock({ $0.turns == turn }) { cancelAll() }
        }
    }

    // MARK: Runs

    /// An action begins to work on a press.
    func start(
        _ assigned: ButtonAssigned,
        _ action: @escaping @Sendable (AssignedPress) async throws -> Void
    ) {
        let press = AssignedPress(assigned, machine)
        state.withLock { state in
            guard state.active < Self.runsMax else { return }
            state.active += 1
            let task = Task { [self] in
                do {
                    try await action(press)
                    finish(assigned, .done, nil)
                } catch is CancellationError {
                    finish(assigned, .failed, nil)
                } catch {
                    finish(assigned, .failed, ButtonProgress.line("\(error)"))
                }
            }
            state.runs[assigned.press] = Run(ticket: assigned.ticket, task: task)
        }
    }

    /// Somebody wants the run of a press to end, or the daemon has ended it.
    func cancel(_ press: String) { state.withLock { $0.runs[press] }?.task.cancel() }

    /// No action may go on.
    func cancelAll() { cancel { _ in true } }

    private func cancel(where isOver: (_ ticket: String) -> Bool) {
        let runs = state.withLock { $0.runs.values.filter { isOver($0.ticket) } }
        for run in runs { run.task.cancel() }
    }

    private func finish(
        _ assigned: ButtonAssigned, _ outcome: ButtonFinish.Outcome, _ text: String?
    ) {
        let request = ButtonFinish(
            press: assigned.press, ticket: assigned.ticket, outcome: outcome, text: text)
        machine.ask(.buttonFinish(request)) { [self] answer in
            if case .refused(let error) = answer, error.kind == .unavailable {
                Task { [self] in
                    try? await Task.sleep(for: .seconds(Self.retrySeconds))
                    finish(assigned, outcome, text)
                }
                return
            }
            state.withLock { state in
                state.active -= 1
                if state.runs[assigned.press]?.ticket == assigned.ticket {
                    state.runs[assigned.press] = nil
                }
            }
        }
    }
}

extension FormFeed {
    /// Takes presses of the buttons that have an action for them, from each daemon again.
    func handlePresses() {
        let buttons = state.withLock { state -> [String]? in
            let buttons = Set(state.listeners.filter { $0.run != nil }.map(\.field))
            guard state.isOpen, !buttons.isEmpty || state.handlesPresses else { return nil }
            state.handlesPresses = !buttons.isEmpty
            return buttons.sorted()
        }
        if let buttons { runner.handle(buttons) }
    }

    /// What works on the presses of a button; `nil` if nothing does.
    fileprivate func action(
        of button: String
    ) -> (@Sendable (AssignedPress) async throws -> Void)? {
        state.withLock { state in
            state.listeners.lazy.filter { $0.field == button }.compactMap(\.run).first
        }
    }
}

extension FormMachine {
    /// Requests without an answer, above which presses of closed forms are not refused.
    private static let strayPressesMax = 10_000

    /// The daemon has given a press to this program.
    func assigned(_ press: ButtonAssigned) {
        if let feed = feed(press.form), let action = feed.action(of: press.field) {
            return feed.runner.start(press, action)
        }
        // It was on its way when the program closed the form. A daemon that gives many without an
        // answer to the first is not believed.
        guard state.withLock({ $0.unanswered.count < Self.strayPressesMax }) else { return }
        let request = ButtonFinish(
            press: press.press, ticket: press.ticket, outcome: .failed,
            text: "the program has closed the form")
        ask(.buttonFinish(request)) { _ in }
    }
}

extension FieldListener {
    /// What works on the presses of its button.
    fileprivate var run: (@Sendable (AssignedPress) async throws -> Void)? {
        if case .run(let action) = kind { action } else { nil }
    }
}
