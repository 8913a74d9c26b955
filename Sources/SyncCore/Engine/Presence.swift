/// Who has a form open and where their hands are: shared, never stored.
///
/// Each change takes the next number of the form's own sequence; a subscriber is a cursor into it
/// and is told the newest of each peer that changed since. Confined to the loop.
struct PresenceBoard {
    /// One connection at the form.
    struct Entry {
        var connection: ConnectionID
        var user: String
        var client: String?
        var tty: String?
        var focus: String?
        var draft: JSON?
        /// When it changed last, in the form's own sequence.
        var sequence: UInt64
        /// It left; kept until every subscriber has been told.
        var isGone = false
    }

    /// Peers that left and of whom some subscriber has not been told, at most; beyond, whoever is
    /// that slow is let go, since it could never be told all.
    static let goneMax = 1024
    /// Bytes of one notification, about: many peers are told in several.
    private static let frameBytes = 64 << 10

    private var entries: [Entry] = []
    /// How many that left are still to be told.
    private(set) var goneCount = 0
    /// The number of the newest change.
    private(set) var sequence: UInt64 = 0
    /// One encoding serves all subscribers that stand at the same place.
    private var encoded: (from: UInt64, to: UInt64, chunk: FrameChunk)?

    /// Notes where a connection is.
    mutating func update(
        _ connection: Connection, focus: String?, draft: JSON?
    ) {
        sequence += 1
        let entry = Entry(
            connection: connection.id, user: connection.peer.user, client: connection.client,
            tty: connection.tty, focus: focus, draft: draft, sequence: sequence)
        if let index = entries.firstIndex(where: { $0.connection == connection.id }) {
            if entries[index].isGone { goneCount -= 1 }
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    /// Notes that a connection left; whether it had been there.
    mutating func remove(_ connection: ConnectionID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.connection == connection }),
            !entries[index].isGone
        else { return false }
        sequence += 1
        entries[index].isGone = true
        goneCount += 1
        entries[index].draft = nil
        entries[index].focus = nil
        entries[index].sequence = sequence
        return true
    }

    /// Forgets those who left and of whom every subscriber has been told.
    mutating func forgetGone(toldTo slowest: UInt64) {
        guard goneCount > 0 else { return }
        let before = entries.count
        entries.removeAll { $0.isGone && $0.sequence <= slowest }
        goneCount -= before - entries.count
    }

    /// The notification that brings a subscriber at `cursor` up to date, and moves the cursor.
    ///
    /// - Parameter retained: counts an encoding from when another replaces it, for as long as
    ///   writes hold it.
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

    /// The notifications that tell of some peers; none where there are none.
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
