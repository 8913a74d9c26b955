import SyncCore
import Testing

@testable import Store

@Suite("A failure of one form in a batch")
struct FormFailureTests {
    private func steps(_ revision: UInt64, form: FormKey) -> [StoreOperation] {
        [
            .putHead(form: form, revision: revision, context: []),
            .putField(FieldRow(form: form, field: "flavor", state: [UInt8(form)])),
            .appendRevision(.sample(revision, form: form)),
            .putKey(.sample("key-\(form)"), of: form),
        ]
    }

    private func commit(
        _ operations: [StoreOperation], to store: Store
    ) throws -> [FormFailure] {
        try store.commit(Batch(number: 1, operations: operations))
    }

    @Test("excludes the whole form and its keys; the others are durable in the same file")
    func leftOut() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample(1)), .putForm(.sample(2)), .putForm(.sample(3)))
        try store.edit(1, form: 2)
        let replica = store.replica
        // A revision that exists already; a form that does not exist.
        let failures = try commit(
            steps(1, form: 1)
                + [.putField(FieldRow(form: 2, field: "other", state: [7]))]
                + steps(1, form: 2) + steps(1, form: 44) + steps(1, form: 3)
                + [.putClock([9])], to: store)
        #expect(failures.map(\.form) == [2, 44])
        #expect(failures.last?.reason == "a revision of form 44, which does not exist")
        #expect(store.replica == replica)
        #expect(try store.answer(.key(uid: 1000, key: "key-2")) == .key(nil))
        #expect(try store.answer(.key(uid: 1000, key: "key-3")) != .key(nil))
        try store.close()
        let image = try scratch.open().store.all()
        #expect(image.forms.map(\.revision) == [1, 1, 1])
        #expect(image.fields.map { [UInt8($0.form)] + $0.state } == [[1, 1], [2, 1], [3, 3]])
        #expect(image.revisions.map(\.form) == [1, 2, 3])
        #expect(image.clock == [9])
    }

    @Test("after it the store accepts the next batch, and the next start continues its logs")
    func goesOn() throws {
        let scratch = try Scratch()
        let (store, opening) = try scratch.open()
        try store.put(.putForm(.sample(1)))
        #expect(try commit(steps(1, form: 44), to: store).count == 1)
        try store.edit(1)
        try store.close()
        let next = try scratch.open()
        #expect(next.opening.replica == opening.replica)
        #expect(next.opening.condition == .clean)
        #expect(try next.store.revisions() == [1])
    }

    @Test("of edits that were answered before they were durable causes new logs at the next start")
    func toldEarly() throws {
        let scratch = try Scratch()
        let (store, opening) = try scratch.open { $0.everyEditDurable = false }
        try store.put(.putForm(.sample(1)))
        #expect(try commit(steps(1, form: 44), to: store).count == 1)
        try store.close()
        let next = try scratch.open { $0.everyEditDurable = false }
        #expect(next.opening.replicaChange == .editsLost)
        #expect(next.opening.replica != opening.replica)
    }
}
