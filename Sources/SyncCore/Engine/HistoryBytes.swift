/// The size of a form's stored revisions, in segments, so that the oldest ones can be pruned by
/// size.
///
/// Revisions from before this run count as nothing and are pruned first, so a form, and a uid, uses
/// at most twice its limit.
struct HistoryBytes {
    private struct Piece {
        var through: UInt64
        var bytes: Int
    }

    /// Oldest first.
    private var pieces: [Piece] = []
    private(set) var bytes = 0

    /// Adds a revision. Returns whether it starts a new segment; limits are checked then.
    mutating func append(_ revision: UInt64, bytes count: Int, pieceBytes: Int) -> Bool {
        bytes += count
        if let last = pieces.last, last.bytes < pieceBytes {
            pieces[pieces.count - 1] = Piece(through: revision, bytes: last.bytes + count)
            return false
        }
        pieces.append(Piece(through: revision, bytes: count))
        return true
    }

    /// Drops the oldest segments until at most `max` bytes remain. Returns the revision up to which
    /// the store must prune, if any.
    mutating func drop(to max: Int) -> UInt64? {
        var through: UInt64?
        while bytes > max, let dropped = dropOldest() { through = dropped.through }
        return through
    }

    /// Drops the oldest segment, but never the current one.
    mutating func dropOldest() -> (through: UInt64, bytes: Int)? {
        guard pieces.count > 1 else { return nil }
        let oldest = pieces.removeFirst()
        bytes -= oldest.bytes
        return (oldest.through, oldest.bytes)
    }
}
