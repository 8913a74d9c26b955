import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("What only the log has")
struct UnfoldedTests {
    /// The head of form 1 and the state of its field, as the tables have them.
    private func tables(_ store: Store) throws -> String {
        try store.readable().text(
            """
            SELECT (SELECT revision FROM head WHERE form = 1) || ' ' ||
            coalesce((SELECT hex(state) FROM field WHERE form = 1), 'none')
            """)
    }

    private func unfolded(_ store: Store) throws -> Int { try store.readable().countUnfolded() }

    /// A store with one form and three edits.
    private func edited(
        _ scratch: Scratch, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws -> Store {
        let store = try scratch.open(change).store
        try store.put(.putForm(.sample()))
        for revision: UInt64 in 1...3 { try store.edit(revision) }
        return store
    }

    @Test("an edit is read before it is folded, and a start after a kill writes nothing")
    func start() throws {
        let scratch = try Scratch()
        let first = try edited(scratch)
        #expect(try tables(first) == "0 none")
        let before = try first.all()
        #expect(before.forms[0].revision == 3 && before.forms[0].context == [3])
        #expect(before.fields.map(\.state) == [[3]] && before.clock == [3])
        try first.close(clean: false)
        let files = try [scratch.bytes(scratch.database), scratch.bytes(scratch.wal)]
        let second = try scratch.open { $0.finishesOpeningLater = true }.store
        #expect(try second.all() == before)
        #expect(try [scratch.bytes(scratch.database), scratch.bytes(scratch.wal)] == files)
        #expect(try unfolded(second) == 3)
        try second.edit(4)
        #expect(try second.all().forms[0].revision == 4)
        try second.close()
        let third = try scratch.open().store
        #expect(try unfolded(third) == 0 && tables(third) == "4 04")
        try third.close()
    }

    @Test(
        "is left in the log when only revisions that are folded leave the history",
        arguments: [
            (2, 0, 2, [3, 4, 5]), (0, 3, 2, [3, 4, 5]), (3, 4, 2, [4, 5]), (4, 0, 0, [5]),
            (0, 5, 0, [5]), (5, 0, 0, []), (0, 6, 0, []),
        ] as [(UInt64, Int64, Int, [UInt64])])
    func prunes(through: UInt64, before: Int64, left: Int, stay: [UInt64]) throws {
        let scratch = try Scratch()
        let store = try edited(scratch)
        try store.put(.putClock([9]))
        try store.edit(4)
        try store.put(
            .putHead(form: 1, revision: 5, context: [5]),
            .putField(FieldRow(form: 1, field: "flavor", state: [5])),
            .appendRevision(.sample(5)),
            .pruneRevisions(form: 1, through: through, before: before, keeping: .none))
        #expect(try unfolded(store) == left)
        #expect(try store.revisions() == stay)
        try store.close(clean: false)
        let next = try scratch.open().store
        let image = try next.all()
        #expect(image.forms[0].revision == 5 && image.fields.map(\.state) == [[5]])
        #expect(image.revisions.map(\.revision) == stay)
        try next.close()
    }

    @Test(
        "is folded by a batch that changes more than edits do",
        arguments: [
            [.putForm(.sample(2))], [.deleteForm(44)], [.removeField(form: 1, field: "none")],
            [.redactRevision(form: 1, revision: 2, frame: [])], [.putClock([9])],
            [.pruneRevisions(form: 1, through: 3, before: 0, keeping: .none)],
            [.putField(FieldRow(form: 1, field: "flavor", state: [3]))],
            [.putHead(form: 1, revision: 3, context: [3])],
        ] as [[StoreOperation]])
    func folds(batch: [StoreOperation]) throws {
        let scratch = try Scratch()
        let store = try edited(scratch)
        try store.put(batch)
        #expect(try unfolded(store) == 0)
        #expect(try tables(store) == "3 03")
        // Numbers of rows that were removed may be used again.
        try store.edit(4)
        try store.close(clean: false)
        let next = try scratch.open().store
        #expect(try next.all().forms[0].revision == 4)
        #expect(try next.all().fields.map(\.state) == [[4]])
        try next.close()
    }

    @Test("is bounded, and upkeep folds it before")
    func bounded() throws {
        let scratch = try Scratch()
        let store = try edited(scratch) { $0.unfoldedMax = 8 }
        #expect(!store.maintenanceDue)
        try store.edit(4)
        #expect(store.maintenanceDue)
        try store.maintain()
        #expect(try unfolded(store) == 0 && tables(store) == "4 04")
        #expect(!store.maintenanceDue)
        for revision: UInt64 in 5...40 {
            try store.edit(revision)
            #expect(try unfolded(store) <= 8)
        }
        try store.put((41...60).map { .appendRevision(.sample($0)) })
        #expect(try unfolded(store) == 0)
        try store.close(clean: false)
        #expect(try scratch.open().store.unfolded == 0)
    }

    @Test(
        "a commit without space leaves it, and a rebuild takes its place", arguments: [true, false])
    func rebuilt(isFull: Bool) throws {
        let scratch = try Scratch()
        let store = try edited(scratch)
        var image = try store.all()
        image.revisions = []
        image.fields[0] = FieldRow(form: 1, field: "flavor", state: [77])
        store.isDiskFull = isFull
        _ = try store.rebuild(image)
        #expect(try unfolded(store) == 0)
        try store.close(clean: false)
        let next = try scratch.open().store
        #expect(try next.all().fields.map(\.state) == [[77]])
        #expect(try next.revisions() == [1, 2, 3])
        try next.close()
    }

    @Test("a backup has it")
    func backup() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        let store = try edited(scratch)
        let copy = try Scratch()
        try store.backup(to: copy.database)
        #expect(try tables(store) == "0 none")
        try store.close()
        _ = try Store.restore(from: copy.database, directory: other.path)
        let restored = try other.open().store
        #expect(try restored.all().forms[0].revision == 3)
        #expect(try restored.all().fields.map(\.state) == [[3]])
        try restored.close()
    }

