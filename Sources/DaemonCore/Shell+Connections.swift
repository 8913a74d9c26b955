internal import EventLoop
internal import Glibc
internal import SyncCore

// Connections from accept(2) to close(2): identity, reads, writes (see `Connection`).

extension Shell {
    // MARK: Accepting

    /// Adds a listening socket; `accept` starts accepting.
    func listen(_ descriptor: consuming OwnedDescriptor) throws(UVError) {
        let listener = try UnixListener(loop: loop, adopting: descriptor)
        listener.onConnection = { [unowned self] in accept($0) }
        listener.onAcceptFailure = { [unowned self] error in
            self.log.write(.warning, "cannot accept a connection: \(error)")
        }
        listeners.append(listener)
    }

    /// Accepts from all listening sockets, from now on.
    func accept() {
        for listener in listeners { listener.resume() }
    }

    private func accept(_ socket: consuming OwnedDescriptor) {
        let descriptor = socket.rawValue
        do {
            let credentials = try PeerCredentials(of: descriptor)
            // Kernels before 4.13 do not report this; then the peer has only its primary group.
            let groups = ((try? PeerCredentials.groups(of: descriptor)) ?? []).prefix(groupsMax)
            // Now, because the number of a process that has ended may be used again.
            let login = ProcessLimits.loginUID(of: credentials.pid)
            let pipe = try Pipe(loop: loop, adopting: socket)
            lastConnection += 1
            let connection = ClientConnection(
                id: ConnectionID(lastConnection), pipe: pipe, descriptor: descriptor, of: self)
            connections.insert(connection)
            name(connection, credentials, Array(groups), login)
        } catch {
            log.write(.warning, "cannot accept a connection: \(error)")
        }
        if connections.count >= connectionsMax, !isFull {
            isFull = true
            for listener in listeners { listener.pause() }
            log.write(
                .warning, "\(connections.count) connections, the most there can be: others wait")
        }
    }

    private func name(
        _ connection: ClientConnection, _ credentials: PeerCredentials, _ groups: [UInt32],
        _ login: UInt32?
    ) {
        let gids = [credentials.gid] + groups.filter { $0 != credentials.gid }
        let user = NameDirectory.Number.user(credentials.uid)
        let numbers = [user] + gids.map(NameDirectory.Number.group)
        names.prepare(numbers, for: credentials.uid) { [unowned self] names in
            let peer = Peer(
                pid: credentials.pid, uid: credentials.uid, gid: credentials.gid, groups: groups,
                user: names[0] ?? "\(credentials.uid)",
                groupNames: names.dropFirst().compactMap(\.self),
                loginUID: login == .max ? nil : login,
                isLoginKnown: login != nil || !ProcessLimits.seesLoginUIDs)
            openOrCrowd(connection, peer)
        }
    }

    /// Opens a connection if no limit is reached.
    ///
    /// Otherwise it waits for a moment. The peer may have closed others before it made this one,
    /// and the loop has not read their ends yet.
    private func openOrCrowd(_ connection: ClientConnection, _ peer: Peer) {
        let user = subordinates.owner(of: peer.uid)
        let waiting = crowded.lazy.filter { $0.user == user }.count
        guard engine.isFull(for: peer.uid), waiting < ProcessLimits.refusals else {
            return open(connection, peer)
        }
        crowded.append(
            Crowded(
                connection: connection, peer: peer, user: user,
                until: now.monotonicNanoseconds &+ Self.crowdedNanoseconds))
        if !crowdTimer.isRunning { crowdTimer.start(after: .nanoseconds(Self.crowdedNanoseconds)) }
    }

    /// Opens the connections that wait for a place, if there is one. The engine refuses those that
    /// have waited long enough.
    func openCrowded() {
        guard !crowded.isEmpty else { return }
        let time = now.monotonicNanoseconds
        var waiting: [Crowded] = []
        swap(&waiting, &crowded)
        for one in waiting {
            if one.until <= time || !engine.isFull(for: one.peer.uid) {
                open(one.connection, one.peer)
            } else {
                crowded.append(one)
            }
        }
        if let next = crowded.first, !crowdTimer.isRunning {
            crowdTimer.start(after: .nanoseconds(next.until &- time))
        }
    }

