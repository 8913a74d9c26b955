internal import EventLoop
internal import Glibc

// Names of users and groups. Invariants: the loop never calls NSS itself, because NSS may query a
// remote server; at most one look-up is in progress, so a slow one occupies only one thread of the
// pool.

/// Numbers to names, kept for a while.
final class NameDirectory {
    /// How long a name, or the result that there is none, is cached.
    static let keptNanoseconds: UInt64 = 300_000_000_000
    /// The maximum number of cached names; beyond it the cache is cleared.
    static let namesMax = 8_192

    /// The user or group to look up.
    enum Number: Hashable, Sendable {
        case user(UInt32)
        case group(UInt32)
    }

    private struct Kept {
        let name: String?
        let until: UInt64
    }

    private struct Waiting {
        let numbers: [Number]
        let then: () -> Void
    }

    private let loop: Loop
    private let lookUp: @Sendable (Number) -> String?
    /// Called where names are looked up, before an unknown uid is let in.
    private let before: @Sendable () -> Void
    private let clock: () -> UInt64
    private var kept: [Number: Kept] = [:]
    private var waiting: [Waiting] = []
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

    /// Calls `then` once all names are known: at once where they are, else in a later iteration.
    func prepare(_ numbers: [Number], then: @escaping () -> Void) {
        guard !missing(numbers).isEmpty else { return then() }
        waiting.append(Waiting(numbers: numbers, then: then))
        ask()
    }

    /// Looks up the names of the daemon's own user at the start: the first client often is the same
    /// user, and the first look-up is the slowest.
    func begin() {
        prepare([.user(geteuid()), .group(getegid())]) {}
    }

    private func missing(_ numbers: [Number]) -> [Number] {
        let now = clock()
        return numbers.filter { number in
            guard let entry = kept[number] else { return true }
            return entry.until < now
        }
    }

    private func ask() {
        guard !isAsking else { return }
        var wanted: [Number] = []
        var seen: Set<Number> = []
        for number in missing(waiting.flatMap(\.numbers)) where seen.insert(number).inserted {
            wanted.append(number)
        }
        guard !wanted.isEmpty else { return }
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
        // A caller that arrived meanwhile may still need a name.
        let come = waiting
        waiting = []
        for entry in come {
            if missing(entry.numbers).isEmpty { entry.then() } else { waiting.append(entry) }
        }
        if !waiting.isEmpty { ask() }
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
            withRoom { room, count in
                var entry = passwd()
                var found: UnsafeMutablePointer<passwd>?
                let status = getpwuid_r(uid, &entry, room, count, &found)
                guard found != nil, let name = entry.pw_name else { return (status, nil) }
                return (0, String(cString: name))
            }
        case .group(let gid):
            withRoom { room, count in
                var entry = group()
                var found: UnsafeMutablePointer<group>?
                let status = getgrgid_r(gid, &entry, room, count, &found)
                guard found != nil, let name = entry.gr_name else { return (status, nil) }
                return (0, String(cString: name))
            }
        }
    }

    /// The number of a user given by name or by number.
    static func userNumber(_ text: String) -> UInt32? {
        if let number = UInt32(text) { return number }
        return withRoom { room, count in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwnam_r(text, &entry, room, count, &found)
            return (status, found == nil ? nil : entry.pw_uid)
        }
    }

    /// The number of a group given by name or by number.
    static func groupNumber(_ text: String) -> UInt32? {
        if let number = UInt32(text) { return number }
        return withRoom { room, count in
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let status = getgrnam_r(text, &entry, room, count, &found)
            return (status, found == nil ? nil : entry.gr_gid)
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
