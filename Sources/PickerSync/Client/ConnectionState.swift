// The state of the connection as a sequence, and the client's log.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// Whether a client has its daemon.
public enum ConnectionState: Sendable {
    /// The client has not reached the daemon yet.
    case connecting
    /// The daemon answered.
    case connected(HelloResult)
    /// The daemon is gone or could not be reached, for the reason that is known. The client tries
    /// again: by itself where it was connected before, else at the next call.
    case disconnected(FormError?)
    /// The client was closed, or cannot continue for this reason. No state follows.
    case closed(FormError?)

    /// Whether edits reach the daemon now.
    public var isConnected: Bool { if case .connected = self { true } else { false } }
}

/// The level of a line in a client's log, with the names of swift-log.
public enum ClientLogLevel: String, Sendable, Hashable, CaseIterable {
    /// For debugging the library.
    case debug
    /// Normal events.
    case info
    /// Events that a program may need to know: a lost connection, an edit that was dropped.
    case warning
    /// The client cannot continue.
    case error
}

/// Receives the lines of a client's log: the level, the message, and metadata by name.
///
/// With swift-log:
///
///     FormClient(log: { level, message, facts in
///         logger.log(
///             level: Logger.Level(rawValue: level.rawValue) ?? .info, "\(message)",
///             metadata: facts.mapValues { .string($0) })
///     })
public typealias ClientLog =
    @Sendable (_ level: ClientLogLevel, _ message: String, _ facts: [String: String]) -> Void

/// The states of a connection, the present one first, then each new one. A reader that is slow
/// misses the oldest of more than 64.
public struct ConnectionStates: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = ConnectionState
    /// It ends after ``ConnectionState/closed(_:)`` and never throws.
    public typealias Failure = Never

    let machine: FormMachine

    /// An iterator that begins with the present state.
    public func makeAsyncIterator() -> AsyncStream<ConnectionState>.Iterator {
        machine.connectionStates().makeAsyncIterator()
    }
}

extension FormMachine {
    fileprivate func connectionStates() -> AsyncStream<ConnectionState> {
        let (stream, reader) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            state.lastReader += 1
            state.connectionReaders[state.lastReader] = reader
            reader.yield(state.connection)
            if case .closed = state.connection { reader.finish() }
            return state.lastReader
        }
        reader.onTermination = { [weak self] _ in
            self?.state.withLock { $0.connectionReaders[number] = nil }
        }
        return stream
    }

    func connected(to daemon: HelloResult) {
        become(
            .connected(daemon), .info, "connected to the daemon",
            ["server": daemon.server, "replica": daemon.replica])
    }

    /// Reports a new state to the readers and to the log.
    func become(
        _ connection: ConnectionState, _ level: ClientLogLevel, _ message: String,
        _ facts: [String: String] = [:]
    ) {
        let readers = state.withLock { state in
            state.connection = connection
            return Array(state.connectionReaders.values)
        }
        for reader in readers {
            reader.yield(connection)
            if case .closed = connection { reader.finish() }
        }
        var facts = facts
        switch connection {
        case .disconnected(let error?), .closed(let error?): facts["reason"] = "\(error)"
        default: break
        }
        log?(level, message, facts)
    }
}
