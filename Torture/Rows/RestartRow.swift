/// Promise 12: two hundred clients of the library, and a daemon that is stopped and started a
/// hundred times while they work, like `systemctl restart`. Half of the times its socket remains,
/// as with a socket unit. Every client reconnects by itself and gets every revision once.

import Glibc
import SyncCore

struct RestartRow: Row {
    let number = 12
    let promise = "restart without losing clients"
    let bar = "100 restarts, 200 clients: each resumes by itself, 0 events lost or doubled"
    let seconds = 130.0

    private static let clients = 200
    private static let editors = 40

    func run(_ run: Run) throws -> Outcome {
        var restarts = 0
        var figure = Figure()
        var findings = Findings()
        for keepsSocket in [false, true] {
            let folder = run.folder + (keepsSocket ? "/unit" : "/own")
            let daemon = try DaemonUnderTest(run, folder: folder)
            if keepsSocket { daemon.listening = [try ListeningSocket.make(daemon.socket)] }
            defer { for descriptor in daemon.listening { close(descriptor) } }
            restarts += try half(run, daemon, run.count(50), &figure, &findings)
        }
        return Outcome(
            "\(restarts) restarts, \(Self.clients) clients: \(figure.resumed) resumed of "
                + "\(figure.expected), \(figure.events) events, \(figure.edits) edits, longest "
                + "absence \((figure.absence * 100).rounded() / 100) s",
            isWhole: run.isWhole, findings: findings.lines)
    }

    private struct Figure {
        var resumed = 0
        var expected = 0
        var events = 0
        var edits: Int64 = 0
        var absence = 0.0
    }

    private func half(
        _ run: Run, _ daemon: DaemonUnderTest, _ restarts: Int, _ figure: inout Figure,
        _ findings: inout Findings
    ) throws -> Int {
        try TortureForm.apply(writers: Self.editors, by: daemon.startAndWait())
        let clients = (0..<Self.clients).map { number in
            MachineClient(
                name: "client \(number)", path: daemon.socket,
                counter: number < Self.editors ? TortureForm.counter(number) : nil,
                seed: run.seed &+ UInt64(number))
        }
        let party = Party(clients)
        // A client that has seen nothing cannot resume.
        let begun = monotonicNanoseconds() + 60_000_000_000
        while !clients.allSatisfy(\.hasBegun), monotonicNanoseconds() < begun {
            party.work(seconds: 0.1)
        }
        findings.require(clients.allSatisfy(\.hasBegun), "somebody was not served in 60 s")
        for _ in 0..<restarts {
            party.work(seconds: Double.random(in: 0.1...0.4, using: &run.random))
            let before = monotonicNanoseconds()
            let wanted = clients.map { $0.resumed + 1 }
            daemon.process?.signal(SIGTERM)
            while daemon.process?.poll() == nil { party.work(seconds: 0.002) }
            let status = daemon.stop()
            findings.require(status == 0, "a stop ended with \(status): \(daemon.said)")
            try daemon.start()
            let deadline = monotonicNanoseconds() + 20_000_000_000
            while zip(clients, wanted).contains(where: { $0.resumed < $1 }) {
                guard monotonicNanoseconds() < deadline else {
                    findings.add("somebody did not come back in 20 s: \(daemon.said)")
                    break
                }
                party.work(seconds: 0.01)
            }
            figure.absence = max(
                figure.absence, Double(monotonicNanoseconds() - before) / 1e9)
        }
        party.isOpen = false
        let deadline = monotonicNanoseconds() + 20_000_000_000
        while !clients.allSatisfy(\.isSettled), monotonicNanoseconds() < deadline {
            party.work(seconds: 0.05)
        }
        try finish(party, daemon, restarts, &figure, &findings)
        return restarts
    }

    private func finish(
        _ party: Party, _ daemon: DaemonUnderTest, _ restarts: Int, _ figure: inout Figure,
        _ findings: inout Findings
    ) throws {
        guard let peer = try daemon.connection() else { throw Trouble("it ended: \(daemon.said)") }
        let now = try TortureForm.read(writers: Self.editors, by: peer)
        let deadline = monotonicNanoseconds() + 10_000_000_000
        while party.clients.contains(where: { $0.revision < now.revision }),
            monotonicNanoseconds() < deadline
        {
            party.work(seconds: 0.02)
        }
        for client in party.clients {
            for line in client.findings.lines { findings.add(line) }
            findings.require(
                client.revision == now.revision,
                "\(client.name) was told up to revision \(client.revision) of \(now.revision)")
            figure.resumed += client.resumed
            figure.expected += restarts
            figure.events += client.changes
        }
        for (index, client) in party.clients.prefix(Self.editors).enumerated() {
            findings.require(
                now.counts[index] == client.begun && client.isSettled,
                "\(client.name) made \(client.begun) edits, was answered \(client.acknowledged), "
                    + "\(now.counts[index]) are there")
            figure.edits += client.acknowledged
        }
        daemon.stop()
    }
}

/// Clients of the library, served by one thread. The editors among them edit now and then.
private final class Party {
    let clients: [MachineClient]
    var isOpen = true
    private var nextEdit: UInt64 = 0
    private var editor = 0

    init(_ clients: [MachineClient]) { self.clients = clients }

    func work(seconds: Double) {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        repeat {
            let now = monotonicNanoseconds()
            if isOpen, now >= nextEdit {
                // 250 edits per second, each sent to all clients.
                nextEdit = now + 4_000_000
                clients[editor % 40].edit()
                editor += 1
            }
            turn()
        } while monotonicNanoseconds() < deadline
    }

    private func turn() {
        var entries: [pollfd] = []
        var owners: [MachineClient] = []
        for client in clients {
            client.turn()
            guard let descriptor = client.descriptor else { continue }
            let events = client.wantsToWrite ? POLLIN | POLLOUT : POLLIN
            entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
            owners.append(client)
        }
        guard !entries.isEmpty else {
            usleep(1_000)
            return
        }
        guard poll(&entries, nfds_t(entries.count), 2) > 0 else { return }
        for (index, entry) in entries.enumerated() where entry.revents != 0 {
            owners[index].received()
        }
    }
}
