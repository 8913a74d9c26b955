// Runs work on other threads; the result is delivered on the loop.
//
//     queued --a thread takes it--> running --> finished
//     queued --cancel()--> cancelled
//
// Invariants: the completion is called exactly once, on the loop's thread; the thread of the pool
// touches nothing but the Sendable closure and the slot for its result.

internal import CUV
internal import Glibc
internal import Synchronization

/// Work on libuv's thread pool, four threads unless `UV_THREADPOOL_SIZE` says otherwise:
/// `uv_queue_work`.
@safe public final class Work {
    /// How a piece of work ended.
    public enum Outcome<Value: Sendable>: Sendable {
        /// It ran and returned this.
        case finished(Value)
        /// It was cancelled before it began; it did not run and will not.
        case cancelled
    }

    /// Gives the pool so many threads, unless `UV_THREADPOOL_SIZE` is set: libuv creates all
    /// threads for the first piece of work.
    ///
    /// Call it only before another thread exists: setenv(3).
    public static func limitThreads(to count: Int) {
        unsafe setenv("UV_THREADPOOL_SIZE", "\(count)", 0)
    }

    private enum Phase { case queued, cancelled, ended }

    private let request: UnsafeMutablePointer<uv_work_t>
    private var phase = Phase.queued
    /// Called by a thread of the pool, which is why it is Sendable.
    fileprivate let execute: @Sendable () -> Void
    /// Called on the loop; true if `execute` ran.
    private var deliver: ((Bool) -> Void)?

    /// Runs `body` on another thread and gives its result to `completion` on the loop.
    ///
    /// Work in progress keeps the loop alive, and `Loop.withLoop` waits for it.
    @discardableResult
    public static func start<Value: Sendable>(
        on loop: Loop, _ body: @escaping @Sendable () -> Value,
        then completion: @escaping (Outcome<Value>) -> Void
    ) -> Work {
        let slot = ResultSlot<Value>()
        let work = Work(
            execute: { slot.fill(body()) },
            deliver: { hasRun in
                guard hasRun else { return completion(.cancelled) }
                guard let value = slot.take() else {
                    preconditionFailure("work that ran has filled its slot")
                }
                completion(.finished(value))
            })
        work.enqueue(on: loop)
        return work
    }

    /// Cancels work that no thread has started; its completion is then called with `.cancelled`.
    ///
    /// Safe at any time: work that runs or has ended is not affected. Calls `uv_cancel`.
    /// - Returns: whether it was cancelled.
    @discardableResult
    public func cancel() -> Bool {
        switch phase {
        case .queued:
            let status = unsafe uv_cancel(
                UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
            // EBUSY: a thread has it. A second uv_cancel after a first that succeeded would race
            // with the thread that fetches ended work. So there is a state.
            guard status == 0 else { return false }
            phase = .cancelled
            return true
        case .cancelled, .ended:
            return false
        }
    }

    private init(execute: @escaping @Sendable () -> Void, deliver: @escaping (Bool) -> Void) {
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_work_t())
        self.execute = execute
        self.deliver = deliver
    }

    deinit {
        precondition(phase == .ended, "libuv holds work until it has ended")
        unsafe request.deallocate()
    }

    private func enqueue(on loop: Loop) {
        unsafe request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let status = unsafe uv_queue_work(loop.raw, request, executeWork, workEnded)
        precondition(status == 0, "uv_queue_work does not fail with a callback")
    }

    fileprivate func ended(_ status: CInt) {
        phase = .ended
        let deliver = self.deliver
        self.deliver = nil
        deliver?(status == 0)
    }
}

/// Stores a result between the two threads.
private final class ResultSlot<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func fill(_ newValue: Value) { value.withLock { $0 = newValue } }

    func take() -> Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}

// Named functions, and nonisolated: a closure written in an isolated place would be checked for
// that place's executor, and trap when a thread of the pool calls it.

/// On a thread of the pool. Libuv holds the object until `workEnded`, which comes later.
private nonisolated func executeWork(_ raw: UnsafeMutablePointer<uv_work_t>?) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().execute()
}

/// On the loop's thread.
private nonisolated func workEnded(_ raw: UnsafeMutablePointer<uv_work_t>?, _ status: CInt) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Work>.fromOpaque(data).takeRetainedValue().ended(status)
}
