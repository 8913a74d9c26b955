internal import EventLoop
internal import SyncCore

// One accepted connection as the shell sees it.
//
//     naming --names are known--> open --closeAfterOutput--> finishing --all has left--> closed
//        \__________ any: the peer is gone, `close`, the daemon ends ____________________/
//
// Invariants: for each connection the engine receives `connected` and `disconnected` once, and
// nothing if the connection never left `naming`; at most one write is in progress.

final class ClientConnection: ConnectionKeeper {
    enum Phase {
        /// The user and group names of the peer are being looked up, or a limit is reached
        /// (`Crowded`); the engine does not know the connection yet.
        case naming
        /// In use.
        case open
        /// It closes when all output is written, or at its deadline (`Finishing`).
        case finishing
        /// Closed; there are no more callbacks.
        case closed
    }

    enum Reading {
        case paused
        case active
        /// Bytes have arrived, but it is not the turn of the uid.
        case heldBack
        /// The peer has shut down its side.
        case ended
    }

    // The members that a write uses come first. The order avoids padding.
    let pipe: Pipe
    let id: ConnectionID
    /// The share of its uid, while the connection is known to the engine.
    var share: Share?
    /// Unowned: the shell closes every connection before it is freed.
    private unowned let shell: Shell
    var phase = Phase.naming
    var isWriting = false
    var reading = Reading.paused
    /// The descriptor of the socket, valid while `pipe` is open; only for poll(2).
    let descriptor: CInt

    init(id: ConnectionID, pipe: Pipe, descriptor: CInt, of shell: Shell) {
        self.id = id
        self.pipe = pipe
        self.descriptor = descriptor
        self.shell = shell
    }

    /// Whether the engine knows the connection and has not received its end.
    var isKnown: Bool {
        switch phase {
        case .open, .finishing: true
        case .naming, .closed: false
        }
    }
}

/// A connection in `naming` beyond a limit. It is refused at a monotonic time, unless another one
/// ends before.
struct Crowded {
    let connection: ClientConnection
    let peer: Peer
    /// The uid of the account that it is charged to.
    let user: UInt32
    let until: UInt64
}

/// A connection that closes when all output is written, or at a monotonic time.
struct Finishing {
    let connection: ClientConnection
    let until: UInt64

    var isClosed: Bool { if case .closed = connection.phase { true } else { false } }
}

extension ClientConnection: PipeReader {
    func pipeRead(_ bytes: UnsafeRawBufferPointer) { shell.received(self, bytes) }
    func pipeEnded() { shell.ended(self) }
    func pipeHeldBack() { shell.heldBack(self) }
    func pipeFailed(_ error: UVError) { shell.ended(self) }
}
