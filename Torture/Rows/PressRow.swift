/// Promise 27: a press of a button with `runs` has one outcome, whatever is killed: handlers
/// (`pickerctl handle`) and the daemon. With `whenLost: fail` its command runs at most once, with
/// `again` at least once.

import Glibc
import SyncCore
import TestKit

struct PressRow: Row {
    let number = 27
    let promise = "a press has one outcome"
    let bar =
        "1,000 presses, handlers and daemon killed: one outcome each, fail at most once, "
        + "again at least once"
    let seconds = 60.0

    private static let presses = 1_000
    private static let handlers = 4

    func run(_ run: Run) throws -> Outcome {
        let world = try PressWorld(run, handlers: Self.handlers)
        let wanted = run.count(Self.presses)
        while world.presses.count < wanted {
            for _
                in 0..<min(wanted - world.presses.count, Int.random(in: 1...12, using: &run.random))
            {
                try world.press(Bool.random(using: &run.random) ? "once" : "again")
            }
            if Int.random(in: 0..<3, using: &run.random) > 0 { try world.killHandler() }
            if Int.random(in: 0..<3, using: &run.random) == 0 { try world.killDaemon() }
        }
        // At least one of each, however short the run is.
        try world.killHandler()
        try world.killDaemon()
        try world.waitForOutcomes(seconds: 60 + Double(wanted))
        try world.killDaemon()
        try world.judge()
        let states = Dictionary(grouping: world.outcomes.values) { $0 }
            .map { "\($1.count) \($0)" }.sorted()
        return Outcome(
            "\(world.presses.count) presses (\(states.joined(separator: ", "))), "
                + "\(world.handlerKills) handlers and \(world.daemonKills) daemons killed, "
                + "\(world.starts.values.reduce(0, +)) starts: \(world.findings.count) wrong",
            isWhole: run.isWhole, findings: world.findings.lines)
    }
}

/// A daemon, its handlers, and what is known of each press.
private final class PressWorld {
    private static let form = "presses"
    /// Each press leaves a line in a file before it works for some milliseconds. Those whose number
    /// ends with 7 fail.
    private static let command = """
        echo "$PICKERSYNC_PRESS" >> "$0"; echo "1/2 working"
        sleep "0.0${PICKERSYNC_PRESS#"${PICKERSYNC_PRESS%?}"}"
        case $PICKERSYNC_PRESS in *7) echo "seven" >&2; exit 1; esac
        """

    private let run: Run
    private let daemon: DaemonUnderTest
    private var peer: Peer
    private var handlers: [(process: Child, log: String)] = []
    private var handlersStarted = 0
    private let starting: String
    /// The button of each press that was answered.
    private(set) var presses: [String: String] = [:]
    /// The outcome of each press, once it has one.
    private(set) var outcomes: [String: String] = [:]
    /// How often the command of each press was started.
    private(set) var starts: [String: Int] = [:]
    private(set) var handlerKills = 0
    private(set) var daemonKills = 0
    private(set) var findings = Findings()

    init(_ run: Run, handlers: Int) throws {
        self.run = run
        starting = run.folder + "/starts"
        daemon = try DaemonUnderTest(
            run, folder: run.folder + "/d",
            arguments: [
                // So that what is lost is known soon.
                "--limit", "reclaimSeconds=2", "--limit", "outcomesMax=10000", "--limit",
                "queueMax=10000",
            ])
        peer = try daemon.startAndWait()
        let buttons: [JSON] = ["fail", "again"].map { whenLost in
            [
                "id": whenLost == "fail" ? "once" : "again", "type": "button", "runs": "queue",
                "waitsFor": "1d", "whenLost": .string(whenLost),
            ]
        }
        try peer.result(
            "form.apply",
            ["definition": ["form": .string(Self.form), "fields": .array(buttons)]])
        for _ in 0..<handlers { try startHandler() }
    }

    private func startHandler() throws {
        handlersStarted += 1
        let log = run.folder + "/handler-\(handlersStarted)"
        let process = try Child(
            [
                run.executables + "/pickerctl", "handle", "\(Self.form)/*", "--socket",
                daemon.socket, "--", "/bin/sh", "-c", Self.command, starting,
            ], errors: log)
        handlers.append((process, log))
    }

    // MARK: Steps

