import SyncCore
import Testing

@testable import Store

/// The revisions of each user that the store keeps beyond the newest of a form.
@Suite("History that a flood of another user does not displace")
struct KeptHistoryTests {
    private let scratch = try? Scratch()

    private static func kept(
        _ perUser: Int, bytesPerUser: Int = 1 << 20, bytes: Int = 1 << 24, busy: Set<UInt32> = []
    ) -> KeptHistory {
        KeptHistory(
            revisionsPerUser: perUser, bytesPerUser: bytesPerUser, bytes: bytes, busy: busy)
    }

    /// Three revisions of uid 1, then 47 of uid 2.
    private func flooded(_ change: (UInt64) -> RevisionRow? = { _ in nil }) throws -> Store {
        let store = try #require(scratch).open().store
        try store.put(.putForm(.sample(revision: 50)), .putForm(.sample(2, revision: 1)))
        for revision in 1...50 as ClosedRange<UInt64> {
            let row = change(revision) ?? .sample(revision, uid: revision <= 3 ? 1 : 2)
            try store.put(.appendRevision(row))
        }
        return store
    }

    private func prune(_ store: Store, through: UInt64, _ kept: KeptHistory) throws {
        try store.put(.pruneRevisions(form: 1, through: through, before: 0, keeping: kept))
    }

    /// The whole history as the engine asks for it, newest first.
    private func history(_ store: Store, form: FormKey = 1) throws -> [UInt64] {
        var found: [UInt64] = []
        var before = UInt64.max
        while case .revisions(let rows) = store.answer(
            .history(form: form, before: before, rowsMax: 4)), let last = rows.last
        {
            found += rows.map(\.revision)
            before = last.revision
        }
        return found
    }

    private func journal(_ store: Store, _ rowsMax: Int, bytesMax: Int = .max) throws -> [UInt64] {
        guard
            case .revisions(let rows) = store.answer(
                .journal(form: 1, rowsMax: rowsMax, bytesMax: bytesMax))
        else { return [] }
        return rows.map(\.revision)
    }

    private static func descending(_ range: ClosedRange<UInt64>) -> [UInt64] {
        range.reversed()
    }

    @Test("the newest revisions of each user are kept, except of a user who is known to have many")
    func newest() throws {
        let store = try flooded()
        try prune(store, through: 40, Self.kept(2))
        #expect(try history(store) == Self.descending(41...50) + [40, 39, 3, 2])
        // A newer revision replaces an older one.
        try prune(store, through: 45, Self.kept(2))
        #expect(try history(store) == Self.descending(46...50) + [45, 44, 3, 2])
        try prune(store, through: 48, Self.kept(1, busy: [2]))
        #expect(try history(store) == [50, 49, 45, 3])
        try prune(store, through: 48, .none)
        #expect(try history(store) == [50, 49])
        try store.close()
    }

    @Test("a watcher from an older revision never gets revisions that are kept beyond the newest")
    func watchers() throws {
        let store = try flooded()
        try prune(store, through: 40, Self.kept(2))
        for from in [1, 2, 3, 39, 40, 41] as [UInt64] {
            let query = StoreQuery.revisions(form: 1, from: from, rowsMax: 3, bytesMax: .max)
            guard case .revisions(let rows) = store.answer(query) else {
                Issue.record("not answered")
                return
            }
            #expect(rows.map(\.revision) == [41, 42, 43])
        }
        #expect(try store.revisions() == Array(41...50))
        try store.close()
    }

    @Test("kept history is bounded in bytes, for each user and in all, newest first")
    func bytes() throws {
        // Each row has 100 bytes and a record of 11.
        let store = try flooded()
        try prune(store, through: 40, Self.kept(9, bytesPerUser: 250))
        #expect(try history(store).dropFirst(10) == [40, 39, 3, 2])
        try prune(store, through: 40, Self.kept(9, bytes: 340))
        #expect(try history(store).dropFirst(10) == [40, 39, 3])
        try prune(store, through: 40, Self.kept(9, bytes: 110))
        #expect(try history(store).count == 10)
        try store.close()
    }

    @Test("a revision that another one undid is removed with it, before, with and after it")
    func takenBack() throws {
        let store = try flooded { revision in
            switch revision {
            // 1 is undone by a neighbour that is removed with it, 2 by a later one, 3 not at all.
            case 20: .sample(20, uid: 2, undoes: 1)
            case 45: .sample(45, uid: 2, undoes: 2)
            default: nil
            }
        }
        try prune(store, through: 40, Self.kept(3, busy: [2]))
        #expect(try history(store).dropFirst(10) == [3, 2])
        try prune(store, through: 46, Self.kept(3, busy: [2]))
        #expect(try history(store).dropFirst(4) == [3])
        try store.close()
    }

