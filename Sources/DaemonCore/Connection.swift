internal import EventLoop
internal import SyncCore

// One accepted connection as the shell sees it.
//
//     naming --names are known--> open --closeAfterOutput--> finishing --all has left--> closed
//        \__________ any: the peer is gone, `close`, the daemon ends ____________________/
//
// Always holds: the engine hears of a connection from `connected` to `disconnected`, once each, and
// of none that never left `naming`; at most one write is under way.

/// A connection, owned by the shell.
final class Connection: ConnectionKeeper {
    /// Where its life stands.
    enum Phase {
        /// Its peer's names are being looked up; the engine does not know it.
        case naming
        /// In use.
        case open
        /// Closed as soon as everything has left, or when its time is over (`Finishing`).
        case finishing
        /// Nothing is called any more.
        case closed
    }

    /// Where the reading stands.
    enum Reading {
        case paused
        case active
        /// Something has come, and it is not the uid's turn.
        case heldBack
        /// The peer has ended its side.
        case ended
    }

    // What a write looks at comes first. The order leaves no room between the members.
    let pipe: Pipe
    let id: ConnectionID
    /// The share of its uid, while the engine knows it.
    var share: Share?
    /// Closes every connection before it goes.
    private unowned let shell: Shell
    var phase = Phase.naming
    var isWriting = false
    var reading = Reading.paused
    /// The number of the socket, good while `pipe` is open: for poll(2) alone.
    let descriptor: CInt

    init(id: ConnectionID, pipe: Pipe, descriptor: CInt, of shell: Shell) {
        self.id = id
        self.pipe = pipe
        self.descriptor = descriptor
        self.shell = shell
    }

    /// Whether the engine was told of it and not yet of its end.
    var isKnown: Bool {
        switch phase {
        case .open, .finishing: true
        case .naming, .closed: false
        }
    }
}

/// A connection that is closed once all has left, or at a monotonic time.
struct Finishing {
    let connection: Connection
    let until: UInt64

    var isClosed: Bool { if case .closed = connection.phase { true } else { false } }
}

extension Connection: PipeReader {
    func pipeRead(_ bytes: UnsafeRawBufferPointer) { shell.received(self, bytes) }
    func pipeEnded() { shell.ended(self) }
    func pipeHeldBack() { shell.heldBack(self) }
    func pipeFailed(_ error: UVError) { shell.ended(self) }
}
