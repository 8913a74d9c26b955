import SyncCore
import TestKit
import Testing

@testable import Store

@Suite("Committed rows are read again")
struct RoundTripTests {
    @Test("a new store is empty")
    func empty() throws {
        let scratch = try Scratch()
        let (store, opening) = try scratch.open()
        #expect(opening.condition == .created)
        let image = try store.all()
        #expect(image.forms.isEmpty && image.fields.isEmpty && image.revisions.isEmpty)
        #expect(image.keys.isEmpty && image.clock.isEmpty)
        try store.close()
    }

    @Test("every column of every row survives a restart, at the ends of its range")
    func everyColumn() throws {
        let scratch = try Scratch()
        let form = FormRow(
            key: .max, name: "ü\u{0}x", log: "", owner: .max, version: UInt64(Int64.max),
            revision: 7, definition: [], applied: [0, 255], context: [1])
        let field = FieldRow(form: .max, field: "Fe_-ld", state: [0, 0, 0])
        let ongoing = OngoingRow(
            form: .max, name: OngoingName(kind: "run", id: "go:é"), state: [0, 1, 0])
        let revision = RevisionRow(form: .max, revision: 7, at: .min, frame: [0], record: [])
        let key = KeyRow(uid: .max, key: "é", at: .max, digest: .max, result: [9])
        do {
            let store = try scratch.open().store
            try store.put(
                .putForm(form), .putField(field), .putOngoing(ongoing), .appendRevision(revision),
                .putKey(key), .putClock([4, 2]))
            try store.close()
        }
        let store = try scratch.open().store
        let image = try store.all()
        #expect(image.forms == [form])
        #expect(image.fields == [field])
        #expect(image.ongoing == [ongoing])
        #expect(image.revisions == [revision])
        #expect(image.keys == [KeyDigest(uid: .max, key: "é", at: .max)])
        #expect(image.clock == [4, 2])
        #expect(store.answer(.key(uid: .max, key: "é")) == .key(key))
        try store.close()
    }