    private func open(_ connection: ClientConnection, _ peer: Peer) {
        guard case .naming = connection.phase else { return }
        connection.phase = .open
        let share = joinShare(peer.uid)
        connection.share = share
        connection.pipe.gate = share.gate
        connection.pipe.reader = connection
        tell(.connected(connection.id, share.likeOthers(peer)))
        engine.outbox(of: connection.id)?.owner = connection
        // The engine may have refused the connection.
        if case .open = connection.phase { resumeReading(connection.id) }
    }

    // MARK: Reading

    func pauseReading(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        switch connection.reading {
        case .active: connection.pipe.readStop()
        // Reading has stopped already; the entry is removed at its turn.
        case .heldBack: break
        case .paused, .ended: return
        }
        connection.reading = .paused
    }

    func resumeReading(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        guard case .open = connection.phase, case .paused = connection.reading else { return }
        do throws(UVError) {
            try connection.pipe.readStart()
            connection.reading = .active
        } catch {
            close(connection)
        }
    }

    /// The peer ended its side, or reset the connection after its last bytes.
    ///
    /// Its earlier requests are still executed, so the engine first receives the end of the stream.
    /// `lookAfterLingering` then finds out whether the peer has closed the connection.
    func ended(_ connection: ClientConnection) {
        connection.reading = .ended
        if connection.isKnown { ended.append(connection) }
    }

    /// Passes some ends to the engine. The others wait for the next iteration: the kernel reports
    /// all of them together, and other users have their turns in between.
    func passEnds() {
        for _ in 0..<Self.endsAtOnce {
            guard let connection = ended.takeFirst() else { return }
            guard connection.isKnown else { continue }
            lingering.append(connection)
            if !lingerTimer.isRunning { lingerTimer.start(after: .milliseconds(20)) }
            tell(.endOfStream(connection.id))
        }
    }

    /// There is no event when a peer that had shut down its side closes the connection, so poll for
    /// it. POLLHUP: both sides are ended; poll(2). One call does a part of a round.
    func lookAfterLingering() {
        if lingeringLeft == 0 { lingeringLeft = lingering.count }
        let began = lingeringLeft
        var mayClose = Self.endsAtOnce
        while lingeringLeft > 0, mayClose > 0, began - lingeringLeft < Self.looksAtOnce,
            let connection = lingering.takeFirst()
        {
            lingeringLeft -= 1
            guard connection.isKnown else { continue }
            var state = pollfd(fd: connection.descriptor, events: 0, revents: 0)
            if poll(&state, 1, 0) == 1 {
                close(connection)
                mayClose -= 1
            } else {
                lingering.append(connection)
            }
        }
        let now = Loop.hrtimeNanoseconds
        for one in finishing.lazy.filter({ $0.until <= now }).prefix(mayClose) {
            close(one.connection)
            mayClose -= 1
        }
        finishing.removeAll(where: \.isClosed)
        if lingeringLeft > 0 || mayClose == 0 {
            lingerTimer.start(after: .milliseconds(1))
        } else if !lingering.isEmpty || !finishing.isEmpty {
            lingerTimer.start(after: .seconds(1))
        }
    }

    // MARK: Writing

    func flush() {
        let began = Loop.hrtimeNanoseconds
        let isContended = engine.schedule.isContended
        let most = isContended ? Share.contendedWritesAtOnce : Self.writesAtOnce
        let limit = isContended ? Share.contendedFlushNanoseconds : Self.flushNanoseconds
        // A few subscribers, then the answers, then all other subscribers. The process that gets an
        // answer starts to work with it, perhaps on the processor that the others wait for.
        var told = tellSubscribers(atMost: Self.toldFirst)
        repeat {
            let ready = engine.takeReady(atMost: most)
            for (place, outbox) in ready.enumerated() {
                // A write may have made a long notification.
                if place > 0, Loop.hrtimeNanoseconds &- began >= limit {
                    engine.putBack(ready[place...])
                    break
                }
                guard let connection = outbox.owner as? ClientConnection else { continue }
                write(connection, outbox, isContended: isContended)
            }
            told += tellSubscribers(atMost: most)
            if ready.isEmpty, told == 0 { break }
            told = 0
            // The rest is written in the next iteration, because other clients may have sent
            // requests.
        } while Loop.hrtimeNanoseconds &- began < limit
        if finishing.isEmpty { return }
        for one in finishing {
            let outbox = engine.outbox(of: one.connection.id)
            write(one.connection, outbox, isContended: isContended)
        }
        finishing.removeAll(where: \.isClosed)
    }