    @Test("a journal has the newest of each user first, and nothing that another user undid")
    func journal() throws {
        let store = try flooded { revision in
            switch revision {
            case 44: .sample(44, uid: 2, undoes: 2)
            case 50: .sample(50, uid: 2, undoes: 49)
            default: nil
            }
        }
        #expect(try journal(store, 5) == [50, 3, 49, 1, 48])
        let chain = [(51, 1, 3), (52, 2, 51)] as [(UInt64, UInt32, UInt64)]
        for (revision, uid, undoes) in chain {
            try store.put(.appendRevision(.sample(revision, uid: uid, undoes: undoes)))
        }
        // 51 undid 3, and 52 of another user undid 51, so only 52 remains.
        #expect(try journal(store, 5) == [52, 1, 50, 49, 48])
        try store.put(.appendRevision(.sample(53, uid: 1, undoes: 52)))
        #expect(try journal(store, 5) == [53, 50, 49, 1, 48])
        try store.readable().replaceLog(of: 1, 51...99) { _ in nil }
        try prune(store, through: 40, Self.kept(3, busy: [2]))
        #expect(try journal(store, 5) == [50, 3, 49, 1, 48])
        #expect(try journal(store, 5, bytesMax: 22) == [50, 3])
        #expect(try journal(store, 5, bytesMax: 1) == [50])
        #expect(try journal(store, 500).count == 12)
        try store.close()
    }

    @Test("a journal has a revision that another one undid in part, and the other one first")
    func journalOfParts() throws {
        let store = try flooded { revision in
            switch revision {
            case 44: .sample(44, uid: 2, undoes: 42, isPartialUndo: true)
            case 46: .sample(46, uid: 2, undoes: 43, isPartialUndo: true)
            case 47: .sample(47, uid: 2, undoes: 46)
            case 48: .sample(48, uid: 1, undoes: 2, isPartialUndo: true)
            default: nil
            }
        }
        #expect(try journal(store, 5) == [50, 48, 49, 3, 47])
        // 48, which undid a part of 2, is one of them itself.
        #expect(try journal(store, 9) == [50, 48, 49, 3, 47, 2, 46, 1, 45])
        #expect(try journal(store, 500).count == 50)
        // With fewer of its own it is included because of the other.
        try store.readable().replaceLog(of: 1, 42...43) { row in
            RevisionRow(
                form: 1, revision: row.revision, at: row.at, frame: row.frame, record: row.record,
                uid: 3, undoes: row.undoes, isPartialUndo: row.isPartialUndo)
        }
        #expect(try journal(store, 6) == [46, 44, 50, 48, 43, 49, 42, 3])
        // Beyond the newest of all, the part would not be known.
        try prune(store, through: 49, Self.kept(9))
        #expect(try history(store).contains(42) == false)
        try store.close()
    }

    @Test("kept history survives a restart and a rebuild, and is removed by age and with its form")
    func lives() throws {
        var store = try flooded()
        try store.put(.appendRevision(.sample(1, form: 2, uid: 1)))
        try prune(store, through: 40, Self.kept(2, busy: [2]))
        let all = Self.descending(41...50) + [3, 2]
        #expect(try store.statistics().revisions == 11, "of the newest")
        try store.close()
        store = try #require(scratch).open().store
        #expect(try history(store) == all)
        var image = try store.all()
        image.revisions = []
        _ = try store.rebuild(image)
        #expect(try history(store) == all)
        #expect(try history(store, form: 2) == [1])
        try store.put(.pruneRevisions(form: 1, through: 0, before: 3, keeping: Self.kept(2)))
        #expect(try history(store) == all.dropLast())
        try store.put(.deleteForm(1))
        #expect(try history(store) == [])
        #expect(try store.readable().integer("SELECT count(*) FROM older") == 0)
        try store.close()
    }

    @Test("rows of an earlier schema have no user, and are removed as in that schema")
    func nobody() throws {
        let store = try flooded { $0 <= 20 ? .sample($0) : nil }
        try prune(store, through: 40, Self.kept(2))
        #expect(try history(store).dropFirst(10) == [40, 39])
        try store.close()
    }
}