    @Test("a form is replaced, moved and deleted with all its rows, and no others")
    func formLife() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample(1)), .putForm(.sample(2)))
        try store.edit(1, form: 1)
        try store.edit(1, form: 2)
        try store.put(.putForm(.sample(1, name: "renamed", revision: 1)))
        #expect(try store.all().forms.map(\.name) == ["renamed", "form-2"])
        try store.put(.deleteForm(1))
        let image = try store.all()
        #expect(image.forms.map(\.key) == [2])
        #expect(image.fields.map(\.form) == [2])
        #expect(image.revisions.map(\.form) == [2])
        try store.put(.removeField(form: 2, field: "flavor"))
        #expect(try store.all().fields.isEmpty)
        try store.close()
    }

    @Test("what a form has under way is replaced, removed, and deleted with the form")
    func ongoing() throws {
        func row(_ form: FormKey, _ kind: String, _ id: String, _ state: UInt8) -> OngoingRow {
            OngoingRow(form: form, name: OngoingName(kind: kind, id: id), state: [state])
        }
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(
            .putForm(.sample(1)), .putForm(.sample(2)), .putOngoing(row(1, "run", "b", 1)),
            .putOngoing(row(1, "run", "a", 2)), .putOngoing(row(1, "proposal", "b", 3)),
            .putOngoing(row(2, "run", "b", 4)), .putOngoing(row(1, "run", "b", 5)))
        #expect(
            try store.all().ongoing == [
                row(1, "proposal", "b", 3), row(1, "run", "a", 2), row(1, "run", "b", 5),
                row(2, "run", "b", 4),
            ])
        let gone = OngoingName(kind: "run", id: "a")
        try store.put(
            .removeOngoing(form: 1, name: gone), .removeOngoing(form: 2, name: gone))
        #expect(try store.all().ongoing.map(\.form) == [1, 1, 2])
        try store.put(.deleteForm(1))
        #expect(try store.all().ongoing == [row(2, "run", "b", 4)])
        try store.close()
    }

    @Test("a batch that fails half-way leaves nothing behind, and the next one works")
    func allOrNothing() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        try store.edit(1)
        #expect(throws: StoreError.self) {
            try store.put(
                .putHead(form: 1, revision: 2, context: []), .appendRevision(.sample(2)),
                .appendRevision(.sample(1)))
        }
        #expect(throws: StoreError.self) {
            try store.put(.putHead(form: 99, revision: 1, context: []))
        }
        #expect(try store.all().forms[0].revision == 1)
        try store.edit(2)
        #expect(try store.revisions() == [1, 2])
        try store.close()
    }

    @Test("the last of several operations of a batch on one row counts")
    func lastCounts() throws {
        let operations: [StoreOperation] = [
            .putForm(.sample()),
            .putField(FieldRow(form: 1, field: "a", state: [1])),
            .putHead(form: 1, revision: 1, context: []),
            .deleteForm(1),
            .putForm(.sample()),
            .putField(FieldRow(form: 1, field: "a", state: [2])),
            .putField(FieldRow(form: 1, field: "b", state: [3])),
            .putHead(form: 1, revision: 2, context: []),
            .putClock([1]),
            .putField(FieldRow(form: 1, field: "a", state: [4])),
            .putHead(form: 1, revision: 3, context: [3]),
            .putClock([2]),
        ]
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(operations)
        let image = try store.all()
        #expect(image.fields.map(\.state) == [[4], [3]])
        #expect(image.forms[0].revision == 3)
        #expect(image.clock == [2])
        try store.close()
    }

    @Test("random batches read the same as a model, across restarts")
    func model() throws {
        let seed = UInt64(environment("PICKERSYNC_SEED") ?? "") ?? 20_261_121
        var random = SplitMix64(seed: seed)
        let scratch = try Scratch()
        var fields: [FieldName: [UInt8]] = [:]
        var heads: [FormKey: UInt64] = [:]
        var store = try scratch.open().store
        for _ in 0..<60 {
            var operations: [StoreOperation] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let form = FormKey.random(in: 1...3, using: &random)
                let field = "f\(Int.random(in: 1...3, using: &random))"
                switch Int.random(in: 0...9, using: &random) {
                case 0:
                    operations.append(.deleteForm(form))
                    heads[form] = nil
                    fields = fields.filter { $0.key.form != form }
                case 1:
                    operations.append(.removeField(form: form, field: field))
                    fields[FieldName(form: form, field: field)] = nil
                case 2:
                    operations.append(.putForm(.sample(form, revision: heads[form] ?? 0)))
                    heads[form] = heads[form] ?? 0
                default:
                    guard let head = heads[form] else { continue }
                    heads[form] = head + 1
                    let state = [UInt8.random(in: 0...255, using: &random)]
                    fields[FieldName(form: form, field: field)] = state
                    operations += [
                        .putHead(form: form, revision: head + 1, context: state),
                        .putField(FieldRow(form: form, field: field, state: state)),
                        .appendRevision(.sample(head + 1, form: form)),
                    ]
                }
            }
            try store.put(operations)
            if Int.random(in: 0...4, using: &random) == 0 {
                try store.close(clean: Bool.random(using: &random))
                store = try scratch.open().store
            }
            let image = try store.all()
            let found = Dictionary(
                uniqueKeysWithValues: image.fields.map {
                    (FieldName(form: $0.form, field: $0.field), $0.state)
                })
            #expect(found == fields, "PICKERSYNC_SEED=\(seed)")
            for form in image.forms {
                #expect(form.revision == heads[form.key], "PICKERSYNC_SEED=\(seed)")
                let revisions = try store.revisions(form: form.key)
                #expect(revisions == Array(1..<(form.revision + 1)), "PICKERSYNC_SEED=\(seed)")
            }
            #expect(image.forms.count == heads.count, "PICKERSYNC_SEED=\(seed)")
        }
        try store.close()
    }

    private struct FieldName: Hashable {
        let form: FormKey
        let field: String
    }

    @Test("an image has the keys that have not expired, and no revisions")
    func image() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample(1)), .putForm(.sample(2)))
        for revision in 1...5 as ClosedRange<UInt64> {
            try store.edit(revision, form: 1)
            try store.edit(revision, form: 2)
        }
        let image = try store.loadImage { _ in 5 }
        #expect(image.revisions.isEmpty && image.forms.count == 2)
        #expect(image.keys.map(\.key) == ["key-1-5", "key-2-5"])
        try store.close()
    }

    @Test("queries respect their bounds: rows, bytes, order, at least one row")
    func queries() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        for revision in 1...9 as ClosedRange<UInt64> { try store.edit(revision) }
        func numbers(_ query: StoreQuery) -> [UInt64] {
            guard case .revisions(let rows) = store.answer(query) else { return [] }
            return rows.map(\.revision)
        }
        #expect(numbers(.revisions(form: 1, from: 3, rowsMax: 2, bytesMax: .max)) == [3, 4])
        #expect(numbers(.revisions(form: 1, from: 3, rowsMax: 9, bytesMax: 250)) == [3, 4])
        #expect(numbers(.revisions(form: 1, from: 3, rowsMax: 9, bytesMax: 1)) == [3])
        #expect(numbers(.revisions(form: 1, from: .max, rowsMax: 9, bytesMax: 1)).isEmpty)
        #expect(numbers(.revisions(form: 2, from: 0, rowsMax: 9, bytesMax: 1)).isEmpty)
        #expect(numbers(.history(form: 1, before: 4, rowsMax: 2)) == [3, 2])
        #expect(numbers(.history(form: 1, before: .max, rowsMax: 1)) == [9])
        #expect(numbers(.history(form: 1, before: 1, rowsMax: 1)).isEmpty)
        #expect(store.answer(.key(uid: 1, key: "key-1-3")) == .key(nil))
        #expect(store.answer(.key(uid: 1000, key: "key-1-3")) == .key(.sample("key-1-3", at: 3)))
        try store.close()
        guard case .failed = store.answer(.key(uid: 1, key: "x")) else {
            Issue.record("a closed store answered")
            return
        }
    }

    @Test("a key that is used again after it expired replaces the old one")
    func keyAgain() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putKey(.sample("a", at: 1)))
        try store.put(.putKey(.sample("a", at: 9)))
        #expect(try store.all().keys == [KeyDigest(uid: 1000, key: "a", at: 9)])
        try store.close()
    }
}
