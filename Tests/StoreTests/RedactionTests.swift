import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("Redaction")
struct RedactionTests {
    /// Whether a file of the store contains the text.
    private func contains(_ text: String, _ scratch: Scratch) throws -> Bool {
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
            let path = scratch.path + "/" + name
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            if bytes.range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    @Test("what a revision said is in no file, neither in free pages nor in the log")
    func bytes() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        // Of several sizes, so that some rows have pages of their own.
        for revision: UInt64 in 1...60 {
            let secret = revision == 30 ? "hunter2 " : "harmless"
            var row = RevisionRow.sample(revision, uid: 1000)
            row.frame = Array(String(repeating: secret, count: Int(revision) * 20).utf8)
            try store.put(.appendRevision(row))
        }
        try store.maintain()
        // Older ones move to another table, and their pages become free.
        let kept = KeptHistory(revisionsPerUser: 100, bytesPerUser: .max, bytes: .max)
        try store.put(.pruneRevisions(form: 1, through: 40, before: 0, keeping: kept))
        #expect(try contains("hunter2", scratch))
        try store.put(
            .redactRevision(form: 1, revision: 30, frame: Array("redacted".utf8)))
        #expect(try !contains("hunter2", scratch))
        let query = StoreQuery.history(form: 1, before: 31, rowsMax: 1)
        guard case .revisions(let rows) = store.answer(query) else {
            Issue.record("no rows")
            return
        }
        #expect(rows.first?.revision == 30)
        #expect(rows.first?.frame == Array("redacted".utf8))
        try store.close()
        #expect(try !contains("hunter2", scratch))
    }

    @Test("a message is overwritten among others of one batch, before and after some are pruned")
    func amongOthers() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        func row(_ revision: UInt64) -> RevisionRow {
            var row = RevisionRow.sample(revision, uid: 1000)
            row.frame = Array((revision % 10 == 7 ? "hunter\(revision);" : "harmless;").utf8)
            return row
        }
        try store.put((1...40).map { .appendRevision(row($0)) })
        for revision: UInt64 in [7, 27] {
            if revision == 27 {
                try store.put(.pruneRevisions(form: 1, through: 20, before: 0, keeping: .none))
            }
            #expect(try contains("hunter\(revision);", scratch))
            try store.put(
                .redactRevision(form: 1, revision: revision, frame: Array("redacted".utf8)))
            #expect(try !contains("hunter\(revision);", scratch))
        }
        #expect(try store.revisions() == Array(21...40))
        #expect(
            try store.all().revisions.map { String(decoding: $0.frame, as: UTF8.self) }
                == (21...40).map { $0 == 27 ? "redacted" : $0 == 37 ? "hunter37;" : "harmless;" })
        try store.close()
    }
}
