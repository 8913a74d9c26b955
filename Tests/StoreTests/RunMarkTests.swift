import Foundation
import SyncCore
import Testing

@testable import Store

/// After a kill, each of the two marks of a run is written or not. A test creates such a state from
/// the previous content of a file.
@Suite("The marks of a run, with a kill at each point")
struct RunMarkTests {
    private let later: (inout StoreOptions) -> Void = { $0.finishesOpeningLater = true }

    /// The record of the last run in the lock file.
    private func mark(_ scratch: Scratch) throws -> [UInt8] {
        Array(try scratch.bytes(scratch.path + "/lock").drop { $0 != 0x0a })
    }

    /// Kills a run that has written its mark to the database but not to the lock file.
    private func killBeforeTheLockFile(_ scratch: Scratch) throws -> Opening {
        let lock = try scratch.bytes(scratch.path + "/lock")
        let run = try scratch.open()
        try run.store.close(clean: false)
        try scratch.overwrite(scratch.path + "/lock", with: lock)
        return run.opening
    }

    @Test("the lock goes with its store, though a duplicate of its descriptor is open")
    func duplicateOfTheLock() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .compactMap { Int32($0) }
            .filter { descriptor in
                let link = "/proc/self/fd/\(descriptor)"
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
                return target == scratch.path + "/lock"
            }
        let duplicates = held.map { dup($0) }
        defer { for duplicate in duplicates { close(duplicate) } }
        #expect(duplicates.count == 1)
        try store.close()
        try scratch.open().store.close()
    }

    @Test(
        "kills between the database's mark and the lock file's, however many in a row",
        arguments: [false, true])
    func beforeTheLockFile(closedBefore: Bool) throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close(clean: closedBefore)
        for _ in 0..<5 {
            #expect(try killBeforeTheLockFile(scratch).replicaChange == nil)
        }
        let last = try scratch.open()
        #expect(last.opening.replicaChange == nil)
        #expect(last.opening.replica == first.opening.replica)
        #expect(try last.store.all().forms[0].log == FormRow.sample().log)
        try last.store.close()
    }

    @Test("an older file that is put back after such kills is noticed")
    func restoredAfterKills() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close()
        let backup = try scratch.bytes(scratch.database)
        let second = try scratch.open()
        try second.store.edit(1)
        try second.store.close(clean: false)
        for _ in 0..<3 { _ = try killBeforeTheLockFile(scratch) }
        try? FileManager.default.removeItem(atPath: scratch.wal)
        try scratch.overwrite(scratch.database, with: backup)
        let restored = try scratch.open()
        #expect(restored.opening.replicaChange == .restored)
        #expect(restored.opening.replica.id != first.opening.replica.id)
        try restored.store.close()
    }

    @Test("a new store that is killed before its lock file is not a restore", arguments: 1...3)
    func newStore(kills: Int) throws {
        let scratch = try Scratch()
        // Killed before it had an id.
        try scratch.open(later).store.close(clean: false)
        let lock = try scratch.bytes(scratch.path + "/lock")
        let first = try scratch.open()
        try first.store.close(clean: false)
        try scratch.overwrite(scratch.path + "/lock", with: lock)
        for _ in 1..<kills { #expect(try killBeforeTheLockFile(scratch).replicaChange == nil) }
        let last = try scratch.open()
        #expect(last.opening.replicaChange == nil)
        #expect(last.opening.replica == first.opening.replica)
        try last.store.close()
    }

    @Test("a file that was put back is noticed again after a kill between its two marks")
    func restoredAndKilled() throws {
        let scratch = try Scratch()
        try scratch.open().store.close()
        let backup = try scratch.bytes(scratch.database)
        try scratch.open().store.close()
        var replicas: Set<ReplicaID> = []
        for _ in 0..<3 {
            try scratch.overwrite(scratch.database, with: backup)
            let run = try scratch.open()
            #expect(run.opening.replicaChange == .restored)
            #expect(replicas.insert(run.opening.replica).inserted)
            try run.store.close(clean: false)
            // As if it was killed before the database was written.
            try? FileManager.default.removeItem(atPath: scratch.wal)
        }
    }

    @Test("a lost lock file causes one new replica, also if that run is killed")
    func lostLockFile() throws {
        let scratch = try Scratch()
        try scratch.open().store.close()
        try FileManager.default.removeItem(atPath: scratch.path + "/lock")
        let run = try scratch.open()
        #expect(run.opening.replicaChange == .restored)
        try run.store.close(clean: false)
        let next = try scratch.open()
        #expect(next.opening.replicaChange == nil && next.opening.replica == run.opening.replica)
        try next.store.close()
    }

    @Test("a kill between the two marks of a clean stop")
    func cleanStop() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        let open = try scratch.bytes(scratch.path + "/lock")
        try first.store.close()
        try scratch.overwrite(scratch.path + "/lock", with: open)
        for _ in 0..<3 { #expect(try killBeforeTheLockFile(scratch).replicaChange == nil) }
    }

    @Test("a clean file that is ahead of its lock file has been given an older one")
    func olderLockFile() throws {
        let scratch = try Scratch()
        try scratch.open().store.close()
        let lock = try scratch.bytes(scratch.path + "/lock")
        try scratch.open().store.close()
        try scratch.overwrite(scratch.path + "/lock", with: lock)
        #expect(try scratch.open().opening.replicaChange == .restored)
    }

    @Test("a shorter record overwrites a longer one completely")
    func shorterRecord() throws {
        let scratch = try Scratch()
        try scratch.open().store.close()
        let path = scratch.path + "/lock"
        let mark = String(decoding: try mark(scratch), as: UTF8.self)
        // A record of a daemon with a longer pid, as it is before and after the one write.
        try scratch.overwrite(path, with: Array(("4194304000" + mark).utf8))
        let run = try scratch.open()
        #expect(run.opening.replicaChange == nil)
        let text = String(decoding: try scratch.bytes(path), as: UTF8.self)
        #expect(text.split(separator: "\n") == ["\(getpid())", "2", "open"])
        try run.store.close()
    }

    /// Each combination of the table in `LockFile`.
    @Test("each combination of lock file and database has its meaning")
    func table() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        var meta = store.meta
        try store.close()
        meta.generation = 7
        func follows(_ clean: Bool, _ last: RunMark?) -> Bool {
            meta.clean = clean
            return meta.follows(last)
        }
        func lock(_ generation: Int64, closed: Bool) -> RunMark {
            RunMark(generation: generation, closed: closed)
        }
        for clean in [false, true] {
            #expect(!follows(clean, nil))
            for closed in [false, true] {
                #expect(!follows(clean, lock(8, closed: closed)))
                #expect(!follows(clean, lock(.max, closed: closed)))
                #expect(follows(clean, lock(7, closed: closed)) == (clean || !closed))
                #expect(follows(clean, lock(6, closed: closed)) == !clean)
                #expect(follows(clean, lock(0, closed: closed)) == !clean)
            }
        }
    }
}
