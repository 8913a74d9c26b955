internal import SyncCore

/// Events that wait for whoever drives a machine, with the bytes that they came in.
///
/// A frame from the daemon may have many events, so the first one is taken without moving the
/// others.
struct EventBacklog: Sendable {
    /// An event, and the bytes of its frame; 0 for one that the machine made itself.
    struct Entry: Sendable {
        var event: ClientEvent
        var bytes: Int
    }

    private var entries: [Entry?] = []
    private var head = 0
    /// The bytes of the frames of all events that wait.
    private(set) var bytes = 0
    /// The bytes of the frame that is being received.
    var frameBytes = 0

    mutating func append(_ event: ClientEvent) {
        append(Entry(event: event, bytes: frameBytes))
        frameBytes = 0
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
    }

    mutating func takeFirst() -> Entry? {
        guard head < entries.count, let entry = entries[head] else { return nil }
        entries[head] = nil
        head += 1
        bytes -= entry.bytes
        if head == entries.count {
            entries = []
            head = 0
        }
        return entry
    }
}
