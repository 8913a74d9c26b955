/// How many bytes the kept revisions of a form take, in sixteen pieces or so, so that the oldest
/// can be dropped by their bytes.
///
/// What was there before this run counts as nothing and is dropped first: a form takes at most
/// twice its bound.
struct HistoryBytes {
    private struct Piece {
        var through: UInt64
        var bytes: Int
    }

    /// Oldest first.
    private var pieces: [Piece] = []
    private var bytes = 0

    /// Adds a revision; gives the one up to which the store is to drop them, where they have become
    /// more than `max`.
    mutating func append(_ revision: UInt64, bytes count: Int, max: Int) -> UInt64? {
        if let last = pieces.last, last.bytes < max / 16 {
            pieces[pieces.count - 1] = Piece(through: revision, bytes: last.bytes + count)
        } else {
            pieces.append(Piece(through: revision, bytes: count))
        }
        bytes += count
        var dropped: UInt64?
        while bytes > max, pieces.count > 1 {
            let oldest = pieces.removeFirst()
            bytes -= oldest.bytes
            dropped = oldest.through
        }
        return dropped
    }
}
