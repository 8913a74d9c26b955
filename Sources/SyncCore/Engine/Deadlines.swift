/// What is to happen at fixed times, in all forms.
///
///     (none) ──set──▶ waiting ──its time comes──▶ due ──takeDue──▶ (none)
///       ▲               │  ▲                       │
///       │               └──┘ set                   │
///       └──────────────── cancel ──────────────────┘
///
/// A time is on one of two clocks: the steady one for durations, the wall clock for moments that a
/// person named. The wall clock can be set, so the times on it are compared with the clock again at
/// each event. However many deadlines there are, the engine wants one timer, for the earliest.
/// They are taken form by form, because those of one form that are due together make one revision.
/// Confined to the loop.
struct Deadlines {
    /// What a deadline belongs to: the form, and the name within it.
    struct Name: Hashable, Comparable {
        var form: FormKey
        var name: OngoingName

        static func < (left: Name, right: Name) -> Bool {
            left.form == right.form ? left.name < right.name : left.form < right.form
        }
    }

    /// Milliseconds on one of the two clocks.
    enum Time: Hashable {
        /// On the clock of `Clocks.steadyMilliseconds`.
        case steady(Int64)
        /// Since 1970-01-01T00:00Z.
        case wall(Int64)
    }

    /// The present time on both clocks, in milliseconds.
    struct Reading {
        var steady: Int64
        var wall: Int64
    }

    /// The longest wait. A timer does not count while the machine sleeps, and it does not notice
    /// when the clock is set, so the clocks are read again after this time.
    static let waitMaxMilliseconds: Int64 = 10_000

    /// By form, so that a form with many deadlines costs the others nothing. None is empty.
    private var forms: [FormKey: FormDeadlines] = [:]
    /// The forms by their earliest deadline on each clock.
    private var steady = DeadlineHeap<FormKey>()
    private var wall = DeadlineHeap<FormKey>()

    /// Whether nothing waits.
    var isEmpty: Bool { forms.isEmpty }

    var count: Int { forms.values.reduce(0) { $0 + $1.times.count } }

    subscript(name: Name) -> Time? { forms[name.form]?.times[name.name] }

    mutating func set(_ name: Name, at time: Time) {
        forms[name.form, default: FormDeadlines()].set(name.name, at: time)
        list(name.form)
    }

    mutating func cancel(_ name: Name) {
        guard forms[name.form]?.cancel(name.name) == true else { return }
        list(name.form)
    }

    func isDue(at now: Reading) -> Bool {
        (steady.first?.at).map { $0 <= now.steady } ?? false
            || (wall.first?.at).map { $0 <= now.wall } ?? false
    }

    /// Removes the deadlines of one form that are due, the form that has waited longest on its
    /// clock, and returns them by name. `nil` if none is due.
    mutating func takeDue(at now: Reading) -> (form: FormKey, names: [OngoingName])? {
        var form: FormKey?
        if let first = steady.first, first.at <= now.steady { form = first.name }
        if form == nil, let first = wall.first, first.at <= now.wall { form = first.name }
        guard let form, let names = forms[form]?.takeDue(at: now) else { return nil }
        list(form)
        return (form, names)
    }

    /// Milliseconds until the clocks must be read again; `nil` if nothing waits.
    func wait(at now: Reading) -> Int64? {
        var wait: Int64?
        for (first, now) in [(steady.first?.at, now.steady), (wall.first?.at, now.wall)] {
            guard let first else { continue }
            let left = first <= now ? 0 : UInt64(bitPattern: first &- now)
            wait = min(wait ?? Self.waitMaxMilliseconds, Int64(clamping: left))
        }
        return wait
    }

    /// Lists a form under its earliest times.
    private mutating func list(_ key: FormKey) {
        guard let form = forms[key] else { return }
        if form.times.isEmpty {
            forms[key] = nil
        } else {
            let (nextSteady, nextWall) = (form.steady.first?.at, form.wall.first?.at)
            if form.listed.steady != nextSteady {
                forms[key]?.listed.steady = nextSteady
                if let nextSteady { steady.add(key, at: nextSteady) }
            }
            if form.listed.wall != nextWall {
                forms[key]?.listed.wall = nextWall
                if let nextWall { wall.add(key, at: nextWall) }
            }
        }
        tidy()
    }

    private mutating func tidy() {
        let forms = forms
        steady.tidy(kept: forms.count) { forms[$0.name]?.listed.steady == $0.at }
        wall.tidy(kept: forms.count) { forms[$0.name]?.listed.wall == $0.at }
    }
}

private struct FormDeadlines {
    private(set) var times: [OngoingName: Deadlines.Time] = [:]
    private(set) var steady = DeadlineHeap<OngoingName>()
    private(set) var wall = DeadlineHeap<OngoingName>()
    /// The times under which the form is listed among the others.
    var listed: (steady: Int64?, wall: Int64?) = (nil, nil)

    mutating func set(_ name: OngoingName, at time: Deadlines.Time) {
        guard times.updateValue(time, forKey: name) != time else { return }
        switch time {
        case .steady(let at): steady.add(name, at: at)
        case .wall(let at): wall.add(name, at: at)
        }
        tidy()
    }

    /// Returns whether there was one of that name.
    mutating func cancel(_ name: OngoingName) -> Bool {
        guard times.removeValue(forKey: name) != nil else { return false }
        tidy()
        return true
    }

    /// Removes those that are due and returns them by name.
    mutating func takeDue(at now: Deadlines.Reading) -> [OngoingName] {
        var due: [OngoingName] = []
        for (heap, at) in [(\Self.steady, now.steady), (\Self.wall, now.wall)] {
            while let first = self[keyPath: heap].first, first.at <= at {
                times[first.name] = nil
                due.append(first.name)
                tidy()
            }
        }
        return due.sorted()
    }

    /// Removes obsolete entries (moved or cancelled deadlines): when they are first in their heap,
    /// or all of them when they are the larger part.
    private mutating func tidy() {
        let times = times
        steady.tidy(kept: times.count) { times[$0.name] == .steady($0.at) }
        wall.tidy(kept: times.count) { times[$0.name] == .wall($0.at) }
    }
}

/// A binary heap of names by time, the earliest first. Some entries may be obsolete.
private struct DeadlineHeap<Name> {
    struct Entry {
        var at: Int64
        var name: Name
    }

    private var entries: [Entry] = []

    var first: Entry? { entries.first }

    mutating func add(_ name: Name, at: Int64) {
        entries.append(Entry(at: at, name: name))
        rise(from: entries.count - 1)
    }

    /// Removes obsolete entries: the first ones, or all if they are the larger part.
    mutating func tidy(kept: Int, _ isValid: (Entry) -> Bool) {
        if entries.count > 2 * kept + 64 {
            entries = entries.filter(isValid).sorted { $0.at < $1.at }
        }
        while let first = entries.first, !isValid(first) { removeFirst() }
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        sink(from: 0)
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0, entries[place].at < entries[(place - 1) / 2].at {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < entries.count && entries[child].at < entries[least].at {
                least = child
            }
            guard least != place else { return }
            entries.swapAt(place, least)
            place = least
        }
    }
}
