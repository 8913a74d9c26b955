public import SyncCore
internal import Synchronization

/// What a press does while another press of the same button waits or runs: see
/// ``Button/runs(_:waitsFor:whenLost:timeout:handledAt:)``.
public typealias PressMode = RunRules.Mode

/// What becomes of a press whose program is gone: see
/// ``Button/runs(_:waitsFor:whenLost:timeout:handledAt:)``.
public typealias LostPress = RunRules.WhenLost

/// A press that the action of a ``Button`` works on.
///
/// When the action returns, the press is done. When it throws, the press has failed, with the error
/// as its text. The task of the action is cancelled:
/// - when somebody cancels the press; what the action throws then makes it cancelled,
/// - when it has taken longer than `timeout`,
/// - when the daemon has been away for 20 seconds. After 30 seconds without this program the press
///   is lost, or another program takes it, so an action must end within 10 seconds,
/// - when the program closes the form or the client.
public struct AssignedPress: Sendable {
    /// The name of the press, such as `3f9a.1:1042`.
    public let id: String
    /// Who pressed.
    public let by: WireAuthor
    /// When the daemon received the press.
    public let at: Timestamp
    /// The message of the press.
    public let message: String?
    /// Whether another program worked on this press before, and was lost.
    public let isAgain: Bool
    /// The values of the form's fields when the button was pressed, without secrets.
    public let values: JSONObject

    private let reports: ProgressReports

    init(_ assigned: ButtonAssigned, _ machine: FormMachine) {
        id = assigned.press
        by = assigned.by
        at = assigned.at
        message = assigned.message
        isAgain = assigned.isAgain
        values = assigned.values.objectValue ?? JSONObject()
        reports = ProgressReports(assigned, machine)
    }

    /// Reports to everybody who follows the form how much of the work is done.
    ///
    /// It does not wait for the daemon. The newest report is sent, ten times a second at most.
    ///
    /// - Parameters:
    ///   - fraction: from 0 to 1; other numbers count as the nearer of these, NaN as none.
    ///   - text: what the work is doing, one line. Its first 256 bytes are shown.
    public func progress(_ fraction: Double, _ text: String? = nil) {
        let thousandths = fraction.isNaN ? nil : (min(1, max(0, fraction)) * 1_000).rounded()
        reports.add(
            thousandths.flatMap { DecimalNumber(significand: Int128($0), exponent: -3) }, text)
    }

    /// Reports to everybody who follows the form what the work is doing.
    ///
    /// - Parameter text: one line. Its first 256 bytes are shown.
    public func progress(_ text: String) { reports.add(nil, text) }
}

/// The progress of one run on its way to the daemon.
///
///     idle ──add──▶ sent ──a tenth of a second after the answer──▶ idle, or sent with the newest
private final class ProgressReports: Sendable {
    private struct State {
        var isSent = false
        /// What is reported next.
        var fraction: DecimalNumber?
        var text: String?
    }

    private let press: String
    private let ticket: String
    private let machine: FormMachine
    private let state = Mutex(State())

    init(_ assigned: ButtonAssigned, _ machine: FormMachine) {
        press = assigned.press
        ticket = assigned.ticket
        self.machine = machine
    }

    func add(_ fraction: DecimalNumber?, _ text: String?) {
        state.withLock { state in
            state.fraction = fraction ?? state.fraction
            state.text = text.flatMap { ButtonProgress.line($0) } ?? state.text
        }
        send()
    }

    private func send() {
        let request = state.withLock { state -> ButtonProgress? in
            guard !state.isSent, state.fraction != nil || state.text != nil else { return nil }
            defer { state = State(isSent: true) }
            return ButtonProgress(
                press: press, ticket: ticket, fraction: state.fraction, text: state.text)
        }
        guard let request else { return }
        machine.ask(.buttonProgress(request)) { [self] _ in
            Task {
                try? await Task.sleep(for: .milliseconds(100))
                state.withLock { $0.isSent = false }
                send()
            }
        }
    }
}
