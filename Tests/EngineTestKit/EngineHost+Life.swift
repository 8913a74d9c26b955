// Starts, stops and kills of the daemon, and the clients that come and go.

public import SyncCore

extension EngineHost {
    /// Kills the daemon: what was not committed is lost and all connections end. Then it starts
    /// again with the contents of the store.
    ///
    /// - Parameter writesBatch: The batch in progress had reached the disk, but nobody was told.
    public func crash(
        newEpoch: Bool = false, newLogs: Bool = false, writesBatch: Bool = false
    ) throws {
        kill(writesBatch: writesBatch)
        try start(newEpoch: newEpoch, newLogs: newLogs)
    }

    /// Kills the daemon, which stays down until `start`.
    public func kill(writesBatch: Bool = false) {
        if let late = lateBatch { store.commit(late) }
        lateBatch = nil
        if writesBatch, let batch = batchUnderWay { store.commit(batch) }
        batchUnderWay = nil
        unwritten = nil
        inboxes = [:]
        closing = []
        paused = []
        stopped = []
        slow = []
        writing = [:]
        fetchesUnderWay = []
        holdsFetches = false
        isDrained = false
    }

    /// Starts a daemon that is down.
    ///
    /// - Parameter over: A replacement for its store.
    public func start(
        over other: ModelStore? = nil, newEpoch: Bool = false, newLogs: Bool = false
    ) throws {
        if let other { store = other }
        if newEpoch { replica = replica.nextEpoch ?? replica }
        isStoreBroken = false
        engine = try Engine(
            configuration: configuration, environment: environment, replica: replica,
            image: store.image(), newLogs: newLogs, at: now)
        observe()
    }

    /// Stops the daemon cleanly, with goodbyes and a last commit.
    ///
    /// - Returns: whether it ended by itself.
    public func stop() -> Bool {
        isDrained = false
        run(.stop(.restart))
        for _ in 0..<8 where !isDrained {
            settle()
            commit()
        }
        return isDrained
    }

    /// Stops the daemon cleanly and starts it again.
    ///
    /// - Returns: whether it ended by itself.
    public func restart() throws -> Bool {
        let wasDrained = stop()
        try crash()
        return wasDrained
    }

    /// A client connects.
    public func connect(
        uid: UInt32 = 1000, user: String = "alice", groups: [UInt32] = [],
        groupNames: [String] = [], loginUID: UInt32? = nil, isLoginKnown: Bool = true
    ) -> ConnectionID {
        let id = ConnectionID(nextConnection)
        nextConnection += 1
        // The bridge takes the largest frame that there is.
        let isBridge = uid == configuration.link?.bridgeUID
        inboxes[id] = FrameDecoder(
            frameBytesMax: isBridge ? 64 << 20 : configuration.limits.maxFrame)
        received[id] = []
        run(
            .connected(
                id,
                Peer(
                    pid: Int32(1000 + id.number), uid: uid, gid: uid, groups: groups, user: user,
                    groupNames: groupNames, loginUID: loginUID, isLoginKnown: isLoginKnown)))
        return id
    }

    /// A client disconnects.
    public func disconnect(_ id: ConnectionID) {
        inboxes[id] = nil
        writing[id] = nil
        run(.disconnected(id))
    }
}
