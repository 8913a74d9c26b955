/// Presence in one form: who has it open, on which control. Shared with subscribers, never stored.
///
/// Each change gets the next number of the form's sequence. A subscriber is a cursor into the
/// sequence and gets the newest state of each peer that changed since. Confined to the loop.
///
/// Thousands of connections may come or leave in one iteration, so no operation on one connection
/// visits all entries, and a subscriber is told of at most `peersAtOnce` peers at once.
struct PresenceBoard {
    /// A connection that has the form open.
    struct Entry {
        var connection: ConnectionID
        /// The name of its host; `nil` for this one.
        var host: String?
        var user: String
        var client: String?
        var tty: String?
        var focus: String?
        var draft: JSON?
        /// About how many bytes it takes as JSON text.
        var bytes = 512
        /// The sequence number of its last change.
        var sequence: UInt64
        /// The peer has left. The entry is kept until every subscriber has been told.
        var isGone = false
        /// There is a later entry of the same connection.
        var isReplaced = false
    }

    /// The most peers that have left but are kept for subscribers that do not read. Beyond that,
    /// the slowest of these are closed, because they would not learn of all of them.
    static let goneMax = 1024
    /// Peers that left are kept until there are this many, however many subscribers there are.
    private static let goneMin = 64
    /// About the largest notification, in bytes. Many peers need several.
    private static let frameBytes = 64 << 10
    /// The most peers of one write to a subscriber, and about their most bytes: encoding them takes
    /// about a millisecond.
    static let peersAtOnce = 512
    static let bytesAtOnce = 256 << 10

    /// In the order of their sequence numbers.
    private(set) var entries: [Entry] = []
    /// The index of each connection's newest entry.
    private var places: [ConnectionID: Int] = [:]
    /// How many entries are replaced.
    private var replacedCount = 0
    /// When `goneCount` reaches this number, the cursors of all subscribers are read.
    private var reviewAt = PresenceBoard.goneMin
    /// How many entries of peers that left are kept.
    private(set) var goneCount = 0
    /// The sequence number of the newest change.
    private(set) var sequence: UInt64 = 0
    /// Whether something has changed since subscribers were last told.
    var hasNews = false
    /// The other hosts of a shared form, and the sequence number of their last change.
    private(set) var hosts: [HostUnderWay] = []
    private var hostsSequence: UInt64 = 0
    /// A cached encoding, for all subscribers with the same cursor. One that is full remains valid:
    /// what has changed since comes after it.
    private var encoded: (from: UInt64, to: UInt64, isFull: Bool, chunk: FrameChunk)?

    /// Records the presence of a connection.
    mutating func update(
        _ connection: Connection, focus: String?, draft: JSON?
    ) {
        var entry = Entry(
            connection: connection.id, user: connection.peer.user, client: connection.client,
            tty: connection.tty, focus: focus, draft: draft, sequence: 0)
        if let draft { entry.bytes += draft.encoded.count }
        if let index = places[connection.id], entries[index].isGone { goneCount -= 1 }
        append(entry)
    }

    /// Records somebody on another host; returns whether that changes anything.
    mutating func update(_ peer: RemotePeer, focus: String?, draft: JSON?) -> Bool {
        guard let presence = peer.presence else { return remove(ConnectionID(peer.connection)) }
        let connection = ConnectionID(peer.connection)
        if let index = places[connection], !entries[index].isGone,
            entries[index].focus == focus, entries[index].draft == draft
        {
            return false
        }
        var entry = Entry(
            connection: connection, host: peer.host, user: presence.user,
            client: presence.client, tty: presence.tty, focus: focus, draft: draft, sequence: 0)
        entry.bytes += presence.draft?.count ?? 0
        append(entry)
        return true
    }

    /// Records which other hosts are there; returns whether that changes anything.
    mutating func update(hosts: [HostUnderWay]) -> Bool {
        guard hosts != self.hosts else { return false }
        self.hosts = hosts
        sequence += 1
        hostsSequence = sequence
        return true
    }

    /// The form is not shared any more: everybody of other hosts is gone.
    mutating func forgetHosts() {
        for entry in entries where entry.host != nil && !entry.isReplaced {
            _ = remove(entry.connection)
        }
        _ = update(hosts: [])
    }

    /// Those of this host that changed after a cursor, for the other hosts; moves the cursor.
    func local(after cursor: inout UInt64) -> some Sequence<Entry> {
        let start = entries.partitionIndex { [cursor] in $0.sequence > cursor }
        cursor = sequence
        return entries[start...].lazy.filter { $0.host == nil && !$0.isReplaced }
    }