    /// Writes changes to their subscribers; returns how many there were.
    private func tellSubscribers(atMost most: Int) -> Int {
        var failed: [ClientConnection] = []
        let told = engine.tell(atMost: most, bytesMax: Self.writeBytesMax) { outbox, output in
            guard let owner = outbox.owner else { return .declined }
            let connection = unsafeDowncast(owner, to: ClientConnection.self)
            guard connection.isKnown, !connection.isWriting else { return .declined }
            do throws(UVError) {
                return try send(output, to: connection) ? .written : .underWay
            } catch {
                failed.append(connection)
                return .written
            }
        }
        for connection in failed { close(connection) }
        return told
    }

    private func write(_ connection: ClientConnection, _ outbox: Outbox?, isContended: Bool) {
        guard let outbox, connection.isKnown, !connection.isWriting else { return }
        let began = isContended ? Loop.hrtimeNanoseconds : nil
        defer {
            if let began {
                charge(Loop.hrtimeNanoseconds &- began, to: .connection(connection.id))
            }
        }
        guard
            let output = engine.nextOutput(
                outbox,
                bytesMax: began == nil ? Self.writeBytesMax : Share.contendedWriteBytes),
            output.byteCount > 0
        else {
            if case .finishing = connection.phase { close(connection) }
            return
        }
        do throws(UVError) {
            if try send(output, to: connection) { wrote(outbox) }
        } catch {
            // EPIPE or a similar error: the peer is gone.
            close(connection)
        }
    }

    /// Writes what the kernel takes at once. Returns whether that is all; otherwise a write of the
    /// rest is in progress.
    private func send(
        _ output: Output, to connection: ClientConnection
    ) throws(UVError) -> Bool {
        let taken = try tryWrite(output, to: connection.pipe)
        if taken == output.byteCount { return true }
        connection.isWriting = true
        try connection.pipe.write(output.writeSegments.droppingFirst(bytes: taken)) {
            [weak self] error in
            self?.wrote(connection, error)
        }
        return false
    }

    /// One segment, as most writes have it, costs no allocation.
    private func tryWrite(_ output: Output, to pipe: Pipe) throws(UVError) -> Int {
        guard output.segments.count == 1, let segment = output.segments.first else {
            return try pipe.tryWrite(output.writeSegments)
        }
        return try pipe.tryWrite(
            UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count))
    }

    private func wrote(_ connection: ClientConnection, _ error: UVError?) {
        connection.isWriting = false
        guard connection.isKnown else { return }
        if error != nil { close(connection) } else { tell(.wrote(connection.id)) }
    }

    // MARK: Closing

    func finish(_ id: ConnectionID) {
        guard let connection = connections[id], case .open = connection.phase else { return }
        pauseReading(id)
        connection.phase = .finishing
        finishing.append(
            Finishing(
                connection: connection,
                until: now.monotonicNanoseconds &+ Self.finishNanoseconds))
        isDirty = true
        if !lingerTimer.isRunning { lingerTimer.start(after: .seconds(1)) }
    }

    func close(_ connection: ClientConnection) {
        let wasKnown = connection.isKnown
        if case .closed = connection.phase { return }
        leaveShare(connection)
        connection.phase = .closed
        connection.reading = .ended
        connections.remove(connection.id)
        connection.pipe.close { [weak self] in self?.descriptorIsFree() }
        if wasKnown { tell(.disconnected(connection.id)) }
    }

    private func descriptorIsFree() {
        guard phase == .serving else { return }
        // Resume only when several connections are free, so that a full daemon does not pause and
        // resume for each one.
        guard isFull, connections.count <= connectionsMax - max(1, connectionsMax / 64) else {
            return
        }
        isFull = false
        for listener in listeners { listener.resume() }
    }
}

extension Output {
    /// The segments for the loop; each retains its chunk.
    fileprivate var writeSegments: [WriteSegment] {
        segments.map {
            WriteSegment(owner: $0.chunk, base: $0.baseAddress, count: $0.count)
        }
    }
}
