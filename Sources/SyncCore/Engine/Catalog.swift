/// What those who watch the list of forms are told, newest last.
///
/// A bounded log as `ChangeLog` is one, but each entry knows who may read its form: a definition is
/// shown to nobody else. Whoever falls off its old end is let go as too slow.
struct Catalog {
    /// One form's change.
    private struct Entry {
        let chunk: FrameChunk
        let readers: FormReaders
    }

    private var entries: [Entry] = []
    private var head = 0
    private var bytes = 0
    /// The oldest entry that is still here; `next` where there is none.
    private(set) var first: UInt64 = 1
    /// The entry that will be appended next.
    var next: UInt64 { first + UInt64(entries.count - head) }

    /// Appends a frame for those who may read the form, and drops the oldest beyond `bytesMax`.
    mutating func append(_ frame: [UInt8], readers: FormReaders, bytesMax: Int) {
        entries.append(Entry(chunk: FrameChunk(frame), readers: readers))
        bytes += frame.count
        while bytes > bytesMax, entries.count - head > 1 {
            bytes -= entries[head].chunk.count
            head += 1
            first += 1
        }
        // What was dropped is held until then; a few entries may be most of the bytes.
        if head > 0 {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Adds to `output` what a watcher at `cursor` has not seen and may, to about `bytesMax` bytes
    /// in all, and moves the cursor. The cursor must not be older than `first`.
    func read(
        from cursor: inout UInt64, into output: inout Output, bytesMax: Int,
        mayRead: (FormReaders) -> Bool
    ) {
        precondition(cursor >= first, "a cursor off the end is not read")
        while cursor < next, output.byteCount < bytesMax {
            let entry = entries[head + Int(cursor - first)]
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
    /// Those who may read a form in a state.
    func readers(of form: LiveForm, _ state: FormState) -> FormReaders {
        FormReaders(rule: state.definition.access.read, owner: form.owner)
    }

    /// Whether a peer is among them.
    func mayRead(_ readers: FormReaders, _ peer: Peer) -> Bool {
        peer.uid == 0 || peer.uid == configuration.daemonUID
            || readers.rule.permits(peer, owner: readers.owner)
    }

    /// Whether a peer may read a form as it is committed.
    func mayRead(_ form: LiveForm, _ peer: Peer) -> Bool {
        mayRead(readers(of: form, form.committed), peer)
    }

    /// Tells those who watch the list of forms and may read the form that is told of.
    func list(_ frame: [UInt8], for readers: FormReaders) {
        catalog.append(
            frame, readers: readers, bytesMax: configuration.limits.changeLogBytesMax)
        for connection in catalogWatchers { markReady(connection) }
    }

    /// Adds to a write what somebody who watches the list of forms has not seen.
    func collectCatalog(
        _ connection: Connection, _ cursor: inout UInt64, into output: inout Output, bytesMax: Int
    ) {
        guard cursor >= catalog.first else {
            // The definitions of all forms together have no bound that one write could have: who
            // has missed some is let go, and begins again with the list.
            tooSlow.append(connection)
            return
        }
        catalog.read(from: &cursor, into: &output, bytesMax: bytesMax) {
            mayRead($0, connection.peer)
        }
    }
}
