internal import Glibc
internal import Store
internal import SyncCore
internal import Synchronization

// The shell's part of `server.status`.

/// Figures that the engine reads through a Sendable function.
///
/// Everything runs on the loop; the lock is only needed because the function is Sendable.
final class Figures: Sendable {
    private struct Values {
        var store: StoreStatistics?
        var descriptors = 0
        var descriptorsMax = 0
        /// Nanoseconds of the loop's longest turn, the turn with the most processor time, and how
        /// many took too long.
        var longestNanoseconds: UInt64 = 0
        var costliestTurn = TurnReport()
        var longTurns: Int64 = 0
    }

    private let values = Mutex(Values())

    func note(_ statistics: StoreStatistics) {
        values.withLock { $0.store = statistics }
    }

    /// How many descriptors are in use, as far as the shell knows, and how many there may be.
    func note(descriptors: Int, max: Int) {
        values.withLock {
            $0.descriptors = descriptors
            $0.descriptorsMax = max
        }
    }

    /// Nanoseconds that a turn of the loop may take; longer ones are counted.
    private static let turnNanosecondsMax: UInt64 = 50_000_000

    /// What a turn of the loop took. Returns whether it took too long.
    func note(_ report: TurnReport) -> Bool {
        values.withLock { values in
            let (turn, most) = (report.turn, values.costliestTurn.turn.processorNanoseconds)
            values.longestNanoseconds = max(values.longestNanoseconds, turn.nanoseconds)
            if turn.processorNanoseconds > most { values.costliestTurn = report }
            let isLong = turn.nanoseconds > Self.turnNanosecondsMax
            if isLong { values.longTurns += 1 }
            return isLong
        }
    }

    /// `pid`, `cpuMs`, `memory`, `descriptors`, `loop` and `store`, bytes in bytes.
    func members() -> JSONObject {
        let values = values.withLock { $0 }
        var members = JSONObject()
        members["pid"] = .integer(Int64(getpid()))
        members["cpuMs"] = .integer(ProcessLimits.processorMilliseconds())
        if let resident = ProcessLimits.residentBytes() {
            members["memory"] = ["resident": .integer(resident)]
        }
        members["descriptors"] = [
            "used": .integer(values.descriptors), "max": .integer(values.descriptorsMax),
        ]
        members["loop"] = [
            "longestTurnUs": .integer(Int64(clamping: values.longestNanoseconds / 1_000)),
            "longestTurnCpuUs": .integer(
                Int64(clamping: values.costliestTurn.turn.processorNanoseconds / 1_000)),
            "longTurns": .integer(values.longTurns),
            "costliestTurn": values.costliestTurn.members,
        ]
        if let store = values.store {
            members["store"] = [
                "bytes": .integer(store.bytes), "walBytes": .integer(store.walBytes),
                "revisions": .integer(store.revisions), "pages": .integer(store.pages),
                "freePages": .integer(store.freePages),
            ]
        }
        return members
    }
}
