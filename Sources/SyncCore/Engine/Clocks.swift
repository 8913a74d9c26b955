/// The clocks of an engine. All of them follow the time of the events.
struct Clocks {
    let startedAt: Moment
    /// The time of the current event.
    var now: Moment
    /// For dots and history.
    var hybrid: HybridLogicalClock
    /// For data that is kept by age.
    private var steady: SteadyClock
    /// What is to happen at fixed times.
    var deadlines = Deadlines()

    /// The clocks of an earlier run, as its store kept them.
    ///
    /// - Parameter notBefore: a time (milliseconds) that has certainly been reached.
    init(at now: Moment, kept: [UInt8], notBefore: Int64) {
        startedAt = now
        self.now = now
        hybrid = HybridLogicalClock(after: SteadyClock.stamp(in: kept))
        steady = SteadyClock(at: now, kept: kept, notBefore: notBefore)
    }

    /// The timestamp of a new transaction.
    mutating func newStamp() -> HybridTimestamp { hybrid.now(at: now.wallMilliseconds) }

    /// The time for data that is kept by age (milliseconds).
    mutating func steadyMilliseconds() -> Int64 {
        steady.advance(to: now)
        return steady.milliseconds
    }

    /// Whether a deadline is due. The work of an event without deadlines is one comparison.
    mutating func isDue() -> Bool {
        guard !deadlines.isEmpty else { return false }
        steady.advance(to: now)
        return deadlines.isDue(at: reading)
    }

    /// Removes the deadlines that are due.
    mutating func takeDue() -> [Deadlines.Name] {
        deadlines.takeDue(at: read())
    }

    /// When the deadlines must be checked next (monotonic nanoseconds); `nil` if there are none.
    var nextDeadline: UInt64? {
        deadlines.wait(at: reading).map { now.monotonicNanoseconds &+ UInt64($0) * 1_000_000 }
    }

    /// The time on both clocks, as of the current event.
    mutating func read() -> Deadlines.Reading {
        steady.advance(to: now)
        return reading
    }

    private var reading: Deadlines.Reading {
        Deadlines.Reading(steady: steady.milliseconds, wall: now.wallMilliseconds)
    }

    /// What the store keeps of the clocks.
    var kept: [UInt8] { steady.kept(with: hybrid.last) }
}
