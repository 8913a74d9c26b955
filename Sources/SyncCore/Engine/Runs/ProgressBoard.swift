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
        let field: Int
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

    private var entries: [Entry] = []
    /// The number of the newest progress that is told.
    private(set) var sequence: UInt64 = 0
    private var toldAt: Int64?
    private var hasFresh = false

    /// When fresh progress will be told; `nil` if there is none.
    var deadline: Int64? {
        hasFresh ? (toldAt ?? .min) &+ (toldAt == nil ? 0 : Self.periodMilliseconds) : nil
    }

    /// Whether there is no progress of any run.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether some handler was said to be away.
    var hasAway: Bool { entries.contains { $0.progress.isAway } }

    /// The newest progress of a run.
    func progress(of press: Dot) -> ButtonProgressed? {
        entries.first { $0.press == press }?.progress
    }

    /// Notes the progress of a run.
    mutating func note(_ press: Dot, field: Int, _ progress: ButtonProgressed) {
        hasFresh = true
        let entry = Entry(press, field: field, progress)
        if let place = entries.firstIndex(where: { $0.press == press }) {
            entries[place] = entry
        } else {
            entries.append(entry)
        }
    }

    /// Tells what is fresh, if the last time is long enough ago; returns whether it did.
    mutating func tell(at now: Int64) -> Bool {
        guard let deadline, deadline <= now else { return false }
        toldAt = now
        hasFresh = false
        sequence += 1
        for place in entries.indices where entries[place].sequence == nil {
            entries[place].sequence = sequence
        }
        return true
    }

    /// A run has ended.
    mutating func remove(_ press: Dot) {
        entries.removeAll { $0.press == press }
        hasFresh = entries.contains { $0.sequence == nil }
    }

    /// Keeps only these runs.
    mutating func removeAll(but running: Set<Dot>) {
        entries.removeAll { !running.contains($0.press) }
        hasFresh = entries.contains { $0.sequence == nil }
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
