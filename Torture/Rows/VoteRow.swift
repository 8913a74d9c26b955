/// Promise 28: what is guarded changes only with its approvals. Several users vote at once, others
/// break the glass or take proposals back, and the daemon is killed at any moment.

import Glibc
import SyncCore

struct VoteRow: Row {
    let number = 28
    let promise = "what is guarded changes only with its approvals"
    let bar =
        "600 proposals, votes that cross, glass broken, the daemon killed: one end each, "
        + "applied once, with its votes, and never over another change"
    let seconds = 90.0

    private static let proposals = 600

    func run(_ run: Run) throws -> Outcome {
        guard geteuid() == 0 else {
            return Outcome(skipped: "only root can start programs of several users")
        }
        let world = try VoteWorld(run)
        guard try world.canStart() else {
            return Outcome(
                skipped: "other users cannot run the programs, or there is no setpriv(1)")
        }
        let wanted = run.count(Self.proposals)
        while world.proposed.count < wanted {
            for _ in 0..<Int.random(in: 1...3, using: &run.random) { try world.propose() }
            if Int.random(in: 0..<6, using: &run.random) == 0 { try world.breakGlass() }
            try world.vote(isKilled: Int.random(in: 0..<3, using: &run.random) == 0)
        }
        // At least once, however short the run is.
        try world.vote(isKilled: true)
        try world.judge()
        let states = Dictionary(grouping: world.ends.values) { $0 }
            .map { "\($1.count) \($0)" }.sorted()
        return Outcome(
            "\(world.proposed.count) proposals (\(states.joined(separator: ", "))), "
                + "\(world.votes) votes, \(world.glasses) broken glasses, "
                + "\(world.daemonKills) daemons killed: \(world.findings.count) wrong",
            isWhole: run.isWhole, findings: world.findings.lines)
    }
}

/// A daemon, users, and what is known of each proposal.
private final class VoteWorld {
    private static let form = "votes"
    /// Those who may vote; `two` needs two of them.
    private static let voters: [UInt32] = [60_001, 60_002, 60_003]
    /// Who may change the fields without them.
    private static let breaker: UInt32 = 60_004
    private static let fields = ["one", "two"]

    private let run: Run
    private let daemon: DaemonUnderTest
    private var peer: Peer
    private var lastValue: Int64 = 0
    /// The field and the value of each proposal that was answered.
    private(set) var proposed: [Int64: (field: String, value: Int64)] = [:]
    /// Those that may still wait.
    private var open: Set<Int64> = []
    /// The state of each proposal that has ended.
    private(set) var ends: [Int64: String] = [:]
    private(set) var votes = 0
    private(set) var glasses = 0
    private(set) var daemonKills = 0
    private(set) var findings = Findings()

    init(_ run: Run) throws {
        self.run = run
        daemon = try DaemonUnderTest(
            run, folder: run.folder + "/d",
            arguments: ["--limit", "proposalsEndedMax=1000", "--limit", "proposalBytesMax=4194304"])
        peer = try daemon.startAndWait()
        let from = JSON.array(Self.voters.map { .string("uid:\($0)") })
        let guarded: [JSON] = Self.fields.map { id in
            [
                "id": .string(id), "type": "stepper", "min": 0, "max": 1_000_000_000,
                "approval": ["from": from, "count": id == "two" ? 2 : 1, "within": "1d"],
                "breakGlass": [.string("uid:\(Self.breaker)")],
            ]
        }
        try peer.result(
            "form.apply",
            [
                "definition": [
                    "form": .string(Self.form), "access": ["write": ["anyone"]],
                    "fields": .array(guarded),
                ]
            ])
        try admitOthers()
    }

    /// Users other than root may connect.
    private func admitOthers() throws {
        for path in [run.folder, daemon.folder] { chmod(path, 0o755) }
        guard chmod(daemon.socket, 0o666) == 0 else { throw Trouble("no socket to open") }
    }

    private func start(_ user: UInt32, _ words: [String], errors: String = "/dev/null") throws
        -> Child
    {
        try Child(
            [
                "/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups",
                run.executables + "/pickerctl",
            ] + words + ["--socket", daemon.socket], errors: errors)
    }

    /// Whether a program of another user reaches the daemon.
    func canStart() throws -> Bool {
        guard access("/usr/bin/setpriv", X_OK) == 0 else { return false }
        return try start(Self.breaker, ["get", "\(Self.form)/one"]).wait() == 0
    }

    // MARK: Steps

    /// Asks the daemon, and another one with the same request if it is killed.
    private func ask(_ method: String, _ params: JSON) throws -> JSON {
        while true {
            if let answer = try peer.ask(method, params) { return answer }
            try restart()
        }
    }

    private func restart() throws {
        peer = try daemon.startAndWait()
        try admitOthers()
    }

    func propose() throws {
        lastValue += 1
        let field = Self.fields[Int.random(in: 0..<2, using: &run.random)]
        let answer = try ask(
            "state.set",
            [
                "form": .string(Self.form), "idempotencyKey": .string("propose-\(lastValue)"),
                "changes": [["field": .string(field), "value": .integer(lastValue)]],
                "propose": true, "message": "why",
            ])
        if answer["error"]?["data"]?["kind"] == "limit" {
            // Enough of them wait.
            lastValue -= 1
            return
        }
        guard let id = answer["result"]?["proposal"]?["id"]?.integerValue else {
            throw Trouble("no proposal in \(answer.encodedText)")
        }
        findings.require(proposed[id] == nil, "proposal \(id) was made twice")
        proposed[id] = (field, lastValue)
        open.insert(id)
    }

