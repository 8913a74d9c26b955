internal import SyncCore

/// What a turn of the loop was spent on.
///
/// Each step of the turn ends with `mark`, which adds the time since the last one to a part.
struct TurnParts: Equatable {
    /// The kinds of work, as `server.status` names them.
    enum Part: Int, CaseIterable {
        /// Bytes of clients: reading, decoding, and the requests that run at once.
        case received
        /// Requests that waited for their turn.
        case turns
        /// What follows a commit: answers and publishing.
        case commits
        /// Answers of the store.
        case reads
        /// Connections that come and go.
        case connections
        /// The end of the iteration: the next batch for the store.
        case batches
        /// Notifications and answers: making and writing them.
        case writes
        case other

        /// The part of an event of the engine.
        init(_ input: Input) {
            self =
                switch input {
                case .connected, .disconnected, .endOfStream: .connections
                case .wrote: .writes
                case .committed, .commitFailed, .rebuilt, .rebuildFailed: .commits
                case .fetched: .reads
                case .turn: .turns
                case .iterationEnded: .batches
                case .deadline, .worked, .stop, .apply, .configure: .other
                }
        }
    }

    private var spent = [UInt64](repeating: 0, count: Part.allCases.count)
    private var markedAt: UInt64 = 0

    subscript(part: Part) -> UInt64 { spent[part.rawValue] }

    mutating func begin(at time: UInt64) {
        for place in spent.indices { spent[place] = 0 }
        markedAt = time
    }

    /// A step ends at this time (monotonic nanoseconds).
    mutating func mark(_ part: Part, at time: UInt64) {
        spent[part.rawValue] &+= time &- markedAt
        markedAt = time
    }
}

struct TurnReport: Equatable {
    var turn = Turn()
    var parts = TurnParts()
    var longestRequest = LongestRequest()

    /// `costliestTurn` of `server.status`: microseconds.
    var members: JSON {
        var parts = JSONObject()
        for part in TurnParts.Part.allCases where self.parts[part] >= 1_000 {
            parts["\(part)"] = Self.microseconds(self.parts[part])
        }
        var members = JSONObject()
        members["us"] = Self.microseconds(turn.nanoseconds)
        members["cpuUs"] = Self.microseconds(turn.processorNanoseconds)
        members["parts"] = .object(parts)
        if longestRequest.nanoseconds > 0 {
            var request = JSONObject()
            request["method"] = longestRequest.method.map { .string($0.rawValue) }
            request["us"] = Self.microseconds(longestRequest.nanoseconds)
            members["longestRequest"] = .object(request)
        }
        return .object(members)
    }

    private static func microseconds(_ nanoseconds: UInt64) -> JSON {
        .integer(Int64(clamping: nanoseconds / 1_000))
    }

    var line: String {
        func milliseconds(_ nanoseconds: UInt64) -> String {
            let tenths = nanoseconds / 100_000
            return "\(tenths / 10).\(tenths % 10) ms"
        }
        let most = TurnParts.Part.allCases.filter { parts[$0] >= 1_000_000 }
            .sorted { parts[$0] > parts[$1] }.map { "\($0) \(milliseconds(parts[$0]))" }
        let request =
            longestRequest.nanoseconds == 0
            ? ""
            : "; longest request \(longestRequest.method?.rawValue ?? "without a method") "
                + milliseconds(longestRequest.nanoseconds)
        return "a turn of the event loop took \(milliseconds(turn.nanoseconds)), of that "
            + "\(milliseconds(turn.processorNanoseconds)) of the processor: "
            + most.joined(separator: ", ") + request
    }
}
