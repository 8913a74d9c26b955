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
    /// Holders of leases whose connections have ended, the first one first.
    private var departed = Queue<LeaseHolder>()
    /// No deadline is met before this time (monotonic nanoseconds): so many were due together that
    /// others have their turn first.
    private var pausedUntil: UInt64 = 0

    /// The clocks of an earlier run, as its store kept them.
    ///
    /// - Parameter notBefore: a time (milliseconds) that has certainly been reached.
    init(at now: Moment, kept: [UInt8], notBefore: Int64) {
        startedAt = now
        self.now = now
        hybrid = HybridLogicalClock(after: SteadyClock.stamp(in: kept))
        steady = SteadyClock(at: now, kept: kept, notBefore: notBefore)
    }

    mutating func newStamp() -> HybridTimestamp { hybrid.now(at: now.wallMilliseconds) }

    /// The time for data that is kept by age (milliseconds).
    mutating func steadyMilliseconds() -> Int64 {
        steady.advance(to: now)
        return steady.milliseconds
    }

    /// Whether a deadline is due and is met now. The work of an event without deadlines is one
    /// comparison.
    mutating func isDue() -> Bool {
        guard !deadlines.isEmpty || !departed.isEmpty, pausedUntil <= now.monotonicNanoseconds
        else { return false }
        steady.advance(to: now)
        return deadlines.isDue(at: reading)
            || departed.first.map { $0.end <= steady.milliseconds } ?? false
    }

    /// Removes the deadlines of one form that are due.
    mutating func takeDue() -> (form: FormKey, names: [OngoingName])? {
        deadlines.takeDue(at: read())
    }

    /// The connection of a holder has ended. This is constant work, however many leases it has.
    mutating func depart(_ holder: LeaseHolder) {
        holder.leave(at: steadyMilliseconds())
        if !holder.forms.isEmpty { departed.append(holder) }
    }

    /// Removes a holder whose leases end now, because its connection ended long enough ago.
    mutating func takeDeparted() -> LeaseHolder? {
        guard let first = departed.first, first.end <= steadyMilliseconds() else { return nil }
        return departed.takeFirst()
    }

    /// No deadline is due for this time.
    mutating func pauseDeadlines(nanoseconds: UInt64) {
        pausedUntil = now.monotonicNanoseconds &+ nanoseconds
    }

    /// When the deadlines must be checked next (monotonic nanoseconds); `nil` if there are none.
    var nextDeadline: UInt64? {
        var wait = deadlines.wait(at: reading)
        if let first = departed.first {
            wait = min(wait ?? Deadlines.waitMaxMilliseconds, max(0, first.end &- reading.steady))
        }
        return wait.map { max(pausedUntil, now.monotonicNanoseconds &+ UInt64($0) * 1_000_000) }
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
