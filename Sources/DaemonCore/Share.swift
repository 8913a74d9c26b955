internal import EventLoop
internal import SyncCore

// One user's share of each iteration of the loop, as far as the shell deals it out: what is read.
// What is done with the bytes, and who is written to, is the engine's (see `Account`).
//
// Always holds: a uid whose requests wait for their turn is read no further, so what it floods
// stays in its own sockets.

/// The share of one uid.
final class Share {
    /// Connections that are read again in one iteration once their uid's turn has come.
    static let resumedMax = 4
    /// Bytes of one read while somebody else is at work: more would only be copied to wait.
    static let contendedReadBytes = 8192
    /// Bytes of one write while somebody else is at work.
    static let contendedWriteBytes = 16384
    /// Connections of each uid written to between two looks at the clock, and how long the writes
    /// of one iteration may take, while somebody else is at work: who catches up is written some
    /// tens of microseconds at a time.
    static let contendedWritesAtOnce = 1
    static let contendedFlushNanoseconds: UInt64 = 150_000
    /// Connections accepted in one iteration while several users are at work.
    static let contendedAccepts = 2

    let uid: UInt32
    let gate = ReadGate()
    var connections = 0
    /// Connections that had something to read while the gate was closed, in their order.
    var heldBack: [Connection] = []
    /// Whether it stands among those that the shell looks after each iteration.
    var isWatched = false

    /// That of the last peer of the uid.
    private var identity: Peer.Identity?

    init(uid: UInt32) {
        self.uid = uid
    }

    /// The peer with the identity of the one before it where they are equal, as they nearly always
    /// are.
    func likeOthers(_ peer: Peer) -> Peer {
        if let identity, identity == peer.identity { return Peer(pid: peer.pid, identity) }
        identity = peer.identity
        return peer
    }
}

extension Shell {
    /// The share of a uid, for one more connection.
    func joinShare(_ uid: UInt32) -> Share {
        let share = shares[uid] ?? Share(uid: uid)
        shares[uid] = share
        share.connections += 1
        return share
    }

    /// One connection less.
    func leaveShare(_ connection: Connection) {
        guard let share = connection.share else { return }
        connection.share = nil
        share.connections -= 1
        share.heldBack.removeAll { $0 === connection }
        if share.connections == 0 { shares[share.uid] = nil }
    }

    /// Reads nothing more of a uid whose requests wait for their turn.
    func closeGateIfBehind(_ connection: Connection) {
        guard engine.isBehind(connection.id), let share = connection.share else { return }
        share.gate.isClosed = true
        share.gate.bytesMax = Share.contendedReadBytes
        watch(share)
    }

    /// Charges what a read took to the uid that sent something.
    func chargeRead(_ connection: Connection) {
        guard let gate = connection.share?.gate, gate.bytesMax < .max else { return }
        engine.charge(Loop.hrtimeNanoseconds &- gate.readBegan, to: connection.id)
    }

    private func watch(_ share: Share) {
        guard !share.isWatched else { return }
        share.isWatched = true
        watchedShares.append(share)
    }

    /// Something came for a connection whose uid's turn it is not.
    func heldBack(_ connection: Connection) {
        guard let share = connection.share, case .active = connection.reading else { return }
        connection.reading = .heldBack
        share.heldBack.append(connection)
        watch(share)
        chargeRead(connection)
    }

    /// Opens the gates of those whose requests are done, and reads on; whether some must wait for
    /// the next iteration.
    func openGates() -> Bool {
        guard !watchedShares.isEmpty else { return false }
        var shares: [Share] = []
        swap(&shares, &watchedShares)
        for share in shares {
            share.isWatched = false
            if let one = share.heldBack.first(where: { $0.isKnown }), engine.isBehind(one.id) {
                watch(share)
                continue
            }
            share.gate.isClosed = false
            share.gate.bytesMax = engine.isContended ? Share.contendedReadBytes : .max
            let next = share.heldBack.prefix(Share.resumedMax)
            share.heldBack.removeFirst(next.count)
            for connection in next where connection.reading == .heldBack {
                connection.reading = .paused
                resumeReading(connection.id)
            }
            if !share.heldBack.isEmpty { watch(share) }
        }
        return watchedShares.contains { !$0.heldBack.isEmpty && !$0.gate.isClosed }
    }
}