    @Test(
        "that is damaged is told by a start and by a check, and the file is kept",
        arguments: ["x''", "x'ff'", "CAST(state || x'00' AS BLOB)", "substr(state, 2)"])
    func damaged(state: String) throws {
        let scratch = try Scratch()
        let store = try edited(scratch)
        try store.readable().execute("UPDATE log SET state = \(state) WHERE last = 2")
        try store.close(clean: false)
        #expect(throws: StoreError.self) { try Store.examine(directory: scratch.path) }
        let opened = try scratch.open().store
        #expect(throws: StoreError.self) { try opened.all() }
        #expect(try scratch.names("pickersync.db.damaged").isEmpty == false)
        try opened.close(clean: false)
    }

    @Test("a store of the sixth schema is read, and more is appended")
    func upgrade() throws {
        let scratch = try Scratch()
        let store = try edited(scratch)
        // As the sixth schema had them: revisions that are not packed, without a column.
        let database = try store.readable()
        try store.put(.putClock([3]))
        try database.execute("DELETE FROM log")
        let frame = RevisionRow.sample(1).frame
        let heads: [UInt8] = [1, 2, 0, 0, UInt8(frame.count), 2, 2, 4, 0, 0, UInt8(frame.count), 2]
        let hex = { (bytes: [UInt8]) in
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let content = frame + [123, 125] + RevisionRow.sample(2).frame + [91, 93]
        try database.execute(
            """
            INSERT INTO log (form, first, last, at, heads, content)
            VALUES (1, 1, 2, 2, x'\(hex(heads))', x'\(hex(content))');
            UPDATE head SET revision = 0 WHERE form = 0;
            UPDATE head SET revision = 2 WHERE form = 1;
            ALTER TABLE log DROP COLUMN state; PRAGMA user_version = 6;
            """)
        try store.close(clean: false)
        let next = try scratch.open().store
        let image = try next.all()
        #expect(image.forms[0].revision == 2 && image.clock == [3])
        #expect(image.revisions.map(\.frame) == [frame, RevisionRow.sample(2).frame])
        #expect(image.revisions.map(\.record) == [[123, 125], [91, 93]])
        try next.edit(3)
        try next.put(.pruneRevisions(form: 1, through: 1, before: 0, keeping: .none))
        #expect(try next.revisions() == [2, 3])
        try next.close()
        #expect(try Store.examine(directory: scratch.path)?.schema == Schema.current.version)
    }
}
