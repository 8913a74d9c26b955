import SyncCore
import Testing

@testable import Store

@Suite("Migrations, retention and size")
struct UpkeepTests {
    private func open(
        _ scratch: Scratch, _ steps: [Schema.Step]
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        try Store.open(
            directory: scratch.path, options: StoreOptions(), schema: Schema(steps: steps))
    }

    @Test("an older file is migrated once, and keeps its rows and its replica")
    func migrates() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close()
        let steps =
            Schema.current.steps + [
                .sql("ALTER TABLE head ADD COLUMN note TEXT NOT NULL DEFAULT 'x'"),
                .sql("UPDATE head SET note = note || 'y'"),
            ]
        for _ in 0..<2 {
            let opened = try open(scratch, steps)
            #expect(opened.opening.replica == first.opening.replica)
            #expect(try opened.store.all().forms == [.sample()])
            let note = try opened.store.readable().text("SELECT note FROM head")
            #expect(note == "xy")
            try opened.store.close()
        }
    }

    @Test("a migration that fails leaves the file at the version before it")
    func failingStep() throws {
        let scratch = try Scratch()
        try scratch.open().store.close()
        let good = Schema.Step.sql("CREATE TABLE extra (x INTEGER) STRICT")
        let bad = Schema.Step.sql(
            "INSERT INTO extra VALUES (1); INSERT INTO extra VALUES ('text')")
        #expect(throws: StoreError.self) { try open(scratch, Schema.current.steps + [good, bad]) }
        let opened = try open(scratch, Schema.current.steps + [good])
        let database = try opened.store.readable()
        #expect(
            try database.integer("PRAGMA user_version") == Int64(Schema.current.version + 1))
        #expect(try database.integer("SELECT count(*) FROM extra") == 0)
        try opened.store.close()
    }

    @Test("a newer file is refused with both versions, and not changed")
    func newer() throws {
        let scratch = try Scratch()
        try open(scratch, Schema.current.steps + [.sql("SELECT 1")]).store.close()
        let bytes = try scratch.bytes(scratch.database)
        let file = try POSIX.resolve(scratch.database)
        let known = Schema.current.version
        let error = StoreError.newer(
            file: file, found: known + 1, known: known, writer: "pickersyncd \(Version.current)")
        #expect(throws: error) { try scratch.open() }
        #expect(error.description.contains("schema \(known + 1)"))
        #expect(error.description.contains("pickersyncd \(Version.current)"))
        #expect(error.description.contains("--restore"))
        #expect(try scratch.bytes(scratch.database) == bytes)
    }

    @Test("the file is durable, ours, and bounded by its settings")
    func settings() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        let database = try store.readable()
        #expect(try database.text("PRAGMA journal_mode") == "wal")
        #expect(try database.integer("PRAGMA synchronous") == 2)
        #expect(try database.integer("PRAGMA auto_vacuum") == 2)
        #expect(try database.integer("PRAGMA application_id") == 0x504b_5359)
        #expect(try database.integer("PRAGMA user_version") == Int64(Schema.current.version))
        try store.close()
    }

    @Test("pruning removes the oldest revisions, by number and by age, without gaps")
    func prunesRevisions() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample(1)), .putForm(.sample(2)))
        // The clock was set back: 5 is older than 4.
        for (number, at) in [(1, 10), (2, 20), (3, 30), (4, 60), (5, 40), (6, 70)] {
            try store.put(
                .appendRevision(.sample(UInt64(number), form: 1, at: Int64(at))),
                .appendRevision(.sample(UInt64(number), form: 2, at: Int64(at))))
        }
        try store.put(.pruneRevisions(form: 1, through: 1, before: 0, keeping: .none))
        #expect(try store.revisions() == [2, 3, 4, 5, 6])
        try store.put(.pruneRevisions(form: 1, through: 0, before: 50, keeping: .none))
        #expect(try store.revisions() == [4, 5, 6])
        #expect(try store.revisions(form: 2) == [1, 2, 3, 4, 5, 6])
        try store.put(.pruneRevisions(form: 2, through: 0, before: .max, keeping: .none))
        #expect(try store.revisions(form: 2).isEmpty)
        #expect(try store.statistics().revisions == 3)
        try store.put(.pruneRevisions(form: 1, through: .max, before: 0, keeping: .none))
        #expect(try store.statistics().revisions == 0)
        try store.close()
    }

    @Test("pruning removes all keys that are older than the given time")
    func prunesKeys() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(
            .putKey(.sample("a", at: 5)), .putKey(.sample("b", at: 3)),
            .putKey(.sample("c", at: 4)), .pruneKeys(before: 4))
        #expect(try store.all().keys.map(\.key) == ["a", "c"])
        try store.close()
    }

    @Test("a store with a retention does not grow with the number of edits")
    func bounded() throws {
        let scratch = try Scratch()
        let store = try scratch.open { $0.checkpointPages = 50 }.store
        try store.put(.putForm(.sample()))
        var half = 0
        for revision in 1...1_000 as ClosedRange<UInt64> {
            _ = try store.commit(
                Batch(
                    number: revision,
                    operations: [
                        .putHead(form: 1, revision: revision, context: []),
                        .appendRevision(.sample(revision, bytes: 500)),
                        .pruneRevisions(
                            form: 1, through: revision - min(revision, 50), before: 0,
                            keeping: .none),
                        .putKey(.sample("k\(revision)", at: Int64(revision))),
                        .pruneKeys(before: Int64(revision) - 50),
                    ]))
            if store.maintenanceDue { try store.maintain() }
            if revision == 500 { half = try store.statistics().pages }
        }
        let statistics = try store.statistics()
        #expect(statistics.revisions == 50)
        #expect(statistics.pages <= half + half / 4)
        #expect(statistics.walBytes < 8 * 51 * 4_200)
        try store.close()
    }

    @Test("the write-ahead log is bounded even without upkeep")
    func unmaintained() throws {
        let scratch = try Scratch()
        let store = try scratch.open { $0.checkpointPages = 10 }.store
        try store.put(.putForm(.sample()))
        for revision in 1...300 as ClosedRange<UInt64> { try store.edit(revision) }
        #expect(try store.statistics().walBytes < 120 * 4_200)
        try store.close()
    }

    @Test("pages of deleted rows are returned to the file system, a few at a time")
    func shrinks() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        try store.put((1...1_500).map { .appendRevision(.sample($0, bytes: 3_000)) })
        try store.maintainAll()
        let full = try store.statistics()
        #expect(full.pages > 1_100)
        try store.put(.deleteForm(1))
        #expect(store.maintenanceDue)
        try store.maintainAll()
        try store.maintainAll()
        let after = try store.statistics()
        #expect(after.pages < full.pages * 2 / 3)
        #expect(after.bytes < full.bytes * 2 / 3)
        #expect(!store.maintenanceDue)
        try store.close()
    }
}
