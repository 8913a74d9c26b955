// Calls that wait for an answer, and how one stops waiting: its task is cancelled, or its deadline
// passes.
//
// Invariant: a call ends once, by its answer or by giving up, whichever comes first; giving
// up is decided where the requests are handed out, so that it is known whether one was sent.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// What became of a request when a call ended without its answer.
public enum RequestFate: Sendable {
    /// It was not sent and never will be: nothing was done.
    case notSent
    /// It was sent, and whether it was done is unknown. ``FormClient/settle(_:timeout:)`` finds
    /// out. `nil` where it is not one request: opening a form, which may be opened again.
    case unknown(UnansweredRequest?)
    /// So many edits by assignment have no answer. The client keeps them and sends them as soon as
    /// it can, unless it is closed.
    case pending(edits: Int)
}

/// A request that was sent and not answered.
public struct UnansweredRequest: Sendable {
    let request: Request

    /// The key under which the daemon does it once, however often it is sent; `nil` for a question,
    /// which changes nothing.
    public var idempotencyKey: String? { request.idempotencyKey }
}

/// The calls that wait, as the machine keeps them under its lock.
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
        /// Everything that was asked before that number.
        case flush(UInt64)
        /// A form that is about to be open.
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

    /// A call waits for something from now on; `false` where it has ended.
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

    /// Takes the calls that give up, each with what it waits for.
    mutating func takeGivenUp() -> [(id: UInt64, reason: Reason, stage: Stage)] {
        defer { givenUp = [] }
        return givenUp.compactMap { id, reason in calls[id].map { (id, reason, $0.stage) } }
    }

    mutating func remove(_ id: UInt64) -> (@Sendable (FormError) -> Void)? {
        calls.removeValue(forKey: id)?.finish
    }
}

extension FormMachine {
    /// When `expire` has something to do next, in the clock's nanoseconds.
    public var nextDeadline: UInt64? { state.withLock { $0.calls.earliest } }

    /// Ends the calls whose deadline has passed; the next `pump` tells them.
    public func expire(at now: UInt64) {
        state.withLock { $0.calls.expire(at: now) }
    }

    /// Ends what gave up; what is returned tells each caller what became of its request.
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
                // Without a ticket or a withdrawal its answer is there, and about to be told.
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

/// Where one answer is put, and waited for.
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

    /// A call that `done` is told of, once.
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

    /// Ends it with its answer.
    ///
    /// - Returns: `false` where it has ended before.
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

    /// Ends it without one; the driver of the machine tells what became of its request.
    func giveUp(_ reason: PendingCalls.Reason) {
        let id = id
        machine.state.withLock { $0.calls.giveUp(id, reason) }
        machine.wake()
    }
}
