/// How many bytes the kept revisions of a form take, in pieces, so that the oldest can be dropped
/// by their bytes.
///
/// What was there before this run counts as nothing and is dropped first: a form, and a uid, takes
/// at most twice its bound.
struct HistoryBytes {
    private struct Piece {
        var through: UInt64
        var bytes: Int
    }

    /// Oldest first.
    private var pieces: [Piece] = []
    private(set) var bytes = 0

    /// Adds a revision; whether a piece begins with it, which is when bounds are looked at.
    mutating func append(_ revision: UInt64, bytes count: Int, pieceBytes: Int) -> Bool {
        bytes += count
        if let last = pieces.last, last.bytes < pieceBytes {
            pieces[pieces.count - 1] = Piece(through: revision, bytes: last.bytes + count)
            return false
        }
        pieces.append(Piece(through: revision, bytes: count))
        return true
    }

    /// Drops the oldest pieces until so many bytes are left; gives the revision up to which the
    /// store is to drop them, where there are any.
    mutating func drop(to max: Int) -> UInt64? {
        var through: UInt64?
        while bytes > max, let dropped = dropOldest() { through = dropped.through }
        return through
    }

    /// Drops the oldest piece, never the one that is being added to.
    mutating func dropOldest() -> (through: UInt64, bytes: Int)? {
        guard pieces.count > 1 else { return nil }
        let oldest = pieces.removeFirst()
        bytes -= oldest.bytes
        return (oldest.through, oldest.bytes)
    }
}
