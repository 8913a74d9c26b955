/// Promise 29: a leased value ends when it is due, once, and never before, over kills of the daemon
/// and a wall clock that leaps.

import Glibc
import SyncCore

struct LeaseRow: Row {
    let number = 29
    let promise = "leases end when they are due"
    let bar =
        "10,000 leases, the daemon killed, the wall clock set by up to a year: each value ends in "
        + "its hour, and no set is lost"
    let seconds = 60.0

    private static let leases = 10_000

    func run(_ run: Run) throws -> Outcome {
        let world = try LeaseWorld(run)
        let wanted = run.count(Self.leases)
        while world.leases < wanted {
            for _ in 0..<Int.random(in: 1...12, using: &run.random) { try world.edit() }
            if Int.random(in: 0..<4, using: &run.random) == 0 { try world.leap() }
            let isKilled = Int.random(in: 0..<5, using: &run.random) == 0
            try world.pass(killing: isKilled)
        }
        try world.pass(killing: true)
        return Outcome(
            "\(world.leases) leases, \(world.ended) ended in their hour, \(world.kills) kills, "
                + "\(world.leaps) leaps of the clock: \(world.findings.count) wrong",
            isWhole: run.isWhole, findings: world.findings.lines)
    }
}

/// A daemon, its clocks, and what each field must show. Ends are at full hours and the clocks stand
/// between them, so the time that the test itself takes never matters.
private final class LeaseWorld {
    private static let form = "leases"
    private static let fields = 60
    private static let hour: Int64 = 3_600_000

    /// A field as it must be.
    private struct Field {
        /// The value without the lease; `nil` if none is set.
        var base: String?
        var lease: Lease?

        var shown: String { lease?.value ?? base ?? "" }
    }

    private struct Lease {
        let value: String
        let end: End
    }

    private enum End {
        /// In hours of the steady clock.
        case steady(Int64)
        /// In hours of the wall clock.
        case wall(Int64)
    }

    private let run: Run
    private let shim: FaultShim
    private let daemon: DaemonUnderTest
    private var peer: Peer
    private var shown = [Field](repeating: Field(), count: LeaseWorld.fields)
    private var number = 0
    /// The full hours that have passed, and by how many the wall clock is set wrong.
    private var passed: Int64 = 0
    private var off: Int64 = 0
    /// The wall clock at the beginning: half past an hour, in hours.
    private let start: Int64
    private let startShift: Int64
    private(set) var leases = 0
    private(set) var ended = 0
    private(set) var kills = 0
    private(set) var leaps = 0
    private(set) var findings = Findings()

    init(_ run: Run) throws {
        self.run = run
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        shim = try FaultShim(folder: run.folder, library: library)
        daemon = try DaemonUnderTest(run, folder: run.folder + "/d")
        daemon.environment = shim.environment(directory: daemon.state)
        let now = Int64(time(nil)) * 1_000
        start = now / Self.hour + 1
        startShift = start * Self.hour + Self.hour / 2 - now
        shim.pass(startShift)
        peer = try daemon.startAndWait()
        let fields: [JSON] = (0..<Self.fields).map { ["id": .string("f\($0)"), "type": "text"] }
        try peer.result(
            "form.apply",
            ["definition": ["form": .string(Self.form), "fields": .array(fields)]])
    }

    private var wall: Int64 { start + passed + off }

    // MARK: Steps

    /// Sets some fields, most of them until an hour that is to come.
    func edit() throws {
        number += 1
        var end: End?
        var lease: JSON?
        let hours = Int64.random(in: 1...9, using: &run.random)
        switch Int.random(in: 0..<5, using: &run.random) {
        case 0: break
        case 1, 2:
            end = .wall(wall + hours)
            let moment = Timestamp(milliseconds: (wall + hours) * Self.hour)
            lease = ["until": .string(moment.description)]
        default:
            end = .steady(passed + hours)
            // Half an hour is over at the full hour.
            lease = ["seconds": .integer(hours * 3_600 - 1_800)]
        }
        let places = Set(
            (0..<Int.random(in: 1...6, using: &run.random)).map { _ in
                Int.random(in: 0..<Self.fields, using: &run.random)
            }
        ).sorted()
        var changes: [JSON] = []
        for place in places {
            let value = "\(number).\(place)"
            changes.append(["field": .string("f\(place)"), "value": .string(value)])
            if let end {
                shown[place].lease = Lease(value: value, end: end)
                leases += 1
            } else {
                shown[place] = Field(base: value)
            }
        }
        var request: [(String, JSON)] = [
            ("form", .string(Self.form)), ("changes", .array(changes)),
            ("idempotencyKey", .string("edit-\(number)")),
        ]
        if let lease { request.append(("lease", lease)) }
        try peer.result("state.set", .object(JSONObject(request)))
    }

    /// Sets the wall clock: by hours, by days or by a year, back and forth.
    func leap() throws {
        let size: Int64 = [3, 30, 8_760].randomElement(using: &run.random) ?? 3
        off = Int64.random(in: -size...size, using: &run.random)
        leaps += 1
        try move(killing: false)
    }

    /// Lets hours pass. The daemon is killed among the ends, or is not there when they are due.
    func pass(killing: Bool) throws {
        passed += Int64.random(in: 1...4, using: &run.random)
        try move(killing: killing)
    }

    private func move(killing: Bool) throws {
        let isAway = killing && Bool.random(using: &run.random)
        if isAway { daemon.kill() }
        shim.pass(startShift + passed * Self.hour, leap: off * Self.hour)
        if killing {
            if !isAway {
                // What wakes the daemon; it looks at its clocks then.
                peer.send("ping", [:], id: 0)
                peer.flush()
                usleep(UInt32.random(in: 0..<3_000, using: &run.random))
                daemon.kill()
            }
            kills += 1
            peer = try daemon.startAndWait()
        }
        for place in shown.indices {
            let isDue =
                switch shown[place].lease?.end {
                case .steady(let hour)?: hour <= passed
                case .wall(let hour)?: hour <= wall
                case nil: false
                }
            guard isDue else { continue }
            shown[place].lease = nil
            ended += 1
        }
        try compare()
    }

    // MARK: The judgement

    /// Ends are not part of the answer to a request, so the daemon is asked until they are there. A
    /// value that has ended does not come back, so one that ended early is found too.
    private func compare() throws {
        let deadline = monotonicNanoseconds() + 30_000_000_000
        while true {
            let result = try peer.result("state.get", ["form": .string(Self.form)])
            let wrong = shown.indices.filter { place in
                let field = result["fields"]?["f\(place)"]
                return field?["value"]?.stringValue != shown[place].shown
                    || (field?["lease"] != nil) != (shown[place].lease != nil)
            }
            guard let first = wrong.first else { return }
            if monotonicNanoseconds() > deadline {
                let told = result["fields"]?["f\(first)"]?.encodedText ?? "nothing"
                throw Trouble("f\(first) must be \"\(shown[first].shown)\" at \(wall): \(told)")
            }
            usleep(2_000)
        }
    }
}
