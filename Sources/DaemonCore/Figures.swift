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
        /// Nanoseconds of the loop's longest turn, the most processor time of a turn, and how many
        /// took too long.
        var longestTurn = Turn()
        var longTurns: Int64 = 0
    }

    private let values = Mutex(Values())

    /// The last figures of the store.
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

    /// What a turn of the loop took.
    func note(_ turn: Turn) {
        values.withLock { values in
            values.longestTurn.nanoseconds = max(values.longestTurn.nanoseconds, turn.nanoseconds)
            values.longestTurn.processorNanoseconds = max(
                values.longestTurn.processorNanoseconds, turn.processorNanoseconds)
            if turn.nanoseconds > Self.turnNanosecondsMax { values.longTurns += 1 }
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
            "longestTurnUs": .integer(Int64(clamping: values.longestTurn.nanoseconds / 1_000)),
            "longestTurnCpuUs": .integer(
                Int64(clamping: values.longestTurn.processorNanoseconds / 1_000)),
            "longTurns": .integer(values.longTurns),
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
