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
    /// The number of the next entry.
    var next: UInt64 { first + UInt64(entries.count) }

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
        precondition(cursor >= first, "a cursor off the end is not read")
        while cursor < next, output.byteCount < bytesMax {
            let entry = entries[Int(cursor - first)]
            if mayRead(entry.readers) { output.append(entry.chunk, 0..<entry.chunk.count) }
            cursor += 1
        }
    }
}

/// Who may read a form.
struct FormReaders {
    let rule: AccessRule
    let owner: UInt32
}

extension Engine {
    /// The readers of a form in a state.
    func readers(of form: LiveForm, _ state: FormState) -> FormReaders {
        FormReaders(rule: state.definition.access.read, owner: form.owner)
    }

    /// Whether a peer is one of the readers.
    func mayRead(_ readers: FormReaders, _ peer: Peer) -> Bool {
        peer.uid == 0 || peer.uid == configuration.daemonUID
            || readers.rule.permits(peer, owner: readers.owner)
    }

    /// Whether a peer may read the committed form.
    func mayRead(_ form: LiveForm, _ peer: Peer) -> Bool {
        mayRead(readers(of: form, form.committed), peer)
    }

    /// Sends a frame to the watchers of the form list that may read the form.
    func list(_ frame: [UInt8], for readers: FormReaders) {
        catalog.append(
            frame, readers: readers, bytesMax: configuration.limits.changeLogBytesMax)
        for connection in catalogWatchers { markReady(connection) }
    }

    /// Adds the entries that a watcher of the form list has not received to a write.
    func collectCatalog(
        _ connection: Connection, _ cursor: inout UInt64, into output: inout Output, bytesMax: Int
    ) {
        guard cursor >= catalog.first else {
            // The definitions of all forms have no bound that fits one write. A client that has
            // missed some is disconnected and reads the list again.
            tooSlow.append(connection)
            return
        }
        catalog.read(from: &cursor, into: &output, bytesMax: bytesMax) {
            mayRead($0, connection.peer)
        }
    }
}
