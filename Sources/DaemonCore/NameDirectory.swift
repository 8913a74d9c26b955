internal import EventLoop
internal import Glibc

// Names of users and groups. Invariants: the loop never calls NSS itself, because NSS may query a
// remote server; at most one round of look-ups is in progress, so a slow one occupies only one
// thread of the pool; a round is short, and all users who wait have a share in it, so nobody whose
// groups are many keeps others from connecting.

/// Numbers to names, kept for a while.
final class NameDirectory {
    /// How long a name, or the result that there is none, is cached.
    static let keptNanoseconds: UInt64 = 300_000_000_000
    /// The maximum number of cached names; beyond it the cache is cleared.
    static let namesMax = 8_192
    /// How many names are looked up in one round.
    static let roundMax = 64

    /// The user or group to look up.
    enum Number: Hashable, Sendable {
        case user(UInt32)
        case group(UInt32)
    }

    private struct Kept {
        let name: String?
        let until: UInt64
    }

    /// Somebody whose names are looked up.
    private struct Waiting {
        var remaining: ArraySlice<Number>
        /// The names of those before `remaining`, which the cache may have lost again.
        var found: [String?] = []
        let then: ([String?]) -> Void
    }

    private let loop: Loop
    private let lookUp: @Sendable (Number) -> String?
    /// Called where names are looked up, before an unknown uid is let in.
    private let before: @Sendable () -> Void
    private let clock: () -> UInt64
    private var kept: [Number: Kept] = [:]
    /// Those who wait, by user, in the order in which they came; the users in the order of their
    /// turns.
    private var waiting: [UInt32: [Waiting]] = [:]
    private var turns: [UInt32] = []
    private var isAsking = false

    /// A directory that asks the system, or `lookUp` in a test.
    init(
        loop: Loop, clock: @escaping () -> UInt64 = { Loop.hrtimeNanoseconds },
        lookUp: @escaping @Sendable (Number) -> String? = SystemNames.name,
        before: @escaping @Sendable () -> Void = {}
    ) {
        self.before = before
        self.loop = loop
        self.clock = clock
        self.lookUp = lookUp
    }

    /// The name, if it is cached and exists.
    func name(of number: Number) -> String? { kept[number]?.name }

    /// Calls `then` with the names of these numbers once all are known: at once where they are,
    /// else in a later iteration. `nil` stands for a number that has no name.
    func prepare(
        _ numbers: [Number], for user: UInt32, then: @escaping ([String?]) -> Void
    ) {
        var entry = Waiting(remaining: numbers[...], then: then)
        takeKnown(&entry, at: clock())
        if entry.remaining.isEmpty { return then(entry.found) }
        if waiting[user] == nil { turns.append(user) }
        waiting[user, default: []].append(entry)
        ask()
    }

    /// Looks up the names of the daemon's own user at the start: the first client often is the same
    /// user, and the first look-up is the slowest.
    func begin() {
        prepare([.user(geteuid()), .group(getegid())], for: geteuid()) { _ in }
    }

    private func takeKnown(_ entry: inout Waiting, at now: UInt64) {
        while let number = entry.remaining.first, let known = kept[number], known.until >= now {
            entry.found.append(known.name)
            entry.remaining.removeFirst()
        }
    }

    /// Begins a round: some names of the first who waits of each user, whose turn it is.
    private func ask() {
        guard !isAsking, !turns.isEmpty else { return }
        let now = clock()
        let share = max(4, Self.roundMax / turns.count)
        var seen: Set<Number> = []
        var wanted: [Number] = []
        var served = 0
        for user in turns {
            if wanted.count >= Self.roundMax { break }
            served += 1
            guard let entry = waiting[user]?.first else { continue }
            let unknown = entry.remaining.lazy.filter { [kept] number in
                kept[number].map { $0.until < now } ?? true
            }
            for number in unknown.prefix(share) where seen.insert(number).inserted {
                wanted.append(number)
            }
        }
        turns = Array(turns[served...] + turns[..<served])
        isAsking = true
        let numbers = wanted
        Work.start(on: loop) { [lookUp, before] in
            before()
            return numbers.map(lookUp)
        } then: { [weak self] outcome in
            guard let self, case .finished(let names) = outcome else { return }
            answered(numbers, names)
        }
    }

    private func answered(_ numbers: [Number], _ names: [String?]) {
        isAsking = false
        if kept.count + numbers.count > Self.namesMax { kept = [:] }
        let until = clock() &+ Self.keptNanoseconds
        for (number, name) in zip(numbers, names) { kept[number] = Kept(name: name, until: until) }
        var done: [Waiting] = []
        for user in turns {
            guard var queue = waiting[user] else { continue }
            var ready = 0
            while ready < queue.count {
                takeKnown(&queue[ready], at: until &- Self.keptNanoseconds)
                guard queue[ready].remaining.isEmpty else { break }
                done.append(queue[ready])
                ready += 1
            }
            queue.removeFirst(ready)
            waiting[user] = queue.isEmpty ? nil : queue
        }
        turns.removeAll { waiting[$0] == nil }
        for entry in done { entry.then(entry.found) }
        ask()
    }
}

/// The system's own answers: getpwuid_r(3), getgrgid_r(3), getgrnam_r(3). They may block.
enum SystemNames {
    /// Bytes for one entry; a group of thousands of members needs that much.
    private static let roomMax = 1 << 20

    /// The name of a user or a group; `nil` if the system knows none.
    static func name(of number: NameDirectory.Number) -> String? {
        switch number {
        case .user(let uid):
            find(passwd(), { getpwuid_r(uid, $0, $1, $2, $3) }) { text(of: $0.pw_name) }
        case .group(let gid):
            find(group(), { getgrgid_r(gid, $0, $1, $2, $3) }) { text(of: $0.gr_name) }
        }
    }

    static func userNumber(_ text: String) -> UInt32? {
        UInt32(text) ?? find(passwd(), { getpwnam_r(text, $0, $1, $2, $3) }, \.pw_uid)
    }

    static func groupNumber(_ text: String) -> UInt32? {
        UInt32(text) ?? find(group(), { getgrnam_r(text, $0, $1, $2, $3) }, \.gr_gid)
    }

    private static func text(of name: UnsafeMutablePointer<CChar>?) -> String? {
        name.map { String(cString: $0) }
    }

    /// What `value` takes of the entry that a function of the system finds; `nil` if it finds none.
    private static func find<Entry, Value>(
        _ entry: Entry,
        _ look: (
            UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> CInt,
        _ value: (Entry) -> Value?
    ) -> Value? {
        withRoom { room, count in
            var (entry, found): (Entry, UnsafeMutablePointer<Entry>?) = (entry, nil)
            let status = look(&entry, room, count, &found)
            return (status, found == nil ? nil : value(entry))
        }
    }

    /// Tries again with a larger buffer while the result is ERANGE.
    private static func withRoom<Value>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> (status: CInt, value: Value?)
    ) -> Value? {
        var room = 1_024
        while true {
            let (status, value) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) {
                buffer -> (CInt, Value?) in
                guard let base = buffer.baseAddress else { return (ERANGE, nil) }
                return body(base, buffer.count)
            }
            guard status == ERANGE, room < roomMax else { return value }
            room *= 4
        }
    }
}
