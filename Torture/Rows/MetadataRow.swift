/// Promise 9: a hundred thousand `pickerctl set` leave one replica entry, and a field does not
/// grow.

import Glibc
import SyncCore

struct MetadataRow: Row {
    let number = 9
    let promise = "metadata is bounded"
    let bar = "100,000 `pickerctl set`: one replica entry, bytes a field flat"
    let seconds = 150.0

    private static let sets = 100_000

    func run(_ run: Run) throws -> Outcome {
        let daemon = try DaemonUnderTest(run, folder: run.folder + "/d")
        var findings = Findings()
        let peer = try daemon.startAndWait()
        try TortureForm.apply(writers: 1, by: peer)
        let sets = run.count(Self.sets)
        // A first part of them, so that the field has reached its final size.
        let first = max(1, sets / 100)
        try processes(run, daemon, 0..<first)
        let before = try size(run, daemon, peer)
        try processes(run, daemon, first..<sets)
        let after = try size(run, daemon, peer)
        findings.require(after.entries == 1, "\(after.entries) replica entries: \(after.token)")
        // Only the digits of a counter may grow.
        findings.require(
            after.bytes <= before.bytes + 8,
            "a field took \(before.bytes), then \(after.bytes) bytes")
        let value = try peer.result("state.get", ["form": .string(TortureForm.name)])
        let count = value["fields"]?[TortureForm.counter(0)]?["value"]?.integerValue ?? -1
        findings.require(count == Int64(sets), "\(sets) processes counted \(count)")
        daemon.kill()
        return Outcome(
            "\(sets) processes: \(after.entries) entry, field \(before.bytes) then "
                + "\(after.bytes) bytes, token \(after.token.utf8.count) bytes",
            isWhole: run.isWhole, findings: findings.lines)
    }

    /// `pickerctl set`, several at a time.
    private func processes(_ run: Run, _ daemon: DaemonUnderTest, _ numbers: Range<Int>) throws {
        var running: [Child] = []
        for number in numbers {
            if running.count == 4 {
                let status = running.removeFirst().wait()
                guard status == 0 else { throw Trouble("pickerctl set ended with \(status)") }
            }
            running.append(
                try Child(
                    [
                        run.executables + "/pickerctl", "set",
                        "\(TortureForm.note(0))=\(number)", "\(TortureForm.counter(0))+=1",
                    ], environment: ["PICKERSYNC_SOCKET": daemon.socket],
                    errors: run.folder + "/errors"))
        }
        for child in running {
            guard child.wait() == 0 else { throw Trouble("pickerctl set failed: \(daemon.said)") }
        }
    }

    private struct Size {
        var token: String
        var entries: Int
        var bytes: Int
    }

    /// The form's token, and the bytes of its fields in the store.
    private func size(_ run: Run, _ daemon: DaemonUnderTest, _ peer: Peer) throws -> Size {
        let state = try peer.result("state.get", ["form": .string(TortureForm.name)])
        let token = state["context"]?.stringValue ?? ""
        let copy = daemon.folder + "/copy"
        defer { Folder.remove(copy) }
        let other = try DaemonUnderTest(run, folder: copy)
        try Folder.copy(daemon.state, to: other.state)
        // A clean stop puts into the table what only the log has.
        _ = try other.startAndWait()
        guard other.stop() == 0 else { throw Trouble("a copy did not stop: \(other.said)") }
        let text = Integrity.first(
            "SELECT max(length(state)) FROM field", other.state + "/pickersync.db")
        guard let bytes = text.flatMap({ Int($0) }) else {
            throw Trouble("the store has no fields: \(text ?? "no row")")
        }
        return Size(token: token, entries: token.split(separator: ",").count, bytes: bytes)
    }
}
