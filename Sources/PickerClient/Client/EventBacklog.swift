internal import SyncCore

/// Events that wait for the driver of a machine, with the bytes that they came in.
struct EventBacklog: Sendable {
    /// An event, and the bytes of its frame; 0 for one that the machine made itself.
    struct Entry: Sendable {
        var event: ClientEvent
        var bytes: Int
    }

    /// The oldest, as nearly always no other one waits.
    private var first: Entry?
    private var later = Queue<Entry>()
    private var laterCount = 0
    /// The bytes of the frames of all events that wait.
    private(set) var bytes = 0
    /// The bytes of the frame that is being received.
    var frameBytes = 0

    mutating func append(_ event: ClientEvent) {
        append(Entry(event: event, bytes: frameBytes))
        frameBytes = 0
    }

    mutating func append(_ entry: Entry) {
        bytes += entry.bytes
        guard first != nil else { return first = entry }
        later.append(entry)
        laterCount += 1
    }

    mutating func takeFirst() -> Entry? {
        guard let entry = first.take() else { return nil }
        bytes -= entry.bytes
        if laterCount > 0 {
            first = later.takeFirst()
            laterCount -= 1
        }
        return entry
    }
}
