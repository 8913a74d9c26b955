/// How far the runs of one form are, and whether their handlers are away, for its subscribers. It
/// is never stored.
///
///     (none) ──progress──▶ fresh ──told, ten times a second──▶ told ──the run ends──▶ (none)
///                            ▲                                  │
///                            └────────────progress──────────────┘
///
/// Only the newest progress of a run is kept. What is told at one time gets the next number of the
/// form's sequence. A subscriber is a cursor into it, and gets each run that has changed since
/// once, so a slow subscriber costs no more than a fast one. Time is a parameter, in milliseconds.
/// Confined to the loop.
struct ProgressBoard {
    /// Milliseconds between two notifications of one run.
    static let periodMilliseconds: Int64 = 100

    private struct Entry {
        let press: Dot
        /// The number of the button's id.
        var field: Int
        let progress: ButtonProgressed
        let chunk: FrameChunk
        /// `nil` until it is told.
        var sequence: UInt64?

        init(_ press: Dot, field: Int, _ progress: ButtonProgressed) {
            self.press = press
            self.field = field
            self.progress = progress
            chunk = FrameChunk(Answer.frame(.buttonProgress(progress)))
        }
    }

    /// In no order: the last one takes the place of one that is removed.
    private var entries: [Entry] = []
    private var places: [Dot: Int] = [:]
    private var awayCount = 0
    private var freshCount = 0
    /// The number of the newest progress that is told.
    private(set) var sequence: UInt64 = 0
    private var toldAt: Int64?

    /// When fresh progress will be told; `nil` if there is none.
    var deadline: Int64? {
        freshCount > 0 ? (toldAt ?? .min) &+ (toldAt == nil ? 0 : Self.periodMilliseconds) : nil
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Whether some handler was said to be away.
    var hasAway: Bool { awayCount > 0 }

    /// The newest progress of a run.
    func progress(of press: Dot) -> ButtonProgressed? {
        places[press].map { entries[$0].progress }
    }

    mutating func note(_ press: Dot, field: Int, _ progress: ButtonProgressed) {
        remove(press)
        places[press] = entries.count
        let entry = Entry(press, field: field, progress)
        entries.append(entry)
        count(entry, 1)
    }

    private mutating func count(_ entry: Entry, _ change: Int) {
        if entry.progress.isAway { awayCount += change }
        if entry.sequence == nil { freshCount += change }
    }

    /// Tells what is fresh, if the last time is long enough ago; returns whether it did.
    mutating func tell(at now: Int64) -> Bool {
        guard let deadline, deadline <= now else { return false }
        toldAt = now
        freshCount = 0
        sequence += 1
        for place in entries.indices where entries[place].sequence == nil {
            entries[place].sequence = sequence
        }
        return true
    }

    /// A run has ended.
    mutating func remove(_ press: Dot) {
        guard let place = places.removeValue(forKey: press) else { return }
        count(entries[place], -1)
        let last = entries.removeLast()
        if place < entries.count {
            entries[place] = last
            places[last.press] = place
        }
    }

    /// Keeps only these runs.
    mutating func removeAll(but running: Set<Dot>) {
        for press in places.keys where !running.contains(press) { remove(press) }
    }

    /// Replaces the numbers of fields.
    mutating func renumber(_ number: (Int) -> Int) {
        for place in entries.indices { entries[place].field = number(entries[place].field) }
    }

    /// Adds what a subscriber has not been told to a write; moves its cursor.
    func read(from cursor: inout UInt64, filter: FieldNumbers?, into output: inout Output) {
        guard cursor < sequence else { return }
        for entry in entries {
            guard let told = entry.sequence, told > cursor,
                filter?.contains(entry.field) ?? true
            else { continue }
            output.append(entry.chunk, 0..<entry.chunk.count)
        }
        cursor = sequence
    }
}
