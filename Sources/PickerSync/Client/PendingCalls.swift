// Calls that wait for an answer, and how they give up: the task is cancelled, or the deadline
// passes.
//
// Invariant: a call ends once, with its answer or by giving up, whichever comes first. `pump`
// decides about giving up, because it knows whether the request was sent.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// What is known of a request whose call ended without an answer.
public enum RequestFate: Sendable {
    /// It was not sent and never will be: nothing has changed.
    case notSent
    /// It was sent, and it is unknown whether it was executed. ``FormClient/settle(_:timeout:)``
    /// finds out. `nil` for opening a form, which is more than one request; open it again.
    case unknown(UnansweredRequest?)
    /// This number of assignments have no answer. The client keeps them and sends them as soon as
    /// it can, unless it is closed.
    case pending(edits: Int)
}

/// A request that was sent and not answered.
public struct UnansweredRequest: Sendable {
    let request: Request

    /// The idempotency key: the daemon applies the request once, even if it is sent several times.
    /// `nil` for a request that changes nothing.
    public var idempotencyKey: String? { request.idempotencyKey }
}

/// The calls that wait; the machine's lock protects them.
struct PendingCalls: Sendable {
    private struct Call: Sendable {
        var stage = Stage.begun
        var deadline: UInt64?
        let finish: @Sendable (FormError) -> Void
    }

    /// Why a call gives up.
    enum Reason: Sendable {
        case cancelled, timedOut

        func error(_ fate: RequestFate) -> FormError {
            self == .cancelled ? .cancelled(fate) : .timedOut(fate)
        }
    }

    /// What a call waits for.
    enum Stage: Sendable {
        case begun
        case request(UInt64)
        /// All requests with smaller numbers.
        case flush(UInt64)
        /// A form that is being opened.
        case opening
    }

    private var calls: [UInt64: Call] = [:]
    private var last: UInt64 = 0
    /// No call has an earlier deadline.
    private(set) var earliest: UInt64?
    private(set) var givenUp: [(id: UInt64, reason: Reason)] = []

    mutating func begin(
        deadline: UInt64?, _ finish: @escaping @Sendable (FormError) -> Void
    ) -> UInt64 {
        last += 1
        calls[last] = Call(deadline: deadline, finish: finish)
        if let deadline { earliest = min(earliest ?? deadline, deadline) }
        return last
    }

    /// Sets what a call waits for; `false` if it has ended.
    @discardableResult
    mutating func wait(for stage: Stage, _ id: UInt64) -> Bool {
        guard calls[id] != nil else { return false }
        calls[id]?.stage = stage
        return true
    }

    /// The call has its answer.
    mutating func end(_ id: UInt64) { calls[id] = nil }

    mutating func giveUp(_ id: UInt64, _ reason: Reason) {
        if calls[id] != nil { givenUp.append((id, reason)) }
    }

    mutating func expire(at now: UInt64) {
        guard let earliest, earliest <= now else { return }
        for (id, call) in calls.sorted(by: { $0.key < $1.key }) {
            if let deadline = call.deadline, deadline <= now { giveUp(id, .timedOut) }
        }
        self.earliest = calls.values.compactMap(\.deadline).filter { $0 > now }.min()
    }

    /// Takes the calls that give up, with what they wait for.
    mutating func takeGivenUp() -> [(id: UInt64, reason: Reason, stage: Stage)] {
        defer { givenUp = [] }
        return givenUp.compactMap { id, reason in calls[id].map { (id, reason, $0.stage) } }
    }

    mutating func remove(_ id: UInt64) -> (@Sendable (FormError) -> Void)? {
        calls.removeValue(forKey: id)?.finish
    }
}

extension FormMachine {
    /// The next deadline for `expire`, in nanoseconds of the clock.
    public var nextDeadline: UInt64? { state.withLock { $0.calls.earliest } }

    /// Marks the calls whose deadline has passed; the next `pump` ends them.
    public func expire(at now: UInt64) {
        state.withLock { $0.calls.expire(at: now) }
    }

