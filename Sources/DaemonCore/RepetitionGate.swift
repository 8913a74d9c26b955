internal import SyncCore

// Limits the size of a log that clients can cause.
//
// Invariants: a line is suppressed because of lines of its own origin, not of another one, unless
// all origins together write more than the journal accepts. Even then, the first `burst` lines of
// each of the first `originsMax` origins are written. Errors count only for their kind.

/// Writes the first lines of each kind in a period and counts the rest.
///
/// Lines are of the same kind if they have the same priority and differ only in digits, because a
/// client that reconnects has another number each time. Each user is an origin of its own, so one
/// user's lines cannot hide those of another. The daemon itself is one more origin.
struct RepetitionGate {
    /// Lines of one kind by one origin in one period.
    static let burst = 20
    /// Lines of all kinds about one user in one period, without errors.
    static let userLinesMax = 400
    /// Lines of all origins in one period; less than journald accepts from one service by default,
    /// which is 10,000 in 30 s: journald.conf(5), RateLimitBurst=. Errors are not counted.
    static let linesMax = 2_000
    static let periodSeconds: Int64 = 10
    /// The number of kinds that are counted for each origin; further kinds share one limit.
    static let kindsMax = 256
    /// The number of origins that are counted; further origins share one count.
    static let originsMax = 64

    private struct Kind {
        let key: String
        var count = 0
    }

    /// The lines that one user, or the daemon, has caused.
    private struct Origin {
        /// Decimal digits of its user; nil for the daemon itself, and for users beyond
        /// `originsMax`.
        let uid: String?
        var kinds: [Kind] = []
        var lines = 0
        var others = 0

        /// Whether one more line of that kind may be written while its origin may write `max`.
        mutating func admits(_ key: String, isCounted: Bool, max: Int) -> Bool {
            if let index = kinds.firstIndex(where: { $0.key == key }) {
                kinds[index].count += 1
                if kinds[index].count > burst { return false }
            } else if kinds.count < kindsMax {
                kinds.append(Kind(key: key, count: 1))
            }
            guard isCounted else { return true }
            if lines >= max {
                others += 1
                return false
            }
            lines += 1
            return true
        }
    }

    private var began: Int64?
    private var origins: [Origin] = []
    private var lines = 0

    /// Whether this line may be written.
    mutating func admits(_ entry: LogEntry, at seconds: Int64) -> Bool {
        if began == nil { began = seconds }
        let isCounted = entry.priority > .error
        let index = origin(of: entry)
        let share = origins[index].uid == nil ? Self.linesMax : Self.userLinesMax
        let isAdmitted = origins[index].admits(
            Self.key(entry), isCounted: isCounted,
            max: lines < Self.linesMax ? share : min(share, Self.burst))
        if isAdmitted, isCounted { lines += 1 }
        return isAdmitted
    }

    /// The suppressed lines of a period that is over. Starts the next period.
    mutating func ended(at seconds: Int64) -> [String] {
        guard let began, seconds >= began + Self.periodSeconds || seconds < began else { return [] }
        let held = origins.flatMap { origin in
            let kinds = origin.kinds.filter { $0.count > Self.burst }.map { kind in
                "\(kind.count - Self.burst) more like: \(kind.key.dropFirst())"
            }
            guard origin.others > 0 else { return kinds }
            let whose = origin.uid.map { " of uid \($0)" } ?? ""
            return kinds + ["\(origin.others) more lines\(whose) were left out"]
        }
        self = RepetitionGate()
        return held
    }

    /// The origin of a line, as an index of `origins`.
    private mutating func origin(of entry: LogEntry) -> Int {
        var uid = entry.fields.first { $0.name == .uid }?.value
        if let index = origins.firstIndex(where: { $0.uid == uid }) { return index }
        if uid != nil, origins.count >= Self.originsMax {
            uid = nil
            if let index = origins.firstIndex(where: { $0.uid == nil }) { return index }
        }
        origins.append(Origin(uid: uid))
        return origins.count - 1
    }

    private static func key(_ entry: LogEntry) -> String {
        var key = "\(entry.priority.rawValue)"
        var isInNumber = false
        for scalar in entry.message.unicodeScalars.prefix(160) {
            let isDigit = (0x30...0x39).contains(scalar.value)
            if !isDigit { key.unicodeScalars.append(scalar) } else if !isInNumber { key += "#" }
            isInNumber = isDigit
        }
        return key
    }
}