    /// Records that a connection left; returns whether it was present.
    mutating func remove(_ connection: ConnectionID) -> Bool {
        guard let index = places[connection], !entries[index].isGone else { return false }
        var entry = entries[index]
        entry.isGone = true
        entry.draft = nil
        entry.bytes = 512
        entry.focus = nil
        goneCount += 1
        append(entry)
        return true
    }

    /// Adds the newest entry of a connection.
    private mutating func append(_ entry: Entry) {
        sequence += 1
        if let index = places[entry.connection] {
            entries[index].isReplaced = true
            entries[index].draft = nil
            replacedCount += 1
        }
        places[entry.connection] = entries.count
        entries.append(entry)
        entries[entries.count - 1].sequence = sequence
        if replacedCount > max(Self.goneMin, places.count) { removeEntries { $0.isReplaced } }
    }

    private mutating func removeEntries(where isObsolete: (Entry) -> Bool) {
        let before = entries.count
        entries.removeAll(where: isObsolete)
        if entries.count == before { return }
        replacedCount = 0
        goneCount = 0
        places = [:]
        for (index, entry) in entries.enumerated() {
            if entry.isReplaced {
                replacedCount += 1
            } else {
                places[entry.connection] = index
                if entry.isGone { goneCount += 1 }
            }
        }
    }

    /// Whether enough peers have left to read the cursors of all subscribers.
    var isReviewDue: Bool { goneCount >= reviewAt }

    /// Removes peers that left, once every subscriber has been told.
    mutating func forgetGone(toldTo slowest: UInt64) {
        removeEntries { $0.isReplaced || $0.isGone && $0.sequence <= slowest }
        // A review visits all entries, so the next one comes after a proportional number of
        // departures.
        reviewAt = goneCount + max(Self.goneMin, places.count / 4)
        if goneCount <= Self.goneMax { reviewAt = min(reviewAt, Self.goneMax + 1) }
    }

    /// The notifications about the next peers for a subscriber at `cursor`; moves the cursor.
    ///
    /// - Parameter retained: counts a replaced encoding as long as writes retain it.
    mutating func read(
        from cursor: inout UInt64, form: String, into output: inout Output,
        retained: RetainedBytes
    ) {
        guard cursor < sequence else { return }
        let chunk: FrameChunk
        let end: UInt64
        if let encoded, encoded.from == cursor, encoded.to == sequence || encoded.isFull {
            (chunk, end) = (encoded.chunk, encoded.to)
        } else {
            let (peers, isFull) = next(after: cursor)
            end = isFull ? peers.last?.sequence ?? sequence : sequence
            let isNews = hostsSequence > cursor && hostsSequence <= end
            chunk = FrameChunk(Self.frames(peers, isNews ? hosts : nil, form: form))
            encoded?.chunk.retire(retained)
            encoded = (cursor, end, isFull, chunk)
        }
        cursor = end
        output.append(chunk, 0..<chunk.count)
    }

    /// The next entries after a cursor, and whether they are as many as one write may have. Who has
    /// not been told of anybody is not told who left.
    private func next(after cursor: UInt64) -> (peers: [Entry], isFull: Bool) {
        let start = entries.partitionIndex { $0.sequence > cursor }
        var peers: [Entry] = []
        var bytes = 0
        for entry in entries[start...] where !entry.isReplaced {
            if cursor == 0, entry.isGone { continue }
            peers.append(entry)
            bytes += entry.bytes
            if peers.count == Self.peersAtOnce || bytes >= Self.bytesAtOnce { return (peers, true) }
        }
        return (peers, false)
    }

    /// The notifications about these peers and hosts; empty if there are none.
    private static func frames(
        _ peers: [Entry], _ hosts: [HostUnderWay]?, form: String
    ) -> [UInt8] {
        var frames: [UInt8] = []
        var group: [PresenceChanged.Peer] = []
        var bytes = 0
        if let hosts {
            frames = Answer.frame(
                .presenceChanged(
                    PresenceChanged(form: form, peers: [], hosts: hosts)))
        }
        for (place, peer) in peers.enumerated() {
            group.append(peer.wire)
            bytes += peer.bytes
            guard bytes >= frameBytes || place == peers.count - 1 else { continue }
            frames += Answer.frame(.presenceChanged(PresenceChanged(form: form, peers: group)))
            group = []
            bytes = 0
        }
        return frames
    }
}

extension PresenceBoard.Entry {
    fileprivate var wire: PresenceChanged.Peer {
        PresenceChanged.Peer(
            connection: Int64(clamping: connection.number), user: user, client: client, tty: tty,
            focus: focus, draft: draft, host: host, isGone: isGone)
    }
}
