/// Presence in one form: who has it open, on which control. Shared with subscribers, never stored.
///
/// Each change gets the next number of the form's sequence. A subscriber is a cursor into the
/// sequence and gets the newest state of each peer that changed since. Confined to the loop.
///
/// Thousands of connections may come or leave in one iteration, so no operation on one connection
/// visits all entries.
struct PresenceBoard {
    /// A connection that has the form open.
    struct Entry {
        var connection: ConnectionID
        var user: String
        var client: String?
        var tty: String?
        var focus: String?
        var draft: JSON?
        /// The sequence number of its last change.
        var sequence: UInt64
        /// The peer has left. The entry is kept until every subscriber has been told.
        var isGone = false
    }

    /// The most peers that have left but are kept for subscribers that do not read. Beyond that,
    /// the slowest of these are closed, because they would not learn of all of them.
    static let goneMax = 1024
    /// Peers that left are kept until there are this many, however many subscribers there are.
    private static let goneMin = 64
    /// About the largest notification, in bytes. Many peers need several.
    private static let frameBytes = 64 << 10

    private var entries: [Entry] = []
    /// The index of each connection's entry.
    private var places: [ConnectionID: Int] = [:]
    /// When `goneCount` reaches this number, the cursors of all subscribers are read.
    private var reviewAt = PresenceBoard.goneMin
    /// How many entries of peers that left are kept.
    private(set) var goneCount = 0
    /// The sequence number of the newest change.
    private(set) var sequence: UInt64 = 0
    /// Whether something has changed since subscribers were last told.
    var hasNews = false
    /// A cached encoding, for all subscribers with the same cursor.
    private var encoded: (from: UInt64, to: UInt64, chunk: FrameChunk)?

    /// Records the presence of a connection.
    mutating func update(
        _ connection: Connection, focus: String?, draft: JSON?
    ) {
        sequence += 1
        let entry = Entry(
            connection: connection.id, user: connection.peer.user, client: connection.client,
            tty: connection.tty, focus: focus, draft: draft, sequence: sequence)
        if let index = places[connection.id] {
            if entries[index].isGone { goneCount -= 1 }
            entries[index] = entry
        } else {
            places[connection.id] = entries.count
            entries.append(entry)
        }
    }

    /// Records that a connection left; returns whether it was present.
    mutating func remove(_ connection: ConnectionID) -> Bool {
        guard let index = places[connection], !entries[index].isGone else { return false }
        sequence += 1
        entries[index].isGone = true
        goneCount += 1
        entries[index].draft = nil
        entries[index].focus = nil
        entries[index].sequence = sequence
        return true
    }

    /// Whether enough peers have left to read the cursors of all subscribers.
    var isReviewDue: Bool { goneCount >= reviewAt }

    /// Removes peers that left, once every subscriber has been told.
    mutating func forgetGone(toldTo slowest: UInt64) {
        let before = entries.count
        entries.removeAll { $0.isGone && $0.sequence <= slowest }
        goneCount -= before - entries.count
        if entries.count < before {
            places = Dictionary(
                uniqueKeysWithValues: entries.indices.map { (entries[$0].connection, $0) })
        }
        // A review visits all entries, so the next one comes after a proportional number of
        // departures.
        reviewAt = goneCount + max(Self.goneMin, entries.count / 4)
        if goneCount <= Self.goneMax { reviewAt = min(reviewAt, Self.goneMax + 1) }
    }

    /// The notification that brings a subscriber at `cursor` up to date; moves the cursor.
    ///
    /// - Parameter retained: counts a replaced encoding as long as writes retain it.
    mutating func read(
        from cursor: inout UInt64, form: String, into output: inout Output,
        retained: RetainedBytes
    ) {
        guard cursor < sequence else { return }
        let chunk: FrameChunk
        if let encoded, encoded.from == cursor, encoded.to == sequence {
            chunk = encoded.chunk
        } else {
            let isFirst = cursor == 0
            let peers = entries.filter { $0.sequence > cursor && !(isFirst && $0.isGone) }
            chunk = FrameChunk(Self.frames(peers, form: form))
            encoded?.chunk.retire(retained)
            encoded = (cursor, sequence, chunk)
        }
        cursor = sequence
        output.append(chunk, 0..<chunk.count)
    }

    /// The notifications about these peers; empty if there are none.
    private static func frames(_ peers: [Entry], form: String) -> [UInt8] {
        var frames: [UInt8] = []
        var group: [PresenceChanged.Peer] = []
        var bytes = 0
        for (place, peer) in peers.enumerated() {
            group.append(peer.wire)
            bytes += 512 + (peer.draft?.encoded.count ?? 0)
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
            focus: focus, draft: draft, isGone: isGone)
    }
}