    /// Asks the daemon, and another one with the same request if it is killed.
    private func ask(_ method: String, _ params: JSON) throws -> JSON {
        while true {
            if let answer = try peer.ask(method, params) {
                guard let result = answer["result"] else {
                    throw Trouble("\(method) was refused: \(answer.encodedText)")
                }
                return result
            }
            peer = try daemon.startAndWait()
        }
    }

    func press(_ button: String) throws {
        let result = try ask(
            "state.set",
            [
                "form": .string(Self.form), "idempotencyKey": .string("press-\(presses.count)"),
                "changes": [["field": .string(button), "press": true]],
            ])
        guard let press = result["fields"]?[button]?["press"]?.stringValue else {
            throw Trouble("no press in \(result.encodedText)")
        }
        findings.require(presses[press] == nil, "press \(press) was answered twice")
        presses[press] = button
    }

    /// Kills one of the handlers, and starts another one.
    func killHandler() throws {
        let index = Int.random(in: handlers.indices, using: &run.random)
        let handler = handlers.remove(at: index)
        if try replace(handler) { return }
        handler.process.signal(SIGKILL)
        handler.process.wait()
        handlerKills += 1
        try startHandler()
    }

    /// Starts another handler if this one has ended: at its start it may find no daemon.
    private func replace(_ handler: (process: Child, log: String)) throws -> Bool {
        guard let status = handler.process.poll() else { return false }
        let said = String(decoding: Folder.contents(handler.log) ?? [], as: UTF8.self)
        findings.require(
            status == 69 && !said.contains("handling"),
            "a handler ended with \(status): \(said.suffix(200))")
        try startHandler()
        return true
    }

    /// Kills the daemon at any moment of its work, and starts another one.
    func killDaemon() throws {
        usleep(UInt32.random(in: 0..<30_000, using: &run.random))
        daemon.kill()
        daemonKills += 1
        peer = try daemon.startAndWait()
        try note()
    }

    /// Notes the outcomes that are there. Those that were there before must be the same: some of
    /// them, or all.
    private func note(isWhole: Bool = false) throws {
        let (known, open) = (outcomes.keys.sorted(), presses.keys.filter { outcomes[$0] == nil })
        let again = isWhole ? known[...] : known.shuffled(using: &run.random).prefix(20)
        for press in open.sorted() + again {
            let result = try ask(
                "button.outcome", ["form": .string(Self.form), "press": .string(press)])
            let state = result["state"]?.stringValue ?? "none"
            let isFinal = RunState(rawValue: state)?.isFinal ?? false
            if let before = outcomes[press] {
                findings.require(before == state, "press \(press) is \(state), and was \(before)")
            } else if isFinal {
                outcomes[press] = state
            }
        }
    }

    func waitForOutcomes(seconds: Double) throws {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while outcomes.count < presses.count {
            guard monotonicNanoseconds() < deadline else {
                throw Trouble("\(presses.count - outcomes.count) presses have no outcome")
            }
            usleep(100_000)
            let known = handlers
            handlers = []
            for handler in known where try !replace(handler) { handlers.append(handler) }
            try note()
        }
    }

    // MARK: The judgement

    func judge() throws {
        try note(isWhole: true)
        for handler in handlers { handler.process.signal(SIGTERM) }
        for handler in handlers { handler.process.wait() }
        let lines = String(decoding: Folder.contents(starting) ?? [], as: UTF8.self)
        for press in lines.split(separator: "\n") { starts[String(press), default: 0] += 1 }
        for (press, button) in presses.sorted(by: { $0.key < $1.key }) {
            let count = starts[press] ?? 0
            let outcome = outcomes[press] ?? "none"
            let known = "\(button) \(press) was started \(count) times and is \(outcome)"
            let works = press.hasSuffix("7") ? "failed" : "done"
            if outcome == works {
                findings.require(count >= 1, known)
            } else {
                findings.require(button == "once" && outcome == "lost", known)
            }
            if button == "once" { findings.require(count <= 1, known) }
        }
        for press in starts.keys where presses[press] == nil {
            findings.add("press \(press) was started, and nobody was told of it")
        }
        let state = try ask("state.get", ["form": .string(Self.form)])
        for button in ["once", "again"] {
            let count = state["fields"]?[button]?["value"]?["presses"]?.integerValue
            let known = presses.values.count { $0 == button }
            findings.require(
                count == Int64(known), "\(button) counts \(count ?? -1) presses of \(known)")
        }
    }
}