    /// Ends the calls that gave up; returns closures that give each caller its error.
    static func giveUp(
        _ state: inout State, withdraw: (Ticket) -> Withdrawal?
    ) -> [@Sendable () -> Void] {
        var tellings: [@Sendable () -> Void] = []
        for (id, reason, stage) in state.calls.takeGivenUp() {
            var fate = RequestFate.notSent
            var asked: Asked?
            switch stage {
            case .begun: break
            case .opening: fate = .unknown(nil)
            case .flush(let number):
                state.flushes.removeAll { $0.number == number }
                fate = .pending(edits: state.unanswered.count { $0 < number })
            case .request(let number):
                // Without a ticket or a withdrawal there is an answer, which the next event brings.
                guard let ticket = state.waiting.first(where: { $0.value.number == number })?.key,
                    let withdrawal = withdraw(ticket)
                else { continue }
                asked = state.waiting.removeValue(forKey: ticket)
                state.unanswered.remove(number)
                if case .sent(let request) = withdrawal {
                    fate = .unknown(UnansweredRequest(request: request))
                }
            }
            let finish = state.calls.remove(id)
            let error = reason.error(fate)
            tellings.append { [asked] in
                asked?.done(.failure(error))
                finish?(error)
            }
        }
        return tellings
    }

    // MARK: Awaiting

    /// Waits for what `start` begins, until the task is cancelled or the deadline passes.
    func answer<Success: Sendable>(
        timeout: Duration?, _ start: (PendingCall<Success>) -> Void
    ) async throws(FormError) -> Success {
        precondition(
            !isDrivenByCaller,
            "a BlockingFormClient's own methods wait for answers; await would hang")
        if Task.isCancelled { throw .cancelled(.notSent) }
        let place = AnswerPlace<Success>()
        let call = PendingCall<Success>(self, timeout: timeout) { place.put($0) }
        let result = await withTaskCancellationHandler {
            start(call)
            return await place.taken()
        } onCancel: {
            call.giveUp(.cancelled)
        }
        return try result.get()
    }

    func ask(_ request: Request, timeout: Duration?) async throws(FormError) -> JSON {
        try await answer(timeout: timeout) { call in
            ask(request, call: call.id) { call.finish($0) }
        }
    }
}

/// A place for one answer and the continuation that waits for it.
private final class AnswerPlace<Success: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Result<Success, FormError>, Never>)
        case full(Result<Success, FormError>)
    }

    private let state = Mutex(State.empty)

    func put(_ result: Result<Success, FormError>) {
        let waiting = state.withLock { state -> CheckedContinuation<_, Never>? in
            defer { state = .full(result) }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: result)
    }

    func taken() async -> Result<Success, FormError> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Result<Success, FormError>? in
                if case .full(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}

/// One call that waits for an answer: its first result counts.
final class PendingCall<Success: Sendable>: Sendable {
    typealias Done = @Sendable (Result<Success, FormError>) -> Void

    private let machine: FormMachine
    private let state: Mutex<(id: UInt64, done: Done?)>

    /// A call that ends once, with `done`.
    init(_ machine: FormMachine, timeout: Duration?, then done: @escaping Done) {
        self.machine = machine
        state = Mutex((0, done))
        let seconds = timeout.map { $0 / .seconds(1) } ?? machine.answerSeconds
        let deadline = seconds.map { machine.clock().adding(seconds: $0) }
        let id = machine.state.withLock { state in
            state.calls.begin(deadline: deadline) { [self] in finish(.failure($0)) }
        }
        state.withLock { $0.id = id }
    }

    var id: UInt64 { state.withLock { $0.id } }

    /// Ends the call with its answer.
    ///
    /// - Returns: `false` if it has ended before.
    @discardableResult
    func finish(_ result: Result<Success, FormError>) -> Bool {
        let (id, done) = state.withLock { state in
            defer { state.done = nil }
            return (state.id, state.done)
        }
        guard let done else { return false }
        machine.state.withLock { $0.calls.end(id) }
        done(result)
        return true
    }

    /// Gives up; the driver of the machine finds out whether the request was sent.
    func giveUp(_ reason: PendingCalls.Reason) {
        let id = id
        machine.state.withLock { $0.calls.giveUp(id, reason) }
        machine.wake()
    }
}
