import CSQLite
import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("When the disk fails")
struct FailureTests {
    /// A store with two revisions on a file system that can fail.
    private func faulty(_ scratch: Scratch) throws -> Store {
        let store = try scratch.open { $0.vfs = FaultyFileSystem.register() }.store
        try store.put(.putForm(.sample()))
        try store.edit(1)
        try store.edit(2)
        return store
    }

    private func directory(_ scratch: Scratch) throws -> String {
        try POSIX.resolve(scratch.path)
    }

    @Test("a full store refuses a batch, keeps its rows, and works again when there is space")
    func full() throws {
        let scratch = try Scratch()
        let store = try scratch.open { $0.pagesMax = 60 }.store
        try store.put(.putForm(.sample()))
        var last: UInt64 = 0
        var refused: StoreError?
        for revision in 1...200 as ClosedRange<UInt64> {
            do throws(StoreError) {
                try store.edit(revision, bytes: 2_000)
                last = revision
            } catch {
                refused = error
                break
            }
        }
        #expect(refused == .full(file: store.path))
        #expect(try store.revisions().last == last)
        #expect(try store.all().forms[0].revision == last)
        try store.put(.pruneRevisions(form: 1, through: last - 5, before: 0, keeping: .none))
        try store.edit(last + 1)
        #expect(try store.revisions() == Array((last - 4)...(last + 1)))
        try store.close()
    }

    @Test("if the file system is full while a batch is written, the whole batch is refused")
    func noSpaceInLog() throws {
        let scratch = try Scratch()
        let store = try faulty(scratch)
        defer { FaultyFileSystem.heal((try? directory(scratch)) ?? "") }
        for writes in 0..<6 {
            FaultyFileSystem.plan(
                FaultPlan(directory: try directory(scratch), suffix: "-wal", writes: writes))
            #expect(throws: StoreError.full(file: store.path)) { try store.edit(3) }
            #expect(try store.revisions() == [1, 2])
        }
        FaultyFileSystem.heal(try directory(scratch))
        try store.edit(3)
        try store.close(clean: false)
        #expect(try scratch.open().store.revisions() == [1, 2, 3])
    }

    @Test("a file that cannot be written is reported, and can still be read")
    func readOnly() throws {
        let scratch = try Scratch()
        let store = try faulty(scratch)
        FaultyFileSystem.plan(
            FaultPlan(directory: try directory(scratch), writes: 0, writeCode: SQLITE_READONLY))
        #expect(throws: StoreError.readOnly(file: store.path)) { try store.edit(3) }
        #expect(try store.revisions() == [1, 2])
        FaultyFileSystem.heal(try directory(scratch))
        try store.edit(3)
        try store.close()
    }

    @Test(
        "after a failed fsync nothing is committed, until the state is rebuilt",
        arguments: [EIO, ENOSPC])
    func failedSync(_ number: Int32) throws {
        let scratch = try Scratch()
        let store = try faulty(scratch)
        let known = try store.all()
        let before = store.replica
        FaultyFileSystem.plan(
            FaultPlan(
                directory: try directory(scratch), suffix: "-wal", syncs: 0, syncErrno: number))
        let error = try #require(throws: StoreError.self) { try store.edit(3) }
        guard case .inputOutput = error else {
            Issue.record("a failed fsync is \(error)")
            return
        }
        FaultyFileSystem.heal(try directory(scratch))
        #expect(throws: StoreError.suspect(file: store.path)) { try store.edit(3) }
        #expect(throws: StoreError.suspect(file: store.path)) { try store.maintain() }
        #expect(try store.revisions() == [1, 2])

        var image = known
        image.revisions = []
        let after = try store.rebuild(image)
        #expect(after == before.nextEpoch)
        #expect(store.replica == after)
        #expect(try store.all() == known)
        guard case .key(.some) = store.answer(.key(uid: 1000, key: "key-1-2")) else {
            Issue.record("the answer of a key is lost")
            return
        }
        // The edit with an unknown outcome left no idempotency key.
        #expect(store.answer(.key(uid: 1000, key: "key-1-3")) == .key(nil))
        try store.edit(3)
        try store.close(clean: false)
        let again = try scratch.open()
        #expect(again.opening.replica == after && again.opening.replicaChange == nil)
        #expect(try again.store.revisions() == [1, 2, 3])
        try again.store.close()
    }

    @Test("a checkpoint that fails makes the next commit fail")
    func failedCheckpoint() throws {
        let scratch = try Scratch()
        let store = try scratch.open {
            $0.vfs = FaultyFileSystem.register()
            $0.checkpointPages = 2
        }.store
        try store.put(.putForm(.sample()))
        #expect(store.maintenanceDue)
        FaultyFileSystem.plan(
            FaultPlan(directory: try directory(scratch), suffix: "pickersync.db", syncs: 0))
        #expect(throws: StoreError.self) { try store.maintain() }
        FaultyFileSystem.heal(try directory(scratch))
        #expect(throws: StoreError.suspect(file: store.path)) { try store.edit(1) }
        #expect(!store.maintenanceDue)
        _ = try store.rebuild(StoreImage(forms: [.sample()]))
        try store.edit(1)
        try store.close()
    }

    @Test(
        "after a kill the write-ahead log is a prefix of whole batches",
        arguments: 0..<40)
    func tornLog(cut: Int) throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        for revision in 1...6 as ClosedRange<UInt64> { try store.edit(revision) }
        // The store is still open, so the files are as after a power cut.
        let other = try Scratch()
        try scratch.copy("pickersync.db", to: other)
        let log = try scratch.bytes(scratch.wal)
        try other.write(other.wal, Array(log[..<(log.count * (cut + 1) / 40)]))
        let torn = try other.open()
        #expect(torn.opening.condition == .unclean)
        let image = try torn.store.all()
        let revisions = image.revisions.map(\.revision)
        if let form = image.forms.first {
            #expect(revisions == Array(1..<(form.revision + 1)))
            #expect(image.keys.count == Int(form.revision))
            #expect(form.revision == 0 || image.fields[0].state == [UInt8(form.revision)])
        } else {
            #expect(revisions.isEmpty && image.fields.isEmpty)
        }
        if cut == 39 { #expect(revisions == [1, 2, 3, 4, 5, 6]) }
        try torn.store.close()
        try store.close()
    }

    @Test("a message has the subject, the reason and the next step")
    func words() {
        let errors: [StoreError] = [
            .locked(file: "/s/lock", pid: 7), .locked(file: "/s/lock", pid: nil),
            .damaged(file: "/s/db", finding: "page 3", copy: "/s/db.damaged"),
            .foreign(file: "/s/db", finding: "x"),
            .newer(file: "/s/db", found: 2, known: 1, writer: nil),
            .unsafe(file: "/s/db", finding: "x", remedy: "y"), .full(file: "/s/db"),
            .readOnly(file: "/s/db"), .inputOutput(file: "/s/db", reason: "x"),
            .suspect(file: "/s/db"), .closed(file: "/s/db"), .failed(file: "/s/db", reason: "x"),
        ]
        for error in errors {
            #expect(error.description.hasPrefix(error.file + ": "))
            #expect(error.description.contains("; "))
            #expect(!error.description.contains("\n"))
        }
        #expect(errors[0].description.contains("pid 7"))
        #expect(errors[0].exitStatus == 75)
        #expect(errors[2].exitStatus == 73)
    }

    @Test("use by two threads at once is detected")
    func twoAtOnce() async {
        await #expect(processExitsWith: .failure) {
            let scratch = try Scratch()
            let store = try scratch.open().store
            _ = store.exclusively { store.replica }
        }
    }
}
