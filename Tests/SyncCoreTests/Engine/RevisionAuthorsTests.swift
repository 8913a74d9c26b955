import Testing

@testable import SyncCore

@Suite("Authors of the newest revisions")
struct RevisionAuthorsTests {
    private func noted(_ authors: [UInt32?], length: Int = 3) -> RevisionAuthors {
        var noted = RevisionAuthors()
        for (place, uid) in authors.enumerated() {
            noted.note(uid, of: UInt64(place + 1), runLength: length)
        }
        return noted
    }

    @Test("a user with a complete run above a revision is busy, also if others edit in between")
    func busy() {
        var authors = noted([1, 2, nil, 1, 2, 1, nil, 2, 3, 3])
        #expect(authors.busy(after: 0) == [1, 2])
        #expect(authors.busy(after: 1) == [2], "1 has two above it")
        #expect(authors.busy(after: 2) == [])
    }

    @Test("the newest complete run counts; one that began before is forgotten with its author")
    func runs() {
        var authors = noted([1, 1, 1, 1, 1, 1, 2, 2, 3])
        #expect(authors.busy(after: 3) == [1])
        #expect(authors.busy(after: 7) == [])
        authors.note(2, of: 10, runLength: 3)
        #expect(authors.busy(after: 6) == [], "the count of 2 began again")
    }
}
