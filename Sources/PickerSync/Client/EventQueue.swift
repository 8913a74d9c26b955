// The queue of events of one reader of a form: bounded, in order, asynchronous or polled.

internal import Synchronization

/// Events on their way to one reader.
///
/// Invariant: about `changesWaitingMax` events wait at most, not counting refusals of what this
/// program wrote. A change beyond that is merged into the last one that waits; of everything else
/// that the daemon sends, the newest is kept.
final class EventQueue: Sendable {
    private struct State {
        var waiting: [FormEvent] = []
        var reader: CheckedContinuation<FormEvent?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())
    private let leave: @Sendable (EventQueue) -> Void

    /// A queue; `leave` is called when the reader stops.
    init(leave: @escaping @Sendable (EventQueue) -> Void = { _ in }) {
        self.leave = leave
    }

    /// Gives an event to the reader, or keeps it until the reader asks.
    func send(_ event: FormEvent) {
        let reader = state.withLock { state -> CheckedContinuation<FormEvent?, Never>? in
            if state.isFinished { return nil }
            if case .ended = event { state.isFinished = true }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            Self.append(event, to: &state.waiting)
            return nil
        }
        reader?.resume(returning: event)
    }

    private static func append(_ event: FormEvent, to waiting: inout [FormEvent]) {
        guard waiting.count >= changesWaitingMax else {
            waiting.append(event)
            return
        }
        switch event {
        case .changed(let change):
            guard
                let last = waiting.lastIndex(where: {
                    if case .changed = $0 { true } else { false }
                }),
                case .changed(let before) = waiting[last]
            else { return waiting.append(event) }
            waiting[last] = .changed(before.folded(with: change))
        case .presence:
            waiting.removeAll { if case .presence = $0 { true } else { false } }
            waiting.append(event)
        case .proposal(let proposal):
            // Only its newest state, and not more of them than changes.
            waiting.removeAll {
                if case .proposal(let before) = $0 { before.id == proposal.id } else { false }
            }
            let places = waiting.indices.filter {
                if case .proposal = waiting[$0] { true } else { false }
            }
            if places.count >= changesWaitingMax { waiting.remove(at: places[0]) }
            waiting.append(event)
        case .redefined:
            waiting.removeAll { if case .redefined = $0 { true } else { false } }
            waiting.append(event)
        case .disconnected, .reconnected:
            // A reader that slow gets only the newest state of the connection.
            waiting.removeAll {
                switch $0 {
                case .disconnected, .reconnected: true
                default: false
                }
            }
            waiting.append(event)
        case .replicaChanged:
            waiting.removeAll { if case .replicaChanged = $0 { true } else { false } }
            waiting.append(event)
        case .refused, .ended: waiting.append(event)
        }
    }

    /// The next event if one waits.
    func poll() -> FormEvent? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    /// The next event; `nil` at the end, or if the task is cancelled.
    func next() async -> FormEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let now = state.withLock { state -> FormEvent?? in
                    if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    state.reader = reader
                    return nil
                }
                if let now { reader.resume(returning: now) }
            }
        } onCancel: {
            close()
        }
    }

    /// The reader is gone.
    func close() {
        let reader = state.withLock { state in
            state.isFinished = true
            state.waiting = []
            let reader = state.reader
            state.reader = nil
            return reader
        }
        reader?.resume(returning: nil)
        leave(self)
    }

    deinit { leave(self) }
}

/// All events of a form, in order: see ``FormEvent``.
public struct FormEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = FormEvent
    /// It never throws: the last event says why it ended.
    public typealias Failure = Never

    let attachment: FormAttachment

    /// A reader that gets events from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(attachment.observe()) }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let place: Place

        init(_ queue: EventQueue) {
            place = Place(queue)
        }

        /// The next event; `nil` after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Never) -> FormEvent? { await place.queue.next() }
    }

    /// Ends the observation with the iterator.
    final class Place: Sendable {
        let queue: EventQueue
        init(_ queue: EventQueue) { self.queue = queue }
        deinit { queue.close() }
    }
}

/// The revisions of a form, in order: see ``FormChange``.
public struct FormChanges: AsyncSequence, Sendable {
    /// A revision.
    public typealias Element = FormChange
    /// It never throws.
    public typealias Failure = Never

    let attachment: FormAttachment

    /// A reader that gets events from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: FormEvents(attachment: attachment).makeAsyncIterator())
    }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        var events: FormEvents.Iterator

        /// The next revision; `nil` if the form or the client is closed.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Never) -> FormChange? {
            while let event = await events.next(isolation: actor) {
                if case .changed(let change) = event { return change }
            }
            return nil
        }
    }
}

/// The values of one property: see ``Binding/values``.
public struct FieldValues<Value: SharedValue>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value
    /// It never throws.
    public typealias Failure = Never

    private let binding: Binding<Value>

    init(_ binding: Binding<Value>) {
        self.binding = binding
    }

    /// An iterator that begins with the present value.
    public func makeAsyncIterator() -> Iterator {
        let events = binding.field.attachment.map { FormEvents(attachment: $0).makeAsyncIterator() }
        return Iterator(binding: binding, events: events)
    }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        let binding: Binding<Value>
        var events: FormEvents.Iterator?
        var last: Value?

        /// The next value that differs from the one before; `nil` if the form or the client is
        /// closed.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Never) -> Value? {
            if last == nil {
                last = binding.wrappedValue
                return last
            }
            while let event = await events?.next(isolation: actor) {
                guard case .changed(let change) = event, change.contains(binding) else { continue }
                let value = binding.wrappedValue
                if value != last {
                    last = value
                    return value
                }
            }
            return nil
        }
    }
}
