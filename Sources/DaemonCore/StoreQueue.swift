internal import EventLoop
internal import Store
internal import SyncCore

// Runs the engine's store operations on another thread.
//
// Invariants: at most one job is in progress, so only one thread uses the store; a fetch sees every
// commit that was requested before it; commits and fetches alternate if both wait, and so do the
// uids whose fetches wait, so no commit waits for a queue of another user's fetches.

final class StoreQueue {
    enum Job: Sendable {
        case commit(Batch)
        case fetch(FetchID, StoreQuery)
        case rebuild(StoreImage)
        /// Checkpoints the write-ahead log.
        case maintain
        /// Reads the store's figures.
        case measure
    }

    /// The number of jobs after which due upkeep runs even if others wait.
    static let putOffMax = 64
    /// The maximum age of the figures while the store is busy.
    static let measureNanoseconds: UInt64 = 5_000_000_000

    /// Waiting fetches by uid.
    private struct ReadTurns {
        struct Read {
            let job: Job
            /// How many writes must have started before it.
            let afterWrites: UInt64
        }

        private var lines: [UInt32: Queue<Read>] = [:]
        /// The uids with fetches; the next one is first.
        private var order: [UInt32] = []

        var isEmpty: Bool { order.isEmpty }

        mutating func append(_ read: Read, of uid: UInt32) {
            if lines[uid] == nil { order.append(uid) }
            lines[uid, default: Queue()].append(read)
        }

        /// The first fetch of the first uid, if enough writes have started; then that uid becomes
        /// the last. Fetches of a uid are in the order of their writes, so if one must wait, a
        /// write waits before it.
        mutating func take(afterWrites writes: UInt64) -> Job? {
            for place in order.indices {
                let uid = order[place]
                guard let read = lines[uid]?.first, read.afterWrites <= writes else { continue }
                lines[uid]?.takeFirst()
                order.remove(at: place)
                if lines[uid]?.isEmpty == true {
                    lines[uid] = nil
                } else {
                    order.append(uid)
                }
                return read.job
            }
            return nil
        }
    }

    private enum Outcome: Sendable {
        case input(Input, maintenanceDue: Bool)
        /// The result of a fetch, and its duration in nanoseconds.
        case read(FetchID, StoreAnswer, nanoseconds: UInt64)
        case maintained(problem: String?)
        case measured(StoreStatistics?)
    }

    private let loop: Loop
    private let store: Store
    private let figures: Figures
    /// Commits and upkeep, in their order.
    private var waiting = Queue<Job>()
    /// Fetches by uid, and the uids in the order of their turns.
    private var reads = ReadTurns()
    private var wasWrite = false
    private var writesBegun: UInt64 = 0
    private var isBusy = false
    private var putOff = 0
    private var measureAt: UInt64 = 0
    /// Whether the last commit or rebuild failed: such a store is not closed as a clean one.
    private(set) var isSuspect = false

    /// Called on the loop with events for the engine.
    var deliver: ((Input) -> Void)?
    /// Called on the loop with how long a fetch took, before its answer is delivered.
    var onRead: ((FetchID, UInt64) -> Void)?
    /// Called on the loop with a line for the log.
    var report: ((LogEntry) -> Void)?

    init(loop: Loop, store: Store, figures: Figures) {
        self.loop = loop
        self.store = store
        self.figures = figures
    }

    /// Whether nothing waits and nothing is in progress.
    var isIdle: Bool { !isBusy && waiting.isEmpty && reads.isEmpty }

    /// Adds a job: a fetch after those of its uid, any other job after the commits and upkeep that
    /// wait.
    func add(_ job: Job, for uid: UInt32 = 0) {
        if case .fetch = job {
            let writes = writesBegun + UInt64(waiting.count)
            reads.append(ReadTurns.Read(job: job, afterWrites: writes), of: uid)
        } else {
            waiting.append(job)
        }
        start()
    }

    private func takeNext() -> Job? {
        if wasWrite || waiting.isEmpty, let job = reads.take(afterWrites: writesBegun) {
            wasWrite = false
            return job
        }
        guard let job = waiting.takeFirst() else { return nil }
        writesBegun += 1
        wasWrite = true
        return job
    }

    private func start() {
        guard !isBusy, let job = takeNext() else { return }
        isBusy = true
        Work.start(on: loop) { [store] in
            Self.run(job, store)
        } then: { [self] outcome in
            isBusy = false
            if case .finished(let outcome) = outcome { finished(outcome) }
            start()
        }
    }

    /// On a thread of the pool.
    private static func run(_ job: Job, _ store: Store) -> Outcome {
        switch job {
        case .commit(let batch):
            do throws(StoreError) {
                let failures = try store.commit(batch)
                return .input(
                    .committed(batch: batch.number, failures: failures),
                    maintenanceDue: store.maintenanceDue)
            } catch {
                return .input(
                    .commitFailed(batch: batch.number, reason: error.description),
                    maintenanceDue: false)
            }
        case .fetch(let id, let query):
            let began = Loop.hrtimeNanoseconds
            let answer = store.answer(query)
            return .read(id, answer, nanoseconds: Loop.hrtimeNanoseconds &- began)
        case .rebuild(let image):
            do throws(StoreError) {
                return .input(.rebuilt(try store.rebuild(image)), maintenanceDue: false)
            } catch {
                return .input(.rebuildFailed(reason: error.description), maintenanceDue: false)
            }
        case .maintain:
            do throws(StoreError) {
                try store.maintain()
                return .maintained(problem: nil)
            } catch {
                return .maintained(problem: error.description)
            }
        case .measure: return .measured(try? store.statistics())
        }
    }

    private func finished(_ outcome: Outcome) {
        switch outcome {
        case .input(let input, let maintenanceDue):
            switch input {
            case .committed, .rebuilt: isSuspect = false
            case .commitFailed, .rebuildFailed: isSuspect = true
            default: break
            }
            deliver?(input)
            if maintenanceDue { maintainSoon() }
            measureNowAndThen()
        case .read(let id, let answer, let nanoseconds):
            onRead?(id, nanoseconds)
            deliver?(.fetched(id, answer))
        case .maintained(let problem):
            if let problem { report?(LogEntry(.warning, "store maintenance: \(problem)")) }
        case .measured(let statistics):
            if let statistics { figures.note(statistics) }
        }
    }

    private var isQuiet: Bool { waiting.isEmpty && reads.isEmpty }

    /// Upkeep waits until no other job waits, but not for ever.
    private func maintainSoon() {
        putOff += 1
        guard isQuiet || putOff > Self.putOffMax else { return }
        putOff = 0
        add(.maintain)
    }

    private func measureNowAndThen() {
        let now = Loop.hrtimeNanoseconds
        guard now >= measureAt else { return }
        measureAt = now + Self.measureNanoseconds
        add(.measure)
    }
}
