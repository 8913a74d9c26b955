/// Promise 1 on a disk that loses what was not synced.
///
/// A real daemon's system calls and its answers are recorded in order. Then the power is cut at
/// every sync of the record: data that was not synced is dropped, or is there in part. A daemon
/// started on the rest must contain everything that was answered or shown before the cut. One sync
/// of the record fails, so that a rebuild of the store is cut too. The test must detect a daemon
/// whose syncs do nothing.

import Glibc
import SyncCore

struct PowerCutRow: Row {
    let number = 1
    let promise = "acknowledged is durable: power cut at every sync"
    let bar = "every sync of the record, dropped and torn: 0 lost, 0 damaged; without sync: caught"
    let seconds = 150.0

    private static let writers = 3
    private static let syncs: UInt64 = 360

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        let record = try recorded(run, library, withoutSync: false)
        var cuts = Cuts(run: run, record: record, step: run.isWhole ? 1 : Int(1 / run.share))
        try cuts.all(at: UInt8(ascii: "S"))
        run.say("\(cuts.count) cuts, \(cuts.findings.count) findings")
        let unsafe = try recorded(run, library, withoutSync: true)
        var caught = Cuts(run: run, record: unsafe, step: 25)
        try caught.all(at: UInt8(ascii: "X"), until: 5)
        cuts.findings.require(
            caught.findings.count > 0, "a daemon without sync lost nothing: this row sees nothing")
        return Outcome(
            "\(cuts.syncs) syncs, \(cuts.count) cuts, \(cuts.answers) answers and notifications "
                + "recorded: \(cuts.findings.count) lost or damaged; without sync: "
                + "\(caught.findings.count) in \(caught.count) cuts",
            isWhole: run.isWhole, findings: cuts.findings.lines)
    }

    /// A daemon's system calls and answers.
    struct Record {
        let calls: [DiskCall]
        let state: String
        /// The number of edits that each writer started.
        let begun: [Int64]
    }

    private func recorded(_ run: Run, _ library: String, withoutSync: Bool) throws -> Record {
        let folder = run.folder + (withoutSync ? "/unsafe" : "/record")
        let daemon = try DaemonUnderTest(run, folder: folder)
        let shim = try FaultShim(folder: folder, library: library)
        daemon.environment = shim.environment(
            directory: daemon.state, trace: folder + "/trace")
        let crowd = Crowd(
            writers: Self.writers, depth: 2, watchers: 1, tally: run.tally, prefix: "record")
        for watcher in crowd.watchers { watcher.mustResume = false }
        try TortureForm.apply(writers: Self.writers, by: daemon.startAndWait())
        // Only now, because a store that was never complete would be detected too easily.
        shim[.noSync] = withoutSync ? 1 : 0
        crowd.connect(to: daemon)
        let wanted = run.isWhole ? Self.syncs : 120
        try crowd.work(until: "it has synced", on: daemon) { shim[.syncs] >= wanted / 2 }
        if !withoutSync { shim[.syncFails] = shim[.syncs] + 1 }
        try crowd.work(until: "it has synced again", on: daemon) {
            shim[.syncs] >= wanted && crowd.acknowledged > 20
        }
        daemon.kill()
        crowd.bereave()
        guard let bytes = Folder.contents(folder + "/trace") else {
            throw Trouble("no record in \(folder)")
        }
        return Record(
            calls: DiskCall.read(bytes), state: daemon.state, begun: crowd.writers.map(\.begun))
    }

    /// Cuts of one record.
    private struct Cuts {
        let run: Run
        let record: Record
        /// Every n-th sync is cut at.
        let step: Int
        var count = 0
        var syncs = 0
        var findings = Findings()
        private var told = Told()

        init(run: Run, record: Record, step: Int) {
            self.run = run
            self.record = record
            self.step = max(1, step)
        }

        var answers: Int { told.messages }

        /// Cuts before each call of a kind, until there are this many findings.
        mutating func all(at kind: UInt8, until findingsMax: Int = 40) throws {
            var model = DiskModel(folder: record.state)
            for call in record.calls {
                if call.kind == UInt8(ascii: "N") { told.take(call) }
                if call.kind == kind {
                    syncs += 1
                    if syncs.isMultiple(of: step) {
                        try cut(model, tearing: false)
                        try cut(model, tearing: true)
                    }
                }
                model.apply(call, &run.random)
                if findings.count >= findingsMax { return }
            }
        }

        private mutating func cut(_ model: DiskModel, tearing: Bool) throws {
            count += 1
            let folder = run.folder + "/cut"
            let state = folder + "/state"
            defer { Folder.remove(folder) }
            let daemon = try DaemonUnderTest(run, folder: folder)
            try model.write(to: state, tearing: tearing, &run.random)
            try daemon.start()
            let place = "cut at sync \(syncs)\(tearing ? ", torn" : "")"
            guard let peer = try daemon.connection() else {
                // Before the store exists, there is nothing to start from and nothing to lose.
                findings.add("\(place): it does not start: \(daemon.said)")
                return
            }
            try examine(peer, place)
            daemon.kill()
            let store = state + "/pickersync.db"
            // A new store gets its name with the first write, before any client is answered.
            if told.revision == 0, access(store, F_OK) != 0 { return }
            if let damage = Integrity.check(store) { findings.add("\(place): \(damage)") }
        }

        private mutating func examine(_ peer: Peer, _ place: String) throws {
            guard told.revision > 0 else { return }
            let answer = try peer.ask("state.get", ["form": .string(TortureForm.name)])
            guard let state = answer?["result"] else {
                findings.add("\(place): revision \(told.revision) was shown, the form is gone")
                return
            }
            let revision = state["revision"]?.integerValue ?? -1
            findings.require(
                revision >= told.revision,
                "\(place): revision \(told.revision) was shown, now it is \(revision)")
            for (index, begun) in record.begun.enumerated() {
                let count = state["fields"]?[TortureForm.counter(index)]?["value"]?.integerValue
                let note = state["fields"]?[TortureForm.note(index)]?["value"]?.stringValue ?? ""
                let shown = told.counts[TortureForm.counter(index)] ?? 0
                findings.require(
                    count ?? -1 >= shown && count ?? -1 <= begun
                        && count == (note.isEmpty ? 0 : Int64(note)),
                    "\(place): writer \(index) was shown \(shown) and made \(begun) edits; "
                        + "count \(count ?? -1), note \(note)")
            }
        }
    }

    /// What clients knew at a point of the record.
    private struct Told {
        var revision: Int64 = 0
        var counts: [String: Int64] = [:]
        var messages = 0
        private var decoders: [Int: FrameDecoder] = [:]

        mutating func take(_ call: DiskCall) {
            // Descriptor 2 is the log.
            guard call.descriptor > 2 else { return }
            var decoder = decoders[call.descriptor] ?? FrameDecoder(frameBytesMax: 64 << 20)
            for frame in decoder.feed(Array(call.first)).frames {
                guard let message = try? JSON(parsing: frame) else { continue }
                take(message["result"])
                take(message["params"])
            }
            decoders[call.descriptor] = decoder
        }

        private mutating func take(_ body: JSON?) {
            guard let body, let shown = body["revision"]?.integerValue else { return }
            messages += 1
            revision = max(revision, shown)
            for (field, state) in body["fields"]?.objectValue?.members ?? [] {
                note(field, state)
            }
            for change in body["changes"]?.arrayValue ?? [] {
                if let field = change["field"]?.stringValue { note(field, change) }
            }
        }

        private mutating func note(_ field: String, _ state: JSON) {
            guard let value = state["value"]?.integerValue else { return }
            counts[field] = max(counts[field] ?? 0, value)
        }
    }
}
