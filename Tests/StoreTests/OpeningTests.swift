import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("The replica after a start")
struct OpeningTests {
    @Test("the same replica continues after a clean stop and after a kill")
    func same() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        #expect(first.opening.replicaChange == .created)
        #expect(first.opening.newLogs)
        #expect(first.opening.replica.epoch == 1)
        #expect(first.store.replica == first.opening.replica)
        try first.store.close()
        let second = try scratch.open()
        #expect(
            second.opening
                == Opening(
                    condition: .clean, replica: first.opening.replica, replicaChange: nil,
                    run: first.opening.run + 1))
        #expect(!second.opening.newLogs)
        try second.store.close(clean: false)
        let third = try scratch.open()
        #expect(
            third.opening
                == Opening(
                    condition: .unclean, replica: first.opening.replica, replicaChange: nil,
                    run: second.opening.run + 1))
        try third.store.close()
    }

    @Test("a kill begins a new epoch and new logs if edits were answered before they were durable")
    func lostEdits() throws {
        let scratch = try Scratch()
        let first = try scratch.open { $0.everyEditDurable = false }
        try first.store.put(.putForm(.sample()))
        try first.store.close(clean: false)
        // The durability of the last run counts, not that of the next one.
        let second = try scratch.open()
        #expect(second.opening.replicaChange == .editsLost)
        #expect(second.opening.replica == first.opening.replica.nextEpoch)
        #expect(try second.store.all().forms[0].log != FormRow.sample().log)
        try second.store.close(clean: false)
        #expect(try scratch.open().opening.replicaChange == nil)
    }

    @Test("a clean stop loses nothing, whatever the durability")
    func cleanMemory() throws {
        let scratch = try Scratch()
        try scratch.open { $0.everyEditDurable = false }.store.close()
        #expect(try scratch.open().opening.replicaChange == nil)
    }

    @Test("--new-replica takes a new identity")
    func requested() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        try first.store.close()
        let second = try scratch.open { $0.newReplica = true }
        #expect(second.opening.replicaChange == .requested)
        #expect(second.opening.replica.id != first.opening.replica.id)
        #expect(second.opening.replica.epoch == first.opening.replica.epoch + 1)
        try second.store.close()
    }

    @Test("two copies of one directory, and the original, are three replicas")
    func copied() throws {
        let original = try Scratch()
        let first = try original.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close()
        var replicas: Set<ReplicaID> = [first.opening.replica]
        for _ in 0..<2 {
            let copy = try Scratch()
            for name in try original.names() { try original.copy(name, to: copy) }
            let opened = try copy.open()
            #expect(opened.opening.replicaChange == .copied)
            #expect(opened.opening.newLogs)
            #expect(try opened.store.all().forms[0].log != FormRow.sample().log)
            replicas.insert(opened.opening.replica)
            try opened.store.close()
        }
        #expect(replicas.count == 3)
        #expect(try original.open().opening.replicaChange == nil)
    }

    @Test(
        "a backup that is written over the file, with the same inode, never issues a dot twice",
        arguments: [false, true])
    func restored(killed: Bool) throws {
        let scratch = try Scratch()
        var replicas: Set<ReplicaID> = []
        let first = try scratch.open()
        replicas.insert(first.opening.replica)
        try first.store.close()
        let backup = try scratch.bytes(scratch.database)
        for turn in 0..<3 {
            let run = try scratch.open()
            #expect(run.opening.replicaChange == (turn == 0 ? nil : .restored))
            #expect(replicas.insert(run.opening.replica).inserted == (turn != 0))
            try run.store.close(clean: !killed)
            try? FileManager.default.removeItem(atPath: scratch.wal)
            try scratch.overwrite(scratch.database, with: backup)
        }
    }

    @Test("a copy of a running daemon's file that is put back after a clean stop is a restore")
    func restoredFromRunning() throws {
        let scratch = try Scratch()
        try scratch.open().store.close(clean: false)
        let running = try scratch.open().store
        // Moves this run's mark into the file.
        try running.put(.putForm(.sample()))
        let copied = try (scratch.bytes(scratch.database), scratch.bytes(scratch.wal))
        try running.close()
        try scratch.overwrite(scratch.database, with: copied.0)
        try scratch.write(scratch.wal, copied.1)
        #expect(try scratch.open().opening.replicaChange == .restored)
    }

    @Test("a backup of a store in use opens as a new replica, with all rows")
    func backup() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        for revision in 1...20 as ClosedRange<UInt64> { try store.edit(revision) }
        try store.backup(to: other.database)
        #expect(throws: StoreError.self) { try store.backup(to: other.database) }
        try store.edit(21)
        #expect(try other.names() == ["pickersync.db"])
        let copy = try other.open()
        #expect(copy.opening.replicaChange == .copied)
        #expect(try copy.store.revisions() == Array(1...20))
        try copy.store.close()
        try store.close()
    }

    @Test("an unreadable lock file causes a new replica, never a dot that was used")
    func lockLost() throws {
        for content in ["", "12\n", "1\n2\n", "1\nx\nopen\n", "1\n1\nbent\n", "\n\n\n\n"] {
            let scratch = try Scratch()
            try scratch.open().store.close()
            try scratch.overwrite(scratch.path + "/lock", with: Array(content.utf8))
            let opened = try scratch.open()
            #expect(opened.opening.replicaChange == .restored, "lock: \(content)")
            try opened.store.close()
            #expect(try scratch.open().opening.replicaChange == nil)
        }
    }

    @Test("another machine is another replica")
    func machine() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        let last = RunMark(generation: store.meta.generation, closed: false)
        let here = Meta.thisMachine()
        let meta = store.meta
        #expect(
            meta.change(file: meta.identity, machine: here, last: last, requested: false) == nil)
        #expect(
            meta.change(file: meta.identity, machine: here + [1], last: last, requested: false)
                == .copied)
        var born = meta.identity
        born.birth += 1
        #expect(meta.change(file: born, machine: here, last: last, requested: false) == .copied)
        try store.close()
    }

    @Test("after the last epoch the replica gets a new id")
    func epochsEnd() {
        let last = ReplicaID(id: 5, epoch: .max)
        let next = Meta.nextEpoch(of: last)
        #expect(next.epoch == 1 && next.id != 5)
    }
}
