internal import EventLoop
internal import SyncCore

// One user's share of each iteration of the loop. The shell limits what is read; the engine
// schedules the requests and the writes (see `Account`).
//
// Invariants: while requests of a uid wait for their turn, its connections are not read, so a flood
// stays in its own sockets.

final class Share {
    /// Connections that are read in one iteration when it is the turn of their uid.
    static let resumedMax = 4
    /// Bytes of one read while other users are active; more would only be copied and wait.
    static let contendedReadBytes = 8192
    /// Bytes of one write while other users are active.
    static let contendedWriteBytes = 16384
    /// While other users are active: how many connections of a uid are written between two reads of
    /// the clock, and how long the writes of one iteration may take. A slow reader that catches up
    /// receives short writes.
    static let contendedWritesAtOnce = 1
    static let contendedFlushNanoseconds: UInt64 = 150_000
    /// Connections accepted in one iteration while several users are active.
    static let contendedAccepts = 2

    let uid: UInt32
    let gate = ReadGate()
    var connections = 0
    /// Connections that became readable while the gate was closed, in order. Those that end stay
    /// until their turn.
    var heldBack = Queue<ClientConnection>()
    /// Whether the shell checks this share in each iteration.
    var isWatched = false

    /// The identity of the last peer of the uid.
    private var identity: Peer.Identity?

    init(uid: UInt32) {
        self.uid = uid
    }

    /// The peer, sharing the identity of the previous peer if both are equal, which they nearly
    /// always are.
    func likeOthers(_ peer: Peer) -> Peer {
        if let identity, identity == peer.identity { return Peer(pid: peer.pid, identity) }
        identity = peer.identity
        return peer
    }
}

extension Shell {
    /// The share of a uid, for one more connection: that of the user whose it is.
    func joinShare(_ uid: UInt32) -> Share {
        let uid = subordinates.owner(of: uid)
        let share = shares[uid] ?? Share(uid: uid)
        shares[uid] = share
        share.connections += 1
        return share
    }

    /// One connection less.
    func leaveShare(_ connection: ClientConnection) {
        guard let share = connection.share else { return }
        connection.share = nil
        share.connections -= 1
        if share.connections == 0 { shares[share.uid] = nil }
    }

    /// Stops reading from a uid whose requests wait for their turn.
    func closeGateIfItMustWait(_ connection: ClientConnection) {
        guard engine.mustWait(connection.id), let share = connection.share else { return }
        share.gate.isClosed = true
        share.gate.bytesMax = Share.contendedReadBytes
        watch(share)
    }

    /// Charges the time of a read to the uid of the sender.
    func chargeRead(_ connection: ClientConnection) {
        guard let gate = connection.share?.gate, gate.bytesMax < .max else { return }
        charge(Loop.hrtimeNanoseconds &- gate.readBegan, to: .connection(connection.id))
    }

    private func watch(_ share: Share) {
        guard !share.isWatched else { return }
        share.isWatched = true
        watchedShares.append(share)
    }

    /// A connection became readable, but it is not the turn of its uid.
    func heldBack(_ connection: ClientConnection) {
        guard let share = connection.share, case .active = connection.reading else { return }
        connection.reading = .heldBack
        share.heldBack.append(connection)
        watch(share)
        chargeRead(connection)
    }

    /// Opens the gates of uids whose requests are done, and reads from them. Returns whether some
    /// must wait for the next iteration.
    func openGates() -> Bool {
        guard !watchedShares.isEmpty else { return false }
        let bytesMax = engine.schedule.isContended ? Share.contendedReadBytes : .max
        var shares: [Share] = []
        swap(&shares, &watchedShares)
        for share in shares {
            share.isWatched = false
            if let one = share.heldBack.first(where: { $0.isKnown }), engine.mustWait(one.id) {
                watch(share)
                continue
            }
            share.gate.isClosed = false
            share.gate.bytesMax = bytesMax
            for _ in 0..<Share.resumedMax {
                guard let connection = share.heldBack.takeFirst() else { break }
                guard connection.reading == .heldBack else { continue }
                connection.reading = .paused
                resumeReading(connection.id)
            }
            if !share.heldBack.isEmpty { watch(share) }
        }
        return watchedShares.contains { !$0.heldBack.isEmpty && !$0.gate.isClosed }
    }
}
