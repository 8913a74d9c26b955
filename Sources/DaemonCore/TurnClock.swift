/// How long a turn of the loop took, and how much of that the processor worked for it.
struct Turn: Equatable {
    /// Nanoseconds from the first event to the end.
    var nanoseconds: UInt64 = 0
    /// Nanoseconds of processor time. Less than `nanoseconds` if the kernel gave the processor to
    /// others, or if the loop waited for memory or the log.
    var processorNanoseconds: UInt64 = 0
}

/// Measures turns.
///
/// Reading the processor time of a thread is a system call. It is read at most once in
/// `readNanoseconds`, at the end of a turn: between turns the thread sleeps, so the value at the
/// start of a turn is the one at the end of the turn before, less at most that much.
struct TurnClock {
    static let readNanoseconds: UInt64 = 1_000_000

    private var readAt: UInt64 = 0
    private var processor: UInt64 = 0

    /// A turn that began and ended at these times (monotonic nanoseconds).
    ///
    /// - Parameter now: reads the processor time of the thread.
    mutating func turn(
        from start: UInt64, to end: UInt64, processor now: @autoclosure () -> UInt64
    ) -> Turn {
        let took = end &- start
        // A turn that is shorter has taken no more processor time than it lasted.
        guard end &- readAt > Self.readNanoseconds else {
            return Turn(nanoseconds: took, processorNanoseconds: took)
        }
        let worked = now()
        defer { (readAt, processor) = (end, worked) }
        return Turn(nanoseconds: took, processorNanoseconds: min(took, worked &- processor))
    }
}