    func breakGlass() throws {
        lastValue += 1
        let field = Self.fields[Int.random(in: 0..<2, using: &run.random)]
        let status = try start(
            Self.breaker,
            [
                "set", "\(Self.form)/\(field)=\(lastValue)", "--break-glass", "-m", "now", "-q",
            ]
        ).wait()
        findings.require(status == 0, "breaking the glass ended with \(status)")
        glasses += 1
    }

    /// Votes for the proposals that wait, several at once; the daemon may be killed meanwhile.
    func vote(isKilled: Bool) throws {
        var children: [(id: Int64, process: Child, log: String)] = []
        for id in open.sorted().suffix(4) {
            for voter in Self.voters.shuffled(using: &run.random).prefix(
                Int.random(in: 1...3, using: &run.random))
            {
                votes += 1
                let isRefusal = Int.random(in: 0..<12, using: &run.random) == 0
                let log = run.folder + "/vote-\(votes)"
                let words =
                    isRefusal
                    ? ["refuse", "\(Self.form)/\(id)"]
                    : ["approve", "\(Self.form)/\(id)", "--yes"]
                children.append((id, try start(voter, words, errors: log), log))
            }
        }
        if isKilled {
            usleep(UInt32.random(in: 0..<30_000, using: &run.random))
            daemon.kill()
            daemonKills += 1
            try restart()
        }
        for (id, process, log) in children {
            let status = process.wait()
            // 75: it has ended. The command asks again if the connection was lost. Meanwhile there
            // may be no daemon (69), or one whose socket the others may not open yet.
            let said = String(decoding: Folder.contents(log) ?? [], as: UTF8.self)
            let isAway = status == 69 || said.contains("may not be opened")
            findings.require(
                [0, 75].contains(status) || isKilled && isAway,
                "a vote on \(id) ended with \(status): \(said.suffix(200))")
            unlink(log)
        }
        try note()
        // So that not all that is left waits for ever.
        for id in open.sorted().dropLast(8) { try withdraw(id) }
    }

    private func withdraw(_ id: Int64) throws {
        let answer = try ask(
            "proposal.withdraw", ["form": .string(Self.form), "proposal": .integer(id)])
        let kind = answer["error"]?["data"]?["kind"]?.stringValue
        findings.require(
            kind == nil || kind == "conflict", "withdrawing \(id): \(answer.encodedText)")
        try note()
    }

    private func list(ended: Bool) throws -> [JSON] {
        let answer = try ask(
            "proposal.list", ["form": .string(Self.form), "ended": .bool(ended)])
        return answer["result"]?["proposals"]?.arrayValue ?? []
    }

    /// Notes what has ended. What had ended before must be as it was.
    private func note() throws {
        for proposal in try list(ended: true) {
            guard let id = proposal["id"]?.integerValue,
                let state = proposal["state"]?.stringValue
            else { continue }
            if let before = ends[id] {
                findings.require(before == state, "proposal \(id) is \(state), and was \(before)")
            }
            ends[id] = state
            open.remove(id)
        }
    }

    // MARK: The judgement

    func judge() throws {
        try note()
        let waiting = Set(try list(ended: false).compactMap { $0["id"]?.integerValue })
        for id in proposed.keys.sorted() {
            findings.require(
                (ends[id] != nil) != waiting.contains(id),
                "proposal \(id) is \(ends[id] ?? "gone") and waits: \(waiting.contains(id))")
        }
        var applied: [Int64] = []
        var before: Revision?
        var isMore = true
        while isMore {
            var params = JSONObject([("form", .string(Self.form)), ("limit", 100)])
            params["before"] = before.map { .integer($0) }
            let answer = try ask("state.history", .object(params))
            for entry in answer["result"]?["entries"]?.arrayValue ?? [] {
                before = entry["revision"]?.integerValue
                judge(entry, &applied)
            }
            isMore = answer["result"]?["more"]?.boolValue ?? false
        }
        findings.require(
            applied.count == Set(applied).count, "a proposal was applied twice")
        let known = Set(ends.filter { $0.value == "applied" }.keys)
        findings.require(
            known == Set(applied),
            "applied: \(known.symmetricDifference(applied).sorted()) differ from the history")
    }

    /// A revision that changed a guarded field: by whom, and who approved it.
    private func judge(_ entry: JSON, _ applied: inout [Int64]) {
        guard entry["kind"] == "set" else { return }
        let revision = entry["revision"]?.integerValue ?? 0
        if entry["breakGlass"] == true {
            let uid = entry["by"]?["uid"]?.integerValue
            findings.require(
                uid == Int64(Self.breaker),
                "revision \(revision): the glass was broken by \(uid ?? -1)")
            return
        }
        guard let id = entry["proposal"]?.integerValue, let made = proposed[id] else {
            return findings.add("revision \(revision) has no proposal: \(entry.encodedText)")
        }
        applied.append(id)
        let voters = (entry["approvedBy"]?.arrayValue ?? []).compactMap { $0["uid"]?.integerValue }
        let allowed = Set(Self.voters.map(Int64.init))
        findings.require(
            voters.count == Set(voters).count && Set(voters).isSubset(of: allowed)
                && voters.count >= (made.field == "two" ? 2 : 1),
            "revision \(revision), proposal \(id) of \(made.field): approved by \(voters)")
        let change = entry["changes"]?.arrayValue?.first
        findings.require(
            change?["field"] == .string(made.field) && change?["value"] == .integer(made.value),
            "revision \(revision) is not what proposal \(id) said: \(entry.encodedText)")
    }
}
