/// The log of changes in the list of forms, newest last.
///
/// It is bounded like a `ChangeLog`, but each entry also has the readers of its form, because
/// nobody else may see the definition. A watcher that falls behind the oldest entry is disconnected
/// as too slow.
struct Catalog {
    /// The change of one form.
    private struct Entry {
        let chunk: FrameChunk
        let readers: FormReaders
    }

    private var entries: [Entry] = []
    private var bytes = 0
    /// The oldest entry; `next` if there is none.
    private(set) var first: UInt64 = 1
    var next: UInt64 { first + UInt64(entries.count) }
    /// Those who watch the list. Each has a cursor (`Connection.catalogCursor`) and knows its
    /// place.
    private(set) var watchers: [Connection] = []

    mutating func watch(_ connection: Connection) {
        if connection.catalogCursor == nil {
            connection.catalogPlace = watchers.count
            watchers.append(connection)
        }
        connection.catalogCursor = next
    }

    /// A connection stops watching.
    mutating func unwatch(_ connection: Connection) {
        guard connection.catalogCursor != nil else { return }
        connection.catalogCursor = nil
        // The last one takes its place, because thousands may leave at once.
        let last = watchers.removeLast()
        guard last !== connection else { return }
        watchers[connection.catalogPlace] = last
        last.catalogPlace = connection.catalogPlace
    }

    /// Whether a connection watches and has not received all entries.
    func hasOutput(for connection: Connection) -> Bool {
        connection.catalogCursor.map { $0 < next } ?? false
    }

    /// Appends a frame for the readers of the form, and drops the oldest entries beyond `bytesMax`.
    mutating func append(_ frame: [UInt8], readers: FormReaders, bytesMax: Int) {
        entries.append(Entry(chunk: FrameChunk(frame), readers: readers))
        bytes += frame.count
        var dropped = 0
        while bytes > bytesMax, entries.count - dropped > 1 {
            bytes -= entries[dropped].chunk.count
            dropped += 1
        }
        entries.removeFirst(dropped)
        first += UInt64(dropped)
    }

    /// Adds the entries after `cursor` that a watcher may read to `output`, up to about `bytesMax`
    /// bytes in all, and moves the cursor. The cursor must not be older than `first`.
    func read(
        from cursor: inout UInt64, into output: inout Output, bytesMax: Int,
        mayRead: (FormReaders) -> Bool
    ) {
        precondition(cursor >= first, "an entry before the cursor's was dropped")
        while cursor < next, output.byteCount < bytesMax {
            let entry = entries[Int(cursor - first)]
            if mayRead(entry.readers) { output.append(entry.chunk, 0..<entry.chunk.count) }
            cursor += 1
        }
    }
}

struct FormReaders {
    let rule: AccessRule
    let owner: UInt32
    /// The owner by name, where the form is shared and its readers depend on it.
    var sharedOwner: SharedOwner?
}
