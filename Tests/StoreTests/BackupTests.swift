import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("Backups, and stores of earlier schemas")
struct BackupTests {
    private func filled(_ scratch: Scratch) throws -> Store {
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        for revision in 1...50 as ClosedRange<UInt64> { try store.edit(revision) }
        return store
    }

    /// Reads a whole backup in pieces of this many bytes.
    private func read(_ store: Store, piece: Int) throws -> [UInt8] {
        guard case .backup(let number, let bytes) = store.answer(.backup) else {
            throw CocoaError(.fileReadUnknown)
        }
        var got: [UInt8] = []
        while got.count < bytes {
            let query = StoreQuery.backupPiece(number, offset: Int64(got.count), bytesMax: piece)
            guard case .backupPiece(let part?) = store.answer(query), !part.isEmpty else {
                throw CocoaError(.fileReadUnknown)
            }
            got += part
        }
        return got
    }

    @Test("a backup that is read in pieces is the store at one moment, and leaves no file behind")
    func pieces() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let before = try scratch.names()
        let copy = try read(store, piece: 1_000)
        #expect(try scratch.names() == before)
        guard case .backup(let number, _) = store.answer(.backup) else {
            Issue.record("no copy")
            return
        }
        try store.edit(51)
        // Later commits are not in it. Another backup ends it.
        let query = StoreQuery.backupPiece(number, offset: 0, bytesMax: 100)
        guard case .backupPiece(_?) = store.answer(query) else {
            Issue.record("the copy is gone")
            return
        }
        _ = store.answer(.backup)
        #expect(store.answer(query) == .backupPiece(nil))
        _ = store.answer(.backupEnd(number + 1))
        #expect(
            store.answer(.backupPiece(number + 1, offset: 0, bytesMax: 1)) == .backupPiece(nil))
        try store.close()
        let other = try Scratch()
        try other.write(other.database, copy)
        let opened = try other.open()
        #expect(opened.opening.replicaChange == .copied)
        #expect(try opened.store.revisions() == Array(1...50))
        try opened.store.close()
    }

    @Test("a restore takes the backup's rows, preserves the old files, and issues no dot twice")
    func restore() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let backup = scratch.path + "/backup"
        try store.backup(to: backup)
        try store.edit(51)
        #expect(throws: StoreError.self) {
            try Store.restore(from: backup, directory: scratch.path)
        }
        let log = try store.all().forms[0].log
        let first = store.replica
        try store.close()
        var replicas: Set<ReplicaID> = [first]
        for _ in 0..<2 {
            let found = try Store.restore(from: backup, directory: scratch.path)
            #expect(found.revisions == 50)
            #expect(found.forms == 1)
            #expect(try scratch.names("pickersync.db.failed").isEmpty == false)
            let opened = try scratch.open()
            #expect(opened.opening.newLogs)
            #expect(replicas.insert(opened.opening.replica).inserted)
            #expect(try opened.store.revisions() == Array(1...50))
            #expect(try opened.store.all().forms[0].log != log)
            try opened.store.close()
        }
        #expect(try scratch.bytes(backup).count > 0)
    }

    @Test("a file that is not a valid store is not restored, and the old store stays")
    func refusedRestore() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let backup = scratch.path + "/backup"
        try store.backup(to: backup)
        try store.close()
        let good = try scratch.bytes(backup)
        var torn = good
        torn.replaceSubrange(4_096..<12_288, with: [UInt8](repeating: 0x5a, count: 8_192))
        var newer = good
        // user_version (SQLite file format, section 1.3).
        newer.replaceSubrange(60..<64, with: [0, 0, 0, 99])
        for bytes in [[], Array("no database".utf8), torn, Array(good.prefix(5_000)), newer] {
            try scratch.write(scratch.path + "/bad", bytes)
            #expect(throws: StoreError.self) {
                try Store.restore(from: scratch.path + "/bad", directory: scratch.path)
            }
        }
        #expect(throws: StoreError.self) {
            try Store.restore(from: scratch.path + "/none", directory: scratch.path)
        }
        #expect(try scratch.names("pickersync.db.").isEmpty)
        let opened = try scratch.open()
        #expect(opened.opening.replicaChange == nil)
        #expect(try opened.store.revisions() == Array(1...50))
        try opened.store.close()
    }

    @Test("a store of the first schema is migrated with all its rows")
    func upgrade() throws {
        let scratch = try Scratch()
        let bytes = try fixture(1)
        try scratch.write(scratch.database, bytes)
        let seen = try #require(try Store.examine(directory: scratch.path))
        #expect(seen.schema == 1)
        #expect(seen.currentSchema == Schema.current.version)
        #expect(try scratch.bytes(scratch.database) == bytes)
        let store = try scratch.open().store
        let database = try store.readable()
        #expect(try database.integer("PRAGMA user_version") == Int64(Schema.current.version))
        let image = try store.all()
        #expect(image.forms.map(\.name) == ["ice-cream"])
        #expect(image.forms[0].revision == 5)
        #expect(
            image.fields.map(\.field)
                == ["cone", "flavor", "scoops", "suggestion", "summary", "topping"])
        #expect(image.revisions.map(\.revision) == [1, 2, 3, 4, 5])
        #expect(image.keys.count == 5)
        try store.close()
        #expect(try Store.examine(directory: scratch.path)?.schema == Schema.current.version)
    }

    private func fixture(_ schema: Int) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return [UInt8](
            try Data(contentsOf: folder.appending(path: "Fixtures/schema-\(schema).db")))
    }

    @Test("history of the second schema is read, undone, extended and pruned")
    func upgradeOfHistory() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.database, fixture(2))
        #expect(try Store.examine(directory: scratch.path)?.revisions == 5)
        let store = try scratch.open().store
        let rows = try store.all().revisions
        #expect(rows.map(\.revision) == [1, 2, 3, 4, 5])
        #expect(rows.allSatisfy { $0.uid == nil && $0.undoes == nil && !$0.record.isEmpty })
        let query = StoreQuery.journal(form: 1, rowsMax: 500, bytesMax: .max)
        guard case .revisions(let journal) = store.answer(query) else {
            Issue.record("no journal")
            return
        }
        #expect(journal.map(\.revision) == [5, 4, 3, 2, 1])
        #expect(journal.map(\.record) == rows.reversed().map(\.record))
        let added = RevisionRow.sample(6, uid: 1000, undoes: 5)
        try store.put(
            .putHead(form: 1, revision: 6, context: []), .appendRevision(added),
            .pruneRevisions(
                form: 1, through: 5, before: 0,
                keeping: KeptHistory(revisionsPerUser: 9, bytesPerUser: 1 << 20, bytes: 1 << 20)))
        #expect(try store.all().revisions == [added])
        try store.close()
    }

    @Test(
        "the third schema's history keeps its users and what was taken back, and the clock goes on")
    func upgradeOfClusteredHistory() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.database, fixture(3))
        #expect(try Store.examine(directory: scratch.path)?.revisions == 3)
        var store = try scratch.open().store
        let image = try store.all()
        #expect(image.clock.count == 8, "it must not go back")
        #expect(image.forms.map(\.key) == [1] && image.forms[0].revision == 3)
        #expect(image.keys.count == 3)
        let rows = image.revisions
        #expect(rows.map(\.revision) == [1, 2, 3])
        #expect(rows.map(\.uid) == [0, 0, 0])
        #expect(rows.map(\.undoes) == [nil, nil, 2])
        #expect(rows.map(\.isPartialUndo) == [false, false, true])
        #expect(rows.allSatisfy { $0.frame.count > 500 && $0.record.count > 100 })
        try store.put(
            .putHead(form: 1, revision: 4, context: []), .appendRevision(.sample(4)),
            .putClock([1, 2, 3]))
        try store.close()
        store = try scratch.open().store
        #expect(try store.all().revisions == rows + [.sample(4)])
        #expect(try store.all().clock == [1, 2, 3])
        let query = StoreQuery.revisions(form: 1, from: 3, rowsMax: 9, bytesMax: .max)
        #expect(store.answer(query) == .revisions([rows[2], .sample(4)]))
        try store.close()
    }

    @Test("the fourth schema's rows are all there, and what forms have under way can be written")
    func upgradeWithoutOngoing() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.database, fixture(4))
        #expect(try Store.examine(directory: scratch.path)?.schema == 4)
        var store = try scratch.open().store
        let image = try store.all()
        #expect(image.forms.map(\.name) == ["ice-cream"] && image.forms[0].revision == 4)
        #expect(image.fields.count == 6 && image.keys.count == 3 && image.ongoing.isEmpty)
        #expect(image.revisions.map(\.undoes) == [nil, nil, nil, 3])
        let row = OngoingRow(form: 1, name: OngoingName(kind: "run", id: "go"), state: [7])
        try store.put(.putOngoing(row))
        try store.close()
        store = try scratch.open().store
        var expected = image
        expected.ongoing = [row]
        #expect(try store.all() == expected)
        try store.close()
    }

    @Test("the fifth schema's revisions are read and counted, and more are appended")
    func upgradeToTheLog() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.database, fixture(5))
        #expect(try Store.examine(directory: scratch.path)?.revisions == 6)
        var store = try scratch.open().store
        let image = try store.all()
        #expect(image.forms.map(\.revision) == [4, 2])
        #expect(image.revisions.map(\.revision) == [1, 2, 3, 4, 1, 2])
        #expect(image.revisions.map(\.undoes) == [nil, nil, nil, 3, nil, nil])
        #expect(image.revisions.allSatisfy { $0.uid == 0 && $0.frame.count > 300 })
        #expect(try store.readable().integer("SELECT count(*) FROM log") == 2)
        try store.put(
            .putHead(form: 1, revision: 6, context: []), .appendRevision(.sample(5)),
            .appendRevision(.sample(6)))
        #expect(try store.readable().integer("SELECT count(*) FROM log") == 3)
        try store.close()
        store = try scratch.open().store
        #expect(try store.revisions() == [1, 2, 3, 4, 5, 6])
        #expect(try store.statistics().revisions == 8)
        try store.close()
        #expect(try Store.examine(directory: scratch.path)?.revisions == 8)
    }

    @Test("thousands of revisions of the fifth schema become rows of a bounded size")
    func upgradeOfManyRevisions() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.database, fixture(5))
        let old = try Database(opening: POSIX.resolve(scratch.database))
        try old.execute("DELETE FROM revision")
        for (form, count) in [(1, 3_000), (2, 7)] {
            try old.execute(
                """
                WITH RECURSIVE number(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number
                LIMIT \(count)) INSERT INTO revision (form, revision, at, uid, back, frame, record)
                SELECT \(form), n, n, n % 3, NULL, CAST(printf('%0300d', n) AS BLOB),
                CAST('{}' AS BLOB) FROM number
                """)
        }
        old.close(checkpointing: true)
        let store = try scratch.open().store
        let rows = try store.all().revisions
        #expect(rows.map(\.revision) == Array(1...3_000) + Array(1...7))
        #expect(rows[2_999].frame == Array((String(repeating: "0", count: 296) + "3000").utf8))
        #expect(rows[2_999].uid == 0 && rows[2_999].at == 3_000 && rows[2_999].undoes == nil)
        let database = try store.readable()
        let most = try database.integer("SELECT max(length(content)) FROM log")
        #expect(most <= LogRow.bytesMax / 10, "they differ in few digits")
        // Every row but the last of a form is nearly full.
        let rowsOfOne = LogRow.bytesMax / 302
        #expect(try database.integer("SELECT max(last - first + 1) FROM log") == rowsOfOne)
        #expect(try database.integer("SELECT count(*) FROM log") == 3_000 / rowsOfOne + 2)
        try store.close()
    }

    @Test("a check changes nothing, after a clean stop and after a kill")
    func examination() throws {
        let scratch = try Scratch()
        let none = try Store.examine(directory: scratch.path)
        #expect(none == nil)
        let store = try filled(scratch)
        #expect(throws: StoreError.self) { try Store.examine(directory: scratch.path) }
        try store.close(clean: false)
        var before: [String: [UInt8]] = [:]
        for name in try scratch.names() {
            before[name] = try scratch.bytes(scratch.path + "/" + name)
        }
        let found = try #require(try Store.examine(directory: scratch.path))
        #expect(!found.wasClosed)
        #expect(found.revisions == 50)
        for name in try scratch.names() {
            #expect(try before[name] == scratch.bytes(scratch.path + "/" + name), "\(name)")
        }
        try scratch.open().store.close()
        #expect(try Store.examine(directory: scratch.path)?.wasClosed == true)
    }

    @Test("a disk without space for the state is noticed before anything is written")
    func noRoom() throws {
        let scratch = try Scratch()
        let files = try StoreFiles(preparing: scratch.path)
        try files.requireSpace(1 << 20)
        #expect(throws: StoreError.self) { try files.requireSpace(1 << 60) }
        #expect(try scratch.names().isEmpty)
    }
}
