import SyncCore
import Testing

@testable import Store

/// Rows of the log whose columns contradict each other. They are told, and never trap.
@Suite("A damaged row of the log")
struct DamagedLogTests {
    private static let damages = [
        "heads = x''", "heads = x'00'", "heads = CAST(heads || x'80' AS BLOB)",
        "heads = substr(heads, 2)", "first = 0", "last = last + 1",
        "content = substr(content, 2)", "content = CAST(content || x'00' AS BLOB)",
        // A revision 0, and a record of nearly 2^64 bytes.
        "heads = x'000001000000', first = 0, last = 0",
        "heads = x'0a0a0000ffffffffffffffffff01', first = 10, last = 10",
    ]

    @Test("reading, pruning and undo fail, and a rebuild leaves it out", arguments: damages)
    func damaged(damage: String) throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample(revision: 30)))
        for first: UInt64 in [1, 11, 21] {
            try store.put((first..<first + 10).map { .appendRevision(.sample($0, uid: 1)) })
        }
        try store.readable().execute("UPDATE log SET \(damage) WHERE first = 11")
        let queries: [StoreQuery] = [
            .revisions(form: 1, from: 1, rowsMax: 99, bytesMax: .max),
            .history(form: 1, before: 99, rowsMax: 99),
            .journal(form: 1, rowsMax: 99, bytesMax: .max),
        ]
        for query in queries {
            guard case .failed(let why) = store.answer(query) else {
                Issue.record("\(query) was answered")
                continue
            }
            #expect(why.contains("log of form 1"), "\(why)")
        }
        let kept = KeptHistory(revisionsPerUser: 5, bytesPerUser: 1 << 20, bytes: 1 << 20)
        #expect(throws: StoreError.self) {
            try store.put(.pruneRevisions(form: 1, through: 15, before: 0, keeping: kept))
        }
        var image = try store.all()
        image.revisions = []
        _ = try store.rebuild(image)
        #expect(try store.revisions() == Array(21...30))
        try store.edit(31)
        #expect(try store.revisions() == Array(21...31))
        try store.close()
    }
}
